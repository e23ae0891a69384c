"""A learner against opponents: win rates that are known exactly, the same matches whoever the opponent is given as, pools."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import necrodome
from necrodome.envs.versus import VersusEnv
from necrodome.opponents import Pool, win_rate

RACE = "zombie-dice-race"
MODES = ["next_step", "same_step", "disabled"]


def greedy(observations: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The built-in bot of this name."""
    return np.asarray(observations[:, 1] < 2, dtype=np.int64)


class Greedy(necrodome.Bot):
    def act(self, view: Any) -> str:
        assert len(self.legal or []) == 2
        return "stop" if view.turn.shotguns >= 2 else "go"


PROGRAM = """
import necrodome

class Greedy(necrodome.Bot):
    def act(self, view):
        return "stop" if view.turn.shotguns >= 2 else "go"

necrodome.run(Greedy)
"""


def story(envs: Any, steps: int, seed: int = 0) -> list[Any]:
    """All that some steps give."""
    random = np.random.default_rng(seed)
    observations, infos = envs.reset()
    told: list[Any] = [(observations, infos["action_mask"])]
    for _ in range(steps):
        actions = random.integers(envs.single_action_space.n, size=envs.num_envs)
        observations, rewards, over, _, infos = envs.step(actions)
        told.append((observations, rewards, over, infos.get("final_rewards"), infos.get("final_obs")))
        told.append(infos["action_mask"])
    return told


def same(one: list[Any], other: list[Any]) -> None:
    for left, right in zip(one, other):
        for a, b in zip(left, right) if isinstance(left, tuple) else [(left, right)]:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("opponent", ["optimal", "stop-at:brains=5"])
def test_the_chance_to_win_is_the_exact_one(seat: int, opponent: str) -> None:
    """Rewards are the learner's, wins and losses alike, and its opponent plays as it should."""
    against: Any = None if opponent == "optimal" else (lambda seen: seen[:, 0] < 5)
    exact = necrodome.evaluate(greedy, RACE, opponent=against, vectorized=True).chance
    assert exact is not None
    expected = exact.first if seat == 0 else exact.second
    matches = 20_000
    rate = win_rate(RACE, greedy, opponent, matches=matches, num_envs=1000, seed=5, seat=seat)
    assert abs(rate - expected) < 4 * (expected * (1 - expected) / matches) ** 0.5


def test_statistics_see_wins_and_losses() -> None:
    envs = RecordEpisodeStatistics(necrodome.make_vec(RACE, 64, seed=1, opponent="greedy", seat="rotate"))
    observations, _ = envs.reset()
    returns: list[float] = []
    for _ in range(400):
        observations, rewards, over, _, infos = envs.step(greedy(observations))
        if "episode" in infos:
            returns.extend(infos["episode"]["r"][infos["_episode"]])
            ended = infos["_final_rewards"]
            np.testing.assert_array_equal(ended, over)
            seats = infos["final_rewards"][ended]
            assert (seats.sum(axis=1) == 0).all() and (np.abs(seats) == 10).all()
    assert set(returns) == {-10.0, 10.0} and len(returns) > 500
    assert abs(np.mean(returns)) < 2, "two of a kind win equally often"


@pytest.mark.parametrize("mode", MODES)
def test_it_makes_no_difference_what_an_opponent_is_given_as(mode: str, tmp_path: Path) -> None:
    program = tmp_path / "greedy.py"
    program.write_text(PROGRAM)
    options: dict[str, Any] = {"seed": 3, "autoreset_mode": mode, "seat": "rotate"}
    expected = story(necrodome.make_vec(RACE, 70, opponent="greedy", **options), 60)
    given: list[Any] = [greedy, Greedy, Greedy(), Pool([greedy]), Pool(["greedy"])]
    for opponent in given:
        same(story(necrodome.make_vec(RACE, 70, opponent=opponent, **options), 60), expected)
    few = story(necrodome.make_vec(RACE, 5, opponent="greedy", **options), 20)
    same(story(necrodome.make_vec(RACE, 5, opponent=str(program), **options), 20), few)


