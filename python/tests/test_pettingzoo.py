"""The PettingZoo environments: PettingZoo's own tests, and what they do not look at."""

from __future__ import annotations

import copy
import importlib
import json
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo import test as pettingzoo_test
from pettingzoo.utils.conversions import parallel_to_aec, turn_based_aec_to_parallel

from necrodome.envs import infection, last_bullet, tokyo, zombie_dice_race, zombie_dice_table
from necrodome.envs.aec import CheckedEnv, TurnEnv
from necrodome.envs.parallel import AskedEnv, SurvivorsEnv

# They have no types.
zoo: Any = pettingzoo_test
states: Any = importlib.import_module("pettingzoo.test.state_test")
convert_turns: Any = turn_based_aec_to_parallel

AEC = [zombie_dice_race, zombie_dice_table, tokyo, infection]
SMALL: dict[str, Any] = {"entries": 3, "copies": 12, "max_turns": 40}


def survivors(**options: Any) -> SurvivorsEnv:
    return last_bullet.parallel_env(**{**SMALL, **options})


PARALLEL: list[Callable[..., Any]] = [infection.parallel_env, survivors]

aec = pytest.mark.parametrize("module", AEC, ids=lambda module: module.__name__.split(".")[-1])
parallel = pytest.mark.parametrize("make", PARALLEL, ids=["infection", "last_bullet"])
observation = pytest.mark.parametrize("observation", ["vector", "dict"])


def choose(seen: dict[str, Any], random: np.random.Generator) -> int:
    return int(random.choice(np.flatnonzero(seen["action_mask"])))


def play(env: Any, steps: int, seed: int = 0) -> list[Any]:
    """Plays legal actions at random and writes down all that came of them."""
    random, told = np.random.default_rng(seed), []
    for _ in range(steps):
        if not env.agents:
            break
        if hasattr(env, "agent_selection"):
            agent = env.agent_selection
            seen, reward, terminated, truncated, _ = env.last()
            told.append((agent, seen, reward, terminated, truncated))
            env.step(None if terminated or truncated else choose(seen, random))
        else:
            # All actions are accepted of all agents: what is illegal is played by the rule for a bad action.
            actions = {agent: int(random.integers(9)) for agent in env.agents}
            told.append(env.step(actions))
    return told


def same(one: Any, other: Any) -> bool:
    """Whether two told stories are the same, arrays included."""
    return bool(data_equivalence(one, other, exact=True))


@aec
@observation
def test_the_api_is_pettingzoos(module: ModuleType, observation: str) -> None:
    zoo.api_test(module.env(observation=observation), num_cycles=100)
    zoo.api_test(module.raw_env(observation=observation), num_cycles=100)
    zoo.seed_test(lambda: module.env(observation=observation), num_cycles=100)


@aec
def test_it_can_be_drawn(module: ModuleType) -> None:
    zoo.render_test(module.env)


@aec
def test_the_state_is_in_its_space(module: ModuleType) -> None:
    states.test_state_space(module.env())
    states.test_state(module.env(), num_cycles=20)


@parallel
@observation
def test_the_parallel_api_is_pettingzoos(make: Callable[..., Any], observation: str) -> None:
    zoo.parallel_api_test(make(observation=observation), num_cycles=300)
    zoo.parallel_seed_test(lambda: make(observation=observation), num_cycles=100)


@parallel
def test_parallel_environments_can_be_drawn_and_converted(make: Callable[..., Any]) -> None:
    zoo.render_test(lambda render_mode: parallel_to_aec(make(render_mode=render_mode)))
    zoo.api_test(parallel_to_aec(make()), num_cycles=30)
    env = make()
    env.reset(seed=1)
    assert env.state_space.contains(env.state())


@aec
def test_turns_can_be_converted_to_parallel(module: ModuleType) -> None:
    zoo.parallel_api_test(convert_turns(module.env()), num_cycles=200)


def environments() -> list[Any]:
    made = [module.raw_env() for module in AEC] + [module.env() for module in AEC]
    return [*made, *(make() for make in PARALLEL)]


