"""Matches in words: environments for training and testing language models.

An observation is a text, and so is an action:

>>> from necrodome.text import TextEnv
>>> env = TextEnv("zombie-dice-solo", reward="exact")
>>> print(env.reset(seed=1))
Situation: nothing rolled yet
View: {"turn":{"brains":0,"shotguns":0,"hand":null,"cup":{"green":6,"yellow":4,"red":3},"brain_dice":{"green":0,"yellow":0,"red":0}}}
Legal actions:
- roll: {"type":"go"}
- stop: {"type":"stop"}
>>> text, reward, done, info = env.step("Nothing to lose yet.\\nANSWER: stop")
>>> round(reward, 6), done, info["action"]
(-2.258551, True, {'type': 'stop'})

``env.instructions`` are the system prompt: the rules, and how to answer. Every text is played. For one without a legal action
the game's rule for a bad action applies, and ``info["bad_action"]`` says what was wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from gymnasium.error import ResetNeeded

from . import _native
from .envs.arguments import not_begun, one_of, whole
from .envs.base import Option, RefereeEnv
from .opponents import AnyOpponent, Draws, Table, answer, line_up, seated
from .solution import solve

__all__ = ["BadAction", "Info", "TextEnv"]

#: What can be wrong with an answer: there is none, there is no action in it, or the action is against the rules.
BadAction = Literal["empty", "unparsable", "illegal"]

REWARDS = ("game", "exact")
LEGAL = ("shown", "hidden")


class Info(TypedDict, total=False):
    """What a step returns besides the text."""

    #: What was played; `None` where nothing in the answer could be.
    action: dict[str, Any] | None
    #: What was wrong with the answer, if anything was, and why.
    bad_action: BadAction
    why: str
    #: With exact rewards: what the decision has cost, and the reward of the game.
    regret: float
    game_reward: float
    #: At the end of a match: places, scores and turns.
    outcome: dict[str, Any]


class _Choice(NamedTuple):
    """The action that is played for an answer, as JSON, and what is wrong with the answer."""

    action: str
    bad: BadAction | None = None
    why: str = ""


class TextEnv(RefereeEnv):
    """One seat of a match of any game, told in words; opponents play the others.

    `opponents` (or a single `opponent`) are those of `necrodome.opponents`, except pools: names of built-in bots,
    `"optimal"`, functions of observations, objects with `act(view)`, programs. By default, the bots that suit
    the game play, or with exact rewards the perfect player.

    `reward="game"` is the reward of the game. With `reward="exact"` each decision has its own reward, without luck: minus
    its cost compared with the best one, with perfect play from there on. It is 0 for perfect decisions, and negative for all
    others. Games that are not solved refuse it.

    `legal="hidden"` leaves the list of legal actions out of the texts. Further keywords are options of the rules.

    The same seed and the same texts give the same episode.
    """

    def __init__(
        self,
        game: str,
        opponents: Sequence[AnyOpponent] | None = None,
        seat: int = 0,
        *,
        opponent: AnyOpponent = None,
        reward: str = "game",
        legal: str = "shown",
        **rules: Option,
    ) -> None:
        #: What a step rewards: `game` or `exact`.
        self.reward = one_of("reward", reward, REWARDS)
        exact = self.reward == "exact"
        self._lists = one_of("legal", legal, LEGAL) == "shown"
        self._card: dict[str, Any] = json.loads(_native.card(game))
        opponents = self._line_up(game, opponent, opponents, exact)
        seats = len(opponents) + 1
        self._seat = whole("seat", seat, 0, seats - 1)
        super().__init__(game, [f"player_{place}" for place in range(seats)], rules, "vector", None)
        try:
            self._solution = solve(game, seats=seats, **rules) if exact else None
        except ValueError as error:
            raise ValueError(f"reward='exact': {error}") from None
        self._asked = self._seated(opponents)
        # Who sees no actions has to be told what they look like.
        self._needs_schema = not self._lists or self._referee.labels(self._seat) is None
        # What happened since the last text, and what was wrong with the last answer.
        self._story: list[str] = []
        self._complaint = ""

    def _line_up(
        self, game: str, opponent: AnyOpponent, opponents: Sequence[AnyOpponent] | None, exact: bool
    ) -> list[AnyOpponent]:
        if self._card["seats"] == [1, 1]:
            if opponent is not None or opponents:
                raise ValueError(f"{game} is for one: leave out the opponents")
            return []
        if opponent is None and opponents is None:
            opponents = ["optimal"] if exact else self._card["opponents"]
        return line_up(opponent, opponents, None, game)

    def _seated(self, opponents: list[AnyOpponent]) -> list[Any]:
        """The opponents to ask, by seat; the own place is never asked."""
        table = Table(self.game, self._options, len(opponents) + 1)
        # One that has several seats is asked for all of them.
        known = {id(bot): seated(bot, table) for bot in opponents}
        for bot in known.values():
            if isinstance(bot, Draws):
                raise TypeError(
                    "opponent: a Pool draws by itself, but here everything follows from the seed; name one of its members"
                )
            if isinstance(bot, str):
                # So that a wrong name is told at once.
                _native.bot_actions(self.game, self._options, bot, [], [])
            elif not bot.questions and self._referee.observe(0).ndim > 1:
                raise TypeError(
                    f"opponent: in {self.game} a function cannot answer for all survivors of a seat; "
                    "give an object with act(view)"
                )
        asked = [known[id(bot)] for bot in opponents]
        return [*asked[: self._seat], None, *asked[self._seat :]]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of an action: for servers that constrain answers."""
        return dict(self._card["action"])

    @property
    def instructions(self) -> str:
        """The system prompt, which a player gets before the match: the rules, and how to answer."""
        card, names = self._card, self.names
        told = [f"You play {card['title']}. {card['about']}", "", card["rules"], card["hint"]]
        told += [f"Options of the rules: {self._referee.rules}"]
        if len(names) > 1:
            told += [f"You are {names[self._seat]} (seat {self._seat}) of {', '.join(names)}."]
        shown = ", and your legal actions" if self._lists else ""
        told += ["", f"Each message tells what has happened, the situation in words, your view as JSON{shown}."]
        form = "as JSON that fits this schema:" if self._needs_schema else "as JSON or in the words of the list."
        told += [f"Think first if you like. End with one line: ANSWER: followed by your action, {form}"]
        if self._needs_schema:
            told += [json.dumps(card["action"])]
        return "\n".join(told)

    def reset(self, seed: int | None = None) -> str:
        """Begins a new match, and plays up to the first decision of this seat. Without a seed, chance goes on."""
        while True:
            self._begin(seed)
            self._story, self._complaint = self._referee.story(self._seat), ""
            self._play_on(None)
            if self._referee.to_act():
                return self.observe()
            # The others have ended it before anything was asked.
            seed = None

    def step(self, text: str) -> tuple[str, float, bool, Info]:
        """Plays the action in a text, and lets the others play.

        Returns the next text, the reward, whether the match is over, and more.
        """
        if self._random is None:
            raise not_begun()
        if not self._referee.to_act():
            raise ResetNeeded("the match is over: call reset")
        if not isinstance(text, str):
            raise TypeError(f"expected an answer, a text, got {text!r} ({type(text).__name__})")
        choice = self._read(text)
        info: Info = {"action": json.loads(choice.action)}
        self._complaint = ""
        if choice.bad:
            info["bad_action"], info["why"] = choice.bad, choice.why
            self._complaint = (
                f"Your last answer could not be used ({choice.bad}: {choice.why}). "
                "The rule for a bad action was applied."
            )
        regret = 0.0
        if self._solution:
            regret = self._solution.regret(json.loads(self._referee.view(self._seat)), info["action"])
        self._story = []
        reward = self._play_on(choice.action)
        if self._solution:
            info["regret"], info["game_reward"] = regret, reward
            reward = -regret
        done = not self._referee.to_act()
        if done:
            info["outcome"] = self.outcome() or {}
        return self.observe(), reward, done, info

    def _play_on(self, own: str | None) -> float:
        """Plays the own action, if there is one, and those of the others until the next decision; returns the reward."""
        reward = 0.0
        while (to_act := self._referee.to_act()) and not (own is None and self._seat in to_act):
            actions = [own if seat == self._seat else self._ask(seat) for seat in to_act]
            self._referee.apply(f"[{','.join(map(str, actions))}]")
            reward += self._referee.rewards()[self._seat]
            self._story += self._referee.story(self._seat)
            own = None
        return reward

    def _ask(self, seat: int) -> str:
        assert self._random is not None
        return answer(self._asked[seat], self._referee, seat, int(self._random.integers(2**63)))

    def observe(self) -> str:
        """The text for the seat now, as `reset` or `step` returned it."""
        parts = [self._complaint] if self._complaint else []
        if self._story:
            parts.append("\n- ".join(["What has happened:", *self._story]))
        if scores := self._referee.scores():
            places = (self.outcome() or {})["places"]
            ends = [f"{name}: place {place}, {score}" for name, place, score in zip(self.names, places, scores)]
            return "\n\n".join([*parts, "\n- ".join(["The match is over:", *ends])])
        seen = [f"Situation: {self._referee.situation(self._seat)}", f"View: {self._referee.view(self._seat)}"]
        return "\n\n".join([*parts, "\n".join([*seen, *self._legal()])])

    def _legal(self) -> list[str]:
        if not self._lists:
            return []
        labels = self._referee.labels(self._seat)
        if labels is None:
            return ["Legal actions: too many to list."]
        # Dice that show the same make the same action: once is enough.
        listed: dict[str, str] = {}
        for label, action in labels:
            listed.setdefault(label, action)
        return ["Legal actions:", *(f"- {label}: {action}" for label, action in listed.items())]

    def _read(self, text: str) -> _Choice:
        """Reads the action that is played for a text."""
        if not text.strip():
            return _Choice("null", "empty", "there is no text")
        found = next(filter(None, map(self._found, _candidates(text))), None)
        try:
            action, why = ("null", None) if found is None else self._referee.read(self._seat, found)
        except ValueError:
            # JSON of Python that is none elsewhere, such as half a letter.
            found, action, why = None, "null", None
        if found is None:
            return _Choice("null", "unparsable", "expected ANSWER: and an action in the last line")
        return _Choice(action) if why is None else _Choice(action, "illegal", why)

    def _found(self, candidate: str) -> str | None:
        """Finds the action in a part of an answer, as JSON.

        The part is an object, one with a field `action`, the label of an action, or its type.
        """
        start, end = candidate.find("{"), candidate.rfind("}")
        if not 0 <= start < end:
            return self._labelled(candidate)
        try:
            found = json.loads(candidate[start : end + 1], parse_constant=_no_number)
            named = found.get("action", found)
            return self._labelled(named) if isinstance(named, str) else json.dumps(named)
        except (ValueError, RecursionError):
            return None

    def _labelled(self, words: str) -> str | None:
        wanted = _plain(words)
        labels = self._referee.labels(self._seat) or []
        return next((action for label, action in labels if wanted in (_plain(label), _type_alone(action))), None)

    def _agent_keys(self) -> tuple[str, ...]:
        return ("story", "complaint")

    def _save_agents(self) -> dict[str, Any]:
        return {"story": self._story, "complaint": self._complaint}

    def _restore_agents(self, parts: Mapping[str, Any], referee: _native.Referee) -> None:
        story, complaint = parts["story"], parts["complaint"]
        told = [complaint, *story] if isinstance(story, list) else [None]
        if not all(isinstance(text, str) for text in told):
            raise ValueError("a saved environment: what it tells does not fit")
        if referee.to_act() and self._seat not in referee.to_act():
            raise ValueError(f"a saved environment: seat {self._seat} is not to act in it")
        self._story, self._complaint = story, complaint


#: The word before an action, perhaps emphasised, at the beginning of a line.
_ANSWER = re.compile(r"^[^\w\n{]*answer[^\w\n{:]*:", re.IGNORECASE | re.MULTILINE)
_FENCED = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)


def _candidates(text: str) -> list[str]:
    """The parts of an answer that may be its action, the likeliest first."""
    if marks := [*_ANSWER.finditer(text)]:
        return [text[marks[-1].end() :]]
    return [text.strip().splitlines()[-1], *_FENCED.findall(text)[-1:], text]


def _plain(words: str) -> str:
    """Strips emphasis, case and surrounding punctuation from words."""
    return " ".join(words.casefold().split()).strip("`*_\"'.!- ")


def _type_alone(action: str) -> str | None:
    """The type of an action that consists only of its type."""
    match json.loads(action):
        case {"type": str(kind), **rest} if not rest:
            return kind.casefold()
    return None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
