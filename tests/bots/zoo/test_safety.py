"""The safety layer and its default classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from bots import Decoding, InvalidOption, Reply, ReplyCandidate, Turn, bot_presets, make_bot, safe
from bots.guards.filters import FALLBACKS
from bots.zoo.no_repeat import NoRepeat
from bots.zoo.safety import Safety
from bots.zoo.safety.toxicity import fit, toxicity
from bots.zoo.sample_and_rank import SampleAndRank
from tests.bots.examples import HELLO, PERSONA

# none of these is among what the classifier learned from
TOXIC = [
    "You are a stupid person and everybody hates you.",
    "I hope you suffer, you pathetic loser.",
    "People like you disgust me.",
    "Shut up, you worthless idiot.",
    "Nobody would miss you if you disappear.",
]
HARMLESS = [
    "Hello! Do you like to travel?",
    "I work in a school and I love my job.",
    "I am so sorry to hear about your dog.",
    "We are going to the sea next week.",
    "What kind of food do you like?",
]


def worn(**options: object) -> Safety:
    made = make_bot("safety", **{"bot": "markov", **options})
    assert isinstance(made, Safety)
    return made


@dataclass
class Says:
    """Writes what it is told to."""

    texts: tuple[str, ...]

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        return [[ReplyCandidate(text, (text,), (-1.0,)) for text in self.texts] for _ in turns]


class Around(Safety):
    """The layer around it."""

    says: Says

    @property
    def inner(self) -> Says:
        return self.says


def saying(*texts: str, threshold: float = 0.5, classifier: str = "") -> Around:
    bot = Around(bot="markov", threshold=threshold, classifier=classifier)
    bot.says = Says(texts)
    return bot


def removed_by(reply: Reply) -> list[dict[str, Any]]:
    removed = reply.details.get("removed", [])
    assert isinstance(removed, list)
    return removed


@pytest.mark.parametrize("text", TOXIC)
def test_contempt_and_threats_are_removed_and_logged(text: str) -> None:
    reply = saying(text, "I have two cats.").respond(PERSONA, HELLO)
    assert reply.text == "I have two cats."
    (removed,) = removed_by(reply)
    assert removed["text"] == text
    assert removed["why"]


@pytest.mark.parametrize("text", HARMLESS)
def test_small_talk_passes(text: str) -> None:
    assert toxicity(text) < 0.5
    reply = saying(text).respond(PERSONA, HELLO)
    assert reply.text == text
    assert "removed" not in reply.details


def test_where_all_is_removed_something_neutral_is_said_and_logged() -> None:
    reply = saying(*TOXIC).respond(PERSONA, HELLO)
    assert reply.text in FALLBACKS
    assert safe(reply.text)
    assert reply.details["fallback"] is True
    assert [each["text"] for each in removed_by(reply)] == TOXIC


def test_the_classifier_finds_what_the_lexicon_does_not() -> None:
    text = "The world would be better without people like you."
    assert safe(text)
    (removed,) = removed_by(saying(text).respond(PERSONA, HELLO))
    assert removed["why"] == "classifier"
    assert removed["probability"] > 0.5


def test_the_threshold_counts() -> None:
    assert "removed" in saying(HARMLESS[0], threshold=0.0).respond((), HELLO).details
    assert saying("you disgust me", threshold=1.0).respond((), HELLO).text == "You disgust me"


def test_a_classifier_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{shouting.__module__}.{shouting.__name__}"
    bot = saying("HELLO", "hello there", classifier=name)
    with pytest.raises(InvalidOption, match="must be one that BOT_CALLABLES names"):
        bot.respond((), HELLO)
    monkeypatch.setenv("BOT_CALLABLES", name)
    assert bot.respond((), HELLO).text == "Hello there"


def shouting(text: str) -> float:
    return float(text.isupper())


def test_the_regression_is_at_its_minimum() -> None:
    texts, labels = ["a b", "a c", "b c", "c"], [True, True, False, False]
    numbers, weights = fit(texts, labels)
    assert weights[numbers["a"]] > 0 > weights[numbers["c"]]
    assert len(weights) == len(numbers) + 1


def test_proposals_are_screened_too() -> None:
    every = worn().inner.propose([(PERSONA, HELLO)])[0]
    (kept,) = worn(threshold=0.2).propose([(PERSONA, HELLO)])
    assert [each for each in every if each in kept] == kept
    assert worn(threshold=0.0).propose([(PERSONA, HELLO)]) == [[]]


def test_the_full_model_wears_all_three() -> None:
    bot = worn(**bot_presets("safety")["full"])
    rule = bot.inner
    assert isinstance(rule, NoRepeat)
    drawn = rule.inner
    assert isinstance(drawn, SampleAndRank)
    assert (drawn.number, drawn.temperature, drawn.top_k) == (20, 1.0, 40)
    assert bot.respond(PERSONA, HELLO).text.strip()
