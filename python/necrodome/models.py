"""Language models as entries: the file of their tables, the source of answers, and the budget for calls."""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Union

__all__ = ["AnyModels", "Models"]


@dataclass(frozen=True)
class Models:
    """The language models that ``"llm:NAME"`` may mean; ``docs/models.md`` has the keys of their tables.

    ``answers`` is the source of answers: ``"reuse"`` takes those that were kept and asks for the rest, ``"fresh"`` asks for all,
    ``"only"`` asks for none. ``calls`` is the file that keeps every call; by default it is beside the store of a tournament, or else in the
    user's cache folder. ``budget`` and ``budget_tokens`` limit the cost and the tokens of new calls; ``Decimal`` and text are exact.

    >>> Models("models.toml", budget="2.50").answers
    'reuse'
    """

    #: A TOML file with a table ``[models.NAME]`` for each model.
    file: str | os.PathLike[str]
    answers: Literal["reuse", "fresh", "only"] = "reuse"
    calls: str | os.PathLike[str] | None = None
    budget: str | float | Decimal | None = None
    budget_tokens: int | None = None

    @classmethod
    def of(cls, models: AnyModels) -> Models:
        """Returns the given models, or makes them from a file."""
        if isinstance(models, Models):
            return models
        if isinstance(models, (str, os.PathLike)):
            return cls(models)
        raise TypeError(f"models: expected a file or necrodome.Models, got {models!r}")

    def wanted(self) -> dict[str, Any]:
        """The settings in the form that the arena reads."""
        tokens = self.budget_tokens
        if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1):
            raise ValueError(f"budget_tokens: expected a whole number above 0, got {tokens!r}")
        return {
            "file": os.fspath(self.file),
            "answers": self.answers,
            "calls": None if self.calls is None else os.fspath(self.calls),
            "budget": None if self.budget is None else str(self.budget),
            "budget_tokens": tokens,
        }


#: Models, or the file with their tables.
AnyModels = Union[Models, str, "os.PathLike[str]", None]
