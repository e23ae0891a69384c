#!/usr/bin/env python3
"""Plays correctly, and reaches for files that are none of its business: see hostile.py."""

import ctypes
import glob
import os
import shutil
import stat
import sys

from hostile import LIBC, ORDERS, Refused, attack, call, checked, first_success, others, play

HERE = os.path.dirname(os.path.abspath(__file__))
STORE = ORDERS.get("store", "/nonexistent")
HOME = ORDERS.get("home", os.path.expanduser("~"))
NEIGHBOUR = ORDERS.get("neighbour", "/nonexistent")
RESULTS = ORDERS.get("results", "/nonexistent")
PLANT = "planted by a bot\n"


def read(path):
    """What a file holds, which makes it into the log of the tournament."""
    with open(path, "rb") as file:
        return f"read {path}: {file.read(2000)!r}"


def write(path, mode="a"):
    with open(path, mode) as file:
        file.write(PLANT)
    return f"wrote {path}"


def first_read(paths):
    return first_success((read, path) for path in paths)


def of_processes(part, processes=None):
    return [f"/proc/{pid}/{part}" for pid in processes or others()[:2000]]


@attack
def store():
    return first_read([STORE, STORE + "-wal", STORE + "-shm"])


@attack
def store_write():
    return first_success((write, STORE + end) for end in ("", "-wal", "-shm"))


@attack
def store_remove():
    return first_success([(os.remove, STORE), (os.truncate, STORE, 0), (os.rename, STORE, STORE + ".gone")]) or "gone"


@attack
def store_link():
    """A second name for the store, in a place of its own."""
    places = [os.path.join(place, "link") for place in (HERE, "/tmp", os.environ.get("TMPDIR", "/tmp"))]
    return first_success((os.link, STORE, place) for place in places) or "linked"


@attack
def store_mode():
    return first_success([(os.chmod, STORE, 0o666), (os.utime, STORE, (0, 0)), (os.setxattr, STORE, "user.x", b"1")]) or "changed"


@attack
def plan():
    """The plan, a pack and a shard that the host keeps beside the bot: they have the secret of the dice."""
    return first_read(os.path.join(HERE, name) for name in ("plan.toml", "night.pack", "shards/0.shard"))


@attack
def results():
    """A link where the arena is about to write its table."""
    places = [os.path.join(RESULTS, name) for name in ("matches.csv", "night.store-journal", "night.replay")]
    return first_success((os.symlink, os.path.join(HOME, "canary"), place) for place in places) or "link left"


@attack
def neighbour():
    return first_read(glob.glob(NEIGHBOUR + "/*") or [NEIGHBOUR + "/hostile.py"])


@attack
def neighbour_write():
    return write(os.path.join(NEIGHBOUR, "hostile.py"))


@attack
def neighbour_list():
    found = set(os.listdir(os.path.dirname(NEIGHBOUR))) - {os.path.basename(HERE)}
    if not found:
        raise Refused("nobody but itself")
    return f"found {sorted(found)}"


@attack
def home():
    return first_read([os.path.join(HOME, "canary"), os.path.expanduser("~/canary")])


@attack
def home_write():
    return first_success((write, os.path.join(HOME, name)) for name in ("canary", ".profile", ".bashrc"))


@attack
def ssh():
    return first_read([os.path.join(HOME, ".ssh", name) for name in ("id_ed25519", "authorized_keys")])


@attack
def homes():
    """Home folders of all users."""
    return first_success((os.listdir, place) for place in ("/root", *glob.glob("/home/*"), HOME)) or "an empty one"


@attack
def shadow():
    return first_read(["/etc/shadow", "/etc/gshadow", "/etc/sudoers"])


@attack
def own_folder():
    return write(os.path.join(HERE, "notes.txt"))


@attack
def own_file():
    """Another bot from the next match on."""
    return first_success([(write, os.path.abspath(__file__)), (os.remove, os.path.abspath(__file__))])


@attack
def working_folder():
    return write(os.path.join(os.getcwd(), "here.txt"))


