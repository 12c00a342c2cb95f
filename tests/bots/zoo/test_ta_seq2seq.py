"""TA-Seq2Seq."""

from __future__ import annotations

import torch

from bots import Utterance, examples, make_bot
from bots.writers.topics import TopicWriter
from bots.zoo.ta_seq2seq import TopicAwareSeq2Seq, TopicNetwork
from tests.bots.examples import PERSONA, demo, trained, weights
from tests.bots.writer_examples import falls, perplexity


def answering() -> TopicAwareSeq2Seq:
    bot = trained("ta_seq2seq")
    assert isinstance(bot, TopicAwareSeq2Seq)
    return bot


def test_perplexity_falls() -> None:
    bot = answering()
    assert falls(bot)
    assert perplexity(bot, list(examples(demo("test")))[:100]) < bot.model.codec.size / 4


def test_words_of_the_topic_get_more_probability() -> None:
    """The extra share is only theirs: taken away, they lose and all others gain."""
    bot = answering()
    network = bot.model.network
    assert isinstance(network, TopicNetwork)
    said = network.reading.codec.decode(network.topics.best[2].tolist())
    state = network.read([network.reading.encoded((PERSONA, (Utterance("partner", said),)))])
    assert state["topical"].all()
    token = torch.tensor([[1]])
    with torch.inference_mode():
        given = network.write(state, token)[0][0, 0].exp()
        without = network.write({**state, "topical": torch.tensor([False])}, token)[0][0, 0].exp()
    torch.testing.assert_close(given.sum(), torch.tensor(1.0))
    told = state["ids"][0]
    assert network.topics.best.shape == (bot.topics, bot.topic_words)
    assert given[told].sum() > without[told].sum()


def test_which_words_depends_on_the_history() -> None:
    bot = answering()
    network = bot.model.network
    assert isinstance(network, TopicNetwork)
    words, found = network.topics.best, []
    for row in words[:3]:
        text = network.reading.codec.decode(row.tolist())
        asked = network.reading.encoded(((), (Utterance("partner", text),)))
        found.append(network.read([asked])["ids"][0].tolist())
    assert found == words[:3].tolist()


def test_topics_are_kept_with_the_weights() -> None:
    again = make_bot("ta_seq2seq", weights=weights("ta_seq2seq"))
    assert isinstance(again, TopicAwareSeq2Seq)
    one, other = (bot.model.network.state_dict() for bot in (answering(), again))
    assert one["topics.best"].any()
    torch.testing.assert_close(one["topics.best"], other["topics.best"])
    torch.testing.assert_close(one["topics.beta"], other["topics.beta"])


def test_attention_to_topic_words_depends_on_the_state_and_on_what_was_read() -> None:
    torch.manual_seed(1)
    writer, told = TopicWriter(3, 4, 5), torch.randn(1, 6, 5)
    state, context, topical = torch.randn(1, 3), torch.randn(1, 4), torch.tensor([True])
    found = writer.attend(state, context, told, topical)
    assert not torch.allclose(found, writer.attend(state + 1, context, told, topical))
    assert not torch.allclose(found, writer.attend(state, context + 1, told, topical))
    assert not writer.attend(state, context, told, ~topical).any()
