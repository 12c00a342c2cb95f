"""Repeats: a repeated sentence has some, fresh text none, and the two parts are told apart."""

import pytest

from analysis import get_metric
from tests.analysis.talks import talks

repeats = get_metric("repeats")


def _found(*texts: str) -> dict[str, float]:
    found = repeats(talks([[("s", text) for text in texts]]))
    return dict(zip(found["metric"], found["estimate"], strict=True))


def test_fresh_text_has_none() -> None:
    found = _found("Cats chase mice.", "Dogs bark loudly!")
    assert set(found.values()) == {0.0}


def test_a_sentence_said_twice_is_repeated_across_messages() -> None:
    found = _found("Cats chase mice", "Cats chase mice")
    for name in ("unigram_repeats", "bigram_repeats", "trigram_repeats"):
        assert (found[name], found[f"{name}_across"], found[f"{name}_within"]) == (0.5, 0.5, 0.0)


def test_by_hand() -> None:
    # Second message: cats(across) cats(both) dogs; the third has no word that counts.
    found = _found("cats", "cats cats dogs", "the")
    assert found["unigram_repeats"] == pytest.approx((0 + 2 / 3) / 2)
    assert found["unigram_repeats_within"] == pytest.approx((0 + 1 / 3) / 2)
    assert found["unigram_repeats_across"] == pytest.approx((0 + 2 / 3) / 2)
    # Bigrams are of all tokens: one message has two of them.
    assert found["bigram_repeats"] == 0.0


def test_another_conversation_and_the_partner_do_not_count() -> None:
    one = repeats(talks([[("s", "cats")], [("human", "cats"), ("s", "cats")]]))
    own = one[one["question"] == "own messages"]
    assert set(own["estimate"].dropna()) == {0.0}