@attack
def dot_dot():
    """Out of its folder, step by step, without a name."""
    folder = os.open(HERE, os.O_RDONLY)
    up = os.open("../..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    # The root of a view that was made for this bot holds nothing of others.
    return first_read(f"/proc/self/fd/{up}/{name}" for name in os.listdir(up) if name not in os.listdir("/"))


@attack
def proc_root():
    """The file systems of other processes."""
    canary = os.path.join(HOME, "canary").lstrip("/")
    near = others()[:200]
    return first_read([*of_processes("root/" + canary, near), *of_processes("cwd/canary", near)])


@attack
def proc_environ():
    """The arena's command line and environment: seeds and secrets."""
    token = ORDERS.get("secret", "NECRODOME_SECRET")
    for path in [*of_processes("environ"), *of_processes("cmdline")]:
        try:
            found = read(path)
        except OSError:
            continue
        if token in found:
            return found
    raise Refused("nothing there")


@attack
def proc_mem():
    def first_bytes(maps):
        with open(maps) as file:
            start = int(file.readline().split("-")[0], 16)
        with open(maps.replace("maps", "mem"), "rb") as file:
            file.seek(start)
            return f"read {len(file.read(64))} bytes of {maps}"

    return first_success((first_bytes, path) for path in of_processes("maps"))


@attack
def proc_fd():
    def files(folder):
        if names := [os.readlink(name) for name in glob.glob(folder + "/*")]:
            return f"{folder}: {names}"
        raise Refused("no file can be seen")

    return first_success((files, path) for path in of_processes("fd", others()[:200]))


@attack
def inherited():
    """Files that the arena has left open."""
    left = []
    for number in range(3, 1024):
        try:
            left.append((number, os.readlink(f"/proc/self/fd/{number}")))
        except OSError:
            try:
                left.append((number, oct(os.fstat(number).st_mode)))
            except OSError:
                pass
    if left:
        return left
    raise Refused("only the three streams are open")


@attack
def streams():
    """The three streams are pipes, not the terminal or files of the arena: opening them again leads nowhere."""
    kinds = [stat.S_IFMT(os.fstat(number).st_mode) for number in range(3)]
    if any(kind != stat.S_IFIFO for kind in kinds):
        return f"kinds of files: {[oct(kind) for kind in kinds]}"
    raise Refused("three pipes")


@attack
def terminal():
    import fcntl
    import termios

    terminals = [os.open(path, os.O_RDWR) for path in ("/dev/tty", "/dev/console", "/dev/pts/0") if os.access(path, os.W_OK)]
    for file in [*terminals, 0, 1, 2]:
        try:
            fcntl.ioctl(file, termios.TIOCSTI, b"\n")
            return "typed a key"
        except OSError:
            pass
    raise Refused("no terminal")


@attack
def devices():
    names = ("mem", "kmem", "kmsg", "port", "fuse", "kvm", "vda", "sda", "loop-control", "net/tun", "userfaultfd", "vsock", "ptmx")
    return first_success((os.open, "/dev/" + name, os.O_RDWR) for name in names)


@attack
def device_node():
    places = [os.path.join(place, "disk") for place in ("/tmp", HERE, "/dev/shm")]
    return first_success((os.mknod, place, stat.S_IFBLK | 0o600, os.makedev(254, 0)) for place in places) or "made"


@attack
def setuid_copy():
    """A program that would give its rights to whoever runs it."""
    place = os.path.join(os.environ.get("TMPDIR", "/tmp"), "me")
    shutil.copy(os.path.realpath(sys.executable), place)
    try:
        os.chmod(place, 0o6755)
        if not os.stat(place).st_mode & stat.S_ISUID or os.statvfs(place).f_flag & os.ST_NOSUID:
            raise Refused("the file system forgets it")
        return "made"
    finally:
        os.remove(place)


@attack
def setuid_helper():
    """Programs that become root when they are started, such as `su`."""
    get_no_new_privs = 39
    if checked(LIBC.prctl(get_no_new_privs, 0, 0, 0, 0)) == 1:
        raise Refused("no program has rights of its own")
    return "su may become root"


@attack
def sizes():
    """How large files are, and when they were changed."""
    return first_success((os.stat, path) for path in (STORE, os.path.join(HOME, "canary")))


@attack
def sys_write():
    places = ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/oom_score_adj", "/sys/power/state", "/sys/kernel/uevent_helper"]

    def lower(path):
        with open(path, "w") as file:
            file.write("-900" if "oom" in path else "x")
        return f"wrote {path}"

    return first_success((lower, path) for path in places)


@attack
def cgroup():
    """Other cgroups: to freeze others, or to leave its own."""
    places = glob.glob("/sys/fs/cgroup/*/cgroup.procs") + glob.glob("/sys/fs/cgroup/cgroup.procs") + glob.glob("/sys/fs/cgroup/*/tasks")

    def enter(path):
        with open(path, "w") as file:
            file.write(str(os.getpid()))
        return f"entered {path}"

    return first_success((enter, path) for path in places)


@attack
def handles():
    """Files by their number on the disk, past every path."""
    handle = (ctypes.c_char * 136)()
    handle[0:4] = (128).to_bytes(4, "little")
    mount = ctypes.c_int()
    call("name_to_handle_at", -100, b"/etc/passwd", handle, ctypes.byref(mount), 0)
    root = os.open("/", os.O_RDONLY)
    return f"opened {checked(LIBC.open_by_handle_at(root, handle, os.O_RDONLY))}"


@attack
def root_folders():
    """Writes wherever it can. Its own temporary folder is all there is."""
    own = os.path.realpath(os.environ.get("TMPDIR", "/tmp"))
    places = ["/", "/etc", "/usr", "/usr/lib", "/var", "/var/tmp", "/var/cache", "/run", "/run/lock", "/opt", "/srv", "/mnt", "/dev", "/dev/mqueue", "/proc", "/sys", "/home"]
    return first_success((write, os.path.join(place, "necrodome-plant")) for place in places if place != own)


@attack
def site_packages():
    """Reads where its interpreter's packages are, as it may, but cannot change them."""
    import json

    with open(json.__file__) as file:
        file.read()
    return write(json.__file__)


if __name__ == "__main__":
    play()
