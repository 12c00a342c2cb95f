"""PPMI keywords: the formula on a hand example, the mixed output, and more different bigrams."""

from __future__ import annotations

import math

import pytest
import torch

from bots import Bot, Utterance
from bots.commands.test_set_replies import answers, distinct
from bots.dialogue import Example, examples
from bots.text.vocabulary import WordCodec
from bots.writers.input_tokens import Reading
from bots.writers.recurrent import RecurrentSizes
from bots.zoo.ppmi import KeywordNetwork, PpmiKeywords
from bots.zoo.ppmi.keywords import Keywords, best, shares
from tests.bots.examples import HELLO, PERSONA, demo, trained

# ids 4.. are words; of four pairs, 4 -> 6 twice, 5 -> 7 twice
PAIRS = [([4], [6]), ([4], [6, 7]), ([5], [7]), ([5], [8])]


def test_scores_are_ppmi_summed_over_the_message() -> None:
    keywords = Keywords(9, partners=3)
    keywords.fit(PAIRS, least=1)
    one, both = keywords.scores([[4], [4, 5, 1]])
    assert one[6].item() == pytest.approx(math.log2(2 * 4 / (2 * 2)))
    assert one[7].item() == 0  # log2(1 * 4 / (2 * 2)) is 0
    assert both[8].item() == pytest.approx(math.log2(1 * 4 / (2 * 1)))
    assert best(one[None], 2).nonzero().tolist() == [[0, 6]]
    assert shares(both[None]).sum().item() == pytest.approx(1)


def test_the_output_is_a_distribution_that_keywords_have_a_share_in() -> None:
    torch.manual_seed(0)
    reading = Reading(WordCodec(("tea", "cup", "sea", "ship", "no")))
    network = KeywordNetwork(reading, RecurrentSizes(8, 8), partners=3).eval()
    network.keywords.fit([([4], [5]), ([6], [7])], least=1)
    asked = [reading.encoded(((), (turn,))) for turn in (_say("tea"), _say("sea"), _say("no"))]
    log_probs, _ = network.write(network.read(asked), torch.ones(3, 1, dtype=torch.int64))
    assert log_probs.exp().sum(-1)[:, 0].tolist() == pytest.approx([1, 1, 1])
    chances = log_probs[:, 0].exp()
    assert chances[0, 5] > chances[1, 5] > 0
    assert chances[1, 7] > chances[0, 7]


def _say(text: str) -> Utterance:
    return Utterance("partner", text)


def test_it_says_more_different_bigrams_than_seq2seq() -> None:
    asked = _examples()
    said = {}
    for name in ("ppmi", "seq2seq"):
        bot = trained(name)
        assert isinstance(bot, Bot)
        said[name] = list(answers(bot, asked))
    assert distinct(said["ppmi"], 2) > distinct(said["seq2seq"], 2)


def _examples() -> list[Example]:
    return list(examples(demo("test")))[:40]


def test_the_keywords_loss_is_only_for_learning() -> None:
    bot = PpmiKeywords(epochs=1, examples=64)
    bot.train(demo("valid"), seed=1)
    network = bot.model.network
    assert isinstance(network, KeywordNetwork)
    item = network.reading.item(_examples()[0])
    network.eval()
    assert bot.loss(network, [item, item]) == bot.loss(network, [item, item])
    assert bot.respond(PERSONA, HELLO).text
