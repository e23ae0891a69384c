"""Vector environments are safe by default: what they give stays, illegal actions are told, and nothing is counted twice."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import gymnasium
import necrodome
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from necrodome.envs.solo import SoloEnv

SOLO = "necrodome/ZombieDiceSolo-v0"
GAMES = {"zombie-dice-solo": 1, "zombie-dice-race": 2, "zombie-dice": 3, "tokyo": 4, "last-bullet": 3}
MODES = list(AutoresetMode)


def made(game: str, matches: int = 9, **options: Any) -> necrodome.ArenaVectorEnv:
    rules = {"copies": 4} if game == "last-bullet" else {}
    return necrodome.make_vec(game, matches=matches, players=GAMES[game], seed=4, **rules, **options)


def legal(infos: dict[str, Any], random: np.random.Generator) -> np.ndarray[Any, Any]:
    """A legal action for each row; 0 where there is none."""
    return np.array([random.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in infos["action_mask"]])


def arrays(given: Any) -> list[np.ndarray[Any, Any]]:
    """All arrays in what an environment gave."""
    if isinstance(given, np.ndarray):
        return [given]
    parts = given.values() if isinstance(given, dict) else given if isinstance(given, tuple) else ()
    return [array for part in parts for array in arrays(part)]


# What is given stays


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_what_a_step_gave_stays(game: str, mode: AutoresetMode, observation: str) -> None:
    """References to everything that was ever given are kept, of some only parts: nothing is ever written again."""
    envs = made(game, autoreset_mode=mode, observation=observation)
    random = np.random.default_rng(1)
    kept: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
    given: Any = envs.reset()
    for step in range(60):
        for array in arrays(given):
            part = array[3:5] if step % 3 else array
            kept.append((part, part.copy()))
        given = envs.step(legal(given[-1], random))
    assert all(np.array_equal(array, copy) for array, copy in kept)


def test_memory_that_nobody_holds_is_written_again() -> None:
    """New arrays for every step would be slow: two sets do for a loop that keeps the last step."""
    envs = necrodome.make_vec("zombie-dice-solo", 100, seed=1)
    observations, infos = envs.reset()
    places = set()
    for _ in range(20):
        observations, rewards, terminations, truncations, infos = envs.step(np.ones(100, np.int64))
        places.add(observations.ctypes.data)
        assert observations.ctypes.data % 64 == 0
    assert len(places) == 2


def test_arrays_can_be_changed_by_whoever_got_them() -> None:
    """What was turned around, made read-only or overwritten comes back as new."""
    changed, plain = made("last-bullet"), made("last-bullet")
    for envs in (changed, plain):
        envs.reset()
    for _ in range(30):
        given = changed.step(np.full(changed.num_envs, 4))
        expected = plain.step(np.full(plain.num_envs, 4))
        for one, other in zip(arrays(given), arrays(expected)):
            assert one.shape == other.shape and np.array_equal(one, other)
            if one.flags.writeable:
                one.fill(0)
                one.setflags(write=False)
        observations = given[0]
        observations.setflags(write=True)
        observations[:, 144] = 0
        observations[:, 7] = 9
        del given, observations, one


@pytest.mark.parametrize("through", ["make_vec", "gymnasium"])
def test_a_replay_buffer_of_references_learns(through: str) -> None:
    """Q-learning from a buffer of what steps gave, nothing copied: the exact optimum is 2.2586."""
    rows = 512
    if through == "gymnasium":
        envs: Any = gymnasium.make_vec(SOLO, num_envs=rows, autoreset_mode=AutoresetMode.SAME_STEP)
    else:
        envs = necrodome.make_vec("zombie-dice-solo", rows, autoreset_mode="same_step")
    observations, _ = envs.reset(seed=1)
    random = np.random.default_rng(1)
    buffer = []
    for _ in range(400):
        actions = random.integers(100, size=rows) < 85
        following, rewards, terminations, _, infos = envs.step(actions.astype(np.int64))
        buffer.append((observations, actions, rewards, infos["final_obs"], terminations))
        observations = following

    def code(seen: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Brains, shotguns and footsteps: as much as a small table can hold."""
        feet = np.minimum(seen[:, 5:8].astype(int), 3)
        return (np.minimum(seen[:, 0], 13) * 6 + seen[:, 1]) * 64 + feet @ [1, 4, 16]

    before = np.concatenate([code(step[0]) for step in buffer])
    acted = np.concatenate([step[1] for step in buffer]).astype(int)
    gained = np.concatenate([step[2] for step in buffer])
    after = np.concatenate([code(step[3]) for step in buffer])
    over = np.concatenate([step[4] for step in buffer])
    values, cell = np.zeros((14 * 6 * 64, 2)), before * 2 + acted
    counts = np.maximum(np.bincount(cell, minlength=values.size), 1)
    for _ in range(40):
        targets = gained + np.where(over, 0, values[after].max(axis=1))
        values = (np.bincount(cell, targets, minlength=values.size) / counts).reshape(values.shape)
    result = necrodome.evaluate(
        lambda seen: values[code(seen)].argmax(axis=1), "zombie-dice-solo", vectorized=True
    )
    assert result.value > 2.1, result.value


