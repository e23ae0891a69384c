"""Solved games: known values, the tables of the command line, states in every form."""

import itertools
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_binary import document, needs_binary

import necrodome

SOLO_START = [0, 0, 6, 4, 3, 0, 0, 0]
RULES = {
    "zombie-dice-solo": {"first_roll": ["free", "mandatory"], "out_of_dice": ["end_turn", "recycle_brains"]},
    "zombie-dice-race": {"out_of_dice": ["end_turn", "recycle_brains"]},
    "zombie-dice": {"tiebreak": ["one_round", "until_broken"]},
}


@pytest.mark.parametrize(
    ("game", "rules", "value"),
    [
        ("zombie-dice-solo", {}, 2.258550969971),
        ("zombie-dice-solo", {"out_of_dice": "recycle_brains"}, 2.259149860604),
        ("zombie-dice-race", {}, 0.565961337740),
        ("zombie-dice", {}, 0.466200464306),
        ("zombie-dice", {"tiebreak": "until_broken"}, 0.465629210610),
        ("tokyo", {}, 0.549538503357),
    ],
)
def test_values_are_those_of_the_documentation(game: str, rules: dict[str, str], value: float) -> None:
    solution = necrodome.solve(game, **rules)
    assert solution.value == pytest.approx(value, abs=1e-12)
    assert solution.game == game
    assert rules.items() <= solution.rules.items()
    assert solution.positions > 4000


def all_rules(game: str) -> list[dict[str, str]]:
    names = RULES[game]
    return [dict(zip(names, values)) for values in itertools.product(*names.values())]


def is_position(solution: necrodome.Solution, row: np.ndarray) -> bool:
    try:
        solution.action_values(row[np.newaxis])
    except ValueError as error:
        assert "is no position of" in str(error)
        return False
    return True


@pytest.mark.parametrize(("game", "rules"), [(game, rules) for game in RULES for rules in all_rules(game)])
def test_tables_say_the_same_as_the_policy(game: str, rules: dict[str, str]) -> None:
    """Every state of the tables that a turn comes to, as an observation: the policy is the table's, and values belong to it."""
    solution = necrodome.solve(game, **rules)
    tables = solution.tables
    states = tables["states"].astype(np.int16)
    # They are the observations of a turn, but for brains that have gone back into the cup.
    assert states.shape[1] == [name.startswith(("score", "rounds")) for name in (*solution.fields, "score")].index(True)
    recycles = solution.rules["out_of_dice"] == "recycle_brains"
    rng = np.random.default_rng(1)
    for layer, gone_back in enumerate(tables["gone_back"][:3]):
        columns = [states[:, :1] + gone_back, states[:, 1:]]
        if game == "zombie-dice-solo":
            rows, roll = np.hstack(columns), tables["roll"][layer]
        elif game == "zombie-dice-race":
            scores = rng.integers(0, 13, (len(states), 2))
            rows = np.hstack([*columns, scores])
            roll = tables["roll"][scores[:, 0], scores[:, 1], layer, np.arange(len(states))]
        else:
            scores = rng.integers(0, 13, (len(states), 2))
            second = rng.integers(0, 2, len(states))
            extra = np.zeros((len(states), 2), int)
            turn = np.column_stack([scores[:, 0], np.full(len(states), 2), scores[:, 1], 1 + 2 * second])
            rows = np.hstack([*columns, extra, turn])
            index = (scores[:, 0], scores[:, 1], layer, np.arange(len(states)))
            roll = np.where(second == 1, tables["second_roll"][index], tables["first_roll"][index])
        # No roll leaves one or two dice out of the cup, and not every number of brain dice can have gone back.
        real = np.array([is_position(solution, row) for row in rows])
        assert real.mean() > (0.98 if layer == 0 else 0.4)
        rows, roll = rows[real], roll[real]
        values = solution.action_values(rows)
        # Before a mandatory first roll there is nothing to decide.
        forced = (rows[:, 0] == 0) & (rows[:, 2:5].sum(axis=1) == 13) & (solution.rules["first_roll"] == "mandatory")
        assert values.shape == (len(rows), 2) and np.array_equal(np.isnan(values), np.outer(forced, [True, False]))
        assert np.array_equal(solution.policy(rows), roll | forced)
        values, roll = values[~forced], roll[~forced]
        # On a tie, and beyond the cap of recycling, the safe choice counts.
        better = values[:, 1] > values[:, 0]
        assert np.array_equal(roll == 1, better) or recycles and not (roll == 1)[~better].any()


