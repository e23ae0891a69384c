#!/usr/bin/env python3
"""Plays correctly, and takes as much as it can get of memory, disk or processes: see hostile.py.

Everything has a bound, so that the machine survives where nothing else bounds it: 1.5 GB, 200,000 files, 500 processes. What has no
bound of its own takes a share at each decision, so that CPU time does not end it first.
"""

import ctypes
import fcntl
import mmap
import os
import platform
import resource
import shutil
import signal
import socket
import sys
import threading
import time

from hostile import Refused, attack, call, play

SHARE = 32 << 20
SHARES = 48
TMP = os.environ.get("TMPDIR", "/tmp")


def hoard(take):
    """A share at each decision, until it fails."""
    held = []
    for _ in range(SHARES):
        held.append(take())
        yield
    return f"has {SHARES * SHARE >> 20} MB"


@attack
def heap():
    return (yield from hoard(lambda: b"x" * SHARE))


def fill(memory):
    for page in range(0, SHARE, 4096):
        memory[page] = 1
    return memory


@attack
def shared_memory():
    return (yield from hoard(lambda: fill(mmap.mmap(-1, SHARE))))


def new_memfd():
    file = call("memfd_create", b"hoard", 0)
    for _ in range(SHARE >> 20):
        os.write(file, bytes(1 << 20))
    return file


@attack
def memfd():
    return (yield from hoard(new_memfd))


def files(folder):
    place = os.path.join(folder, f"necrodome-hoard-{os.getpid()}")
    os.mkdir(place)

    def new_file():
        with open(os.path.join(place, str(time.monotonic_ns())), "wb", buffering=0) as file:
            for _ in range(SHARE >> 20):
                if file.write(bytes(1 << 20)) < 1 << 20:
                    raise Refused("the disk is full")

    try:
        return (yield from hoard(new_file))
    finally:
        shutil.rmtree(place, ignore_errors=True)


@attack
def tmp():
    return (yield from files(TMP))


@attack
def dev_shm():
    return (yield from files("/dev/shm"))


@attack
def sparse():
    """A terabyte of nothing."""
    place = os.path.join(TMP, f"necrodome-sparse-{os.getpid()}")
    try:
        with open(place, "wb") as file:
            os.truncate(file.fileno(), 1 << 40)
        return "a terabyte"
    finally:
        os.remove(place)


@attack
def many_files():
    place = os.path.join(TMP, f"necrodome-many-{os.getpid()}")
    os.mkdir(place)
    try:
        for number in range(200_000):
            os.close(os.open(os.path.join(place, str(number)), os.O_CREAT | os.O_WRONLY))
            if number % 5000 == 4999:
                yield
        return "200,000 files"
    finally:
        shutil.rmtree(place, ignore_errors=True)


@attack
def deep_folders():
    """Folders in folders, deeper than a path can say."""
    home = os.getcwd()
    os.chdir(TMP)
    try:
        for number in range(100_000):
            os.mkdir("d")
            os.chdir("d")
            if number % 500 == 499:
                yield
        return "100,000 folders"
    finally:
        os.chdir(home)


@attack
def long_names():
    """Names of 255 bytes, with line breaks and escape sequences in them."""
    place = os.path.join(TMP, f"necrodome-names-{os.getpid()}")
    os.mkdir(place)
    try:
        for number in range(200_000):
            name = f"\n\x1b[31m{number:06}".encode()
            os.symlink("x" * 4000, os.path.join(place.encode(), name + b"\xff" * (255 - len(name))))
            if number % 2000 == 1999:
                yield
        return "200,000 links"
    finally:
        shutil.rmtree(place, ignore_errors=True)


def left_alone(work):
    """A child that does its work; the bot plays on."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


@attack
def tree():
    """Processes that are modest, each for itself."""
    def modest():
        held = b"x" * (6 * SHARE)
        time.sleep(60)
        return held

    for _ in range(8):
        left_alone(modest)
        yield
        yield
        yield
    for _ in range(20):
        yield
    return "1.5 GB in eight processes"


@attack
def pipes():
    """Pipes that nobody reads."""
    held = 0
    ends = []
    for _ in range(2000):
        reader, writer = os.pipe2(os.O_NONBLOCK)
        ends.append((reader, writer))
        try:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
        except OSError:
            pass
        try:
            while True:
                held += os.write(writer, bytes(1 << 16))
        except BlockingIOError:
            yield
    return f"{held >> 20} MB in pipes"


@attack
def sockets():
    """Pairs of sockets that nobody reads."""
    held = []
    total = 0
    for _ in range(2000):
        pair = socket.socketpair()
        held.append(pair)
        pair[0].setblocking(False)
        try:
            while True:
                total += pair[0].send(bytes(1 << 16))
        except BlockingIOError:
            pass
        yield
    return f"{total >> 20} MB in sockets"


@attack
def many_sockets():
    """The same in many processes: what waits in a socket belongs to none of them."""
    def fill():
        held = [socket.socketpair() for _ in range(100)]
        for end in (end for pair in held for end in pair):
            end.setblocking(False)
            try:
                while True:
                    end.send(bytes(1 << 16))
            except BlockingIOError:
                pass
        time.sleep(60)
        return held

    for _ in range(24):
        left_alone(fill)
        yield
    for _ in range(20):
        yield
    return "1 GB in sockets"


@attack
def system_v():
    """Shared memory that outlives its makers."""
    made = []
    try:
        for _ in range(SHARES):
            made.append(call("shmget", 0, SHARE, 0o1600))
        return f"{SHARES * SHARE >> 20} MB"
    finally:
        for number in made:
            call("shmctl", number, 0, 0)


@attack
def open_files():
    held = []
    for _ in range(100_000):
        held.append(os.open(os.devnull, os.O_RDONLY))
    return "100,000 open files"


@attack
def threads():
    made = 0
    release = threading.Event()
    threading.stack_size(1 << 16)
    try:
        for made in range(1, 501):
            threading.Thread(target=release.wait, daemon=True).start()
        return f"{made} threads"
    finally:
        release.set()


def sleepers(start, count=500):
    made = []
    try:
        for _ in range(count):
            made.append(start())
        return f"{count} processes"
    finally:
        for child in made:
            os.kill(child, signal.SIGKILL)
        for child in made:
            os.waitpid(child, 0)


@attack
def processes():
    return sleepers(lambda: left_alone(lambda: time.sleep(60)))


@attack
def clones():
    """As processes, by another call."""
    def clone():
        child = call("clone", signal.SIGCHLD, 0, 0, 0, 0)
        if child == 0:
            time.sleep(60)
            os._exit(0)
        return child

    return sleepers(clone)


@attack
def zombies():
    """Children that have died and are never buried."""
    for _ in range(500):
        left_alone(lambda: None)
    return "500 zombies"


@attack
def fork_storm():
    """Children that have children, as fast as they can, for five seconds."""
    def storm(depth=0):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                if depth < 9 and os.fork() == 0:
                    depth += 1
            except OSError:
                time.sleep(0.01)

    left_alone(storm)


@attack
def stack():
    """A function that calls itself for ever."""
    jump = b"\xe8\xfb\xff\xff\xff" if platform.machine() == "x86_64" else b"\xfd\x7b\xbf\xa9\xff\xff\xff\x97"
    page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(jump)
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


@attack
def core():
    """Dies with all that it had in memory written to a file."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    except (OSError, ValueError) as error:
        print(f"hoard core: refused: {error}", file=sys.stderr, flush=True)
    os.abort()


if __name__ == "__main__":
    play()
