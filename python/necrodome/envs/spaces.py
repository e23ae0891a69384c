"""The form of observations: numbers with names, as a vector or as a dict."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

OBSERVATIONS = ("vector", "dict")


class Field(NamedTuple):
    """One number of an observation."""

    name: str
    about: str
    low: int
    high: int


class Layout:
    """The fields of an observation in their order, and the spaces that follow from them.

    >>> brains = Field("brains", "Brains of this turn.", 0, 13)
    >>> layout = Layout([brains, Field("tiebreak", "1 in a tiebreak.", 0, 1)])
    >>> int(layout.named(np.array([4, 1], dtype=np.int16))["brains"])
    4
    >>> layout.vector_space().contains(np.array([4, 2], dtype=np.int16))
    False
    """

    def __init__(self, fields: Iterable[Field], dtype: type[np.int16] | type[np.uint8] = np.int16) -> None:
        self.fields = tuple(fields)
        self.dtype = dtype

    @classmethod
    def from_json(cls, text: str, dtype: type[np.int16] | type[np.uint8] = np.int16) -> Layout:
        """Reads the layout from the native module's JSON."""
        return cls((Field(**field) for field in json.loads(text)), dtype)

    def __len__(self) -> int:
        return len(self.fields)

    def _bounds(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        low = np.array([field.low for field in self.fields], dtype=self.dtype)
        high = np.array([field.high for field in self.fields], dtype=self.dtype)
        return low, high

    def vector_space(self) -> spaces.Box:
        """The space of one observation as a vector."""
        low, high = self._bounds()
        return spaces.Box(low, high, dtype=self.dtype)

    def stack_space(self, rows: int) -> spaces.Box:
        """The space of several observations, one per row."""
        low, high = self._bounds()
        return spaces.Box(np.tile(low, (rows, 1)), np.tile(high, (rows, 1)), dtype=self.dtype)

    def dict_space(self) -> spaces.Dict:
        """The space of one observation as a dict of named numbers."""
        return spaces.Dict(
            {
                field.name: spaces.Discrete(field.high - field.low + 1, start=field.low)
                for field in self.fields
            }
        )

    def named(self, vector: npt.NDArray[Any]) -> dict[str, np.int64]:
        """Converts a vector into a dict of named numbers."""
        return {field.name: np.int64(number) for field, number in zip(self.fields, vector)}


def check_observation(observation: str) -> None:
    """Refuses an unknown kind of observation."""
    if observation not in OBSERVATIONS:
        raise ValueError(f"observation {observation!r}: expected {' or '.join(map(repr, OBSERVATIONS))}")