# Ends


@pytest.mark.parametrize("mode", MODES)
def test_in_last_bullet_an_episode_ends_once(mode: AutoresetMode) -> None:
    envs = necrodome.make_vec(
        "last-bullet", 60, players=3, copies=10, max_turns=8, seed=1, autoreset_mode=mode
    )
    assert (envs.num_envs, envs.num_matches) == (60, 2)
    _, infos = envs.reset()
    alive = infos["alive"]
    random = np.random.default_rng(2)
    ends = deaths = cut = 0
    over = np.zeros(60, bool)
    for _ in range(300):
        observations, rewards, terminations, truncations, infos = envs.step(random.integers(9, size=60))
        ended = terminations | truncations
        assert not (ended & ~alive).any() and not (ended & over).any(), "only the living end"
        assert not rewards[~alive | over].any() and not rewards[terminations].any()
        ends += int(ended.sum())
        deaths += int(terminations.sum())
        cut += int(truncations.sum())
        if mode == AutoresetMode.SAME_STEP and ended.any():
            assert np.array_equal(infos["_final_obs"], ended)
            assert not infos["final_obs"][terminations].any()
            assert (infos["final_obs"][truncations][:, 144] == 3).all()
        elif mode != AutoresetMode.SAME_STEP:
            assert np.array_equal(ended, alive & ~infos["alive"] & ~over)
        began = over.reshape(2, -1).any(axis=1)
        alive = infos["alive"]
        assert not observations[~alive & ~truncations].any()
        # Nobody lives, or all who live were cut off.
        matches = ~alive.reshape(2, -1).any(axis=1) | truncations.reshape(2, -1).any(axis=1)
        if mode == AutoresetMode.NEXT_STEP:
            over = np.repeat(matches & ~began, 30)
        elif mode == AutoresetMode.DISABLED and matches.any():
            _, infos = envs.reset(options={"reset_mask": np.repeat(matches, 30)})
            alive = infos["alive"]
    assert ends == deaths + cut and deaths > 100 and cut > 10


def test_statistics_count_each_survivor_once() -> None:
    envs = necrodome.make_vec("last-bullet", 200, players=4, copies=50, seed=1, max_turns=9)
    counted = RecordEpisodeStatistics(envs)
    _, infos = counted.reset()
    born = int(infos["alive"].sum())
    episodes, lives = 0, []
    for _ in range(9):
        *_, infos = counted.step(np.full(200, 4))
        if "episode" in infos:
            episodes += int(infos["_episode"].sum())
            lives.extend(infos["episode"]["r"][infos["_episode"]])
    assert episodes == born and max(lives) == 9 and min(lives) < 9


