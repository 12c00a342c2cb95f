"""ConvAI2's perplexity, with models whose answer is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from bots import Dialogue, Utterance
from bots.generation.perplexity import PerplexityItem, dictionary, log_probs, perplexity

KNOWN = frozenset({"i", "like", "tea", ".", "you"})
TEA = PerplexityItem((), (), "I like zebras .")


class Table:
    """A language model that tells the same of every next word, and keeps what it was told."""

    def __init__(self, chances: Mapping[str, float]) -> None:
        self.chances = chances
        self.prefixes: list[list[str]] = []

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> Mapping[str, float]:
        self.prefixes.append(list(prefix))
        return self.chances


def test_a_uniform_model_has_the_size_of_the_dictionary() -> None:
    model = Table(dict.fromkeys(KNOWN, 1 / len(KNOWN)))
    replies = [
        log_probs(model, PerplexityItem((), (), text), KNOWN) for text in ("I like tea.", "you")
    ]
    assert perplexity(replies) == pytest.approx(len(KNOWN))


def test_unknown_words_are_skipped_but_stand_before_the_next() -> None:
    model = Table(dict.fromkeys(KNOWN, 0.2))
    found = log_probs(model, TEA, KNOWN)
    assert [each is None for each in found] == [False, False, True, False]
    assert model.prefixes == [[], ["i"], ["i", "like", "zebras"]]


def test_chances_are_normalized_over_the_dictionary() -> None:
    chances = {"i": 0.1, "like": 0.1, "tea": 0.1, ".": 0.1, "you": 0.1, "zebras": 0.5}
    assert log_probs(Table(chances), TEA, KNOWN)[0] == pytest.approx(math.log(0.2))


def test_probability_zero_is_infinite() -> None:
    found = log_probs(Table({"like": 1.0}), TEA, KNOWN)
    assert found[0] == -math.inf
    assert perplexity([found]) == math.inf


def test_nothing_to_score_is_said() -> None:
    with pytest.raises(ValueError, match="no word of the replies is in the dictionary"):
        perplexity([log_probs(Table({}), PerplexityItem((), (), "zebras"), KNOWN)])


def test_the_dictionary_has_personas_and_messages() -> None:
    turns = (Utterance("partner", "Hi, you!"), Utterance("self", "hi"))
    dialogue = Dialogue("1", turns, ("I bake.",))
    assert dictionary([dialogue]) == {"hi", ",", "you", "!", "i", "bake", "."}
    assert dictionary([dialogue], least=2) == {"hi"}
