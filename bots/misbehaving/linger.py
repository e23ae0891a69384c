#!/usr/bin/env python3
"""Plays correctly, but is hard to get rid of, or costs time: see hostile.py."""

import json
import os
import signal
import sys
import threading
import time

import hostile
from hostile import Refused, attack, first_success, others, play

EXIT_CODES = (1, 2, 77, 126, 127, 128, 137, 240, 241, 242, 243, 250, 254, 255)
DEADLY = ("SEGV", "ABRT", "BUS", "FPE", "ILL", "TRAP", "SYS", "KILL", "TERM", "HUP", "QUIT", "ALRM", "USR1", "USR2", "XCPU", "XFSZ", "PIPE", "INT")


def let_go():
    """Closes what the arena could notice a process by."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


def detached(work):
    """A grandchild in a session of its own does the work."""
    child = os.fork()
    if child > 0:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork() == 0:
        let_go()
        work()
    os._exit(0)


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def sleeps():
    time.sleep(600)


@attack
def survive():
    for _ in range(3):
        detached(sleeps)


@attack
def nameless():
    """What it leaves behind has no environment and another name."""
    detached(lambda: os.execve("/bin/sleep", ["[kworker/0:1]", "600"], {}))


@attack
def comet():
    """Forks and ends, again and again: whoever looks for it finds only where it was."""
    def fly():
        end = time.monotonic() + 300
        while time.monotonic() < end:
            try:
                if os.fork() > 0:
                    os._exit(0)
            except OSError:
                # Others have as many processes as there may be.
                time.sleep(0.001)

    detached(fly)


@attack
def comet_swarm():
    """Comets that split now and then, and come back when they hear SIGTERM."""
    def fly():
        signal.signal(signal.SIGTERM, lambda *_: os.fork())
        end = time.monotonic() + 30
        flights = 0
        while time.monotonic() < end:
            flights += 1
            try:
                if os.fork() > 0 and flights % 50:
                    os._exit(0)
            except OSError:
                time.sleep(0.001)

    for _ in range(4):
        detached(fly)


@attack
def holds_pipes():
    """Ends, while a child holds its pipes."""
    if os.fork() == 0:
        os.setsid()
        sleeps()
    os._exit(0)


@attack
def hands_over():
    """A child plays on, its parent ends."""
    if os.fork() > 0:
        os._exit(0)
    os.setsid()


@attack
def at_the_end():
    """Children when its input has ended."""
    try:
        while True:
            yield
    finally:
        for _ in range(3):
            detached(sleeps)


@attack
def becomes_another():
    os.execv("/bin/sleep", ["sleep", "600"])


@attack
def ponder():
    """A child computes while others think."""
    if os.fork() == 0:
        burn(30)
        os._exit(0)


@attack
def ponder_thread():
    threading.Thread(target=burn, args=(30,), daemon=True).start()


@attack
def ponder_detached():
    detached(lambda: burn(30))


@attack
def ponder_children():
    """A short-lived child after the other, none of which lives when somebody looks."""
    def brood():
        end = time.monotonic() + 30
        while time.monotonic() < end:
            child = os.fork()
            if child == 0:
                burn(0.004)
                os._exit(0)
            os.waitpid(child, 0)

    detached(brood)


@attack
def nap():
    """Sleeps at every decision, just below the limit."""
    while True:
        time.sleep(hostile.ORDERS.get("nap", 1.9))
        yield


@attack
def just_below():
    """Computes at every decision, just below the limit."""
    while True:
        burn(hostile.ORDERS.get("burn", 0.45))
        yield


@attack
def stop_self():
    os.kill(os.getpid(), signal.SIGSTOP)


@attack
def stop_group():
    os.kill(0, signal.SIGSTOP)


@attack
def kill_group():
    os.kill(0, signal.SIGKILL)


@attack
def kill_all():
    # That there is no error does not mean that there was somebody.
    os.kill(-1, signal.SIGKILL)


@attack
def stop_all():
    os.kill(-1, signal.SIGSTOP)


def to_parent(kind):
    """To the supervisor, and to the group it belongs to."""
    parent = os.getppid()
    tries = [(os.kill, parent, kind)]
    group = os.getpgid(parent)
    if group > 0 and group != os.getpgrp():
        tries.append((os.killpg, group, kind))
    before = os.getppid()
    first_success(tries)
    for _ in range(20):
        time.sleep(0.01)
        if os.getppid() != before:
            return f"the supervisor is dead by {kind.name}"
    # Whoever is first in its world hears only the signals that it waits for.
    raise Refused(f"{kind.name} did nothing")


@attack
def kill_supervisor():
    return to_parent(signal.SIGKILL)


@attack
def stop_supervisor():
    to_parent(signal.SIGSTOP)


@attack
def usr1_supervisor():
    """The signal by which the arena orders it to end everything."""
    to_parent(signal.SIGUSR1)


@attack
def term_supervisor():
    to_parent(signal.SIGTERM)


@attack
def chld_supervisor():
    """Tells it a thousand times that a child has died."""
    for _ in range(1000):
        os.kill(os.getppid(), signal.SIGCHLD)


@attack
def kill_others():
    """Everybody whom it can guess."""
    killed = 0
    for pid in others():
        try:
            os.kill(pid, signal.SIGKILL)
            killed += pid not in (1, os.getppid())
        except OSError:
            pass
    if not killed:
        raise Refused("nobody in reach")
    return f"killed {killed}"


@attack
def exit_codes():
    """A code that the arena might take for one of its own, another one at each start."""
    os._exit(EXIT_CODES[os.getpid() % len(EXIT_CODES)])


@attack
def exit_240():
    os._exit(240)


@attack
def exit_241():
    os._exit(241)


@attack
def exit_242():
    os._exit(242)


@attack
def exit_255():
    os._exit(255)


@attack
def dies():
    """By one deadly signal or another."""
    kind = getattr(signal, "SIG" + DEADLY[os.getpid() % len(DEADLY)])
    if kind not in (signal.SIGKILL,):
        signal.signal(kind, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [kind])
    os.kill(os.getpid(), kind)
    # The first process of a world of its own does not hear its own signals.
    os._exit(1)


@attack
def closes_input():
    os.close(0)
    sleeps()


@attack
def closes_all():
    """Closes its streams, and lives on."""
    for stream in range(3):
        os.close(stream)
    sleeps()


@attack
def byte_by_byte():
    """Every answer byte by byte."""
    hostile.ORDERS["slowly"] = True


@attack
def no_newline():
    """The answer, but for its end."""
    sys.stdout.write('{"id": 1')
    sys.stdout.flush()
    sleeps()


def send(answer):
    text = json.dumps(answer) + "\n"
    if hostile.ORDERS.get("slowly"):
        for letter in text:
            os.write(1, letter.encode())
    else:
        os.write(1, text.encode())


if __name__ == "__main__":
    play(send)
