"""OpenSpiel: Zombie Dice as games with explicit chance nodes. Importing this module registers them.

>>> import pyspiel
>>> import necrodome.adapters.openspiel
>>> game = pyspiel.load_game("necrodome_zombie_dice_race(out_of_dice=recycle_brains)")
>>> state = game.new_initial_state()
>>> state.apply_action(1)
>>> state.is_chance_node(), len(state.chance_outcomes())
(True, 80)

`necrodome_zombie_dice_solo` is one turn, `necrodome_zombie_dice_race` a race of two.
The options of the rules are parameters. The referee lists the results of a roll, with exact probabilities. Positions that
look the same to everybody are equal: the text of a state does not say how many rounds have been played.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyspiel

from .. import _native
from ..envs.spaces import Layout

__all__ = ["ArenaGame", "ArenaState", "RaceGame", "SoloGame"]

# Three dice of nine kinds, a colour and a face each: more different rolls there are not.
_ROLLS = 165
_LONGEST = 1_000_000


class _Chance(NamedTuple):
    """A chance node: the positions that can follow, and a name for its origin. It never changes, so it is its own copy."""

    outcomes: list[tuple[_native.Position, float]]
    after: str

    def __deepcopy__(self, memo: Any) -> _Chance:
        return self


class ArenaGame(pyspiel.Game):
    """A game of the arena in OpenSpiel."""

    # The id of the game, its type, and its utilities: least, most and sum.
    arena: tuple[str, Any, tuple[float | None, float | None, float | None]]

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = dict(params or {})
        game, kind, (least, most, total) = self.arena
        seats = kind.max_num_players
        options = json.dumps(params)
        self.layout = Layout.from_json(
            _native.Referee(game, [f"player_{seat}" for seat in range(seats)], 0, options).fields()
        )
        self.starts = _Chance(_native.Position.starts(game, seats, options), "start")
        info = pyspiel.GameInfo(
            num_distinct_actions=2,
            max_chance_outcomes=_ROLLS,
            num_players=seats,
            min_utility=least,
            max_utility=float(self.layout.fields[0].high) if most is None else most,
            utility_sum=total,
            max_game_length=_LONGEST,
        )
        super().__init__(kind, info, params)

    def new_initial_state(self, text: str | None = None) -> ArenaState:
        """The start of a match."""
        return ArenaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
        """Makes an observer: it returns what a player sees, as numbers."""
        if params:
            raise ValueError(f"expected no parameters of observations, got {params}")
        return _Observer(self.layout)


class ArenaState(pyspiel.State):
    """A position: a decision, the end, or a chance node, which is a roll whose dice have not fallen yet."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self._chance: _Chance | None = None
        self.position = game.starts.outcomes[0][0]
        self._follow(game.starts)

    def _follow(self, chance: _Chance) -> None:
        """Moves on to the next state: a chance node, or the only position that can follow."""
        if len(chance.outcomes) > 1:
            self._chance = chance
        else:
            self._chance, self.position = None, chance.outcomes[0][0]

    def current_player(self) -> int:
        """The player to act: a seat, chance, or nobody."""
        if self._chance is not None:
            return int(pyspiel.PlayerId.CHANCE)
        seat = self.position.to_act()
        return int(pyspiel.PlayerId.TERMINAL) if seat is None else seat

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The ways in which the dice can fall, by number, with their probabilities."""
        assert self._chance is not None
        return [(number, probability) for number, (_, probability) in enumerate(self._chance.outcomes)]

    def _apply_action(self, action: int) -> None:
        if self._chance is not None:
            self.position, self._chance = self._chance.outcomes[action][0], None
        else:
            after = f"{self.position.key()} {action}"
            self._follow(_Chance(self.position.after(action), after))

    def _action_to_string(self, player: int, action: int) -> str:
        if self._chance is not None and player == pyspiel.PlayerId.CHANCE:
            position = self._chance.outcomes[action][0]
            # Some look the same in words: the number tells them apart.
            return f"{action}: {position.situation(position.to_act() or 0)}"
        return ("stop", "go")[action]

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return self._chance is None and self.position.to_act() is None

    def returns(self) -> list[float]:
        """The return of each player: 0 before the end."""
        over = self.is_terminal()
        return [float(got) if over else 0.0 for got in self.position.returns()]

    def __str__(self) -> str:
        return self.position.key() if self._chance is None else self._chance.after


class _Observer:
    """An observation, in the form that OpenSpiel asks for."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.tensor = np.zeros(len(layout), np.float32)
        self.dict: dict[str, npt.NDArray[np.float32]] = {"observation": self.tensor}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Fills the tensor with what a player sees."""
        self.tensor[:] = state.position.observe(player)

    def string_from(self, state: ArenaState, player: int) -> str:
        """What a player sees, by name."""
        numbers = self._layout.named(state.position.observe(player))
        return " ".join(f"{name}={number}" for name, number in numbers.items())


def _register(
    name: str, game: str, title: str, players: int, utilities: tuple[Any, Any, Any]
) -> type[ArenaGame]:
    seats = [f"player_{seat}" for seat in range(players)]
    rules = json.loads(_native.Referee(game, seats, 0).rules)
    # OpenSpiel's parameters have a type each, so that an option which is off by default can't be one.
    options = {name: value for name, value in rules.items() if isinstance(value, (str, int, bool))}
    utility = pyspiel.GameType.Utility
    kind = pyspiel.GameType(
        short_name="necrodome_" + game.replace("-", "_"),
        long_name=title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=utility.GENERAL_SUM if utilities[2] is None else utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=players,
        min_num_players=players,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=options,
    )
    # Under its own name in this module, or it could not be pickled.
    made = type(name, (ArenaGame,), {"arena": (game, kind, utilities), "__module__": __name__})
    pyspiel.register_game(kind, made)
    return made


SoloGame = _register("SoloGame", "zombie-dice-solo", "Zombie Dice, one turn", 1, (0.0, None, None))
RaceGame = _register("RaceGame", "zombie-dice-race", "Zombie Dice, race of two", 2, (-10.0, 10.0, 0.0))
