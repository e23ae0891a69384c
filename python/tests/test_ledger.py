"""Ledgers of matches: they add up, and have the numbers of the command line."""

from pathlib import Path

import pytest
from arena_binary import document, needs_binary

import necrodome


@pytest.mark.parametrize(
    ("game", "bots", "rules"),
    [
        ("zombie-dice-solo", ["greedy"], {"out_of_dice": "recycle_brains"}),
        ("zombie-dice-race", ["greedy", "cautious"], {}),
        ("zombie-dice", ["random", "greedy"], {"tiebreak": "until_broken"}),
        ("tokyo", ["angry", "random"], {}),
    ],
)
def test_a_ledger_adds_up(game: str, bots: list[str], rules: dict[str, str]) -> None:
    ledger = necrodome.analyze(necrodome.match(game, bots, seed=5, **rules))
    assert ledger.game == game
    assert ledger.start == pytest.approx(necrodome.solve(game, **rules).value)
    first, *others = ledger.totals
    change = first["luck"] - first["regret"] + sum(other["regret"] for other in others)
    assert ledger.start + change == pytest.approx(ledger.result, abs=1e-9)
    for total in ledger.totals:
        own = [row for row in ledger.decisions if row["seat"] == total["seat"]]
        assert sum(row["regret"] for row in own) == pytest.approx(total["regret"], abs=1e-12)
        assert len(own) == total["decisions"] and all(row["name"] == total["name"] for row in own)
    assert sum(row["luck"] for row in ledger.rolls) == pytest.approx(first["luck"], abs=1e-9)
    assert len(ledger.decisions) + len(ledger.rolls) == len(ledger.entries)
    # The price of a choice is what the solution says of it.
    solution = necrodome.solve(game, **rules)
    for entry, row in zip(
        (e for e in ledger.entries if e["type"] == "decision"), ledger.decisions, strict=True
    ):
        values = solution.action_values(entry["view"])
        assert max(values[~(values != values)]) == pytest.approx(row["best"], abs=1e-12)
        assert min(abs(values - row["value"])[~(values != values)]) < 1e-12


def test_rows_make_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    ledger = necrodome.analyze(necrodome.match("tokyo", ["angry", "random"], seed=3))
    decisions = pandas.DataFrame(ledger.decisions)
    costs = decisions.groupby("name")["regret"].sum()
    for total in ledger.totals:
        assert costs[total["name"]] == pytest.approx(total["regret"])
    assert decisions["chosen"].str.startswith(("keep", "yield", "stay")).all()
    assert set(pandas.DataFrame(ledger.rolls).columns) >= {"step", "name", "rolled", "luck"}


def test_a_perfect_player_pays_nothing() -> None:
    policy = necrodome.solve("zombie-dice-race").policy
    ledger = necrodome.analyze(necrodome.match("zombie-dice-race", [policy, "greedy"], seed=2))
    perfect, greedy = ledger.totals
    assert perfect["regret"] == 0 and perfect["mistakes"] == 0
    assert greedy["regret"] > 0 and ledger.worst[0]["name"] == greedy["name"]


def test_a_replay_is_a_path_or_bytes(tmp_path: Path) -> None:
    replay = necrodome.match("zombie-dice-race", ["greedy", "cautious"], seed=5).replay
    path = tmp_path / "a.replay"
    path.write_bytes(replay)
    documents = [necrodome.analyze(form).document for form in (replay, path, str(path), bytearray(replay))]
    assert all(document == documents[0] for document in documents)


@needs_binary
def test_numbers_are_those_of_the_command_line(tmp_path: Path) -> None:
    for game, bots in (("zombie-dice-race", ["greedy", "cautious"]), ("tokyo", ["angry", "random"])):
        played = necrodome.match(game, bots, seed=5)
        played.save(tmp_path / "a.replay")
        assert document("analyze", str(tmp_path / "a.replay")) == necrodome.analyze(played).document


def test_what_is_no_replay_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a necrodome replay"):
        necrodome.analyze(b"nonsense")
    with pytest.raises(FileNotFoundError):
        necrodome.analyze(tmp_path / "nowhere.replay")
    with pytest.raises(TypeError, match="got int"):
        necrodome.analyze(3)
    bullets = necrodome.match("last-bullet", ["runner", "runner"], seed=1, max_turns=5)
    with pytest.raises(ValueError, match="last-bullet is not solved"):
        necrodome.analyze(bullets)