def test_rows_are_counted_the_same_going_in_and_coming_out() -> None:
    for envs in (
        necrodome.make_vec("last-bullet", 24, players=3, copies=4),
        necrodome.make_vec("last-bullet", matches=2, players=3, copies=4),
    ):
        assert (envs.num_envs, envs.num_matches) == (24, 2)
        assert len(envs.reset(seed=1)[0]) == 24 and len(envs.action_space.sample()) == 24
    assert necrodome.make_vec("last-bullet").num_envs == 1000
    expected = "num_envs 30: a match of last-bullet has 12 rows.* a multiple of 12, such as 24 or 36, or say matches=2"
    with pytest.raises(ValueError, match=expected):
        necrodome.make_vec("last-bullet", 30, players=3, copies=4)
    with pytest.raises(ValueError, match="such as 12 or 24, or say matches=1"):
        necrodome.make_vec("last-bullet", 1, players=3, copies=4)


@pytest.mark.parametrize("game", ["zombie-dice-race", "zombie-dice", "tokyo"])
@pytest.mark.parametrize("mode", MODES)
def test_the_rewards_of_all_seats_are_told_once(game: str, mode: AutoresetMode) -> None:
    envs = made(game, 20, autoreset_mode=mode)
    _, infos = envs.reset()
    random, matches = np.random.default_rng(3), 0
    waiting = np.zeros(20, bool)
    for _ in range(600):
        actor = envs.to_act()
        _, rewards, terminations, _, infos = envs.step(legal(infos, random))
        ended = terminations & ~waiting
        assert ("final_rewards" in infos) == ended.any()
        if ended.any():
            assert np.array_equal(infos["_final_rewards"], ended)
            final = infos["final_rewards"]
            assert final.shape == (20, GAMES[game])
            assert np.array_equal(final[ended, actor[ended]], rewards[ended])
            assert final[ended].sum(axis=1) == pytest.approx(0, abs=1e-5)
        matches += int(ended.sum())
        waiting = terminations & (mode == AutoresetMode.DISABLED)
        if waiting.all():
            _, infos = envs.reset()
            waiting[:] = False
    assert matches > 20


# Seeds


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize(
    "rules", [{}, {"out_of_dice": "recycle_brains"}, {"first_roll": "mandatory"}], ids=["", "recycle", "mandatory"]
)
def test_sync_and_native_environments_give_the_same_episodes(mode: AutoresetMode, rules: dict[str, Any]) -> None:
    rows, seeds = 20, [3, 3, *range(18)]
    sync = SyncVectorEnv([lambda: SoloEnv(**rules)] * rows, autoreset_mode=mode)
    native = necrodome.make_vec("zombie-dice-solo", rows, autoreset_mode=mode, **rules)
    random = np.random.default_rng(5)
    assert np.array_equal(sync.reset(seed=seeds)[0], native.reset(seed=seeds)[0])
    for _ in range(200):
        actions = (random.integers(100, size=rows) < 80).astype(np.int64)
        ours, theirs = native.step(actions), sync.step(actions)
        for one, other in zip(ours[:4], theirs[:4]):
            assert np.array_equal(one, other)
    # One seed for all gives the first match what it gives to an environment of one.
    alone = SoloEnv(**rules)
    native.reset(seed=7), alone.reset(seed=7)
    assert np.array_equal(native.step(np.ones(rows, np.int64))[0][0], alone.step(1)[0])


@pytest.mark.parametrize("game", GAMES)
def test_a_step_before_reset_is_refused(game: str) -> None:
    envs = made(game)
    actions = np.zeros(envs.num_envs, np.int64)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset before the first step"):
        envs.step(actions)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.clone().step(actions)
    envs.reset()
    envs.clone().step(actions)


# Illegal actions


