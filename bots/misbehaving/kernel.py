#!/usr/bin/env python3
"""Plays correctly, and asks the kernel for what no bot needs: see hostile.py."""

import ctypes
import mmap
import os
import resource
import signal
import socket

from hostile import LIBC, Refused, attack, call, checked, first_success, others, play

NEW_USER, NEW_NET, NEW_NS, NEW_PID = 0x10000000, 0x40000000, 0x00020000, 0x20000000
ARENA = os.getppid()


def near():
    """Processes that may be the supervisor, the arena or a neighbour."""
    return others()[:1000]


def in_child(function):
    """What a child has to say, since some calls change the one who makes them."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, b"+" + str(function()).encode()[:500])
        except (OSError, Refused) as error:
            os.write(writer, b"-" + str(error).encode()[:500])
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    said = os.read(reader, 1000).decode()
    os.close(reader)
    if said[:1] != "+":
        raise Refused(said[1:] or "the child was killed")
    return said[1:]


def as_root_of_nothing(function):
    """In a namespace of its own, where it may be had."""
    def within():
        try:
            call("unshare", NEW_USER | NEW_NS)
        except OSError:
            pass
        return function()

    return in_child(within)


@attack
def unshare():
    return in_child(lambda: first_success((call, "unshare", kind) for kind in (NEW_USER, NEW_USER | NEW_NS, NEW_NET, NEW_PID)))


@attack
def clone_user():
    """A new user namespace by way of clone, whose flags a filter has to look into."""
    child = call("clone", NEW_USER | NEW_NET | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "made a user"


@attack
def clone3_user():
    """The same by way of clone3, whose flags a filter cannot see."""
    arguments = (ctypes.c_uint64 * 11)(NEW_USER | NEW_NET, 0, 0, 0, signal.SIGCHLD)
    child = call("clone3", arguments, ctypes.sizeof(arguments))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "made a user"


@attack
def mount():
    return as_root_of_nothing(lambda: first_success([(call, "mount", b"none", b"/tmp", b"tmpfs", 0, b""), (call, "mount", b"/", b"/tmp", b"", 0x1000, 0)]))


@attack
def new_mount():
    """The newer calls of mount."""
    return as_root_of_nothing(lambda: first_success([(call, "fsopen", b"tmpfs", 0), (call, "open_tree", -100, b"/", 1)]))


@attack
def remount():
    """Makes what it sees writable."""
    def again():
        return first_success((call, "mount", 0, place, 0, 0x20 | 0x1000, 0) for place in (b"/", b"/usr", os.getcwd().encode()))

    return as_root_of_nothing(again)


@attack
def umount():
    return as_root_of_nothing(lambda: first_success((call, "umount2", place, 2) for place in (b"/proc", b"/tmp", b"/usr", b"/")))


@attack
def chroot():
    return as_root_of_nothing(lambda: call("chroot", b"/tmp"))


@attack
def pivot_root():
    return as_root_of_nothing(lambda: call("pivot_root", b".", b"."))


@attack
def setns():
    """Into the namespaces of somebody else."""
    def enter(pid, kind):
        return call("setns", os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY), 0)

    kinds = ("user", "mnt", "net", "pid")
    return in_child(lambda: first_success((enter, pid, kind) for pid in near()[:50] for kind in kinds))


@attack
def setns_pidfd():
    return in_child(lambda: first_success((lambda pid: call("setns", call("pidfd_open", pid, 0), NEW_USER), pid) for pid in near()[:200]))


@attack
def ptrace():
    def hold(pid):
        # PTRACE_SEIZE stops nobody.
        call("ptrace", 0x4206, pid, 0, 0)
        return f"holds {pid}"

    return in_child(lambda: first_success((hold, pid) for pid in near()))


def of_memory(name):
    page = ctypes.create_string_buffer(64)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(page), 64)
    # Where this very process has something, others of the same program have it, too.
    there = (ctypes.c_void_p * 2)(ctypes.addressof(page), 64)

    def reach(pid):
        try:
            call(name, pid, local, 1, there, 1, 0)
        except OSError as error:
            # The address is wrong, but the process was in reach.
            if error.errno != 14:
                raise
        return f"memory of {pid}"

    return first_success((reach, pid) for pid in near())


@attack
def process_vm_readv():
    return of_memory("process_vm_readv")


@attack
def process_vm_writev():
    return of_memory("process_vm_writev")


@attack
def pidfd_getfd():
    """Takes an open file of somebody else."""
    def steal(pid):
        return f"has file {call('pidfd_getfd', call('pidfd_open', pid, 0), 1, 0)} of {pid}"

    return first_success((steal, pid) for pid in near())


@attack
def kcmp():
    return first_success((call, "kcmp", pid, os.getpid(), 1, 0, 0) for pid in near())


@attack
def prlimit():
    """Changes the limits of somebody else: the arena could not open files any more."""
    limit = (ctypes.c_uint64 * 2)(3, 3)

    def choke(pid):
        call("prlimit64", pid, int(resource.RLIMIT_NOFILE), limit, 0)
        return f"{pid} has no files left"

    return first_success((choke, pid) for pid in near() if pid not in (1,))


@attack
def slow_others():
    """Makes others wait: nice, the idle scheduler, one processor for all."""
    def slow(pid):
        os.setpriority(os.PRIO_PROCESS, pid, 19)
        return f"{pid} is slow"

    def idle(pid):
        os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
        return f"{pid} is idle"

    def pin(pid):
        os.sched_setaffinity(pid, {0})
        return f"{pid} is pinned"

    def disk(pid):
        return call("ioprio_set", 1, pid, 3 << 13)

    ways = (slow, idle, pin, disk)
    return first_success((way, pid) for pid in near() if pid not in (1,) for way in ways)


@attack
def move_pages():
    return first_success((call, name, pid, 0, 0, 0, 0, 0) for pid in near() for name in ("move_pages", "migrate_pages"))


@attack
def oom_victim():
    """Offers somebody else to the killer of processes that use too much memory."""
    def offer(pid):
        with open(f"/proc/{pid}/oom_score_adj", "w") as file:
            file.write("1000")
        return f"offered {pid}"

    return first_success((offer, pid) for pid in near() if pid not in (1,))


@attack
def raise_limits():
    kinds = [resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_CORE]

    def lift(kind):
        resource.setrlimit(kind, (resource.RLIM_INFINITY if kind != resource.RLIMIT_NOFILE else 1 << 20,) * 2)
        return f"limit {kind} is gone"

    return first_success((lift, kind) for kind in kinds)


@attack
def priority():
    """Before all others."""
    return first_success([
        (lambda: os.setpriority(os.PRIO_PROCESS, 0, -20) or "nice",),
        (lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)) or "real time",),
        (call, "ioprio_set", 1, 0, 1 << 13),
    ])  # fmt: skip


@attack
def mlock():
    """Memory that cannot be swapped, without end."""
    checked(LIBC.mlockall(3), "mlockall")
    held = mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    checked(LIBC.mlock(ctypes.byref(ctypes.c_char.from_buffer(held)), ctypes.c_size_t(256 << 20)), "mlock")
    return "256 MB are locked"


@attack
def setuid():
    for function in (os.setuid, os.setgid):
        function(0)
    # Root of a namespace of its own is nobody.
    with open("/proc/self/uid_map") as file:
        if file.read().split() == ["0", "0", "4294967295"]:
            return "root"
    raise Refused("root of nothing")


@attack
def groups():
    os.setgroups([0])
    return "in root's group"


@attack
def capabilities():
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
    call("capset", header, data)
    return "has all of them"


@attack
def keyctl():
    return first_success([(call, "keyctl", 0, -4, 1), (call, "request_key", b"user", b"x", 0, -3), (call, "add_key", b"user", b"x", b"y", 1, -2)])


@attack
def bpf():
    attributes = (ctypes.c_uint32 * 32)(1, 4, 4, 1)
    return call("bpf", 0, attributes, ctypes.sizeof(attributes))


@attack
def perf():
    attributes = (ctypes.c_uint64 * 16)(1 | 128 << 32, 1)
    return first_success((call, "perf_event_open", attributes, pid, -1, -1, 0) for pid in (0, ARENA))


@attack
def userfaultfd():
    return first_success((call, "userfaultfd", flags) for flags in (1, 0))


@attack
def io_uring():
    parameters = (ctypes.c_uint32 * 30)()
    return call("io_uring_setup", 8, parameters)


@attack
def modules():
    return first_success([(call, "init_module", b"", 0, b""), (call, "finit_module", 0, b"", 0), (call, "delete_module", b"x", 0)])


@attack
def kexec():
    return call("kexec_load", 0, 0, 0, 0)


@attack
def reboot():
    # Ctrl-Alt-Del on and off: the same right, and nothing happens.
    return first_success((call, "reboot", 0xFEE1DEAD, 672274793, command, 0) for command in (0x89ABCDEF, 0))


@attack
def swap():
    return call("swapon", b"/tmp/swap", 0)


@attack
def clock():
    return first_success([(call, "settimeofday", (ctypes.c_long * 2)(0, 0), 0), (checked, LIBC.adjtimex((ctypes.c_long * 32)(1)))])


@attack
def host_name():
    return first_success([(socket.sethostname, "brains"), (call, "setdomainname", b"brains", 6)]) or "renamed"


@attack
def accounting():
    return first_success([(call, "acct", b"/tmp/acct"), (call, "quotactl", 0x80000700, 0, 0, 0), (call, "syslog", 3, ctypes.create_string_buffer(64), 64)])


@attack
def fanotify():
    """Hears of every file that anybody opens."""
    return first_success((call, "fanotify_init", flags, 0) for flags in (0x200, 0))


@attack
def secret_memory():
    return call("memfd_secret", 0)


@attack
def personality():
    """Switches off what makes attacks on programs hard."""
    return call("personality", 0x0040000)


@attack
def vhangup():
    return call("vhangup")


@attack
def old_calls():
    """System calls by the numbers of another architecture, which a careless filter lets through."""
    import platform

    if platform.machine() != "x86_64":
        raise Refused("there is none here")
    # ptrace as x32 sees it, with bit 30.
    return checked(LIBC.syscall(ctypes.c_long(0x40000000 + 521), ctypes.c_long(0x4206), ctypes.c_long(ARENA), 0, 0), "x32")


@attack
def i386_calls():
    """The same through the door of 32-bit programs: `socket` as number 359 of int 0x80."""
    import platform

    if platform.machine() != "x86_64":
        raise Refused("there is none here")
    # mov eax, 359; mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; movsxd rax, eax; ret, and rbx is kept.
    code = b"\x53\xb8\x67\x01\x00\x00\xbb\x02\x00\x00\x00\xb9\x01\x00\x00\x00\x31\xd2\xcd\x80\x48\x63\xc0\x5b\xc3"
    page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def ask():
        if (number := function()) < 0:
            raise OSError(-number, os.strerror(-number))
        return f"socket {number}"

    return in_child(ask)


if __name__ == "__main__":
    play()
