#!/usr/bin/env python3
"""Plays correctly, but says what is meant for terminals, pages and parsers instead of people: see hostile.py."""

import json
import sys

import hostile
from hostile import attack, play

# Clear the screen, a new title, the clipboard, a link, the answer back, the alarm, a line overwritten.
ESCAPES = "\x1b[2J\x1b[H\x1b]0;pwned\x07\x1b]52;c;cHduZWQ=\x07\x1b]8;;http://x/\x07link\x1b]8;;\x07\x1b[c\x9b31m\a\r\b\x00\x7f"
# Text that runs backwards, and letters without a width.
BIDI = "\u202egnp.exe\u2066\u200b\ufeff"
PAGE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>'\"&amp;"
ATTACHED = {}


@attack
def escapes():
    """Escape sequences in reasons and on standard error."""
    ATTACHED["reason"] = ESCAPES + BIDI + PAGE
    print(ESCAPES + BIDI + PAGE, file=sys.stderr, flush=True)


@attack
def escapes_answer():
    """Escape sequences instead of an answer, which the fault quotes."""
    print(ESCAPES + BIDI + PAGE, flush=True)


@attack
def long_reason():
    ATTACHED["reason"] = "brains " * 8000


@attack
def unknown_fields():
    """Fields that the protocol does not know."""
    ATTACHED["__proto__"] = {"admin": True}
    ATTACHED["faults"] = []
    ATTACHED["\x1b[31m" * 100] = None


@attack
def huge_number():
    ATTACHED["id"] = 10**4000


@attack
def not_a_number():
    ATTACHED["id"] = float("nan")


@attack
def twice_the_key():
    """Two ids in one answer."""
    hostile.ORDERS["raw"] = True


@attack
def half_letters():
    """Halves of letters (lone surrogates) as the reason."""
    hostile.ORDERS["halves"] = True


@attack
def carriage_return():
    """Lines that end as on Windows."""
    hostile.ORDERS["end"] = "\r\n"


@attack
def mark():
    """A byte order mark before each answer."""
    hostile.ORDERS["begin"] = "\ufeff"


@attack
def other_encoding():
    """UTF-16, which is full of zero bytes."""
    hostile.ORDERS["encoding"] = "utf-16"


@attack
def stderr_bytes():
    """Bytes that are no text on standard error."""
    sys.stderr.buffer.write(bytes(range(256)) * 64 + b"\xff\xfe\n")
    sys.stderr.flush()


def send(answer):
    answer.update(ATTACHED)
    text = json.dumps(answer)
    if hostile.ORDERS.get("raw"):
        text = text.replace("{", '{"id": 0, ', 1)
    if hostile.ORDERS.get("halves"):
        text = text.replace("{", '{"reason": "\\ud83e brains \\udddf", ', 1)
    text = hostile.ORDERS.get("begin", "") + text + hostile.ORDERS.get("end", "\n")
    sys.stdout.buffer.write(text.encode(hostile.ORDERS.get("encoding", "utf-8")))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    play(send)
