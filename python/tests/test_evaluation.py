"""Exact values of policies: against known values, against play, and in every form."""

import itertools
import random

import numpy as np
import numpy.typing as npt
import pytest

import necrodome

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
        (lambda obs: obs[:5, 0] < 1, {"vectorized": True}, ValueError, r"states, got an array of \(5,\)"),
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
        (lambda obs: 1, {"game": "tokyo"}, ValueError, "tokyo cannot be evaluated.*zombie-dice-race"),
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