def test_tables_are_arrays_that_cannot_be_written_to() -> None:
    solution = necrodome.solve("zombie-dice-race")
    assert solution.tables["value"].shape == (13, 13)
    assert solution.tables["value"][0, 0] == solution.value
    assert solution.tables["roll"].shape[:3] == (13, 13, 1)
    assert solution.tables is solution.tables
    with pytest.raises(ValueError, match="read-only"):
        solution.tables["value"][0, 0] = 1
    with pytest.raises(TypeError):
        solution.tables["value"] = solution.tables["roll"]  # type: ignore[index]
    assert set(solution.policy.tables) == {"states", "gone_back", "roll"}
    probability = necrodome.solve("zombie-dice-solo").tables["score_probability"]
    assert probability.sum() == pytest.approx(1)
    assert probability @ np.arange(len(probability)) == pytest.approx(2.258550969971, abs=1e-12)


@needs_binary
@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("zombie-dice-solo", {"out_of_dice": "recycle_brains"}),
        ("zombie-dice-race", {}),
        ("zombie-dice", {"tiebreak": "until_broken"}),
        ("tokyo", {}),
    ],
)
def test_tables_and_values_are_those_of_the_command_line(
    game: str, rules: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "policy.npz"
    options = [word for name, value in rules.items() for word in ("--set", f"{name}={value}")]
    printed = document("solve", game, *options, "--policy", str(path))
    solution = necrodome.solve(game, **rules)
    assert (printed["value"], printed["states"]) == (solution.value, solution.positions)
    assert printed["options"] == solution.rules
    with np.load(path) as written:
        assert set(written) == set(solution.tables)
        for name, table in solution.tables.items():
            assert written[name].dtype == table.dtype and np.array_equal(written[name], table)


def test_the_value_before_a_turn_is_that_of_its_best_action() -> None:
    solo = necrodome.solve("zombie-dice-solo")
    assert solo.action_values(SOLO_START).tolist() == [0, solo.value]
    race = necrodome.solve("zombie-dice-race")
    scores = np.array(list(itertools.product(range(13), repeat=2)))
    rows = np.hstack([np.tile(SOLO_START, (169, 1)), scores])
    assert np.allclose(race.action_values(rows).max(axis=1).reshape(13, 13), race.tables["value"], atol=1e-12)
    # With 12 in the bank one brain wins.
    assert race.action_values([1, 0, 5, 3, 2, 1, 1, 0, 12, 12])[0] == 1


VIEW = {
    "turn": {
        "brains": 2,
        "shotguns": 1,
        "hand": [
            {"colour": "green", "face": "brain"},
            {"colour": "yellow", "face": "footsteps"},
            {"colour": "red", "face": "shotgun"},
        ],
        "cup": {"green": 4, "yellow": 3, "red": 2},
        "brain_dice": {"green": 2, "yellow": 0, "red": 0},
    },
    "score": 7,
    "opponent_score": 9,
}


def test_a_state_can_be_a_view_names_or_numbers() -> None:
    race = necrodome.solve("zombie-dice-race")
    numbers = [2, 1, 4, 3, 2, 0, 1, 0, 7, 9]
    named = dict(zip(race.fields, numbers))
    assert race.observation(VIEW).tolist() == numbers
    values = race.action_values(VIEW)
    assert values.shape == (2,) and values.dtype == np.float64
    forms = [named, numbers, np.array(numbers, np.uint8), tuple(numbers)]
    for form in forms:
        assert race.action_values(form).tolist() == values.tolist()
        assert race.policy(form) == race.policy(VIEW) == int(values[1] > values[0])
    assert race.policy.act(VIEW) == {"type": ["stop", "go"][race.policy(VIEW)]}
    batch = race.action_values(np.array([numbers, numbers, [0, 0, 6, 4, 3, 0, 0, 0, 0, 0]]))
    assert batch.shape == (3, 2) and batch[1].tolist() == values.tolist()
    assert race.action_values(np.empty((0, 10), np.int16)).shape == (0, 2)
    # Columns first, as vector environments keep them.
    fortran = np.asfortranarray(np.tile(np.array(numbers, np.int16), (5, 1)))
    assert race.policy(fortran).tolist() == [race.policy(VIEW)] * 5


def test_where_nothing_can_be_decided_there_is_no_value() -> None:
    solo = necrodome.solve("zombie-dice-solo")
    busted, out_of_dice = [1, 3, 4, 3, 2, 0, 0, 0], [10, 2, 0, 0, 0, 1, 0, 0]
    values = solo.action_values([SOLO_START, busted, out_of_dice])
    assert np.isnan(values).tolist() == [[False, False], [True, True], [True, True]]
    assert solo.policy([SOLO_START, busted, out_of_dice]).tolist() == [1, 0, 0]
    race = necrodome.solve("zombie-dice-race")
    assert np.isnan(race.action_values([*SOLO_START, 13, 5])).all()


def test_tokyo_values_every_way_to_keep() -> None:
    tokyo = necrodome.solve("tokyo")
    fresh = [10, 0]
    rolling = [0, 2, 0, 0, 0, 2, 2, 2, 4, *fresh, 0, 1, *fresh, 0, 0]
    values = tokyo.action_values(rolling)
    assert values.shape == (66,) and np.isnan(values[64:]).all() and not np.isnan(values[:64]).any()
    # The ones are alike: which of them is kept makes no difference.
    assert values[0b000001] == values[0b000010] != values[0b000100]
    best = tokyo.policy(rolling)
    assert values[best] == pytest.approx(np.nanmax(values), abs=1e-12)
    # The first turn of the match: on average over all rolls the best is the value of the match.
    rolls = np.array(list(itertools.product(range(5), repeat=6)))
    rows = np.hstack([np.tile([0, 2, 0], (len(rolls), 1)), rolls, np.tile(rolling[9:], (len(rolls), 1))])
    mean = np.nanmax(tokyo.action_values(rows), axis=1).mean()
    assert mean == pytest.approx(tokyo.value, abs=1e-12)
    yielding = [1, 0, 3, 0, 0, 0, 0, 0, 4, 3, 5, 1, 0, 9, 5, 0, 1]
    leave, stay = tokyo.action_values(yielding)[64:]
    assert np.isnan(tokyo.action_values(yielding)[:64]).all()
    assert tokyo.policy(yielding) == (64 if leave > stay else 65)
    # By the table: own points, the attacker's, own health - 1, the attacker's - 1.
    assert tokyo.tables["leave"][5, 5, 2, 8] == (leave > stay)
    assert np.isnan(tokyo.action_values([2, *yielding[1:]])).all()


def table(scores: tuple[int, int], turn: str, tiebreak: int = 0) -> list[int]:
    """The start of a turn at a table for two."""
    own, other = scores
    return [*SOLO_START, 3, tiebreak, own, 2, other, {"first": 1, "second": 3}[turn]]


def test_a_table_knows_whose_turn_it_is() -> None:
    solution = necrodome.solve("zombie-dice", first_roll="free")
    tables = solution.tables
    cases = [
        (table((3, 4), "first"), tables["first_value"][3, 4]),
        (table((3, 4), "second"), tables["second_value"][3, 4]),
        (table((11, 14), "second"), tables["chase_value"][3]),
        (table((14, 14), "first", 1), tables["tiebreak_first_value"]),
        (table((14, 16), "second", 1), tables["tiebreak_second_value"][2]),
    ]
    for row, value in cases:
        assert solution.action_values(row).max() == pytest.approx(float(value), abs=1e-12)
    waiting = [*SOLO_START, 3, 0, 5, 1, 5, 2]
    assert np.isnan(solution.action_values(waiting)).all()
    view = {
        **VIEW,
        "seat": 1,
        "scores": [4, 3],
        "playing": [0, 1],
        "played": 1,
        "rounds": 2,
        "tiebreak": False,
    }
    del view["score"], view["opponent_score"]
    assert solution.observation(view).tolist()[8:] == [2, 0, 3, 2, 4, 3]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: necrodome.solve("zombie-dice-race", out_of_dyce="x"),
            ValueError,
            "first_roll, max_rounds, out_of_dice",
        ),
        (
            lambda: necrodome.solve("zombie-dice-race", out_of_dice="x"),
            ValueError,
            "end_turn or recycle_brains",
        ),
        (lambda: necrodome.solve("zombie-dice-race", max_rounds=10), ValueError, "200 and more"),
        (lambda: necrodome.solve("tokio"), ValueError, "zombie-dice-solo.*tokyo"),
        (lambda: necrodome.solve("last-bullet"), ValueError, "last-bullet is not solved"),
        (lambda: necrodome.solve("infection"), ValueError, "infection is not solved"),
        (lambda: necrodome.solve("tokyo", seats=3), ValueError, "for two seats, not for 3"),
        (lambda: necrodome.solve("zombie-dice-race", seats=3), ValueError, "is for 2 seats, not for 3"),
        (lambda: necrodome.solve("zombie-dice-solo", out_of_dice=b"x"), TypeError, "bytes"),  # type: ignore[arg-type]
        (lambda: solo().action_values([1, 2, 3]), ValueError, "8 numbers.*brains.*not 3"),
        (lambda: solo().action_values([0.5] * 8), TypeError, "float64"),
        (lambda: solo().action_values([[[0]]]), ValueError, "3 dimensions"),
        (
            lambda: solo().action_values([[*SOLO_START], [1, *SOLO_START[1:]]]),
            ValueError,
            "row 1 .* 14 dice.*brains=1",
        ),
        (lambda: solo().action_values([0, 0, 7, 4, 2, 0, 0, 0]), ValueError, "7 dice of a colour that has 6"),
        (lambda: solo().action_values([70000, *SOLO_START[1:]]), ValueError, "16 bits, got 70000"),
        (lambda: solo().action_values({"brains": 1}), ValueError, "shotguns.*missing"),
        (
            lambda: solo().action_values({**dict(zip(solo().fields, SOLO_START)), "brain": 1}),
            ValueError,
            "no brain",
        ),
        (lambda: solo().policy.act({"turn": 3}), ValueError, "no view of zombie-dice-solo"),
        (lambda: necrodome.solve("tokyo").policy([9] * 17), ValueError, "row 0"),
    ],
)
def test_mistakes_say_what_was_expected(make: object, error: type[Exception], text: str) -> None:
    assert callable(make)
    with pytest.raises(error, match=text):
        make()


