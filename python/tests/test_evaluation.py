"""Exact values of policies: against known values, against play, and in every form."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import necrodome
from necrodome.evaluation import _Observer

ROWS = npt.NDArray[np.int16]


def test_the_perfect_policy_has_no_regret() -> None:
    for rules in (
        {},
        {"out_of_dice": "recycle_brains"},
        {"first_roll": "mandatory"},
        {"out_of_dice": "recycle_brains", "first_roll": "mandatory"},
    ):
        solution = necrodome.solve("zombie-dice-solo", **rules)
        result = necrodome.evaluate(solution.policy, "zombie-dice-solo", **rules)
        assert result.value == pytest.approx(solution.value, abs=1e-12)
        assert result.regret == pytest.approx(0, abs=1e-12)
        assert result.distribution is not None
        expected = solution.tables["score_probability"]
        common = min(len(expected), len(result.distribution))
        assert np.allclose(result.distribution[:common], expected[:common], atol=1e-12)
    race = necrodome.evaluate(necrodome.solve("zombie-dice-race").policy, "zombie-dice-race")
    assert race.chance is not None and race.best_response is not None
    assert race.chance.first == pytest.approx(0.565961337740, abs=1e-12)
    assert race.value == pytest.approx(0.5, abs=1e-12) and race.best == pytest.approx(0.5, abs=1e-12)
    assert race.best_response.mean == pytest.approx(0.5, abs=1e-12)


def test_all_forms_of_a_policy_are_worth_the_same() -> None:
    def stop_at(brains: int, shotguns: int) -> bool:
        return brains < 3 and shotguns < 2

    class StopAt:
        def act(self, view: dict[str, dict[str, int]]) -> dict[str, str]:
            goes = stop_at(view["turn"]["brains"], view["turn"]["shotguns"])
            return {"type": "go" if goes else "stop"}

    class Talking(necrodome.Bot):
        def act(self, view: necrodome.View) -> tuple[str, str]:
            assert (
                self.game == "zombie-dice-solo"
                and self.options.first_roll == "free"
                and self.legal is not None
            )
            return of_view(view), "for a reason"

    def of_view(view: necrodome.View) -> str:
        return "go" if stop_at(view.turn.brains, view.turn.shotguns) else "stop"

    def of_rows(obs: ROWS) -> npt.NDArray[np.bool_]:
        assert obs.ndim == 2 and obs.shape[1] == 8
        return (obs[:, 0] < 3) & (obs[:, 1] < 2)

    results = [
        necrodome.evaluate(lambda obs: stop_at(obs[0], obs[1]), "zombie-dice-solo"),
        necrodome.evaluate(lambda obs: int(stop_at(obs[0], obs[1])), "zombie-dice-solo"),
        necrodome.evaluate(lambda obs: 1.0 if stop_at(obs[0], obs[1]) else 0.0),
        necrodome.evaluate(of_rows, vectorized=True),
        necrodome.evaluate(lambda obs: of_rows(obs).astype(np.float32), vectorized=True),
        necrodome.evaluate(lambda obs: np.where(of_rows(obs), "go", "stop"), vectorized=True),
        necrodome.evaluate(of_view, sees="view"),
        necrodome.evaluate(StopAt()),
        necrodome.evaluate(Talking()),
        necrodome.evaluate(Talking),
    ]
    for result in results:
        assert result.value == pytest.approx(results[0].value, abs=1e-12)
        assert 0 < result.regret < 0.5
    # A function of numbers is asked for all that can come up, a bot for what it comes to.
    assert results[0].states == results[3].states == 4716
    assert results[6].states == results[7].states


def test_one_roll_against_all_that_can_come_of_it() -> None:
    """One roll, valued once more from the dice up; and a coin in front of it."""
    never = necrodome.evaluate(lambda obs: 0)
    assert never.value == 0 and never.distribution is not None and never.distribution.tolist() == [1]
    # Once and no more: 13 dice, three drawn, brains on 3, 2 and 1 of 6 sides; three shotguns lose.
    once = necrodome.evaluate(lambda obs: obs[2] == 6 and obs[3] == 4 and obs[4] == 3)
    sides = [(3, 2, 1)] * 6 + [(2, 2, 2)] * 4 + [(1, 2, 3)] * 3
    scores = np.zeros(4)
    hands = list(itertools.combinations(range(13), 3))
    for hand in hands:
        for faces in itertools.product(range(3), repeat=3):
            weight = np.prod([sides[die][face] / 6 for die, face in zip(hand, faces)]) / len(hands)
            scores[faces.count(0)] += weight
    assert once.distribution is not None
    assert np.allclose(once.distribution, scores, atol=1e-12)
    assert once.value == pytest.approx(scores @ np.arange(4), abs=1e-12)
    # A coin before the first roll halves everything.
    half = necrodome.evaluate(lambda obs: 0.5 if tuple(obs[2:5]) == (6, 4, 3) else 0)
    assert half.value == pytest.approx(once.value / 2, abs=1e-12)


def test_chances_are_what_play_gives() -> None:
    """A softmax policy in the arena of dice that this test rolls itself."""

    def chance(brains: int, shotguns: int) -> float:
        return 1 / (1 + np.exp(1.5 * shotguns + brains - 3))

    exact = necrodome.evaluate(lambda obs: chance(obs[0], obs[1]))
    rng = random.Random(7)
    faces = {"g": "bbbffs", "y": "bbffss", "r": "bffsss"}
    scores = []
    for _ in range(40_000):
        cup, feet, brains, shotguns = list("ggggggyyyyrrr"), [], 0, 0
        while len(cup) + len(feet) >= 3 and rng.random() < chance(brains, shotguns):
            rng.shuffle(cup)
            hand = feet + [cup.pop() for _ in range(3 - len(feet))]
            rolled = [(die, rng.choice(faces[die])) for die in hand]
            brains += sum(face == "b" for _, face in rolled)
            shotguns += sum(face == "s" for _, face in rolled)
            feet = [die for die, face in rolled if face == "f"]
            if shotguns >= 3:
                brains = 0
                break
        scores.append(brains)
    error = np.std(scores) / np.sqrt(len(scores))
    assert abs(np.mean(scores) - exact.value) < 4 * error


def test_built_in_bots_have_names() -> None:
    greedy = necrodome.evaluate("greedy", "zombie-dice-solo")
    assert greedy.regret > 0.1
    brains_3 = necrodome.evaluate("stop-at:brains=3", "zombie-dice-solo")
    assert 0.3 < brains_3.regret and greedy.value > brains_3.value
    with pytest.raises(ValueError, match='no bot "greedyy": expected one of .*greedy.*optimal'):
        necrodome.evaluate("greedyy")
    with pytest.raises(ValueError, match="answers differently when it is asked again"):
        necrodome.evaluate("random")


def test_a_race_against_anybody() -> None:
    def bold(obs: ROWS) -> npt.NDArray[np.bool_]:
        return (obs[:, 0] < 4) & (obs[:, 1] < 2) | (obs[:, 9] > 10)

    def shy(obs: ROWS) -> npt.NDArray[np.float64]:
        return np.where(obs[:, 0] < 1, 1.0, 0.25) * (obs[:, 1] < 2)

    perfect = necrodome.evaluate(bold, "zombie-dice-race", vectorized=True)
    one = necrodome.evaluate(bold, "zombie-dice-race", opponent=shy, vectorized=True)
    other = necrodome.evaluate(shy, "zombie-dice-race", opponent=bold, vectorized=True)
    assert one.chance is not None and other.chance is not None and perfect.best_response is not None
    assert one.value + other.value == pytest.approx(1, abs=1e-12)
    assert one.chance.first + other.chance.second == pytest.approx(1, abs=1e-12)
    assert 0 < perfect.regret < perfect.best_response.mean - 0.5 + 1e-12
    # Nobody does better against shy than the best response to shy, and bold is nobody special.
    assert one.value < one.best and one.regret > 0
    optimal = necrodome.evaluate("optimal", "zombie-dice-race", opponent=bold, vectorized=True)
    assert optimal.value == pytest.approx(1 - perfect.value, abs=1e-12)


def test_recycled_dice_are_seen() -> None:
    seen: set[int] = set()

    def policy(obs: ROWS) -> npt.NDArray[np.bool_]:
        assert obs.shape[1] == 11
        assert (obs[:, 1:].sum(axis=1) == 13).all()
        seen.update(obs[:, 0].tolist())
        return obs[:, 0] < 16

    result = necrodome.evaluate(policy, vectorized=True, out_of_dice="recycle_brains")
    assert max(seen) >= 16 and result.distribution is not None
    assert result.distribution.sum() == pytest.approx(1, abs=1e-12)
    # Who never stops banks nothing in the end.
    forever = necrodome.evaluate(lambda obs: np.ones(len(obs)), vectorized=True, out_of_dice="recycle_brains")
    assert forever.value == pytest.approx(0, abs=1e-12)


def coin() -> object:
    rng = np.random.default_rng(1)
    return lambda obs: rng.random(len(obs)) < 0.5


def counting() -> object:
    asked = itertools.count()
    return lambda obs: next(asked) % 1000 < 500


@pytest.mark.parametrize(
    ("policy", "options", "error", "text"),
    [
        (
            lambda obs: "maybe",
            {},
            ValueError,
            "returned 'maybe' for brains=0, shotguns=0, cup_green=6.*'stop' or 'go'",
        ),
        (lambda obs: 2, {}, ValueError, "returned 2 for brains=0"),
        (lambda obs: None, {}, ValueError, "returned None"),
        (lambda obs: float("nan"), {}, ValueError, "returned nan"),
        (lambda obs: obs[:, 0] / 5, {"vectorized": True}, ValueError, r"returned 1\.2 for brains=6"),
        (lambda obs: obs[:5, 0] < 1, {"vectorized": True}, ValueError, r"states, .* got an array of \(5,\)"),
        (
            lambda view: {"type": "keep"},
            {"sees": "view"},
            ValueError,
            "returned {'type': 'keep'} for the view",
        ),
        (lambda obs: 1 / 0, {}, ZeroDivisionError, "division"),
        (lambda obs: 1, {"sees": "nothing"}, ValueError, "'observation' or 'view', not 'nothing'"),
        (lambda obs: 1, {"first_rol": "free"}, ValueError, "first_roll, out_of_dice"),
        (lambda obs: 1, {"opponent": "greedy"}, ValueError, "for one: leave out the opponent"),
        (lambda obs: 1, {"game": "infection"}, ValueError, "infection cannot be evaluated.*zombie-dice-race"),
        (
            lambda obs: 1,
            {"game": "tokyo"},
            ValueError,
            "returned 1 for phase=1.*expected an action from 64 to 65",
        ),
        (lambda obs: 0.5, {"game": "tokyo"}, ValueError, "the numbers of actions.*or 66 numbers for each state"),
        (lambda view: 1, {"game": "tokyo", "sees": "view"}, ValueError, "too many to show one view after"),
        (lambda obs: [2, 3], {}, ValueError, r"\[2, 3\] for brains=0.*sum to 1.*answers=\"logits\".*answers=\"q\""),
        (lambda obs: [np.nan, 0], {"answers": "logits"}, ValueError, r"\[nan, 0.0\] for brains=0"),
        (lambda obs: 1.5, {"answers": "q"}, ValueError, "a number for each of 2 actions, got one"),
        (lambda obs: [0, 1], {"answers": "actions"}, ValueError, "one number for each state, got 2"),
        (lambda obs: 0.5, {"answers": "actions"}, ValueError, "whole numbers"),
        (lambda obs: 1, {"answers": "guesses"}, ValueError, "expected one of probabilities, .*got 'guesses'"),
        (lambda obs: 1, {"tolerance": 2}, ValueError, "from 0 to 0.5, got 2"),
        (lambda obs: 1, {"vectorized": "yes"}, TypeError, "True or False, got 'yes'"),
        (None, {}, TypeError, "got None"),
        (
            coin(),
            {"vectorized": True},
            ValueError,
            "differently when it is asked again.*returns a probability",
        ),
        (counting(), {}, ValueError, "differently when it is asked again"),
        (counting(), {"sees": "view"}, ValueError, "differently when it is asked again"),
        (7, {}, TypeError, "got 7"),
    ],
)
def test_mistakes_say_what_came_for_which_state(
    policy: object, options: dict[str, str], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        necrodome.evaluate(policy, **options)  # type: ignore[arg-type]


def test_a_policy_cannot_change_what_is_asked() -> None:
    def vandal(obs: ROWS) -> bool:
        goes = bool(obs[0] < 2)
        obs[:] = 0
        return goes

    assert necrodome.evaluate(vandal).value == necrodome.evaluate(lambda obs: obs[0] < 2).value


def noisy_network(width: int, actions: int, seed: int = 3) -> Callable[[ROWS], npt.NDArray[np.float32]]:
    """A small network in single precision whose last digits depend on the size of the batch, as those of BLAS do."""
    rng = np.random.default_rng(seed)
    first = rng.normal(0, 0.3, (width, 32)).astype(np.float32)
    second = rng.normal(0, 1, (32, actions)).astype(np.float32)

    def logits(obs: ROWS) -> npt.NDArray[np.float32]:
        noise = np.float32(1e-6) * np.sin(np.arange(len(obs)) + len(obs), dtype=np.float32)
        out: npt.NDArray[np.float32] = np.tanh(obs.astype(np.float32) @ first) @ second + noise[:, np.newaxis]
        out[:, 0] -= 2 * noise
        return out

    return logits


def softmax(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    powers = np.exp(logits.astype(np.float64))
    return powers / powers.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def test_networks_are_policies_whatever_their_numbers_mean() -> None:
    network = noisy_network(8, 2)
    values = [
        necrodome.evaluate(network, vectorized=True, answers="logits").value,
        necrodome.evaluate(lambda obs: softmax(network(obs)), vectorized=True).value,
        necrodome.evaluate(
            lambda obs: softmax(network(obs)), vectorized=True, answers="probabilities"
        ).value,
        necrodome.evaluate(lambda obs: softmax(network(obs))[:, 1], vectorized=True).value,
        necrodome.evaluate(
            lambda obs: network(obs)[:, 1] - network(obs)[:, 0], vectorized=True, answers="logits"
        ).value,
        necrodome.evaluate(lambda obs: network(obs[np.newaxis])[0], answers="logits").value,
    ]
    assert np.ptp(values) < 1e-4 and 0 < values[0] < 2.25
    greedy = [
        necrodome.evaluate(network, vectorized=True, answers="q").value,
        necrodome.evaluate(lambda obs: network(obs).argmax(axis=1), vectorized=True).value,
        necrodome.evaluate(
            lambda obs: network(obs).argmax(axis=1), vectorized=True, answers="actions"
        ).value,
    ]
    assert np.ptp(greedy) < 1e-4 and abs(greedy[0] - values[0]) > 1e-3
    # The race, against itself: even, but for the rounding of both.
    twin = noisy_network(10, 2)
    race = necrodome.evaluate(
        twin, "zombie-dice-race", opponent=lambda obs: twin(obs), vectorized=True, answers="logits"
    )
    assert race.value == pytest.approx(0.5, abs=1e-4)


def test_rounding_is_forgiven_and_chance_is_not() -> None:
    def unsteady(size: float) -> Callable[[ROWS], npt.NDArray[np.float64]]:
        rng = np.random.default_rng(1)
        return lambda obs: 0.5 + rng.uniform(-size, size, len(obs))

    assert necrodome.evaluate(unsteady(4e-5), vectorized=True).value == pytest.approx(0.693053, abs=1e-3)
    with pytest.raises(ValueError, match="differently when it is asked again: first it said 0.5"):
        necrodome.evaluate(unsteady(4e-3), vectorized=True)
    assert necrodome.evaluate(unsteady(4e-3), vectorized=True, tolerance=0.01).value > 0
    with pytest.raises(ValueError, match="differently when it is asked again"):
        necrodome.evaluate(unsteady(4e-5), vectorized=True, tolerance=0)

    # Of the actions of a batch one in a thousand may change, and no more.
    def flips(share: float) -> Callable[[ROWS], npt.NDArray[np.bool_]]:
        rng = np.random.default_rng(1)
        return lambda obs: (obs[:, 0] < 3) ^ (rng.random(len(obs)) < share)

    necrodome.evaluate(flips(1e-4), vectorized=True)
    with pytest.raises(ValueError, match="differently when it is asked again"):
        necrodome.evaluate(flips(1e-2), vectorized=True)


class FakeTensor:
    """What a tensor of torch can do, as far as it is needed."""

    def __init__(self, numbers: npt.NDArray[Any]) -> None:
        self.numbers = numbers

    def to(self, device: str, dtype: Any) -> FakeTensor:
        assert device == "here"
        return FakeTensor(self.numbers.astype(dtype))

    def detach(self) -> FakeTensor:
        return self

    def cpu(self) -> FakeTensor:
        return self

    def numpy(self) -> npt.NDArray[Any]:
        return self.numbers


def test_modules_are_called_in_batches_without_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch of this test's own: the real one is tested where it is installed."""
    gradients = [True]

    @contextmanager
    def no_grad() -> Iterator[None]:
        gradients.append(False)
        yield
        gradients.pop()

    class Module:
        def __init__(self) -> None:
            self.training = True
            self.calls: list[int] = []

        def parameters(self) -> Iterator[Any]:
            yield SimpleNamespace(dtype=np.float32, device="here")

        def modules(self) -> list[Module]:
            return [self]

        def eval(self) -> None:
            self.training = False

        def __call__(self, batch: FakeTensor) -> FakeTensor:
            assert not self.training and not gradients[-1] and batch.numbers.dtype == np.float32
            self.calls.append(len(batch.numbers))
            return FakeTensor(network(batch.numbers.astype(np.int16)))

    network = noisy_network(8, 2)
    torch = SimpleNamespace(
        nn=SimpleNamespace(Module=Module), no_grad=no_grad, as_tensor=FakeTensor, float32=np.float32
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    module = Module()
    result = necrodome.evaluate(module, answers="logits")
    assert result.value == pytest.approx(
        necrodome.evaluate(network, vectorized=True, answers="logits").value, abs=1e-4
    )
    assert module.training and min(module.calls) > 1000


def test_a_table_for_two() -> None:
    def bold(obs: ROWS) -> npt.NDArray[np.bool_]:
        assert obs.shape[1] == 14 and (obs[:, 11] == 2).all()
        return (obs[:, 0] < 4) & (obs[:, 1] < 2)

    def spent(obs: ROWS) -> npt.NDArray[np.bool_]:
        # Plays as bold does for two rounds, and then rolls until it has lost its turn.
        return bold(obs) | (obs[:, 8] >= 2)

    result = necrodome.evaluate(bold, "zombie-dice", vectorized=True, progress=False)
    assert result.chance is not None and result.best_response is None and result.best == 0.5
    assert 0.3 < result.value < 0.45 and result.regret == pytest.approx(0.5 - result.value)
    # Rounds are seen: within two there is no difference between the two, in the third there is.
    values = [
        necrodome.evaluate(
            bold, "zombie-dice", opponent=spent, max_rounds=rounds, vectorized=True, progress=False
        )
        for rounds in (2, 3)
    ]
    assert values[0].value == pytest.approx(0.5, abs=1e-12) and values[1].value > 0.6
    assert np.isnan(values[0].best) and np.isnan(values[0].regret)
    # Observations and views of the same policy, in the seats of each other.
    policy = necrodome.solve("zombie-dice").policy
    even = necrodome.evaluate(policy, "zombie-dice", opponent="optimal", max_rounds=3, progress=False)
    assert even.value == pytest.approx(0.5, abs=1e-12)
    with pytest.raises(ValueError, match="max_rounds=3 is not solved"):
        necrodome.evaluate(policy, "zombie-dice", max_rounds=3)


def angry(obs: ROWS) -> npt.NDArray[np.int64]:
    """The built-in bot of this name once more."""
    health, inside = obs[:, 9], obs[:, 11] == 1
    dice, marks = obs[:, 3:9], 1 << np.arange(6)
    wants_heals = (~inside & (health <= 3))[:, np.newaxis]
    keeps = ((dice == 4) | (dice == 3) & wants_heals) @ marks
    return np.where(obs[:, 0] == 0, keeps, np.where(health <= 3, 64, 65))


def test_tokyo_for_two() -> None:
    result = necrodome.evaluate(angry, "tokyo", opponent="angry", vectorized=True, progress=False)
    assert result.chance is not None and result.best_response is not None
    assert result.value == pytest.approx(0.5, abs=1e-12) and result.states == 33_893_550
    assert result.chance.first != pytest.approx(0.5, abs=1e-3)
    assert result.best > 0.6 and result.best == pytest.approx(result.best_response.mean, abs=1e-12)


def test_only_legal_actions_count() -> None:
    solution = necrodome.solve("tokyo")
    rows = np.zeros((2, 17), np.int16)
    rows[1, 16] = 1

    def asked(numbers: npt.ArrayLike, meaning: Any) -> npt.NDArray[Any]:
        """The same numbers for both rows, where only 64 and 65 are legal."""
        every = np.full((2, 66), 9.0)
        every[:, 64:] = numbers
        if meaning == "probabilities":
            every[:, :64] = (1 - every[:, 64:].sum(axis=1, keepdims=True)) / 64
        observer = _Observer(lambda obs: every[obs[:, 16]], solution, meaning, True, 1e-4)
        return observer(rows.reshape(-1), 64, 66)

    assert asked([[1, 2], [2, 1]], "q").tolist() == [65, 64]
    assert asked([np.log(3), 0], "logits") == pytest.approx([0.75, 0.25] * 2)
    assert asked([-np.inf, 0], "logits").tolist() == [0, 1] * 2
    assert asked([0.3, 0.1], "probabilities") == pytest.approx([0.75, 0.25] * 2)
    with pytest.raises(ValueError, match="gives no legal action a chance for phase=0"):
        asked([0.0, 0.0], "probabilities")
