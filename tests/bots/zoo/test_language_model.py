"""The LSTM language model."""

from __future__ import annotations

import pytest
import torch

from bots import Utterance, examples
from bots.text.vocabulary import END, PAD, START, WordCodec
from bots.writers.input_tokens import Reading
from bots.zoo.language_model import DialogueModel, DialogueNetwork, parts
from tests.bots.examples import HELLO, PERSONA, demo, trained
from tests.bots.writer_examples import falls, perplexity


def answering(**options: object) -> DialogueModel:
    bot = trained("language_model", **options)
    assert isinstance(bot, DialogueModel)
    return bot


def test_perplexity_falls_and_beats_chance() -> None:
    bot = answering()
    assert falls(bot)
    assert perplexity(bot, list(examples(demo("test")))) < bot.model.codec.size / 4


def test_it_goes_on_as_the_whole_dialogue_has_it() -> None:
    """Word by word after reading is what the loss of the dialogue in one row has."""
    bot = answering()
    network = bot.model.network
    assert isinstance(network, DialogueNetwork)
    history = (*HELLO, Utterance("self", "I have two cats."))
    rows = [network.row(network.reading.encoded((PERSONA, history[:end]))) for end in (1, 2)]
    with torch.inference_mode():
        before, whole = (float(network.lose([row])) * words(row, network.reading) for row in rows)
    mean = bot.rank(PERSONA, HELLO, ["I have two cats."])[0]
    assert mean * 6 == pytest.approx(before - whole, abs=1e-3)


def words(row: tuple[int, ...], reading: Reading) -> int:
    """Count what is learned of a row: neither who speaks nor the first token."""
    silent = {PAD, START, *range(reading.codec.size, reading.size)}
    return sum(token not in silent for token in row[1:])


def test_every_message_is_learned_once() -> None:
    view = demo("train")[0]
    codec = WordCodec(("i", "you", "the"))
    for room in (20, 64, 4000):
        found = list(parts(Reading(codec, tokens=room), view))[::-1]
        assert sum(len(part.history) for part in found) == len(view.turns)
        assert {part.persona for part in found} == {found[0].persona}
    assert len(found) == 1


def test_own_messages_start_as_what_is_written_now() -> None:
    network = answering().model.network
    assert isinstance(network, DialogueNetwork)
    asked = network.reading.encoded(((), (Utterance("self", "I sing."), *HELLO)))
    row = network.row(asked)
    assert row[0] == START
    assert row.count(END) == 2
    assert row[-1] == END


def test_what_was_said_long_ago_still_counts() -> None:
    bot, texts = answering(), ["I have two cats.", "No."]
    said = (Utterance("partner", "I sing."), Utterance("self", "Me too."), *HELLO)
    found = [bot.rank(*turn, texts) for turn in [((), HELLO), ((), said), (PERSONA, said)]]
    assert found[0] != found[1] != found[2]


def test_in_a_chat_it_samples_at_most_50_tokens() -> None:
    bot = answering()
    assert bot.decoding().method == "sample"
    turns = [(PERSONA, each.history) for each in list(examples(demo("test")))[:10]]
    drawn = bot.propose(turns)
    assert max(len(each.tokens) for found in drawn for each in found) <= 50
    assert len({each.text for found in drawn for each in found}) > 10
    assert answering(seed=1).propose(turns) != drawn
