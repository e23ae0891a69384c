"""``python -m necrodome.compat.zombiedice my_bots.py [GAMES]``: a tournament of the zombies in a file."""

import sys

from . import main

if __name__ == "__main__":
    main(sys.argv[1:])