def test_the_perfect_player_is_its_policy() -> None:
    for game in [RACE, "zombie-dice", "tokyo"]:
        options: dict[str, Any] = {"seed": 4, "seat": 1, "autoreset_mode": "same_step"}
        inside = story(necrodome.make_vec(game, 40, opponent="optimal", **options), 30)
        policy = necrodome.solve(game, seats=2).policy
        same(story(necrodome.make_vec(game, 40, opponent=policy, **options), 30), inside)


def test_a_function_that_takes_masks_is_given_them() -> None:
    def first_legal(observations: Any, action_mask: Any) -> Any:
        assert action_mask.shape == (len(observations), 66) and action_mask.any(axis=1).all()
        return action_mask.argmax(axis=1)

    envs = necrodome.make_vec("tokyo", 20, players=3, seed=1, opponents=[first_legal, "angry"])
    told = story(envs, 200)
    assert any(np.any(step[2]) for step in told[1::2])


def test_rows_do_not_depend_on_their_number_nor_on_threads() -> None:
    def play(rows: int, threads: int) -> list[Any]:
        envs = necrodome.make_vec("tokyo", rows, seed=9, opponent="random", seat="rotate", threads=threads)
        random = np.random.default_rng(1)
        told = [envs.reset()[0][:30].copy()]
        for _ in range(150):
            actions = random.integers(66, size=200)[:rows]
            observations, rewards, over, *_ = envs.step(actions)
            told += [observations[:30], rewards[:30], over[:30]]
        return told

    expected = play(200, 1)
    for rows, threads in [(30, 1), (200, 3)]:
        for one, other in zip(play(rows, threads), expected):
            np.testing.assert_array_equal(one, other)


def test_saved_environments_go_on() -> None:
    envs = necrodome.make_vec(RACE, 30, seed=2, opponent="random", seat="rotate")
    envs.reset()
    actions = np.ones(30, dtype=np.int64)
    for _ in range(10):
        envs.step(actions)
    copies = [envs.clone(), pickle.loads(pickle.dumps(envs))]
    for _ in range(40):
        expected = envs.step(actions)
        for other in copies:
            for one, same_one in zip(other.step(actions)[:4], expected[:4]):
                np.testing.assert_array_equal(one, same_one)


def test_what_an_opponent_raises_is_raised() -> None:
    def broken(observations: Any) -> Any:
        raise RuntimeError("no idea")

    envs = necrodome.make_vec(RACE, 4, seed=1, opponent=broken)
    envs.reset()
    with pytest.raises(RuntimeError, match="no idea"):
        envs.step([0, 0, 0, 0])
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step([0, 0, 0, 0])


@pytest.mark.parametrize("make", [lambda: greedy, lambda: Greedy(), lambda: Pool([greedy, "greedy"])])
def test_one_environment_takes_them_all(make: Callable[[], Any]) -> None:
    expected = VersusEnv(RACE, opponent="greedy", seat=1)
    env = gymnasium.make("necrodome/ZombieDiceRace-v0", opponent=make(), seat=1)
    wins = 0
    for seed in range(30):
        seen, other = env.reset(seed=seed)[0], expected.reset(seed=seed)[0]
        over = False
        while not over:
            np.testing.assert_array_equal(seen, other)
            action = int(seen[1] < 1)
            seen, reward, over, _, _ = env.step(action)
            other, same_reward, *_ = expected.step(action)
            assert reward == same_reward
        wins += float(reward) > 0
    assert 0 < wins < 30


def test_a_program_sits_in_one_environment(tmp_path: Path) -> None:
    program = tmp_path / "greedy.py"
    program.write_text(PROGRAM)
    env, expected = (VersusEnv(RACE, opponent=one) for one in (str(program), "greedy"))
    for seed in range(3):
        np.testing.assert_array_equal(env.reset(seed=seed)[0], expected.reset(seed=seed)[0])
        over = False
        while not over:
            one, other = env.step(0), expected.step(0)
            np.testing.assert_array_equal(one[0], other[0])
            over = one[2]


