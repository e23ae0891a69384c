"""The pages of the arena, for a tournament of zombies."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError

from ..program import NoProgram, program


class NoPage(Exception):
    """The error that says why there is no page."""


def file_of_main() -> str:
    """The file that this interpreter runs."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if file is None:
        raise NoPage("these zombies come from no file, and each needs a process that loads them")
    return str(file)


def show(file: str, names: Mapping[int, str], games: int, options: Mapping[str, Any]) -> None:
    """Lets the arena play a tournament of a file's zombies, by their numbers there, and opens its page. Returns when the arena ends."""
    if len(names) < 2:
        raise NoPage(f"expected at least two zombies, got {len(names)}")
    try:
        with arena(file, names) as (process, host):
            address = begin(host, names, games, options)
            print(f"The tournament is at {address}", "Press Ctrl-C to quit.", sep="\n", flush=True)
            webbrowser.open(address)
            process.wait()
    except KeyboardInterrupt:
        sys.exit("Quitting...")


@contextmanager
def arena(file: str, numbers: Iterable[int]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs the arena's server with these zombies for a while, and yields the host's link."""
    try:
        own = program()
    except NoProgram as missing:
        raise NoPage(str(missing)) from None
    with _ending_in_order(), TemporaryDirectory(prefix="zombiedice-") as folder:
        bots = Path(folder, "bots.toml")
        bots.write_text("".join(_allowed(file, number) for number in numbers))
        store = str(Path(folder, "zombies.sqlite"))
        words = [own, "serve", "--port", "0", "--no-samples", "--store", store, "--bots", str(bots)]
        # The zombies' own interpreter is to be the one that runs them.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        environment = {**os.environ, "PATH": path}
        try:
            process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, preexec_fn=_dying_with_parent())
        except OSError as error:
            raise NoPage(f"{own} cannot be run: {error.strerror}") from None
        try:
            yield process, _host_link(process)
        finally:
            process.terminate()
            process.wait()


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Makes a signal to end unwind what this process has begun. Only the main thread can listen to signals."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGTERM,):
            # What is ignored, as under nohup, or has an answer already stays.
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _dying_with_parent() -> Callable[[], object] | None:
    """Returns what a child runs first, so that it gets SIGTERM when this process is killed. Only Linux has it."""
    if sys.platform != "linux":
        return None
    # Looked up here: between fork and exec as little as possible is done.
    prctl, set_death_signal = ctypes.CDLL(None).prctl, 1
    return lambda: prctl(set_death_signal, signal.SIGTERM)


def _bot(number: int) -> str:
    """The server's name for a zombie, whose own name may be that of a built-in bot."""
    return f"zombie {number}"


def _allowed(file: str, number: int) -> str:
    run = f"compat:zombiedice:{Path(file).resolve()}:{number}"
    # A text of JSON is a text of TOML.
    return f'[[bot]]\nname = "{_bot(number)}"\nrun = {json.dumps(run)}\ngames = ["zombie-dice"]\n'


def _host_link(process: subprocess.Popen[str]) -> str:
    for line in process.stdout or ():
        found = re.search(r"http://\S+/host/\S+", line)
        if found:
            return found.group()
    raise NoPage("the arena's server has not started")


def begin(host: str, names: Mapping[int, str], games: int, options: Mapping[str, Any]) -> str:
    """Begins the tournament; returns the address of its page."""
    site = host.partition("/host/")[0]
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    try:
        opener.open(host).close()
    except HTTPError as error:
        raise NoPage(f"the arena has no pages ({error}): it was built where Node.js was missing") from None
    wanted = {
        "game": "zombie-dice",
        "options": dict(options),
        "entries": [{"name": name, "bot": _bot(number)} for number, name in names.items()],
        "format": "table",
        "seats": len(names),
        # A block has everybody on every seat.
        "blocks": -(-games // len(names)),
        "rank_by": "plain",
    }
    body = json.dumps(wanted).encode()
    request = urllib.request.Request(f"{site}/api/tournaments", body, {"content-type": "application/json"})
    try:
        with opener.open(request) as answer:
            return f"{site}/tournaments/{json.load(answer)['id']}"
    except HTTPError as error:
        raise NoPage(json.load(error)["error"]) from None
