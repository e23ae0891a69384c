#!/usr/bin/env python3
"""Plays correctly, and looks for somebody to talk to: other bots, its own next life, the network. See hostile.py.

Two of them in a tournament do the same. Whoever finds the other's trace has a way to talk.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import signal
import socket
import struct
import sys

from hostile import LIBC, ORDERS, Refused, attack, call, checked, first_success, others, play

PORT = ORDERS.get("port", 47116)
NAME = f"necrodome-talk-{os.getuid()}"
TRACE = f"{NAME}-{os.getpid()}-{id(object())}"
KEY = 0x5EC0DE
EXCLUSIVE = 0o3600


def traces(folder):
    """Leaves a trace in a folder, and looks for those of others."""
    with open(os.path.join(folder, TRACE), "w") as file:
        file.write("brains")
    try:
        while not (found := [name for name in os.listdir(folder) if name.startswith(NAME) and name != TRACE]):
            yield
        return f"found {found} in {folder}"
    finally:
        os.remove(os.path.join(folder, TRACE))


def meeting(family, kind, address):
    """Waits at an address, unless somebody does already."""
    with socket.socket(family, kind) as own:
        try:
            own.bind(address)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return f"somebody is at {address!r}"
        if kind == socket.SOCK_STREAM:
            own.listen()
        while True:
            yield


def knock(family, kind, address, greeting=b"brains?"):
    """Says hello to somebody outside."""
    with socket.socket(family, kind) as own:
        own.settimeout(0.2)
        own.connect(address)
        own.send(greeting)
    return f"reached {address!r}"


@attack
def tmp():
    return (yield from traces("/tmp"))


@attack
def tmpdir():
    return (yield from traces(os.environ.get("TMPDIR", "/tmp")))


@attack
def dev_shm():
    return (yield from traces("/dev/shm"))


@attack
def var_tmp():
    return (yield from traces("/var/tmp"))


@attack
def next_life():
    """A file for the process that is started after this one."""
    place = os.path.join(os.environ.get("TMPDIR", "/tmp"), NAME + "-life")
    if os.path.exists(place):
        os.remove(place)
        return "found a note of an earlier life"
    with open(place, "w") as file:
        file.write("brains")
    print("talk next-life: refused: no note of an earlier life", file=sys.stderr, flush=True)
    os._exit(7)


@attack
def abstract():
    return (yield from meeting(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + NAME))


@attack
def unix_path():
    return (yield from meeting(socket.AF_UNIX, socket.SOCK_STREAM, f"/tmp/{NAME}.sock"))


@attack
def listen():
    return (yield from meeting(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", PORT + 1)))


@attack
def listen_udp():
    return (yield from meeting(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", PORT + 1)))


@attack
def tcp():
    return first_success([(knock, socket.AF_INET, socket.SOCK_STREAM, (host, PORT)) for host in ("127.0.0.1", "10.0.0.1")])


@attack
def tcp6():
    return knock(socket.AF_INET6, socket.SOCK_STREAM, ("::1", PORT))


@attack
def udp():
    return first_success([(knock, socket.AF_INET, socket.SOCK_DGRAM, (host, PORT)) for host in ("127.0.0.1", "1.1.1.1")])


@attack
def fast_open():
    """Data on a connection that was never made."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as own:
        own.sendto(b"brains?", 0x20000000, ("127.0.0.1", PORT))
    return "sent"


@attack
def unix_socket():
    """A socket of the host, such as that of Docker or of a database."""
    paths = [ORDERS.get("socket", "/nonexistent"), "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/notify"]
    return first_success((knock, socket.AF_UNIX, socket.SOCK_STREAM, path) for path in paths)


@attack
def abstract_socket():
    return knock(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + ORDERS.get("abstract", "nobody"))


@attack
def netlink():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as own:
        own.bind((0, 0))
        # RTM_GETLINK, to all: the machine's network cards.
        own.send(struct.pack("=IHHIIB3x12x", 32, 18, 0x301, 1, 0, 0))
        answer = own.recv(1 << 16)
    cards = answer.count(b"\x00\x03\x00lo\x00") + answer.count(b"eth")
    if cards <= 1 and b"eth" not in answer:
        raise Refused("no card but the loopback")
    return f"{len(answer)} bytes about the network"


@attack
def packet():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300).close()
    return "hears every packet"


@attack
def raw():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return "sends any packet"


@attack
def vsock():
    return knock(socket.AF_VSOCK, socket.SOCK_STREAM, (2, PORT))


@attack
def families():
    """Every other kind of socket: Bluetooth, CAN, the kernel's ciphers (AF_ALG)..."""
    harmless = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)

    def make(family, kind):
        socket.socket(family, kind).close()
        return f"a socket of family {family}"

    kinds = [(family, kind) for family in range(3, 46) if family not in harmless for kind in (1, 2, 3, 5)]
    return first_success((make, *kind) for kind in kinds)