def solo() -> necrodome.Solution:
    return necrodome.solve("zombie-dice-solo")


def test_other_threads_go_on_while_values_are_looked_up() -> None:
    """The interpreter is free: another thread counts on during one long call."""
    race = necrodome.solve("zombie-dice-race")
    rows = np.tile(np.array([*SOLO_START, 3, 4], np.int16), (2_000_000, 1))
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    race._native.action_values(rows)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert any(start + 0.1 * (end - start) < at < end - 0.1 * (end - start) for at in ticks)


def test_solutions_and_policies_can_be_sent_to_other_processes() -> None:
    race = necrodome.solve("zombie-dice-race", out_of_dice="recycle_brains", max_rounds=None)
    assert race.tables
    sent = pickle.loads(pickle.dumps([race, race.policy]))
    assert sent[0].value == race.value and sent[0].rules == race.rules
    assert sent[1](race.observation({**VIEW})) == race.policy(VIEW)
    assert len(pickle.dumps(race)) < 1000
    assert repr(race) == f"<zombie-dice-race solved: value 0.565681, {race.positions} positions>"


def test_importing_is_light() -> None:
    code = "import sys, necrodome; print({'numpy', 'gymnasium'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
    assert {"solve", "analyze", "evaluate"} <= set(dir(necrodome))
    with pytest.raises(AttributeError, match="no attribute 'solv'"):
        necrodome.solv  # noqa: B018


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_the_perfect_player_scores_its_value_in_a_vector_environment(mode: str) -> None:
    for rules in ({}, {"out_of_dice": "recycle_brains"}):
        solution = necrodome.solve("zombie-dice-solo", **rules)
        envs = necrodome.make_vec("zombie-dice-solo", 2048, seed=1, autoreset_mode=mode, **rules)
        obs, _ = envs.reset()
        # The first twenty turns of each row: those that are cut off at the end would be the long ones.
        score, turns, first = np.zeros(2048), np.zeros(2048, int), 20
        while turns.min() < first:
            counts = turns < first
            obs, rewards, terminated, _, _ = envs.step(solution.policy(obs))
            score += rewards * counts
            turns += terminated
        # A turn scores 2.26 +- 1.9.
        assert abs(score.mean() / first - solution.value) < 4 * 2 / np.sqrt(first * 2048)