def test_illegal_actions_are_played_by_the_rule_and_told() -> None:
    envs = necrodome.make_vec("tokyo", 6, players=2, seed=1)
    kept = necrodome.make_vec("tokyo", 6, players=2, seed=1)
    _, infos = envs.reset()
    kept.reset()
    assert infos["action_mask"].dtype == np.bool_ and infos["action_mask"].shape == (6, 66)
    assert infos["action_mask"][:, :64].all() and not infos["action_mask"][:, 64:].any()
    *told, infos = envs.step([0, 64, 0, 65, 0, 0])
    *expected, legal_infos = kept.step([0, 63, 0, 63, 0, 0])
    assert infos["bad_action"].tolist() == [False, True, False, True, False, False]
    assert infos["_bad_action"].tolist() == infos["bad_action"].tolist()
    assert "bad_action" not in legal_infos
    assert all(np.array_equal(one, other) for one, other in zip(told, expected)), "all dice are kept"
    assert "bad_action" not in envs.step([0] * 6)[-1]


@pytest.mark.parametrize("game", GAMES)
def test_masks_tell_what_raises(game: str) -> None:
    """Every action that the mask forbids is refused before anything is played, and every other one is accepted."""
    rules = {"first_roll": "mandatory"} if game in ("zombie-dice-solo", "zombie-dice-race") else {}
    envs = made(game, 4, bad_action="raise", **rules)
    _, infos = envs.reset()
    random, refused = np.random.default_rng(1), 0
    for _ in range(60):
        chosen = legal(infos, random)
        row = int(random.integers(envs.num_envs))
        forbidden = np.flatnonzero(~infos["action_mask"][row])
        decides = "alive" not in infos or infos["alive"][row]
        if len(forbidden) and decides and infos["action_mask"][row].any():
            before = envs.save()
            wrong = chosen.copy()
            wrong[row] = random.choice(forbidden)
            with pytest.raises(ValueError, match=f"row {row}: action {wrong[row]} is illegal now, expected one of"):
                envs.step(wrong)
            assert envs.save() == before
            refused += 1
        *_, infos = envs.step(chosen)
        assert np.array_equal(infos["action_mask"], envs.action_masks())
    assert refused > 3 or game == "zombie-dice"


def test_masks_that_never_change_are_one_that_cannot_be_changed() -> None:
    envs = necrodome.make_vec("zombie-dice-race", 5, seed=1)
    _, infos = envs.reset()
    *_, later = envs.step([1] * 5)
    assert infos["action_mask"] is later["action_mask"] and infos["action_mask"].all()
    with pytest.raises(ValueError, match="read-only"):
        infos["action_mask"][0, 0] = False
    envs.action_masks()[:] = False
    assert envs.action_masks().all()
    assert "action_mask" not in necrodome.make_vec("tokyo", 5, masks=False).reset()[1]


# At home


def test_environments_are_reachable_after_make() -> None:
    """Gymnasium's wrappers would hide what is not Gymnasium's."""
    for name in ("ZombieDiceSolo", "ZombieDiceRace", "ZombieDiceTable", "Tokyo"):
        env: Any = gymnasium.make(f"necrodome/{name}-v0")
        env.reset(seed=1)
        saved, clone = env.save(), env.clone()
        mask = env.action_masks()
        assert mask.dtype == np.bool_ and env.get_wrapper_attr("action_masks")().tolist() == mask.tolist()
        first = env.step(1)
        env.restore(saved)
        assert np.array_equal(env.step(1)[0], first[0]) and np.array_equal(clone.step(1)[0], first[0])
        assert env.spec is not None and clone.spec is not None
        # As learners wrap it.
        wrapped = gymnasium.wrappers.RecordEpisodeStatistics(env)
        assert wrapped.get_wrapper_attr("action_masks")().tolist() == env.action_masks().tolist()
        synced = SyncVectorEnv([lambda env=env: env])  # type: ignore[misc]
        assert synced.call("action_masks")[0].tolist() == env.action_masks().tolist()


