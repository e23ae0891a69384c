"""The arena for zombie games: environments, exact values, bots and tournaments.

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._native import instruction_set as instruction_set
    from ._native import version as version
    from .bot import Bot as Bot
    from .bot import View as View
    from .bot import run as run
    from .envs.vector import ArenaVectorEnv as ArenaVectorEnv
    from .envs.vector import make_vec as make_vec
    from .evaluation import Evaluation as Evaluation
    from .evaluation import evaluate as evaluate
    from .examination import Exam as Exam
    from .examination import exam as exam
    from .ledger import Ledger as Ledger
    from .ledger import analyze as analyze
    from .models import Models as Models
    from .play import IllegalAction as IllegalAction
    from .play import Match as Match
    from .play import Report as Report
    from .play import match as match
    from .play import tournament as tournament
    from .solution import Policy as Policy
    from .solution import Solution as Solution
    from .solution import solve as solve
    from .text import TextEnv as TextEnv

    __version__: str

#: Where each public name lives. A module is called otherwise than what it exports, or it would hide it.
_EXPORTS = {
    "ArenaVectorEnv": "envs.vector",
    "Bot": "bot",
    "Evaluation": "evaluation",
    "Exam": "examination",
    "IllegalAction": "play",
    "Ledger": "ledger",
    "Match": "play",
    "Models": "models",
    "Policy": "solution",
    "Report": "play",
    "Solution": "solution",
    "TextEnv": "text",
    "View": "bot",
    "analyze": "ledger",
    "evaluate": "evaluation",
    "exam": "examination",
    "instruction_set": "_native",
    "make_vec": "envs.vector",
    "match": "play",
    "run": "bot",
    "solve": "solution",
    "tournament": "play",
    "version": "_native",
}

__all__ = [*_EXPORTS]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("._native", __name__).version()
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_EXPORTS[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})


if "gymnasium" in sys.modules:
    import_module("._gymnasium", __name__).register()