def test_ratings_come_to_the_order_of_strength() -> None:
    names = ["random", "cautious", "stop-at:brains=5", "optimal"]
    pool = Pool(names, seed=1, step=8)
    policy = necrodome.solve(RACE).policy
    envs = necrodome.make_vec(RACE, 256, seed=1, opponent=pool, seat="rotate")
    observations, _ = envs.reset()
    told: set[str] = set()
    for _ in range(250):
        observations, *_, infos = envs.step(policy(observations))
        if "opponent" in infos:
            told.update(infos["opponent"][infos["_opponent"]])
    table = pool.table()
    assert table[-1]["name"] == "random" and sum(member.matches for member in pool.members) > 1000
    assert told == {*names}
    elo = {row["name"]: row["elo"] for row in table}
    chances = {"random": necrodome.evaluate(lambda seen: np.full(len(seen), 0.5), RACE, vectorized=True).value}
    chances |= {name: necrodome.evaluate(name, RACE).value for name in ("cautious", "optimal")}
    # By their exact chances against the perfect player, which the learner is.
    strength = sorted(("random", "cautious", "optimal"), key=lambda name: chances[name])
    assert [elo[name] for name in strength] == sorted(elo[name] for name in strength)
    assert elo["learner"] > elo["random"] + 100
    assert abs(elo["optimal"] - elo["learner"]) < 60, "it meets itself"
    assert abs(sum(elo.values())) < 1e-6, "what one gains another loses"


def test_hard_opponents_are_drawn_more_often() -> None:
    pool = Pool({"weak": greedy, "strong": greedy}, sampling="hard", seed=1)
    weak, strong = pool.members
    for _ in range(20):
        pool.record(weak, 1.0)
        pool.record(strong, 0.0)
    assert pool.weights()[1] > 0.99 and weak.elo < 0 < strong.elo
    pool.add(greedy, "copy")
    assert pool.members[-1].elo == pool.elo
    small = Pool([greedy, greedy], most=2)
    small.add(greedy, "new")
    assert [member.name for member in small.members] == ["self 1", "new"]


def test_infection_is_a_vector_environment() -> None:
    envs = necrodome.make_vec("infection", 40, players=5, seed=1, opponents=["careful", "spreader", "random", "careful"])
    told = story(envs, 300)
    ended = [step for step in told[1::2] if np.any(step[2])]
    assert ended and all((np.abs(step[3][step[2]].sum(axis=1)) < 1e-5).all() for step in ended)
    alone = necrodome.make_vec("infection", 8, players=18, seed=1)
    assert alone.reset()[0].shape == (8, 28)
    with pytest.raises(ValueError, match="expected 2 to 18 players, got 19"):
        necrodome.make_vec("infection", 8, players=19)


def test_wrong_arguments_are_refused_with_what_is_valid() -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: necrodome.make_vec(RACE, opponent="gredy"), 'no bot "gredy": expected one of random, .*optimal'),
        (lambda: necrodome.make_vec(RACE, opponent="./none.py"), "there is no such file"),
        (lambda: necrodome.make_vec(RACE, opponent="greedy", seat=2), "seat 2: expected a whole number from 0 to 1"),
        (lambda: necrodome.make_vec(RACE, opponent="greedy", seat="all"), "expected a number, or 'rotate'"),
        (lambda: necrodome.make_vec(RACE, seat=1), "only with opponent or opponents"),
        (lambda: necrodome.make_vec(RACE, opponent="greedy", opponents=["greedy"]), "got both"),
        (lambda: necrodome.make_vec("tokyo", players=4, opponents=["angry"]), "players 4: expected 2"),
        (lambda: necrodome.make_vec("zombie-dice-solo", opponent="greedy"), "is for one: leave out opponent"),
        (lambda: necrodome.make_vec("last-bullet", opponent="random"), 'no bot "random": expected one of stand-still'),
        (lambda: necrodome.make_vec("last-bullet", opponent="gunner", reward="exact"), "last-bullet is not solved"),
        (lambda: necrodome.make_vec("last-bullet", opponent="gunner", num_envs=70), "expected a multiple of 50"),
        (lambda: necrodome.make_vec("last-bullet", opponent=Pool(["gunner"])), "built-in bots or functions"),
        (lambda: necrodome.make_vec("last-bullet", opponent="gunner", players=300), "expected 1 to 256 players, got 300"),
        (lambda: necrodome.make_vec(RACE, opponent=Pool()), "the pool is empty"),
        (lambda: Pool(sampling="best"), "expected 'uniform' or 'hard'"),
        (lambda: Pool(["greedy", "greedy"]), "has a member 'greedy' already"),
        (lambda: necrodome.make_vec(RACE, reward="regret"), "expected 'game' or 'exact'"),
        (lambda: necrodome.make_vec("infection", reward="exact"), "infection is not solved"),
        (lambda: necrodome.make_vec("tokyo", players=3, reward="exact"), "for two seats, not for 3"),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(TypeError, match="expected the name of a bot, a function"):
        necrodome.make_vec(RACE, opponent=3)
    envs = necrodome.make_vec(RACE, 2, seed=1, opponent=lambda seen: seen)
    envs.reset()
    with pytest.raises(ValueError, match="expected 2 actions as whole numbers"):
        envs.step([0, 0])


