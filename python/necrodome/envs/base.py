"""The shared part of all environments around a referee: rules, chance, pictures, saving."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from gymnasium.utils import seeding

from .. import _native
from . import render
from .arguments import BAD_ACTIONS, checked_action, checked_seed, one_of, rules_as_json
from .spaces import check_observation

if TYPE_CHECKING:
    from typing_extensions import Self

# The value of an option of the rules.
Option: TypeAlias = str | int | float | bool | None

RENDER_MODES = ("human", "ansi", "rgb_array")


class Rendered:
    """An environment that can be drawn, by its `_shown` view."""

    game: str
    names: list[str]

    def __init__(self, render_mode: str | None) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            expected = ", ".join(map(repr, RENDER_MODES))
            raise ValueError(f"render_mode {render_mode!r}: expected one of {expected}, or None")
        self.render_mode = render_mode

    def _shown(self) -> dict[str, Any]:
        """The view that is drawn, with the seats `to_act` and the `situation` in words."""
        raise NotImplementedError

    def render(self) -> None | str | render.Image:
        """The match as text (`ansi`), as a picture (`rgb_array`), or as text on the terminal (`human`)."""
        if self.render_mode == "rgb_array":
            return render.picture(self.game, self._shown(), self.names)
        if self.render_mode == "ansi":
            return render.text(self.game, self._shown(), self.names)
        if self.render_mode == "human":
            print(render.text(self.game, self._shown(), self.names))
        return None

    def close(self) -> None:
        """Does nothing: text and pictures need no window."""


class RefereeEnv(Rendered):
    """An environment around a match. Everything random comes from the seed of `reset`.

    An illegal action is played by the game's rule for a bad action; with `bad_action="raise"` it is a `ValueError`.
    """

    def __init__(
        self,
        game: str,
        names: Sequence[str],
        rules: Mapping[str, Option],
        observation: str,
        render_mode: str | None,
        bad_action: str = "play",
    ) -> None:
        check_observation(observation)
        super().__init__(render_mode)
        self._raises = one_of("bad_action", bad_action, BAD_ACTIONS) == "raise"
        self._observation = observation
        self._options = rules_as_json(rules)
        # A first match, so that names and rules are checked at once; `reset` begins the one that is played.
        self._referee = _native.Referee(game, list(names), 0, self._options)
        self.game, self.names = self._referee.game, self._referee.names
        self._random: np.random.Generator | None = None

    @property
    def rules(self) -> dict[str, Option]:
        """All options of the rules."""
        return dict(json.loads(self._referee.rules))

    def _begin(self, seed: int | None) -> None:
        """Begins a match. One in which nobody has to decide is no episode: then this begins another."""
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(None if seed is None else checked_seed(seed))
        while True:
            match = int(self._random.integers(2**63))
            self._referee = _native.Referee(self.game, self.names, match, self._options)
            if self._referee.to_act():
                return

    def _play(self, action: Any, seat: int) -> bool:
        """Plays the action of the seat that is to act. Returns whether it was legal."""
        number = checked_action(action, self._referee.actions())
        mask = self._referee.mask(seat)
        legal = bool(mask[number])
        if legal:
            self._referee.step([number])
        elif self._raises:
            expected = ", ".join(map(str, np.flatnonzero(mask)))
            raise ValueError(f"action {number} is illegal now, expected one of {expected}")
        else:
            self._referee.apply("[null]")
        return legal

    def outcome(self) -> dict[str, Any] | None:
        """Places, scores and turns, once the match is over."""
        outcome = self._referee.outcome()
        return None if outcome is None else dict(json.loads(outcome))

    def _shown(self) -> dict[str, Any]:
        view = json.loads(self._referee.view(0))
        to_act = self._referee.to_act()
        if self._referee.open:
            shown = view
        else:
            # What is hidden from the seats can be shown only as the judge sees it.
            shown = {**json.loads(self._referee.state()), "side": view.get("side")}
        words = self._referee.situation(to_act[0] if to_act else 0)
        return {**shown, "to_act": to_act, "situation": words}

    def clone(self, *, seed: int | None = None) -> Self:
        """An independent copy that continues exactly as this one would.

        With a seed it continues with other dice, for a search that must not know the coming ones.
        """
        other = copy.deepcopy(self)
        if seed is not None:
            other._reseed(seed)
        return other

    def _reseed(self, seed: int) -> None:
        """Draws everything random from this seed from now on."""
        self._random, _ = seeding.np_random(checked_seed(seed))
        self._referee.reseed(int(self._random.integers(2**63)))

    def save(self) -> bytes:
        """The whole state, including the coming dice. Keep it from agents: it reveals the future."""
        if self._random is None:
            raise ValueError("nothing to save yet: call reset first")
        saved = {
            "referee": self._referee.save(),
            "random": self._random.bit_generator.state,
            **self._save_agents(),
        }
        return json.dumps(saved).encode()

    def restore(self, saved: bytes) -> None:
        """Restores what `save` returned for an environment of the same game, names and rules.

        A damaged save is a `ValueError`, and changes nothing.
        """
        try:
            parts = json.loads(saved)
        except ValueError as error:
            raise ValueError(f"not a saved environment: {error}") from None
        expected = {"referee", "random", *self._agent_keys()}
        if not isinstance(parts, dict) or parts.keys() != expected:
            came = ", ".join(sorted(parts)) if isinstance(parts, dict) else type(parts).__name__
            raise ValueError(
                f"not a save of this environment: expected {', '.join(sorted(expected))}, got {came}"
            )
        random = np.random.Generator(np.random.PCG64())
        try:
            random.bit_generator.state = parts["random"]
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"a saved environment: its random stream is damaged ({error})") from None
        referee = self._referee.clone()
        if not isinstance(parts["referee"], str):
            raise ValueError("a saved environment: its match is damaged")
        referee.restore(parts["referee"])
        self._restore_agents(parts, referee)
        self._referee, self._random = referee, random

    def _agent_keys(self) -> tuple[str, ...]:
        """The keys of `_save_agents`."""
        raise NotImplementedError

    def _save_agents(self) -> dict[str, Any]:
        """The environment's own state of its agents, which the referee does not have."""
        raise NotImplementedError

    def _restore_agents(self, parts: Mapping[str, Any], referee: _native.Referee) -> None:
        """Does the last step of `restore`: checks the agents' state, then takes it over."""
        raise NotImplementedError


def seat_names(names: Sequence[str] | None, count: int, kind: str) -> list[str]:
    """The given names of the seats, or `player_0` and so on."""
    return [f"{kind}_{seat}" for seat in range(count)] if names is None else list(names)