@attack
def names():
    """A name server, through the C library."""
    found = socket.getaddrinfo("localhost", PORT, family=socket.AF_INET)
    return knock(socket.AF_INET, socket.SOCK_STREAM, found[0][4])


def system_v(name, *arguments):
    try:
        number = call(name, KEY + os.getuid(), *arguments, EXCLUSIVE)
    except FileExistsError:
        return "somebody has made it before"
    try:
        while True:
            yield
    finally:
        control = {"shmget": LIBC.shmctl, "msgget": LIBC.msgctl}.get(name)
        control(number, 0, None) if control else LIBC.semctl(number, 0, 0)


@attack
def shm():
    return (yield from system_v("shmget", 4096))


@attack
def msg():
    return (yield from system_v("msgget"))


@attack
def sem():
    return (yield from system_v("semget", 1))


@attack
def posix_queue():
    name = f"/{NAME}".encode()
    try:
        checked(LIBC.mq_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600, None))
    except FileExistsError:
        return "somebody has made the queue before"
    try:
        while True:
            yield
    finally:
        LIBC.mq_unlink(name)


@attack
def file_lock():
    """A file that all may read can be locked, and that can be seen."""
    with open(os.path.realpath(sys.executable), "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "somebody holds the lock"
        while True:
            yield


@attack
def record_lock():
    """Part of a file that all may read can be locked for reading, and everybody can ask who holds it."""
    share, exclude, nobody = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK
    with open(os.path.realpath(sys.executable), "rb") as file:
        while True:
            # The kind, from where, how far, and how long; then a process that holds it.
            asked = struct.pack("hhqqi4x", exclude, 0, 0, 1, 0)
            for ask, lock in ((fcntl.F_GETLK, fcntl.F_SETLK), (36, 37)):
                kind, *_, holder = struct.unpack("hhqqi4x", fcntl.fcntl(file, ask, asked))
                if kind != nobody and kind != exclude:
                    return f"process {holder} holds it"
                if ORDERS.get("number") == 1:
                    fcntl.fcntl(file, lock, struct.pack("hhqqi4x", share, 0, 0, 1, 0))
            yield


@attack
def lease():
    """Hears when somebody opens a file."""
    with open(os.path.realpath(sys.executable), "rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    return "has a lease"


@attack
def watch():
    """Hears when somebody opens a file that all may read."""
    file = os.path.realpath(sys.executable)
    watcher = call("inotify_init1", os.O_NONBLOCK)
    call("inotify_add_watch", watcher, file.encode(), 0xFFF)
    while True:
        # One of two knocks, the other listens.
        if ORDERS.get("number") == 1:
            open(file, "rb").close()
        else:
            try:
                return f"heard {len(os.read(watcher, 4096))} bytes"
            except BlockingIOError:
                pass
        yield


@attack
def keyring():
    """A key in the ring that all processes of a user share."""
    return f"key {call('add_key', b'user', b'necrodome', b'brains', 6, -4)}"


@attack
def signals():
    """A signal to anybody else; number 0 only asks whether it could."""
    reached = []
    for pid in others():
        try:
            os.kill(pid, 0)
            if pid != 1 and pid != os.getppid():
                reached.append(pid)
        except OSError:
            pass
    if not reached:
        raise Refused("nobody in reach")
    return f"could signal {len(reached)} processes"


@attack
def owner_signals():
    """A signal by way of a pipe's owner."""
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    fcntl.fcntl(reader, 10, signal.SIGURG)
    reached = []
    for pid in others()[:500]:
        try:
            fcntl.fcntl(reader, fcntl.F_SETOWN, pid)
            os.write(writer, b"x")
            os.kill(pid, 0)
            if pid not in (1, os.getppid()):
                reached.append(pid)
        except OSError:
            pass
    if not reached:
        raise Refused("nobody in reach")
    return f"could signal {len(reached)} processes"


@attack
def see_processes():
    """Who else is there?"""
    near = (1, os.getpid(), os.getppid())
    found = []
    for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
        try:
            with open(f"/proc/{pid}/stat") as file:
                found += [file.read()[:60]] if pid not in near else []
        except OSError:
            pass
    if not found:
        raise Refused("nobody can be seen")
    return f"sees {len(found)} processes: {found[:3]}"


@attack
def shared_file():
    """A file of another bot as memory."""
    with open(os.path.join(ORDERS.get("neighbour", "/nonexistent"), "hostile.py"), "r+b") as file:
        mmap.mmap(file.fileno(), 0)
    return "mapped"


@attack
def user_limits():
    """What one user may have, counted for all bots together."""
    user = ctypes.c_int(os.getuid())
    checked(LIBC.setpriority(2, user, 19))
    return "all processes of the user are slower now"


if __name__ == "__main__":
    play()