@pytest.mark.parametrize("members", [["greedy", "cautious"], ["random"]])
def test_whom_rows_meet_is_part_of_a_save(members: list[str]) -> None:
    def future(envs: Any) -> list[Any]:
        told = []
        for step in range(40):
            observations, rewards, *_, infos = envs.step(np.full(6, int(step % 3 != 2)))
            told.append((observations.tolist(), rewards.tolist(), list(infos.get("opponent", []))))
        return told

    envs = necrodome.make_vec(RACE, 6, seed=1, opponent=Pool(members, seed=3))
    envs.reset()
    future(envs)
    saved, clone = envs.save(), envs.clone()
    expected = future(envs)
    assert future(clone) == expected
    envs.restore(saved)
    assert future(envs) == expected
    with pytest.raises(ValueError, match="pool of opponents|damaged"):
        envs.restore(saved[:20])


def test_whom_a_row_meets_does_not_depend_on_other_rows() -> None:
    def met(rows: int) -> list[Any]:
        envs = necrodome.make_vec(RACE, rows, seed=range(rows), opponent=Pool(["greedy", "cautious"], seed=3))
        envs.reset()
        told = []
        for step in range(400):
            infos = envs.step(np.full(rows, int(step % 3 != 2)))[-1]
            told.append(infos["opponent"][0] if "opponent" in infos else None)
        return told

    assert met(2) == met(9) and {"greedy", "cautious"} <= set(met(2))


def test_a_win_rate_is_that_of_as_many_matches_as_were_asked_for() -> None:
    assert win_rate(RACE, greedy, "random", matches=1, seed=1) in (0.0, 0.5, 1.0)
    assert float(7 * win_rate(RACE, greedy, "random", matches=7, num_envs=3, seed=1)).is_integer()
    with pytest.raises(ValueError, match="matches 0: expected a whole number"):
        win_rate(RACE, greedy, "random", matches=0)
    with pytest.raises(TypeError, match="expected a function"):
        win_rate(RACE, "optimal", "random")  # type: ignore[arg-type]


def test_a_new_member_plays_its_own_policy() -> None:
    asked: list[int] = []

    def named(number: int) -> Any:
        def policy(observations: Any) -> Any:
            asked.append(number)
            return (observations[:, 0] < 2).astype(int)

        return policy

    pool = Pool([named(0)], most=1, seed=1)
    envs = necrodome.make_vec(RACE, 1, seed=1, opponent=pool)
    observations, _ = envs.reset()
    for number in range(1, 12):
        pool.add(named(number))
        # Long enough for the match against the one before to end.
        for _ in range(120):
            observations = envs.step((observations[:, 0] < 2).astype(int))[0]
        assert asked[-1] == number
    assert [member.name for member in pool.members] == ["self 11"]


def test_other_seeds_meet_other_members() -> None:
    envs = necrodome.make_vec(RACE, 1, opponent=Pool(["greedy", "cautious", "random"], seed=1))
    met: list[list[str]] = [[], []]
    for again in met:
        for seed in range(12):
            envs.reset(seed=seed)
            infos: dict[str, Any] = {}
            while "opponent" not in infos:
                infos = envs.step(np.array([0]))[-1]
            again.append(infos["opponent"][0])
    assert met[0] == met[1] and len(set(met[0])) == 3


