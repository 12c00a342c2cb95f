"""What a model makes of given text, in four ways that must agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from bots import Decoding, ReplyCandidate, Utterance
from bots.bot import Turn
from bots.generation.decoding import propose
from bots.generation.perplexity import PerplexityItem, log_probs
from bots.generation.teacher_forcing import forced, foreseen, next_word, rank, spoken
from bots.text.vocabulary import END
from tests.bots.stepping import TURNS, State, Tiny

TEXTS = ["a b", "", "c", "b b a c"]


def test_forced_is_what_the_model_says_token_by_token() -> None:
    model = Tiny()
    replies = [model.codec.encode(text) for text in TEXTS]
    found = forced(model, TURNS, replies)
    for turn, reply, row in zip(TURNS, replies, found, strict=True):
        tokens = [*reply, END]
        expected = [float(model.log_probs(turn, tokens[:i])[t]) for i, t in enumerate(tokens)]
        assert row == pytest.approx(expected)
        assert forced(model, [turn], [reply])[0] == pytest.approx(row)
    assert forced(model, [], []) == []


def test_turns_that_are_alike_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Tiny()
    turns = [TURNS[1], TURNS[2], TURNS[1], TURNS[1], TURNS[0]]
    replies = [model.codec.encode(text) for text in (*TEXTS, "a")]
    alone = [forced(model, [turn], [reply])[0] for turn, reply in zip(turns, replies, strict=True)]
    read: list[Turn] = []
    start = model.start

    def reading(some: Sequence[Turn]) -> State:
        read.extend(some)
        return start(some)

    monkeypatch.setattr(model, "start", reading)
    for row, expected in zip(forced(model, turns, replies), alone, strict=True):
        assert row == pytest.approx(expected)
    assert read == [TURNS[1], TURNS[2], TURNS[0]]


def test_ranks_are_means_of_what_is_forced() -> None:
    model = Tiny()
    for persona, history in TURNS:
        turns = [(persona, history)] * len(TEXTS)
        rows = forced(model, turns, [model.codec.encode(text) for text in TEXTS])
        means = [sum(row) / len(row) for row in rows]
        assert rank(model, persona, history, TEXTS) == pytest.approx(means)
    assert rank(model, (), (), []) == []


def test_next_words_are_what_is_forced() -> None:
    model = Tiny()
    for turn, text in zip(TURNS, TEXTS, strict=True):
        words = text.split()
        row = forced(model, [turn], [model.codec.encode(text)])[0]
        for place, word in enumerate(words):
            chances = next_word(model, *turn, words[:place])
            assert math.log(chances[word]) == pytest.approx(row[place], abs=1e-5)
            assert list(chances) == ["a", "b", "c"]
            assert sum(chances.values()) < 1


class OneByOne:
    """The model as ConvAI2 asks it: for each next word anew."""

    def __init__(self, model: Tiny) -> None:
        self.model = model

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> Mapping[str, float]:
        return next_word(self.model, persona, history, prefix)


def test_replies_are_foreseen_as_word_by_word() -> None:
    """A word outside the dictionary is not scored; one that the model does not know is lost."""
    model, known = Tiny(), frozenset({"a", "c", "zebra"})
    texts = ["a b", "c zebra a", "", "b x A"]
    found = foreseen(model, TURNS, texts, known)
    for turn, text, row in zip(TURNS, texts, found, strict=True):
        slow = log_probs(OneByOne(model), PerplexityItem(*turn, text), known)
        assert [each is None for each in row] == [each is None for each in slow]
        for one, other in zip(row, slow, strict=True):
            if one is not None and other is not None:
                assert one == pytest.approx(other, abs=1e-5)
    assert found[1][1] == -math.inf
    with pytest.raises(ValueError, match="no word of the model"):
        foreseen(model, TURNS, texts, frozenset({"zebra"}))


def test_what_is_proposed_is_as_likely_as_when_it_is_forced() -> None:
    model = Tiny(lasting=1.0)
    for turn, found in zip(TURNS, propose(model, TURNS, Decoding("beam", 3)), strict=True):
        for each in found:
            row = forced(model, [turn], [model.codec.encode(each.text)])[0]
            assert each.log_probs == pytest.approx(row[: len(each.log_probs)])


def candidate(text: str) -> ReplyCandidate:
    tokens = tuple(text.split())
    return ReplyCandidate(text, tokens, (-1.0,) * len(tokens))


def test_the_best_candidate_that_is_new_short_and_safe_is_said() -> None:
    history = (Utterance("self", "I sing."), Utterance("partner", "So?"))
    texts = ["i sing", "i will kill you", "i really do like to dance", "i dance", "no"]
    reply = spoken([[candidate(text) for text in texts]], [((), history)], max_words=3)[0]
    assert reply.text == "I dance"
    assert len(reply.details["refused"]) == 3  # type: ignore[arg-type]


def test_a_writer_that_ends_at_once_has_failed() -> None:
    reply = spoken([[candidate("")]], [((), ())], max_words=3)[0]
    assert (reply.text, reply.events) == ("", ("empty",))
