"""REI, the response echo index."""

from __future__ import annotations

from analysis.metrics.echo_index import echo_index
from analysis.text.response_echo import EchoIndex, sample
from tests.analysis.prediction_tables import estimate, said

TRAINING = [["Do you like green tea?", "My cat sleeps on the piano."], ["I bake bread."]]


def test_a_training_sentence_has_1_and_new_words_0() -> None:
    index = EchoIndex(text for each in TRAINING for text in each)
    assert index.score("My cat sleeps on the piano.") == 1
    assert index.score("Cats sleeping on pianos!") == 1, "words are stemmed"
    assert index.score("Volcanoes erupt.") == 0
    assert index.score("My cat plays piano.") == 2 / 4
    assert index.score("...") == 0


def test_a_tenth_of_the_training_data_is_drawn_by_seed() -> None:
    utterances = [f"sentence {k}" for k in range(200)]
    assert len(sample(utterances, seed=0)) == 20
    assert sample(utterances, seed=0) == sample(utterances, seed=0) != sample(utterances, seed=1)
    assert sample(["only one"], seed=0) == ["only one"]


def test_of_a_table() -> None:
    training = [["My cat sleeps on the piano."] * 10]
    table = said(("my cat sleeps on a piano", None), ("Volcanoes erupt.", None))
    assert estimate(echo_index(table, training=training), "echo_index") == 0.5
    assert "give `training`" in echo_index(table)["reason"].item()