@pytest.mark.parametrize(
    "env", environments(), ids=lambda env: f"{type(env).__name__}-{env.metadata['name']}"
)
def test_a_saved_state_goes_on_as_if_nothing_had_been(env: Any) -> None:
    env.reset(seed=3)
    play(env, 7)
    saved = env.save()
    copies = [env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    story = play(env, 400, seed=1)
    assert len(story) > 4
    assert all(same(play(other, 400, seed=1), story) for other in copies)
    for _ in range(2):
        env.restore(saved)
        assert env.save() == saved
        assert same(play(env, 400, seed=1), story)
    # Also what comes after the end: the next match.
    env.restore(saved)
    env.reset()
    after = play(env, 20)
    copies[0].restore(saved)
    copies[0].reset()
    assert same(play(copies[0], 20), after)


def test_saving_and_restoring_at_every_step_changes_nothing() -> None:
    one, other = tokyo.env(), tokyo.env()
    one.reset(seed=5)
    other.reset(seed=6)
    for step in range(3000):
        other.restore(one.save())
        assert same(play(one, 1, seed=step), play(other, 1, seed=step))
        if not one.agents:
            return
    raise AssertionError("the match did not end")


def damaged(saved: bytes) -> list[bytes]:
    """Saves that are no longer what `save` gave."""
    parts = json.loads(saved)
    referee = json.loads(parts["referee"])
    other_rules = {**referee, "rules": {"max_turns": 9}}
    impossible = copy.deepcopy(referee)
    impossible["state"]["monsters"][0]["health"] = 11
    fewer = copy.deepcopy(referee)
    fewer["state"]["monsters"].pop()
    changed = [
        {**parts, "referee": json.dumps(other_rules)},
        {**parts, "referee": json.dumps(impossible)},
        {**parts, "referee": json.dumps(fewer)},
        {**parts, "referee": parts["referee"].replace("player_1", "player_9")},
        {**parts, "referee": 7},
        {**parts, "random": {"bit_generator": "PCG64"}},
        {**parts, "random": {**parts["random"], "bit_generator": "MT19937"}},
        {**parts, "agents": ["player_1", "player_0"]},
        {**parts, "selection": "player_9"},
        {**parts, "rewards": {"player_0": 1.0}},
        {**parts, "terminations": dict.fromkeys(parts["agents"], "no")},
        {key: part for key, part in parts.items() if key != "agents"},
        {**parts, "more": 1},
        [parts],
    ]
    return [b"", b"\xff\xfe", saved[:-9], *(json.dumps(one).encode() for one in changed)]


def test_a_damaged_save_is_refused_and_changes_nothing() -> None:
    env = tokyo.env()
    env.reset(seed=2)
    play(env, 5)
    saved = env.save()
    play(env, 3)
    before = env.save()
    for bad in damaged(saved):
        with pytest.raises(ValueError, match=r"save"):
            env.restore(bad)
        assert env.save() == before
    with pytest.raises(ValueError, match="a saved match of tokyo: expected one of zombie-dice"):
        other = zombie_dice_table.env()
        other.reset()
        other.restore(before)
    with pytest.raises(ValueError, match="call reset first"):
        tokyo.env().save()


def test_wrong_options_are_refused_with_what_is_valid() -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: tokyo.env(max_turn=3), 'unknown option "max_turn": expected max_turns'),
        (lambda: zombie_dice_race.env(out_of_dice="x"), "expected end_turn or recycle_brains"),
        (lambda: infection.parallel_env(zombies=8), "fewer zombies than players"),
        (lambda: last_bullet.parallel_env(density=0), "a number from 0.000001 to 1"),
        (lambda: tokyo.env(players=7), "expected 2 to 6 players, got 7"),
        (lambda: tokyo.env(names=["a", "A"]), "names must differ"),
        (lambda: tokyo.env(observation="image"), "expected 'vector' or 'dict'"),
        (lambda: tokyo.env(render_mode="svg"), "expected one of 'human', 'ansi', 'rgb_array', or None"),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()
    assert tokyo.raw_env(max_turns=3).rules == {"max_turns": 3}


def test_an_illegal_action_is_played_by_the_rule_for_a_bad_one() -> None:
    """One rule for all environments: it stands in docs/python.md."""
    for env in (tokyo.raw_env(), tokyo.env()):
        env.reset(seed=1)
        before = env.save()
        env.step(64)
        assert env.infos["player_0"] == {"bad_action": True}
        assert not any(env.terminations.values()) and not any(env.rewards.values())
        # The rule of Tokyo: all dice are kept.
        bad = env.save()
        env.restore(before)
        env.step(63)
        assert json.loads(env.save())["referee"] == json.loads(bad)["referee"]
        assert not any(env.infos.values())

    for env in (tokyo.raw_env(bad_action="raise"), tokyo.env(bad_action="raise")):
        env.reset(seed=1)
        before = env.save()
        for action, error, message in (
            (64, ValueError, "action 64 is illegal now, expected one of 0, 1, 2, "),
            (66, ValueError, "expected an action, a whole number from 0 to 65, got 66"),
            (None, TypeError, "player_0 is to act: expected an action, got None"),
            (1.0, TypeError, r"expected an action, a whole number from 0 to 65, got 1.0 \(float\)"),
            ("1", TypeError, r"got '1' \(str\)"),
        ):
            with pytest.raises(error, match=message):
                env.step(action)  # type: ignore[arg-type]
            assert env.save() == before

    lone = survivors(entries=1, copies=1, bad_action="raise")
    seen, _ = lone.reset(seed=1)
    (agent,) = lone.agents
    nobody = int(np.flatnonzero(seen[agent]["action_mask"] == 0)[0])
    before = lone.save()
    with pytest.raises(ValueError, match=f"{agent}: action {nobody} can do nothing now"):
        lone.step({agent: nobody})
    with pytest.raises(TypeError, match="expected an action, a whole number from 0 to 129"):
        lone.step({agent: 1.0})  # type: ignore[dict-item]
    assert lone.save() == before