def test_a_row_that_waits_for_a_function_is_not_restored_where_nobody_answers() -> None:
    def raises(observations: Any) -> Any:
        raise RuntimeError("no")

    table: dict[str, Any] = {"num_envs": 2, "seed": 1, "seat": 1}
    envs = necrodome.make_vec("zombie-dice", opponents=[raises], **table)
    with pytest.raises(RuntimeError, match="no"):
        envs.reset()
    with pytest.raises(ValueError, match="waits for the answer of seat 0"):
        necrodome.make_vec("zombie-dice", opponents=["greedy"], **table).restore(envs.save())


# Last Bullet

BATTLE = "last-bullet"


def still(observations: Any) -> Any:
    """The built-in bot that stands still."""
    return np.full(len(observations), 4)


def test_in_last_bullet_the_rows_are_the_survivors_of_the_learner() -> None:
    envs = necrodome.make_vec(BATTLE, opponent="gunner")
    assert (envs.num_envs, envs.num_matches, envs.players) == (50, 1, 20)
    few = necrodome.make_vec(BATTLE, matches=3, players=4, copies=5, opponent="huddle", seat="rotate", seed=1)
    observations, infos = few.reset()
    assert observations.shape == (15, 290) and infos["alive"].shape == (15,) and infos["action_mask"].shape == (15, 130)
    assert few.learner_seats().shape == (15,) and len(set(few.learner_seats()[:5])) == 1
    # The middle of a window is the survivor itself.
    assert ((observations[:, 144] == 3) == infos["alive"]).all()


@pytest.mark.parametrize("mode", MODES)
def test_a_survivor_of_the_learner_ends_once_and_its_match_with_the_last_of_them(mode: str) -> None:
    options: dict[str, Any] = {"players": 5, "copies": 4, "density": 0.12, "autoreset_mode": mode}
    envs = necrodome.make_vec(BATTLE, matches=6, seed=3, opponent="runner", seat="rotate", **options)
    random = np.random.default_rng(1)
    _, infos = envs.reset()
    alive = infos["alive"]
    ends = np.zeros(24, int)
    for _ in range(400):
        _, rewards, terminated, truncated, infos = envs.step(random.integers(9, size=24))
        assert not (terminated & ~alive).any() and not truncated.any()
        np.testing.assert_array_equal(rewards, (alive & ~terminated).astype(np.float32))
        if mode == "next_step":
            # A match in which none of them lives begins anew, whoever else lives.
            over = ~alive.reshape(6, 4).any(axis=1)
            assert infos["alive"].reshape(6, 4)[over].any(axis=1).all()
        ends += terminated
        alive = infos["alive"]
    assert (ends <= 1).all() if mode == "disabled" else ends.sum() > 200
    if mode == "disabled":
        assert not alive.any()
        envs.reset(options={"reset_mask": np.repeat([True, False], 12)})
        assert envs.step(np.full(24, 4))[-1]["alive"].reshape(6, 4).any(axis=1).tolist() == [True] * 3 + [False] * 3


@pytest.mark.parametrize("mode", MODES)
def test_functions_play_in_last_bullet(mode: str) -> None:
    options: dict[str, Any] = {"matches": 4, "players": 4, "copies": 5, "seed": 3, "autoreset_mode": mode, "seat": "rotate"}
    expected = story(necrodome.make_vec(BATTLE, opponents=["gunner", "stand-still", "stand-still"], **options), 80)
    asked: list[int] = []

    def counting(observations: Any, action_mask: Any) -> Any:
        asked.append(len(observations))
        assert observations.dtype == np.uint8 and action_mask.shape == (len(observations), 130)
        assert (observations[:, 144] == 3).all() and action_mask[:, :9].all(), "only the living are asked"
        return still(observations)

    same(story(necrodome.make_vec(BATTLE, opponents=["gunner", still, still], **options), 80), expected)
    same(story(necrodome.make_vec(BATTLE, opponents=["gunner", counting, counting], **options), 80), expected)
    assert max(asked) > 20 and len(asked) <= 80, "one that has two entries is asked once a step"


