"""``python -m necrodome.compat.gamezombies [--rules program] my_script.py``: runs a script that lets agents play."""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser

from ..load import NoBot, load, standing_in
from . import stand_ins


def main(words: list[str]) -> None:
    """Runs the script as if GameZombies were beside it."""
    parser = ArgumentParser("python -m necrodome.compat.gamezombies", description="Runs a script that lets agents of GameZombies play.")
    parser.add_argument("--rules", choices=["text", "program"], default="text", help="the rules and rewards; those of the text")
    parser.add_argument("script", metavar="SCRIPT.py")
    parser.add_argument("words", nargs=REMAINDER, help="for the script")
    args = parser.parse_args(words)
    sys.argv = [args.script, *args.words]
    with standing_in(stand_ins(args.rules)):
        try:
            load(args.script, as_main=True)
        except NoBot as error:
            parser.error(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
