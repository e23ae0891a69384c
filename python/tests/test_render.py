"""Text and pictures of matches."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

from necrodome._native import Referee
from necrodome.envs import (
    infection,
    last_bullet,
    render,
    solo,
    tokyo,
    zombie_dice_race,
    zombie_dice_table,
)
from necrodome.envs.render.canvas import LIGHT, Canvas
from necrodome.envs.render.font import glyph
from necrodome.envs.versus import VersusEnv


def picture(env: Any) -> render.Image:
    drawn = env.render()
    assert isinstance(drawn, np.ndarray) and drawn.dtype == np.uint8 and drawn.shape[2] == 3
    return drawn


def test_a_match_is_told_in_words() -> None:
    referee = Referee("zombie-dice-race", ["Ann", "Bob"], 5)
    referee.step([1])
    view = {**json.loads(referee.view(0)), "to_act": referee.to_act()}
    lines = render.text("zombie-dice-race", view, ["Ann", "Bob"]).splitlines()
    turn = view["turn"]
    assert lines[0].split() == [
        "hand",
        *(word for die in turn["hand"] for word in (die["colour"], die["face"])),
    ]
    assert lines[1:3] == [f"brains    {turn['brains']}", f"shotguns  {turn['shotguns']}"]
    assert lines[4:] == ["> Ann  0", "  Bob  0"]


@pytest.mark.parametrize("players", [2, 12, 99])
def test_tables_of_any_size_can_be_drawn(players: int) -> None:
    env = zombie_dice_table.env(players, render_mode="rgb_array")
    env.reset(seed=1)
    assert np.shape(picture(env)) == (320, 720, 3)


def test_pictures_show_what_changes() -> None:
    for env in [
        zombie_dice_race.raw_env(render_mode="rgb_array"),
        tokyo.raw_env(6, render_mode="rgb_array"),
        infection.raw_env(50, zombies=7, render_mode="rgb_array"),
    ]:
        env.reset(seed=1)
        first = picture(env)
        assert np.array_equal(first, picture(env))
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1]))
        assert not np.array_equal(first, picture(env))


def test_each_piece_of_a_board_is_drawn_in_its_place() -> None:
    env = last_bullet.parallel_env(3, copies=30, render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert isinstance(text, str)
    state = json.loads(env._referee.state())
    rows = [line.split(" ") for line in text.splitlines()[1:]]
    for piece in state["pieces"]:
        kind = piece["kind"]
        sign = "abc"[kind["player"]] if isinstance(kind, dict) else {"zombie": "Z", "corpse": "x"}[kind]
        assert rows[piece["square"]["y"]][piece["square"]["x"]] == sign
    drawn = sum(sign != "." for row in rows[: len(rows[0])] for sign in row)
    assert drawn == len(state["pieces"])


def test_a_game_is_drawn_by_the_module_of_its_name() -> None:
    def drawn_by(game: str) -> str:
        return vars(render._module(game))["__name__"].rpartition(".")[2]

    assert [drawn_by(game) for game in ("tokyo", "last-bullet")] == ["tokyo", "last_bullet"]
    assert drawn_by("zombie-dice") == drawn_by("zombie-dice-solo") == "zombie_dice"
    assert drawn_by("pig") == drawn_by("zombie") == "words"


def gymnasium_step(env: Any) -> None:
    env.step(int(np.flatnonzero(env.action_masks())[-1]))


def turn_step(env: Any) -> None:
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1]))


def parallel_step(env: Any) -> None:
    env.step(dict.fromkeys(env.agents, 4 if "copy" in env.agents[0] else 0))


ENVIRONMENTS: dict[str, tuple[Callable[..., Any], Callable[[Any], None]]] = {
    "solo": (solo.SoloEnv, gymnasium_step),
    "made solo": (partial(gymnasium.make, "necrodome/ZombieDiceSolo-v0"), lambda env: env.step(1)),
    "race": (partial(VersusEnv, "zombie-dice-race", ["greedy"]), gymnasium_step),
    "table": (partial(VersusEnv, "zombie-dice", ["greedy", "cautious"]), gymnasium_step),
    "tokyo": (partial(VersusEnv, "tokyo", ["angry"]), gymnasium_step),
    "race in turns": (zombie_dice_race.raw_env, turn_step),
    "checked race in turns": (zombie_dice_race.env, turn_step),
    "table in turns": (partial(zombie_dice_table.raw_env, 3), turn_step),
    "tokyo in turns": (partial(tokyo.raw_env, 3), turn_step),
    "infection in turns": (partial(infection.raw_env, 4), turn_step),
    "infection at once": (partial(infection.parallel_env, 4), parallel_step),
    "last bullet at once": (partial(last_bullet.parallel_env, 2, copies=3), parallel_step),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_for_people_every_reset_and_every_step_is_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    make, step = ENVIRONMENTS[name]
    human, ansi, silent = make(render_mode="human"), make(render_mode="ansi"), make()
    capsys.readouterr()
    human.reset(seed=5)
    ansi.reset(seed=5)
    assert capsys.readouterr().out == f"{ansi.render()}\n"
    step(human)
    step(ansi)
    assert capsys.readouterr().out == f"{ansi.render()}\n"
    assert human.render() is None
    capsys.readouterr()
    silent.reset(seed=5)
    step(silent)
    ansi.render()
    assert capsys.readouterr().out == ""


def test_shapes_cover_as_much_as_they_should() -> None:
    def covered(canvas: Canvas) -> float:
        return float(canvas.image()[..., 0].sum()) / 255

    def blank() -> Canvas:
        return Canvas(100, 80, (0, 0, 0))

    white = (255, 255, 255)
    canvas = blank()
    canvas.rectangle(10, 10, 30, 20, white)
    assert covered(canvas) == pytest.approx(600)
    canvas = blank()
    canvas.circle(50, 40, 20, white)
    assert covered(canvas) == pytest.approx(np.pi * 400, rel=0.01)
    canvas = blank()
    canvas.polygon([(10, 10), (90, 10), (10, 70)], white)
    assert covered(canvas) == pytest.approx(2400, rel=0.02)
    canvas = blank()
    canvas.line(10, 40, 90, 40, white, 4)
    assert covered(canvas) == pytest.approx(320 + np.pi * 4, rel=0.02)
    # What is off the canvas is cut, not wrapped.
    canvas = blank()
    canvas.circle(0, 0, 20, white)
    canvas.text(90, 70, "AB", white)
    image = canvas.image()
    assert not image[40:60].any() and not image[:, 30:80].any()


def test_letters_are_drawn_dot_by_dot() -> None:
    canvas = Canvas(40, 20, (0, 0, 0))
    canvas.text(2, 3, "a?", LIGHT, scale=1)
    image = canvas.image()[..., 0] > 0
    assert np.array_equal(image[3:10, 2:7], glyph("A"))
    assert np.array_equal(image[3:10, 8:13], glyph("?"))
    assert np.array_equal(glyph("é"), glyph("漢")) and glyph("é").any()