def test_saved_battles_go_on() -> None:
    envs = necrodome.make_vec(BATTLE, matches=3, players=3, copies=6, seed=2, opponents=["wander", still], seat="rotate")
    envs.reset()
    actions = np.arange(18) % 9
    for _ in range(5):
        envs.step(actions)
    copies = [envs.clone(), pickle.loads(pickle.dumps(envs))]
    for _ in range(60):
        expected = envs.step(actions)
        for other in copies:
            for one, same_one in zip(other.step(actions)[:4], expected[:4]):
                np.testing.assert_array_equal(one, same_one)
    with pytest.raises(ValueError, match="restore it into a batch like the one"):
        necrodome.make_vec(BATTLE, matches=3, players=3, copies=6, opponents=["wander", still]).restore(envs.save())


def test_what_a_function_raises_in_last_bullet_changes_nothing() -> None:
    fails = [False]

    def function(observations: Any) -> Any:
        if fails[0]:
            raise RuntimeError("no idea")
        return still(observations)

    envs = necrodome.make_vec(BATTLE, matches=2, players=2, copies=6, seed=2, opponent=function)
    envs.reset()
    other = envs.clone()
    fails[0] = True
    with pytest.raises(RuntimeError, match="no idea"):
        envs.step(np.full(12, 4))
    fails[0] = False
    np.testing.assert_array_equal(envs.step(np.full(12, 4))[0], other.step(np.full(12, 4))[0])


# Illegal actions of opponents


def test_illegal_actions_of_opponents_are_told() -> None:
    """Where the perfect player is asked to stop before its first roll, and where a shot hits nobody."""

    def stop(observations: Any) -> Any:
        return np.zeros(len(observations), int)

    envs = necrodome.make_vec("zombie-dice", 8, players=3, seed=1, opponents=[stop, "greedy"], first_roll="mandatory")
    envs.reset()
    told = envs.step(np.ones(8, int))[-1], envs.step(np.zeros(8, int))[-1]
    assert "opponent_bad_action" not in told[0] and told[1]["opponent_bad_action"].all()
    np.testing.assert_array_equal(told[1]["_opponent_bad_action"], told[1]["opponent_bad_action"])
    later = necrodome.make_vec("zombie-dice", 8, seed=1, opponent=stop, seat=1, first_roll="mandatory")
    assert later.reset()[1]["opponent_bad_action"].all(), "a reset asks them, too"
    legal = necrodome.make_vec("zombie-dice", 8, seed=1, opponent="greedy", seat=1, first_roll="mandatory")
    assert "opponent_bad_action" not in legal.reset()[1]
    strict = necrodome.make_vec("zombie-dice", 8, seed=1, opponent=stop, seat=1, first_roll="mandatory", bad_action="raise")
    with pytest.raises(ValueError, match="row 0: an opponent has chosen an action that is illegal now"):
        strict.reset()

    def shoot(observations: Any) -> Any:
        return np.full(len(observations), 9)

    battle = necrodome.make_vec(BATTLE, matches=2, players=2, copies=3, density=0.01, seed=1, opponent=shoot)
    battle.reset()
    assert battle.step(np.full(6, 4))[-1]["opponent_bad_action"].all()


def test_one_environment_tells_illegal_actions_of_opponents() -> None:
    """To leave Tokyo when it is to roll."""

    def leave(observations: Any) -> Any:
        return np.full(len(observations), 64)

    class Leave(necrodome.Bot):
        def act(self, view: Any) -> Any:
            return {"type": "yield"}

    for opponent in (leave, Leave()):
        env = VersusEnv("tokyo", opponent=opponent, seat=1)
        assert env.reset(seed=1)[1]["opponent_bad_action"] is True
        assert "opponent_bad_action" not in env.step(0)[-1], "its turn is not over"
        strict = VersusEnv("tokyo", opponent=opponent, bad_action="raise")
        strict.reset(seed=1)
        with pytest.raises(ValueError, match="seat 1: an opponent has chosen an action that is illegal now"):
            for _ in range(3):
                strict.step(int(np.flatnonzero(strict.action_masks())[-1]))
        with pytest.raises(gymnasium.error.ResetNeeded, match="an opponent has raised an error"):
            strict.step(0)
        strict.reset(seed=1)
        strict.step(0)


def test_what_is_no_action_at_all_is_refused() -> None:
    class Odd(necrodome.Bot):
        def act(self, view: Any) -> str:
            return "dance"

    env = VersusEnv("zombie-dice", opponent=Odd(), seat=1)
    with pytest.raises(ValueError, match='dance.* is no action of zombie-dice'):
        env.reset(seed=1)