@pytest.mark.parametrize("game", ["zombie-dice-race", "zombie-dice", "tokyo"])
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_every_row_of_a_vector_environment_has_its_value(game: str, mode: str) -> None:
    solution = necrodome.solve(game)
    envs = necrodome.make_vec(game, 64, seed=1, players=2, autoreset_mode=mode)
    rng = np.random.default_rng(1)
    obs, _ = envs.reset()
    ended = np.zeros(64, bool)
    for _ in range(150):
        masks, values, best = envs.action_masks(), solution.action_values(obs), solution.policy(obs)
        live = ~ended if mode == "next_step" else np.ones(64, bool)
        assert np.array_equal(np.isfinite(values[live]), masks[live])
        assert (values[live] >= 0).sum() == masks[live].sum() and not (values[live] > 1).any()
        assert np.allclose(np.nanmax(values[live], axis=1), values[live, best[live]], atol=1e-12)
        # Half of the rows play on perfectly, the others anyhow.
        anyhow = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        obs, _, ended, _, _ = envs.step(np.where(np.arange(64) < 32, best, anyhow))
        ended = ended.copy()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: necrodome.solve(7), TypeError, "game: expected the id of a game.*got 7"),
        (lambda: necrodome.solve("tokyo", seats=1.5), TypeError, "seats: expected a whole number, got 1.5"),
        (lambda: necrodome.solve("tokyo", seats=True), TypeError, "seats: expected a whole number, got True"),
        (lambda: necrodome.solve("tokyo", seats=-1), ValueError, "seats: expected at least 1, got -1"),
        (lambda: necrodome.solve("zombie-dice-solo").policy(None), TypeError, "expected a state .*got None"),
        (lambda: necrodome.solve("zombie-dice-solo").action_values("abc"), TypeError, "got 'abc'"),
        (lambda: necrodome.solve("zombie-dice-solo").action_values([]), ValueError, "got an empty list"),
        (lambda: necrodome.solve("zombie-dice-solo").action_values([[1], [1, 2]]), ValueError, "these rows differ"),
        (lambda: necrodome.solve("zombie-dice-solo").policy.act("x"), TypeError, "expected a view.*got 'x'"),
        (
            lambda: necrodome.solve("zombie-dice-solo").policy.act({"turn": np.int16(1)}),
            TypeError,
            "expected a view of plain numbers.*int16",
        ),
    ],
)
def test_wrong_arguments_are_told_in_words(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
