"""What the hostile bots share: correct play of Zombie Dice, one attack, and a report of what came of it.

`reach.py`, `talk.py`, `kernel.py`, `hoard.py`, `linger.py` and `manners.py` hold many attacks each. The first argument names the
one to make (`python3 reach.py store`). A file that is started without arguments reads `orders.json` beside it: the attack, and
what it needs to know (see `crates/cli/tests/it/hostile`). The tables are in docs/security.md.

An attack is made at the third decision of a process. It ends by an error or returns what it has achieved; standard error tells:

    reach store: refused: [Errno 13] Permission denied: 'night.store'
    reach store: succeeded: read 4096 bytes

An attack that is a generator goes on at the next decision, and was in vain if it has not ended when the input does. An attack that
returns nothing has nothing to tell: it shows by the faults of the bot.
"""

import ctypes
import inspect
import json
import os
import platform
import sys

ATTACKS = {}
LIBC = ctypes.CDLL(None, use_errno=True)
FIRST = 3


class Refused(Exception):
    """The attack came to nothing, though the system said no error."""


def attack(function):
    """Adds an attack under the name of its function."""
    ATTACKS[function.__name__.strip("_").replace("_", "-")] = function
    return function


def nothing():
    """The attack of those who only play."""


ATTACKS["nothing"] = nothing


def read_orders():
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "orders.json")
    known = {}
    if os.path.exists(beside):
        with open(beside) as file:
            known = json.load(file)
    if len(sys.argv) > 1:
        known["attack"] = sys.argv[1]
    return known


ORDERS = read_orders()


def checked(result, what=""):
    """The result of a C function, or its error."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


# Numbers of system calls that Python has no function for: x86-64, then arm64.
CALLS = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "capset": (126, 91), "chroot": (161, 51),
    "clone": (56, 220), "clone3": (435, 435), "delete_module": (176, 106), "fanotify_init": (300, 262), "finit_module": (313, 273),
    "fsopen": (430, 430), "getrandom": (318, 278), "init_module": (175, 105), "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27), "io_uring_setup": (425, 425), "ioprio_set": (251, 30), "kcmp": (312, 272),
    "kexec_load": (246, 104), "keyctl": (250, 219), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "migrate_pages": (256, 238), "mlockall": (151, 230), "mount": (165, 40), "move_pages": (279, 239),
    "name_to_handle_at": (303, 264), "open_tree": (428, 428), "perf_event_open": (298, 241), "personality": (135, 92),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pivot_root": (155, 41), "prlimit64": (302, 261),
    "process_madvise": (440, 440), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218), "setdomainname": (171, 162),
    "sethostname": (170, 161), "setns": (308, 268), "settimeofday": (164, 170), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "shmctl": (31, 195), "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39),
    "unshare": (272, 97), "userfaultfd": (323, 282), "vhangup": (153, 58),
}  # fmt: skip


def call(name, *arguments):
    """Makes a system call; its error is an OSError."""
    number = CALLS[name][platform.machine() == "aarch64"]
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return checked(LIBC.syscall(ctypes.c_long(number), *words), name)


def first_success(tries):
    """The first result of some calls that is no error; their last error if there is none."""
    last = Refused("there was nothing to try")
    for function, *arguments in tries:
        try:
            return function(*arguments)
        except (OSError, Refused) as error:
            last = error
    raise last


def others():
    """Ids of processes beside this one: the parent, those in /proc, and guesses."""
    own = os.getpid()
    seen = [os.getppid()]
    try:
        seen += [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        pass
    seen += [*range(own - 1, max(1, own - 2000), -1), *range(own + 1, own + 2000), 1]
    # Process 0 is "myself" in many calls.
    return [pid for pid in dict.fromkeys(seen) if pid not in (0, own)]


def correct(message):
    """The correct answer to a message, or None: roll until there is a brain, or keep all dice."""
    if message["type"] == "hello":
        return {"type": "ready", "protocol": 1}
    if message["type"] == "decide":
        hungry = message["view"].get("turn", {}).get("brains") == 0
        return {"id": message["id"], "action": message["legal"][0 if hungry else -1]}
    return None


def send(answer):
    print(json.dumps(answer), flush=True)


def tell(verdict, what):
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    print(f"{name} {ORDERS['attack']}: {verdict}: {what}", file=sys.stderr, flush=True)


class Attempt:
    """One attack, from its first step to its verdict."""

    def __init__(self, function):
        self.function = function
        self.steps = None
        self.over = False

    def go_on(self):
        if self.over:
            return
        try:
            if inspect.isgeneratorfunction(self.function):
                self.steps = self.steps or self.function()
                next(self.steps)
                return
            achieved = self.function()
        except StopIteration as end:
            achieved = end.value
        except (OSError, Refused, MemoryError, RuntimeError, ValueError) as error:
            self.over = True
            tell("refused", error or type(error).__name__)
            return
        self.over = True
        if achieved is not None:
            tell("succeeded", achieved)

    def give_up(self):
        if self.steps and not self.over:
            self.over = True
            tell("refused", "in vain to the end")
            self.steps.close()


def play(answer_with=send):
    """Plays to the end of the input."""
    attempt = Attempt(ATTACKS[ORDERS["attack"]])
    decisions = 0
    for line in sys.stdin:
        message = json.loads(line)
        answer = correct(message)
        if message["type"] != "decide":
            if answer:
                send(answer)
            continue
        decisions += 1
        if decisions >= FIRST:
            attempt.go_on()
        answer_with(answer)
    attempt.give_up()
