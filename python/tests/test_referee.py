"""The native referee under the environments: any game, by numbers or as JSON."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from necrodome._native import Referee

GAMES = {
    "zombie-dice": 3,
    "zombie-dice-solo": 1,
    "zombie-dice-race": 2,
    "last-bullet": 2,
    "infection": 5,
    "tokyo": 4,
}
OPTIONS = {"last-bullet": '{"copies": 8, "max_turns": 30}'}
# Bots that toss coins; most games call theirs "random".
BOTS = {"last-bullet": "wander"}
games = pytest.mark.parametrize("game", GAMES)


def begin(game: str, seed: int = 1) -> Referee:
    return Referee(game, [f"p{seat}" for seat in range(GAMES[game])], seed, OPTIONS.get(game, "{}"))


def actions(referee: Referee, random: np.random.Generator) -> list[int]:
    """A legal action for each decision."""
    rows = [np.atleast_2d(referee.mask(seat)) for seat in referee.to_act()]
    return [int(random.choice(np.flatnonzero(row))) for mask in rows for row in mask]


@games
def test_a_match_is_the_same_from_any_of_its_copies(game: str) -> None:
    referee, random = begin(game), np.random.default_rng(1)
    fields = json.loads(referee.fields())
    steps = 0
    while referee.to_act():
        saved = referee.save()
        twins = [
            referee.clone(),
            copy.copy(referee),
            pickle.loads(pickle.dumps(referee)),
            Referee.load(saved),
        ]
        chosen = actions(referee, random)
        referee.step(chosen)
        for twin in twins:
            twin.step(chosen)
            assert twin.save() == referee.save() and twin.events() == referee.events()
            assert twin.rewards() == referee.rewards()
        for seat in range(GAMES[game]):
            numbers = np.atleast_2d(referee.observe(seat))
            assert numbers.shape == (len(referee.decisions(seat)), len(fields)) or numbers.size == 0
            assert referee.mask(seat).any() == (seat in referee.to_act())
        steps += 1
    outcome = referee.outcome()
    assert outcome is not None and len(json.loads(outcome)["places"]) == GAMES[game]
    with pytest.raises(ValueError, match="the match is over"):
        referee.step([0])
    assert steps > 0


@games
def test_bots_and_forfeits_are_played_as_json(game: str) -> None:
    """Every game has a bot that tosses coins, and a rule for an action that did not come."""
    referee = begin(game)
    for step in range(30):
        if not referee.to_act():
            break
        played = [referee.bot_action(BOTS.get(game, "random"), seat, step) for seat in referee.to_act()]
        referee.apply(f"[{', '.join(played)}]")
    if referee.to_act():
        referee.apply(json.dumps([None] * len(referee.to_act())))


def test_json_and_numbers_name_the_same_actions() -> None:
    one, other = begin("tokyo"), begin("tokyo")
    one.step([0b100110])
    other.apply('[{"type": "keep", "dice": [false, true, true, false, false, true]}]')
    assert one.save() == other.save()


def test_events_are_told_to_those_who_may_hear_them() -> None:
    referee = begin("infection")
    told = [json.loads(referee.events(seat)) for seat in range(5)]
    everything = json.loads(referee.events())
    assert sum(event["type"] == "told" for event in everything) == 5
    for seat, events in enumerate(told):
        assert [event["seat"] for event in events if event["type"] == "told"] == [seat]


def test_the_seed_decides() -> None:
    assert begin("tokyo", 1).save() == begin("tokyo", 1).save() != begin("tokyo", 2).save()


def test_mistakes_say_what_was_expected_and_change_nothing() -> None:
    referee = begin("tokyo")
    before = referee.save()
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: referee.step([64]), "seat 0: expected which dice to keep"),
        (lambda: referee.step([66]), "there is no action 66: expected a number from 0 to 65"),
        (lambda: referee.step([-1]), "there is no action -1"),
        (lambda: referee.step([1, 2]), r"expected an action for each decision \(1\), got 2"),
        (lambda: referee.step([]), r"expected an action for each decision \(1\), got 0"),
        (lambda: referee.apply("[]"), "1 seats are to act, but 0 moves came"),
        (lambda: referee.apply('[{"type": "kep"}]'), 'expected one of "keep", "yield", "stay"'),
        (lambda: referee.view(4), "there is no seat 4: expected a number from 0 to 3"),
        (lambda: referee.bot_action("random", 1, 0), "seat 1 is not to act"),
        (lambda: referee.bot_action("nobody", 0, 0), "expected one of random, angry, point-hunter"),
        (
            lambda: referee.restore(begin("zombie-dice").save()),
            "a saved match of zombie-dice: expected one of tokyo",
        ),
        (lambda: referee.restore("{}"), "not a saved match: missing field `game`"),
        (lambda: referee.restore(before.replace('"p0"', '"q0"')), "a saved match of q0, p1, p2, p3"),
        (lambda: referee.restore(before.replace('"health":10', '"health":11', 1)), "more than full health"),
        (lambda: Referee("tokio", ["a", "b"], 1), 'there is no game "tokio": expected one of zombie-dice,'),
        (lambda: Referee("tokyo", ["a"], 1), "expected 2 to 6 players, got 1"),
        (
            lambda: Referee("tokyo", ["a", "b"], 1, '{"max_turns": 0}'),
            "a whole number from 1 to 1000000, or none",
        ),
        (lambda: Referee("tokyo", ["a", "b"], 1, "[]"), "expected options as a JSON object"),
    ]
    for bad, message in cases:
        with pytest.raises(ValueError, match=message):
            bad()
        assert referee.save() == before


def test_a_save_that_contradicts_itself_is_refused() -> None:
    saved = json.loads(begin("infection").save())
    saved["state"]["announced"]["humans"] -= 1
    with pytest.raises(ValueError, match="was announced, but it is"):
        Referee.load(json.dumps(saved))
