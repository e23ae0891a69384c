"""The supervisor of a bot's process, when the arena runs in Python: this interpreter, started again with this file.

It runs without site packages and with an empty environment, so it loads only the native module beside it.
"""

import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def main() -> None:
    """Runs a stage. Does not return if the arguments name one."""
    folder = Path(__file__).parent
    candidates = [folder / f"_native{suffix}" for suffix in EXTENSION_SUFFIXES]
    path = str(next(path for path in candidates if path.exists()))
    spec = spec_from_file_location("_native", path, loader=ExtensionFileLoader("_native", path))
    if spec is None or spec.loader is None:
        sys.exit("the native module of necrodome is not there")
    native = module_from_spec(spec)
    spec.loader.exec_module(native)
    native.run_stage(sys.argv[1])
    sys.exit("this starts bots, and is not meant to be called by people")


if __name__ == "__main__":
    main()
