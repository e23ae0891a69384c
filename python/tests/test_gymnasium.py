"""The Gymnasium environments: solo, one at a time and in batches."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from typing import Any

import gymnasium
import necrodome
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

SOLO = "necrodome/ZombieDiceSolo-v0"
START = [0, 0, 6, 4, 3, 0, 0, 0]
GAMES = {"zombie-dice-solo": 1, "zombie-dice-race": 2, "zombie-dice": 3, "tokyo": 4, "last-bullet": 3}


def played(envs: Any, steps: int, seed: int = 5) -> list[tuple[Any, ...]]:
    """What some steps give, with actions that depend on row and step only."""
    told = []
    for step in range(steps):
        chance = [np.random.default_rng([seed, step, row]) for row in range(envs.num_envs)]
        actions = np.array([one.integers(envs.single_action_space.n) for one in chance])
        observations, rewards, terminations, truncations, _ = envs.step(actions)
        told.append((observations.copy(), rewards.copy(), terminations.copy(), truncations.copy()))
    return told


def same(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]], rows: int) -> bool:
    return all(np.array_equal(a[:rows], b[:rows]) for x, y in zip(one, other) for a, b in zip(x, y))


# One at a time


@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("out_of_dice", ["end_turn", "recycle_brains"])
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_check_env(observation: str, out_of_dice: str, render_mode: str | None) -> None:
    env = gymnasium.make(SOLO, observation=observation, out_of_dice=out_of_dice, render_mode=render_mode)
    check_env(env.unwrapped, skip_render_check=True)


def test_an_episode_adds_up() -> None:
    env = gymnasium.make(SOLO)
    scores = []
    for seed in range(200):
        _, info = env.reset(seed=seed)
        total, terminated = 0.0, False
        while not terminated:
            action = env.action_space.sample(info["action_mask"])
            observation, reward, terminated, truncated, info = env.step(action)
            total += float(reward)
            assert not truncated
        brains, shotguns = observation[:2]
        assert total == (0 if shotguns >= 3 else brains)
        scores.append(total)
    assert max(scores) > 3 and min(scores) == 0


def test_a_mandatory_first_roll_loses_nothing() -> None:
    """The mean over episodes must be the exact value of the rules, busts of the first roll included."""
    policy = lambda view: "stop"  # noqa: E731
    exact = necrodome.evaluate(policy, "zombie-dice-solo", first_roll="mandatory").value
    env = gymnasium.make(SOLO, first_roll="mandatory")
    _, info = env.reset(seed=1)
    assert env.unwrapped.action_masks().tolist() == [False, True]  # type: ignore[attr-defined]
    assert info["action_mask"].tolist() == [0, 1]
    observation, *_, info = env.step(0)
    assert info["bad_action"] is True and observation[:2].any() | observation[5:].any(), "it was rolled"
    assert "bad_action" not in env.reset()[1]
    strict = gymnasium.make(SOLO, first_roll="mandatory", bad_action="raise")
    strict.reset(seed=1)
    with pytest.raises(ValueError, match="action 0 is illegal now, expected 1: the first roll is mandatory"):
        strict.step(0)
    assert np.array_equal(strict.step(1)[0], observation), "the refused action has changed nothing"
    envs = necrodome.make_vec("zombie-dice-solo", 4096, seed=1, first_roll="mandatory")
    envs.reset()
    assert envs.action_masks().tolist() == [[False, True]] * 4096
    total, episodes = 0.0, 0
    for _ in range(300):
        _, rewards, terminations, _, _ = envs.step(np.zeros(4096, np.int64))
        total += float(rewards.sum())
        episodes += int(terminations.sum())
    assert total / episodes == pytest.approx(exact, abs=0.02)


def test_saved_restored_and_cloned() -> None:
    env = gymnasium.make(SOLO).unwrapped
    env.reset(seed=3)
    env.step(1)
    saved, twin, other = env.save(), env.clone(), pickle.loads(pickle.dumps(env))  # type: ignore[attr-defined]

    def future(env: Any) -> list[Any]:
        told = [env.step(1)[:3] for _ in range(1)]
        for _ in range(20):
            told.append(env.reset()[0])
            told.append(env.step(1)[0])
        return [np.asarray(one[0] if isinstance(one, tuple) else one).tolist() for one in told]

    expected = future(env)
    assert future(twin) == expected
    assert future(other) == expected
    env.restore(saved)  # type: ignore[attr-defined]
    assert future(env) == expected
    with pytest.raises(ValueError, match="expected a saved state, got 8 bytes"):
        env.restore(b"nonsense")  # type: ignore[attr-defined]


def test_mistakes_are_told() -> None:
    with pytest.raises(ValueError, match="out_of_dice"):
        gymnasium.make(SOLO, out_of_dice="never")
    with pytest.raises(ValueError, match="colour"):
        gymnasium.make(SOLO, colour="red")
    env = gymnasium.make(SOLO).unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(1)
    env.reset(seed=1)
    for wrong in (2, -1, 10**30):
        with pytest.raises((ValueError, TypeError), match=r"expected an action, 0 \(stop\) or 1 \(roll\), got"):
            env.step(wrong)
    for odd in (1.0, "1", None, [1], np.float32(1), np.array([0, 1])):
        with pytest.raises(TypeError, match=r"expected an action, 0 \(stop\) or 1 \(roll\), got"):
            env.step(odd)
    env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match="over"):
        env.step(0)


@pytest.mark.parametrize(
    "imports", ["import gymnasium, necrodome", "import necrodome.envs, gymnasium", "import necrodome, gymnasium"]
)
def test_registered_by_import_and_light(imports: str) -> None:
    # Where Gymnasium comes last, the name says what to import.
    module = "necrodome.envs:" if imports == "import necrodome, gymnasium" else ""
    code = f"{imports}; gymnasium.make('{module}{SOLO}').reset(seed=1)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
    code = "import necrodome, sys; assert 'numpy' not in sys.modules; assert 'gymnasium' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# In batches


def test_arrays_are_written_in_place_if_asked_for() -> None:
    envs = necrodome.make_vec("zombie-dice-solo", 100, seed=1, copy=False)
    first, _ = envs.reset()
    step = envs.step(np.ones(100, np.int64))
    again = envs.step(np.ones(100, np.uint8))
    assert step[0] is first and all(one is other for one, other in zip(step[:4], again[:4]))
    assert first.T.flags.c_contiguous and first.ctypes.data % 64 == 0
    assert (first.dtype, step[1].dtype, step[2].dtype) == (np.int16, np.float32, np.bool_)


def test_named_observations_are_views_of_the_same_numbers() -> None:
    named = necrodome.make_vec("zombie-dice-solo", 10, seed=1, observation="dict")
    plain = necrodome.make_vec("zombie-dice-solo", 10, seed=1)
    named.reset(), plain.reset()
    for _ in range(5):
        one, *_ = named.step(np.ones(10, np.int64))
        other, *_ = plain.step(np.ones(10, np.int64))
        assert list(one) == [field.name for field in plain.layout.fields]
        assert np.array_equal(np.stack(list(one.values()), axis=1), other)
    assert named.single_observation_space.contains({name: np.int64(column[0]) for name, column in one.items()})


@pytest.mark.parametrize("game", GAMES)
def test_the_same_seeds_give_the_same_episodes(game: str) -> None:
    def run(matches: int, threads: int) -> list[tuple[Any, ...]]:
        rules = {"copies": 4} if game == "last-bullet" else {}
        envs = necrodome.make_vec(game, matches=matches, seed=11, players=GAMES[game], threads=threads, **rules)
        envs.reset()
        assert all(one in envs.observation_space for one in [envs.reset(seed=11)[0]])
        return played(envs, 12)

    expected = run(70, 1)
    rows = len(expected[0][1])
    assert same(run(70, 3), expected, rows)
    for few in (1, 3, 65):
        assert same(run(few, 2), expected, rows * few // 70)


def test_seeds_one_by_one() -> None:
    envs = necrodome.make_vec("zombie-dice-solo", 4)
    envs.reset(seed=[7, 9, 7, 8])
    first = played(envs, 1)[0][0]
    envs.reset(seed=[7, 9, 7, 8])
    assert np.array_equal(played(envs, 1)[0][0], first)
    envs.reset(seed=[7, None, 7, 8])
    observations, *_ = envs.step(np.ones(4, np.int64))
    assert np.array_equal(observations[0], observations[2])


def test_seeds_next_to_each_other_share_no_stream() -> None:
    def futures(seed: int | list[int]) -> set[bytes]:
        envs = necrodome.make_vec("zombie-dice-solo", 64, autoreset_mode="same_step")
        envs.reset(seed=seed)
        steps = np.stack([envs.step(np.ones(64, np.int64))[0] for _ in range(40)], axis=1)
        return {row.tobytes() for row in steps}

    one, other = futures(1), futures(2)
    assert len(one) == len(other) == 64 and not one & other
    # A seed of its own gives a match what the first match of that seed gets.
    assert len(futures(list(range(64))) & one) == 1


def test_next_step_begins_anew() -> None:
    envs = necrodome.make_vec("zombie-dice-solo", 500, seed=2)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    envs.reset()
    ended = np.zeros(500, bool)
    total = np.zeros(500)
    for observations, rewards, terminations, truncations in played(envs, 12):
        assert (observations[ended] == START).all()
        assert (rewards[ended] == 0).all() and not terminations[ended].any()
        total[ended] = 0
        total += rewards
        scores = np.where(observations[:, 1] >= 3, 0, observations[:, 0])
        assert (total[terminations] == scores[terminations]).all()
        assert not truncations.any()
        ended = terminations


def test_same_step_tells_the_last_observations() -> None:
    envs = necrodome.make_vec("zombie-dice-solo", 500, seed=2, autoreset_mode=AutoresetMode.SAME_STEP)
    envs.reset()
    total = np.zeros(500)
    chance = np.random.default_rng(1)
    for _ in range(30):
        observations, rewards, terminations, _, infos = envs.step(chance.integers(2, size=500))
        assert (observations[terminations] == START).all()
        total += rewards
        mask, last = infos["_final_obs"], infos["final_obs"]
        assert np.array_equal(mask, terminations) and mask.any()
        scores = np.where(last[:, 1] >= 3, 0, last[:, 0])
        assert (total[mask] == scores[mask]).all()
        assert np.array_equal(last[~mask], observations[~mask])
        total[mask] = 0


def test_without_autoreset_a_mask_resets() -> None:
    envs = necrodome.make_vec("zombie-dice-solo", 50, seed=2, autoreset_mode="disabled")
    envs.reset()
    for _ in range(20):
        observations, rewards, terminations, _, _ = envs.step(np.ones(50, np.int64))
    assert terminations.all() and (rewards == 0).all()
    mask = np.arange(50) % 2 == 0
    observations, _ = envs.reset(options={"reset_mask": mask})
    assert (observations[mask] == START).all() and (observations[~mask] != START).any(axis=1).all()
    assert np.array_equal(envs.step(np.ones(50, np.int64))[2], ~mask)
    for wrong in ([True], np.ones(51, bool), np.ones((50, 1), bool), np.ones(50), np.ones(50, np.int8), True):
        with pytest.raises(ValueError, match="reset_mask: expected 50 booleans, one for each environment"):
            envs.reset(options={"reset_mask": wrong})


def test_a_mask_has_a_mark_for_each_row_where_a_match_has_many() -> None:
    made: dict[str, Any] = {"players": 2, "copies": 3, "seed": 4, "autoreset_mode": "disabled"}
    envs = necrodome.make_vec("last-bullet", 18, **made)
    assert (envs.num_envs, envs.num_matches) == (18, 3)
    envs.reset()
    stay = np.full(18, 4)
    for _ in range(5):
        before = envs.step(stay)[0]
    mask = np.repeat([False, True, False], 6)
    saved = envs.save()
    observations, _ = envs.reset(seed=4, options={"reset_mask": mask})
    assert np.array_equal(observations[~mask], before[~mask])
    # The marked match begins as it did at first; the others go on with the chance that they had.
    first = necrodome.make_vec("last-bullet", matches=3, **made)
    assert np.array_equal(observations[mask], first.reset()[0][mask])
    went_on = necrodome.make_vec("last-bullet", matches=3, **made)
    went_on.restore(saved)
    for _ in range(10):
        after, expected, anew = envs.step(stay)[0], went_on.step(stay)[0], first.step(stay)[0]
        assert np.array_equal(after[~mask], expected[~mask]) and np.array_equal(after[mask], anew[mask])

    with pytest.raises(ValueError, match=r"expected 18 booleans, .* got the shape \(3,\) of bool"):
        envs.reset(options={"reset_mask": np.array([False, True, False])})
    mask[6] = False
    with pytest.raises(ValueError, match="match 1 begins anew as a whole: .* rows 6 to 11 or none of them, got 5 of 6"):
        envs.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_batches_are_saved_and_cloned(game: str, mode: AutoresetMode) -> None:
    rules: dict[str, Any] = {"copies": 4} if game == "last-bullet" else {}
    envs = necrodome.make_vec(game, matches=9, seed=4, players=GAMES[game], autoreset_mode=mode, **rules)
    envs.reset()
    before = played(envs, 7)[-1]
    saved = envs.save()
    others = [envs.clone(), copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    expected = played(envs, 15)
    for other in others:
        assert same(played(other, 15), expected, envs.num_envs)
    envs.restore(saved)
    assert np.array_equal(envs.observations(), before[0])
    assert same(played(envs, 15), expected, envs.num_envs)
    for wrong in (b"", saved[:-3], saved[: len(saved) // 2], b"x" * len(saved)):
        with pytest.raises(ValueError, match="expected"):
            envs.restore(wrong)
    with pytest.raises(ValueError):
        necrodome.make_vec(game, matches=8, players=GAMES[game], **rules).restore(saved)


def test_a_clone_can_go_on_with_other_chance() -> None:
    envs = necrodome.make_vec("zombie-dice-solo", 500, seed=4)
    envs.reset()
    before = played(envs, 1)[-1]
    twin, other, again = envs.clone(), envs.clone(seed=9), envs.clone(seed=9)
    assert np.array_equal(other.observations(), before[0])
    expected, different = played(twin, 3), played(other, 3)
    assert not same(different, expected, 500) and same(played(again, 3), different, 500)

    env = gymnasium.make(SOLO).unwrapped
    rolls = []
    for _ in range(2):
        env.reset(seed=3)
        env.step(1)
        clones = [env.clone(), *(env.clone(seed=seed) for seed in range(20))]  # type: ignore[attr-defined]
        rolls.append([clone.step(1)[0].tolist() for clone in clones])
    assert rolls[0] == rolls[1] and len(set(map(str, rolls[0]))) > 5
    assert env.step(1)[0].tolist() == rolls[0][0]


def test_self_play_says_who_decides_and_who_has_won() -> None:
    envs = necrodome.make_vec("zombie-dice-race", 300, seed=6, autoreset_mode="same_step")
    envs.reset()
    assert not envs.to_act().any()
    wins = np.zeros(2)
    for turn in range(200):
        actor = envs.to_act()
        masks = envs.action_masks()
        assert masks.shape == (300, 2) and masks.all()
        # Two rolls, then stop.
        _, rewards, terminations, _, infos = envs.step(np.full(300, int(turn % 3 < 2)))
        final = envs.final_rewards()
        over = np.flatnonzero(terminations)
        assert ("final_rewards" in infos) == bool(len(over))
        if len(over):
            assert np.array_equal(infos["_final_rewards"], terminations)
            assert np.array_equal(infos["final_rewards"][over], final[over])
        assert np.array_equal(final[over, actor[over]], rewards[over])
        assert (final.sum(axis=1) == 0).all()
        wins += (final[over] > 0).sum(axis=0)
    assert wins.min() > 20
    with pytest.raises(ValueError, match="no turns"):
        necrodome.make_vec("last-bullet", 6, players=3, copies=2).to_act()


def test_actions_of_any_kind_and_wrong_ones() -> None:
    envs = necrodome.make_vec("zombie-dice-solo", 6, seed=1)
    kinds: list[Any] = [
        [1, 0, 1, 0, 1, 0],
        np.array([1, 0, 1, 0, 1, 0], np.int8),
        np.array([1, 0, 1, 0, 1, 0], np.uint64),
        np.array([True, False] * 3),
        np.array([[1, 9], [0, 9]] * 3)[:, 0],
        np.array([1, 0, 1, 0, 1, 0], np.int32),
    ]
    results = []
    for actions in kinds:
        envs.reset(seed=1)
        results.append(envs.step(actions)[0].tolist())
    assert all(result == results[0] for result in results)
    before = envs.save()
    for wrong, match in (
        ([1, 0], r"expected 6 actions, one for each row, got the shape \(2,\)"),
        ([0, 1, 0, 1, 7, 1], "row 4: expected an action from 0 to 1, got 7"),
        (np.array([0, -1, 0, 0, 0, 0]), "row 1: expected an action from 0 to 1, got -1"),
        (np.array([0, 256, 0, 0, 0, 0]), "row 1: .* got 256"),
    ):
        with pytest.raises(ValueError, match=match):
            envs.step(wrong)
    for odd in ([0.5] * 6, [1.0] * 6, np.ones(6), np.ones(6, np.float32), ["1"] * 6, None, "going", object()):
        with pytest.raises(TypeError, match="expected actions as whole numbers"):
            envs.step(odd)
    assert envs.save() == before


def test_bad_set_ups_are_refused() -> None:
    for kwargs, error, match in (
        ({"num_envs": 0}, ValueError, "num_envs 0: expected a whole number from 1 to"),
        ({"num_envs": 1.5}, TypeError, r"num_envs: expected a whole number, got 1.5 \(float\)"),
        ({"num_envs": "4"}, TypeError, r"num_envs: expected a whole number, got '4' \(str\)"),
        ({"num_envs": True}, TypeError, r"num_envs: expected a whole number, got True \(bool\)"),
        ({"num_envs": 2, "matches": 2}, ValueError, "expected either num_envs or matches, got both"),
        ({"num_envs": 10**8}, ValueError, "expected at most 16777216 matches, got 100000000"),
        ({"num_envs": 10**30}, ValueError, "num_envs 10{30}: expected a whole number from 1 to"),
        ({"threads": 0}, ValueError, "threads 0: expected a whole number from 1 to 1024"),
        ({"threads": 2.0}, TypeError, r"threads: expected a whole number, got 2.0 \(float\)"),
        ({"autoreset_mode": "sometimes"}, ValueError, "'sometimes': expected an AutoresetMode or one of 'next_step'"),
        ({"autoreset_mode": None}, TypeError, "autoreset_mode None: expected an AutoresetMode or one of"),
        ({"observation": "smell"}, ValueError, "'vector' or 'dict'"),
        ({"observation": None}, ValueError, "observation None: expected 'vector' or 'dict'"),
        ({"bad_action": "ignore"}, ValueError, "bad_action 'ignore': expected 'play' or 'raise'"),
        ({"bad_action": None}, TypeError, "bad_action None: expected 'play' or 'raise'"),
        ({"copy": "no"}, TypeError, "copy 'no': expected True or False"),
        ({"players": 2}, ValueError, "expected exactly 1 player, got 2"),
        ({"players": 2.5}, TypeError, r"players: expected a whole number, got 2.5 \(float\)"),
        ({"out_of_dice": "never"}, ValueError, "out_of_dice"),
        ({"colour": 1}, ValueError, "colour"),
        ({"seed": [1, 2]}, ValueError, "seed: expected one number, or 1, one for each match, got 2"),
        ({"seed": 1.5}, TypeError, r"seed: expected a whole number, got 1.5 \(float\)"),
        ({"seed": [1.5]}, TypeError, r"seed: expected a whole number, got 1.5 \(float\)"),
        ({"seed": True}, TypeError, r"seed: expected a whole number, got True \(bool\)"),
        ({"seed": "x"}, TypeError, "seed: expected a whole number, or one for each of 1 matches, got 'x'"),
        ({"seed": -1}, ValueError, "seed -1: expected a whole number from 0 to 18446744073709551615"),
        ({"seed": 2**64}, ValueError, "seed 18446744073709551616: expected a whole number from 0 to"),
    ):
        options: dict[str, Any] = dict(kwargs)  # type: ignore[call-overload]
        with pytest.raises(error, match=match):  # type: ignore[call-overload]
            necrodome.make_vec("zombie-dice-solo", **options)
    for name in ("ZombieDiceSolo", "ZombieDiceRace", "Tokyo"):
        env = gymnasium.make(f"necrodome/{name}-v0")
        for seed, error in ((1.5, TypeError), ("x", TypeError), (-1, ValueError)):
            with pytest.raises(error, match="seed.* expected a whole number"):
                env.reset(seed=seed)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='there is no game "chess"'):
        necrodome.make_vec("chess")
    with pytest.raises(ValueError, match="pig has no vector environment: expected one of zombie-dice, "):
        necrodome.make_vec("pig", players=2)


def test_wrappers_and_the_vector_entry_point() -> None:
    envs = gymnasium.make_vec(SOLO, num_envs=64, vectorization_mode="vector_entry_point")
    assert isinstance(envs.unwrapped, necrodome.ArenaVectorEnv)
    counted = RecordEpisodeStatistics(envs)
    counted.reset(seed=1)
    lengths = []
    for _ in range(20):
        _, _, _, _, infos = counted.step(np.ones(64, np.int64))
        if "episode" in infos:
            lengths.extend(infos["episode"]["l"][infos["_episode"]])
    assert lengths and min(lengths) >= 1


def test_random_play_scores_what_it_is_worth() -> None:
    for rules in ({}, {"out_of_dice": "recycle_brains"}):
        exact = necrodome.evaluate(lambda view: 0.5, "zombie-dice-solo", **rules).value
        envs = necrodome.make_vec("zombie-dice-solo", 4096, seed=8, **rules)
        envs.reset()
        chance, total, episodes = np.random.default_rng(3), 0.0, 0
        for _ in range(400):
            _, rewards, terminations, _, _ = envs.step(chance.integers(2, size=4096))
            total += float(rewards.sum())
            episodes += int(terminations.sum())
        assert total / episodes == pytest.approx(exact, abs=0.01)


def test_other_threads_run_during_a_step() -> None:
    """No thread is interrupted in this test: another one runs only if a step lets go of the interpreter."""
    envs = necrodome.make_vec("zombie-dice-solo", 1 << 20, seed=1)
    envs.reset()
    actions = np.ones(1 << 20, np.uint8)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        seen_during = False
        for _ in range(30):
            entered, finished = threading.Event(), []

            def step() -> None:
                entered.set()
                envs.step(actions)
                finished.append(True)

            worker = threading.Thread(target=step)
            worker.start()
            entered.wait()
            seen_during |= not finished
            worker.join()
        assert seen_during
    finally:
        sys.setswitchinterval(interval)