def test_a_step_before_reset_is_refused() -> None:
    for module in AEC:
        for env in (module.raw_env(), module.env()):
            with pytest.raises(ResetNeeded, match="call reset before the first step"):
                env.step(0)
    for make in PARALLEL:
        with pytest.raises(ResetNeeded, match="call reset before the first step"):
            make().step({})


def test_an_illegal_action_in_a_game_that_asks_one_of_many() -> None:
    asked = infection.parallel_env()
    seen, _ = asked.reset(seed=1)
    acting = next(agent for agent in seen if seen[agent]["action_mask"].any())
    # Nobody can end the turn before the first contact.
    _, _, _, _, infos = asked.step({acting: 0})
    assert infos == {agent: {"bad_action": True} if agent == acting else {} for agent in seen}
    with pytest.raises(ValueError, match="expected an action of it, got none"):
        asked.step({})


def test_rewards_follow_the_places() -> None:
    for seed in range(5):
        race = zombie_dice_race.raw_env(max_rounds=40)
        race.reset(seed=seed)
        totals = dict.fromkeys(race.agents, 0.0)
        for agent in race.agent_iter():
            brains = race.observe(agent)["observation"][0]
            race.step(None if race.terminations[agent] else int(brains < 3))
            for one, reward in race.rewards.items():
                totals[one] += reward
        outcome = race.outcome()
        assert outcome is not None
        assert list(totals.values()) == [10.0 if place == 1 else -10.0 for place in outcome["places"]]

        monsters = tokyo.raw_env(players=5, max_turns=15)
        monsters.reset(seed=seed)
        while not any(monsters.terminations.values()):
            assert set(monsters.rewards.values()) == {0.0}
            play(monsters, 1, seed)
        outcome = monsters.outcome()
        assert outcome is not None
        places = outcome["places"]
        for place, reward in zip(places, monsters.rewards.values()):
            tied = places.count(place)
            assert reward == pytest.approx(1 - (place - 1 + (tied - 1) / 2) / 2)


@aec
def test_named_fields_are_the_numbers_of_the_vector(module: ModuleType) -> None:
    vectors, names = module.raw_env(), module.raw_env(observation="dict")
    vectors.reset(seed=4)
    names.reset(seed=4)
    for step in range(60):
        for agent in vectors.agents:
            vector = vectors.observe(agent)["observation"]
            named = names.observe(agent)["observation"]
            assert list(named) == [field.name for field in vectors.layout.fields]
            assert list(named.values()) == vector.tolist()
        play(vectors, 1, step)
        play(names, 1, step)


def test_nobody_is_shown_who_is_infected() -> None:
    """What is secret is changed in the saved state: no observation and no view may change."""
    env = infection.raw_env(players=6, zombies=1, start_antibodies=2)
    changed = env.clone()
    checked = 0
    for seed in range(30):
        env.reset(seed=seed)
        play(env, 12, seed)
        parts = json.loads(env.save())
        referee = json.loads(parts["referee"])
        for player in referee["state"]["party"]["players"]:
            if player["role"] == "zombie":
                continue
            player["role"] = "infected" if player["role"] == "human" else "human"
            changed.restore(json.dumps({**parts, "referee": json.dumps(referee)}).encode())
            checked += 1
            for agent in env.agents:
                assert same(env.observe(agent), changed.observe(agent))
                assert env.view(agent) == changed.view(agent)
    assert checked > 100


