"""HRED."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from bots import Decoding, Utterance, bot_presets, examples
from bots.generation.decoding import propose
from bots.generation.teacher_forcing import forced
from bots.text.vocabulary import END
from bots.writers.network import Stepped
from bots.zoo.hred import Hred, HredNetwork, Suppressed, rarities
from tests.bots.examples import HELLO, PERSONA, demo, trained
from tests.bots.writer_examples import falls, likes, taught


def answering(**options: object) -> Hred:
    bot = trained("hred", **options)
    assert isinstance(bot, Hred)
    return bot


def test_perplexity_falls() -> None:
    assert falls(answering())


def test_all_that_was_said_comes_through_the_context() -> None:
    """Once that RNN is dead, two histories are the same to it."""
    network = taught("hred", likes(20, 1), epochs=1)._network
    assert isinstance(network, HredNetwork)
    model, said = Stepped(network), (Utterance("partner", "I like jazz ?"), *HELLO)
    ids = [model.codec.encode("i like jazz .")] * 2
    alive = forced(model, [((), HELLO), ((), said)], ids)
    assert alive[0] != pytest.approx(alive[1], abs=1e-4)
    with torch.no_grad():
        for each in network.hierarchy.context.parameters():
            each.zero_()
    dead = forced(model, [((), HELLO), ((), said)], ids)
    assert dead[0] == pytest.approx(dead[1], abs=1e-6)


def test_messages_in_another_order_are_another_context() -> None:
    bot = answering()
    said = (Utterance("partner", "I have two cats."), Utterance("self", "My sister is a nurse."))
    turned = (*HELLO, *said[::-1])
    assert bot.rank((), (*HELLO, *said), ["Yes."]) != bot.rank((), turned, ["Yes."])


def test_weights_of_words_by_hand() -> None:
    found = rarities([(4, 5), (4,)], 7, 0.5).tolist()
    assert found[4] == pytest.approx(2**-0.5)
    assert found[5] == 1
    assert found[END] == pytest.approx(2**-0.5)


def test_rare_words_weigh_more_in_the_loss() -> None:
    """Learned so, the same data gives rarer words more probability."""
    plain = taught("hred", likes(60, 1), epochs=4, patience=4)
    rare = taught("hred", likes(60, 1), epochs=4, patience=4, rarity=1.0)
    asked = next(iter(examples(likes(10, 2), "self")))
    often = plain.next_word((), asked.history, [])["i"]
    assert rare.next_word((), asked.history, [])["i"] < often


def test_words_become_less_likely_each_time_they_are_written() -> None:
    bot = answering()
    model, plain = Suppressed(bot.model.network, 2.0), bot.model
    state, known = model.start([(PERSONA, HELLO)]), plain.start([(PERSONA, HELLO)])
    word = model.codec.encode("cats")[0]
    for _ in range(2):
        token = torch.tensor([word])
        log_probs, state = model.step(state, token)
        expected, known = plain.step(known, token)
    expected[0, word] -= 2 * 2.0
    torch.testing.assert_close(log_probs, torch.log_softmax(expected, dim=1))


def test_suppression_keeps_replies_from_repeating() -> None:
    turns = [(each.persona, each.history) for each in list(examples(demo("test")))[:20]]
    decoding = Decoding("sample", 5, max_tokens=20)

    def repeats(bot: Hred) -> int:
        found = [each.tokens for row in bot.propose(turns, decoding) for each in row]
        return sum(number - 1 for tokens in found for number in Counter(tokens).values())

    assert repeats(answering(suppress=4.0)) < repeats(answering())
    model = Suppressed(answering().model.network, 4.0)
    assert answering(suppress=4.0).propose(turns, decoding) == propose(model, turns, decoding)


def test_the_decoder_can_have_a_rate_of_its_own() -> None:
    bot = Hred(rate=0.1, decoder_rate=0.5)
    network = bot.build(answering().model.codec)  # type: ignore[arg-type]
    first, second = bot.descent(network).param_groups
    assert (first["lr"], second["lr"]) == (0.1, 0.5)
    late = [*network.decoder.parameters(), *network.output.parameters()]
    assert {id(each) for each in second["params"]} == {id(each) for each in late}
    assert len(first["params"]) + len(late) == len(list(network.parameters()))


def test_the_event_preset_is_the_papers() -> None:
    event = bot_presets("hred")["event"]
    named = ("layers", "hidden", "dropout", "batch", "rate", "decoder_rate", "clip", "number")
    assert [event[name] for name in named] == [2, 256, 0.1, 100, 1e-4, 5e-4, 50.0, 20]
    bot = taught("hred", likes(20, 1), **{**event, "hidden": 16, "epochs": 1, "batch": 10})
    assert bot.propose([((), HELLO)])[0]