# Odd arguments


def test_odd_arguments_are_refused_in_words() -> None:
    options: Any
    for options in ({"max_turns": [5]}, {"max_turns": float("nan")}, {"max_turns": {}}):
        with pytest.raises(TypeError, match="option max_turns: expected a number, a word"):
            necrodome.make_vec("tokyo", 4, **options)
    with pytest.raises(TypeError, match="game None: expected the id of a game"):
        necrodome.make_vec(None)  # type: ignore[arg-type]
    for command in ("cmd:", "cmd:'"):
        with pytest.raises(ValueError, match="opponent cmd:.*(expected a command|No closing)"):
            necrodome.make_vec(RACE, opponent=command)
    with pytest.raises(ValueError, match="everybody decides at once"):
        VersusEnv(BATTLE, opponent="gunner")
    with pytest.raises(ValueError, match="matches are won and lost"):
        win_rate(BATTLE, still, "gunner", matches=2)
    pools: list[tuple[dict[str, Any], str]] = [
        ({"members": "greedy"}, "expected a list of opponents"),
        ({"most": 0}, "most 0: expected a whole number of at least 1"),
        ({"step": float("nan")}, "step nan: expected a number of points"),
        ({"seed": -1}, "seed -1: expected a whole number"),
    ]
    for words, message in pools:
        with pytest.raises((TypeError, ValueError), match=message):
            Pool(**words)


def test_options_may_be_numbers_of_numpy() -> None:
    envs = necrodome.make_vec("tokyo", 4, players=2, max_turns=np.int64(5))
    assert envs.clone().reset()[0].shape == envs.reset()[0].shape
    assert VersusEnv(RACE, opponent="greedy", max_rounds=np.int32(7)).rules["max_rounds"] == 7


def test_a_program_that_ends_at_once_is_told(recwarn: pytest.WarningsRecorder) -> None:
    envs = necrodome.make_vec(RACE, 2, opponent="cmd:false", seat=1)
    with pytest.raises(ValueError, match="opponent false: the program has ended"):
        envs.reset()
    del envs
    gc.collect()
    assert not [one for one in recwarn if issubclass(one.category, pytest.PytestUnraisableExceptionWarning)]


def test_functions_in_a_pool_are_not_given_questions() -> None:
    """Questions take longer than most functions."""
    pool = Pool({"one": greedy, "other": greedy}, seed=1)
    envs = necrodome.make_vec(RACE, 4, seed=1, opponent=pool)
    expected = story(necrodome.make_vec(RACE, 4, seed=1, opponent="greedy"), 30)
    assert not envs._draws[0].questions
    same(story(envs, 30), expected)
    pool.add("greedy")
    assert envs._draws[0].questions
    same(story(necrodome.make_vec(RACE, 4, seed=1, opponent=pool), 30), expected)


def test_every_match_that_has_ended_counts_for_a_member() -> None:
    for mode in MODES:
        names: list[str | None] = []
        asked: dict[str, int] = {"one": 0, "other": 0}

        def member(name: str) -> Any:
            def policy(observations: Any, action_mask: Any) -> Any:
                asked[name] += len(observations)
                return action_mask.argmax(axis=1)

            return policy

        pool = Pool({name: member(name) for name in asked}, seed=1)
        envs = necrodome.make_vec("infection", 8, players=3, seed=1, opponent=pool, seat="rotate", autoreset_mode=mode)
        _, infos = envs.reset()
        for _ in range(300):
            *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
            if "opponent" in infos:
                names += list(infos["opponent"][infos["_opponent"]])
        assert names and {*names} <= {"one", "other"}
        assert sum(one.matches for one in pool.members) == len(names)


def test_libraries_for_one_learner_get_rows_that_are_matches() -> None:
    """A dead survivor waits for its match to begin anew: no library for one learner knows of that."""
    from necrodome.adapters._learners import make_learners

    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    with pytest.raises(ValueError, match="expected copies=1"):
        make_learners(BATTLE, 50, mode, {"opponent": "gunner"})
    assert make_learners(BATTLE, 6, mode, {"opponent": "gunner", "copies": 1, "players": 4}).num_matches == 6