def test_a_survivor_sees_its_window_and_no_more() -> None:
    env = survivors(entries=2, copies=12)
    observations, _ = env.reset(seed=9)
    random = np.random.default_rng(1)
    for _ in range(12):
        state = json.loads(env._referee.state())
        side = json.loads(env.view(env.agents[0]))["side"]
        board = {(piece["square"]["x"], piece["square"]["y"]): piece for piece in state["pieces"]}
        for agent in env.agents:
            number = env.possible_agents.index(agent)
            entry, me = number // 12, state["pieces"][number]
            expected = np.zeros((17, 17), dtype=np.uint8)
            for (dy, dx), _ in np.ndenumerate(expected):
                x, y = (me["square"]["x"] + dx - 8) % side, (me["square"]["y"] + dy - 8) % side
                if (x, y) in board:
                    kind = board[x, y]["kind"]
                    own = 3 if kind == {"player": entry} else 4
                    expected[dy, dx] = {"corpse": 1, "zombie": 2}.get(
                        kind if isinstance(kind, str) else "", own
                    )
            vector = observations[agent]["observation"]
            assert np.array_equal(vector[:-1].reshape(17, 17), expected)
            assert vector[-1] == me["bullets"]
        actions = {agent: choose(observations[agent], random) for agent in env.agents}
        observations, *_ = env.step(actions)
        if not env.agents:
            break


def test_survivors_are_paid_for_each_clock_and_cut_off_at_the_end() -> None:
    env = survivors(max_turns=25)
    observations, _ = env.reset(seed=1)
    paid = dict.fromkeys(env.agents, 0.0)
    died: dict[str, int] = {}
    clock, cut = 0, set()
    while env.agents:
        acting = set(env.agents)
        observations, rewards, terminations, truncations, _ = env.step(dict.fromkeys(env.agents, 4))
        clock += 1
        assert acting == rewards.keys() == terminations.keys() == truncations.keys() == observations.keys()
        for agent in acting:
            paid[agent] += rewards[agent]
            if terminations[agent]:
                died[agent] = clock
                assert not observations[agent]["action_mask"].any()
        cut |= {agent for agent, one in truncations.items() if one}
        assert set(env.agents) == acting - died.keys() - cut
    assert died and all(paid[agent] == clock - 1 for agent, clock in died.items())
    assert all(paid[agent] == clock for agent in cut)
    assert clock == 25 and cut or clock < 25 and not cut
    with pytest.raises(ResetNeeded, match="the match is over"):
        env.step({})


def test_a_shot_at_nobody_costs_the_bullet() -> None:
    env = survivors(entries=1, copies=1, max_turns=30)
    observations, _ = env.reset(seed=1)
    (agent,) = env.agents
    mask = observations[agent]["action_mask"]
    nobody = next(action for action in range(9, 130) if not mask[action])
    observations, *_, infos = env.step({agent: nobody})
    assert observations[agent]["observation"][-1] == 2 and infos[agent] == {"bad_action": True}
    with pytest.raises(
        ValueError, match="expected an action of each living agent, got none of entry_0/copy_0"
    ):
        env.step({})


def test_the_seed_decides_and_matches_go_on_from_it() -> None:
    def begun(env: TurnEnv | AskedEnv, seed: int | None) -> str:
        env.reset(seed=seed)
        return env.save().decode()

    one, other = tokyo.raw_env(), tokyo.raw_env()
    assert begun(one, 1) == begun(other, 1) != begun(other, 2)
    assert begun(one, 1) != begun(one, None)
    one.reset(seed=1)
    other.reset(seed=1)
    assert begun(one, None) == begun(other, None)


def test_any_game_is_an_environment() -> None:
    """The example game has rules and nothing else: its numbers are read off its view, its actions off their list."""
    env = TurnEnv("pig", 3, render_mode="ansi")
    env.reset(seed=4)
    assert [field.name for field in env.layout.fields][:4] == ["current", "goal", "scores_0", "scores_1"]
    assert env.action_space("player_0").n == 64  # type: ignore[attr-defined]
    assert "player_0 to decide" in str(env.render())
    zoo.api_test(CheckedEnv(TurnEnv("pig", 2)), num_cycles=500)
    zoo.seed_test(lambda: CheckedEnv(TurnEnv("pig", 2)), num_cycles=200)
    env.reset(seed=4)
    steps = 0
    while env.agents and not env.terminations[env.agent_selection]:
        observation = env.observe(env.agent_selection)
        assert env.observation_space(env.agent_selection).contains(observation)
        assert observation["action_mask"].sum() == 2
        # Rolls to ten, then holds.
        env.step(0 if env.layout.named(observation["observation"])["turn"] < 10 else 1)
        steps += 1
    outcome = env.outcome()
    assert outcome is not None and max(outcome["scores"]) >= 100 and steps > 30
    assert sum(env.rewards.values()) == pytest.approx(0)
    picture = TurnEnv("pig", 2, render_mode="rgb_array")
    picture.reset(seed=1)
    assert np.shape(picture.render())[2] == 3