def test_threads_survive_a_fork() -> None:
    """A child has none of its parent's threads: it must not wait for them."""
    program = """
import os, warnings, numpy as np, necrodome
warnings.simplefilter("ignore")
envs = necrodome.make_vec("zombie-dice-solo", 4096, seed=1, threads=2)
envs.reset()
actions = np.ones(4096, np.int64)
envs.step(actions)
alone = envs.clone()
reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, envs.step(actions)[0].tobytes()[:1000])
    os._exit(0)
told = os.read(reader, 1000)
assert os.wait()[1] == 0
assert told == alone.step(actions)[0].tobytes()[:1000] == envs.step(actions)[0].tobytes()[:1000]
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("mode", ["disabled", "next_step"])
def test_nobody_is_alive_in_a_match_that_was_cut_off(mode: str) -> None:
    options: dict[str, Any] = {"players": 2, "copies": 3, "max_turns": 3, "autoreset_mode": mode}
    envs = necrodome.make_vec("last-bullet", matches=1, seed=2, **options)
    envs.reset()
    for _ in range(3):
        *_, truncations, infos = envs.step(np.full(6, 4))
    assert truncations.any() and not infos["alive"].any()


# Bounds


@pytest.mark.parametrize("game", ["infection", "last-bullet"])
def test_what_does_not_fit_in_memory_is_refused_before_it_is_taken(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("necrodome.envs.vector.memory", lambda: 2 * 10**9)
    with pytest.raises(ValueError, match=r"16777216 matches of .* need about [0-9.]+ GB of memory, and there are 2.0: "):
        necrodome.make_vec(game, matches=2**24)
    with pytest.raises(ValueError, match="GB of memory") as refused:
        necrodome.make_vec(game, matches=2**24, masks=False, copy=False)
    most = int(str(refused.value).split()[-1])
    monkeypatch.setattr("necrodome.envs.vector.memory", lambda: 2 * 10**9 // most * 2)
    assert necrodome.make_vec(game, matches=2, masks=False, copy=False).num_matches == 2


def test_two_threads_do_not_share_an_environment() -> None:
    """The second is told so in words, and the first goes on."""
    inside, go_on = threading.Event(), threading.Event()

    def opponent(observations: Any) -> Any:
        inside.set()
        assert go_on.wait(60)
        return np.zeros(len(observations), int)

    envs = necrodome.make_vec("zombie-dice-race", 2, seed=1, opponent=opponent)
    envs.reset()
    told: list[Any] = []
    thread = threading.Thread(target=lambda: told.append(envs.step(np.zeros(2, int))))
    thread.start()
    assert inside.wait(60)
    for call in (lambda: envs.step(np.zeros(2, int)), envs.save, envs.action_masks, envs.reset):
        with pytest.raises(RuntimeError, match="give each thread an environment of its own"):
            call()
    go_on.set()
    thread.join()
    assert len(told) == 1 and len(envs.step(np.zeros(2, int))) == 5


@pytest.mark.parametrize("opponent", [None, "greedy", "function"])
def test_an_interpreter_ends_while_threads_step(opponent: str | None) -> None:
    program = f"""
import threading, numpy as np, necrodome
def function(observations):
    return (observations[:, 0] < 3).astype(int)
begun = threading.Event()
def forever(envs):
    envs.reset()
    actions = np.ones(envs.num_envs, int)
    while True:
        envs.step(actions)
        begun.set()
for seed in range(3):
    envs = necrodome.make_vec("zombie-dice-race", 4096, seed=seed, opponent={opponent if opponent == "function" else repr(opponent)})
    threading.Thread(target=forever, args=(envs,), daemon=True).start()
begun.wait()
"""
    for _ in range(4):
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
        assert ended.returncode == 0, ended.stderr.decode()


def test_the_thread_that_ends_the_interpreter_may_step_to_the_end() -> None:
    program = """
import atexit, numpy as np
def last_words():
    print(envs.step(np.ones(4, int))[0].shape)
atexit.register(last_words)
import necrodome
envs = necrodome.make_vec("zombie-dice-solo", 4, seed=1)
envs.reset()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=True)
    assert ended.stdout.decode().strip() == "(4, 8)"
