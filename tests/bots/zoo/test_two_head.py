"""The two-head Transformer."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from bots import Decoding, make_bot
from bots.learning import training
from bots.text.vocabulary import WordCodec
from bots.zoo.two_head import TwoHead
from bots.zoo.two_head.two_heads import TwoHeadNetwork
from tests.bots.examples import HELLO, PERSONA, demo, trained

TINY: dict[str, object] = {
    "width": 16,
    "heads": 2,
    "layers": 1,
    "tokens": 24,
    "examples": 40,
    "batch": 8,
}


def answering() -> TwoHead:
    bot = trained("two_head")
    assert isinstance(bot, TwoHead)
    return bot


FEW = demo("train")[:4]


def network_of(bot: TwoHead) -> TwoHeadNetwork:
    network = bot.model.network
    assert isinstance(network, TwoHeadNetwork)
    return network


def losses(bot: TwoHead, network: TwoHeadNetwork) -> tuple[float, float]:
    """Return both heads' losses on what a small bot learns from."""
    items = bot.items(network, FEW, 1)
    network.pool = [reply for _, reply in items]
    with torch.inference_mode():
        language, choice = bot.losses(network.eval(), items)
    network.pool = ()
    return language.item(), choice.item()


def test_both_losses_fall() -> None:
    small = {**TINY, "examples": 0}
    bot = make_bot(
        "two_head",
        **small,
        epochs=40,
        patience=40,
        rate=0.02,
        mc_coef=4.0,
        held_out=0.0,
        dropout=0.0,
    )
    assert isinstance(bot, TwoHead)
    bot.train(FEW, seed=1)
    learned = network_of(bot)
    with training.seeded(0):
        untrained = bot.build(learned.reading.codec)
    before, after = losses(bot, untrained), losses(bot, learned)
    assert after[0] < before[0] - 1
    assert after[1] < before[1] - 0.1


def test_it_ranks_by_the_choice_head_and_not_by_likelihood() -> None:
    bot = answering()
    replies = ["I have two cats.", "No.", "the the the"]
    before = bot.rank(PERSONA, HELLO, replies)
    turn_over(network_of(bot))
    turned = bot.rank(PERSONA, HELLO, replies)
    turn_over(network_of(bot))
    assert turned == pytest.approx([-score for score in before], abs=1e-5)
    assert bot.rank(PERSONA, HELLO, []) == []


def turn_over(network: TwoHeadNetwork) -> None:
    """Make the choice head like best what it liked least."""
    with torch.no_grad():
        for each in (network.choice.weight, network.choice.bias, network.scale):
            each.neg_()


def test_words_of_the_persona_help_a_candidate_where_it_sees_them() -> None:
    bot, replies = answering(), ["I have two cats.", "I like old trains."]
    network = network_of(bot)

    def gain() -> float:
        told, untold = (bot.rank(persona, (), replies) for persona in (PERSONA, ()))
        return (told[0] - told[1]) - (untold[0] - untold[1])

    seen, bags = gain(), network.bags
    network.bags = None
    unseen = gain()
    network.bags = bags
    assert seen > 1
    assert seen > 4 * abs(unseen)


def test_what_is_rare_in_the_dialogues_weighs_most_when_it_recurs() -> None:
    network = network_of(answering())
    assert network.bags is not None
    lengths = network.bags.weight.norm(dim=1)
    often, seldom = (network.reading.codec.encode(text)[0] for text in ("i", "cousin"))
    assert lengths[seldom] > 2 * lengths[often] > 0


def test_candidates_are_scored_alone_as_together() -> None:
    bot = answering()
    replies = ["I have two cats.", "No.", "My sister is in Peru now and I miss her a lot."]
    alone = [bot.rank(PERSONA, HELLO, [text])[0] for text in replies]
    assert bot.rank(PERSONA, HELLO, replies) == pytest.approx(alone, abs=1e-5)


def test_copies_have_the_persona_in_other_orders() -> None:
    bot = make_bot("two_head", copies=3, examples=30)
    assert isinstance(bot, TwoHead)
    network = bot.build(WordCodec(("a",)))
    once = make_bot("two_head", examples=30)
    assert isinstance(once, TwoHead)
    items = bot.items(network, demo("train"), 1)
    assert len(items) == 3 * len(once.items(network, demo("train"), 1)) == 90
    firsts, others = items[:30], items[30:60]
    assert [reply for _, reply in firsts] == [reply for _, reply in others]
    assert any(a.persona != b.persona for (a, _), (b, _) in zip(firsts, others, strict=True))


def test_it_samples_from_the_nucleus_unless_told_otherwise() -> None:
    bot = answering()
    decoding = bot.decoding()
    assert (decoding.method, decoding.top_p, decoding.temperature) == ("sample", 0.9, 0.7)
    assert decoding.max_tokens == 20
    assert len(bot.propose([(PERSONA, HELLO)])[0]) == bot.number
    beam = bot.propose([(PERSONA, HELLO)], Decoding(method="beam", number=3))[0]
    assert len({each.text for each in beam}) == 3


@pytest.mark.parametrize("subwords", [0, 300])
def test_weights_come_back_with_words_or_pieces(tmp_path: Path, subwords: int) -> None:
    bot = make_bot("two_head", subwords=subwords, **TINY)
    assert isinstance(bot, TwoHead)
    bot.train(demo("train")[:20], seed=2)
    bot.save(tmp_path)
    again = make_bot("two_head", weights=str(tmp_path))
    assert isinstance(again, TwoHead)
    assert again.subwords == subwords
    replies = ["I have two cats.", "Unheard-of zebras!"]
    assert again.rank(PERSONA, HELLO, replies) == bot.rank(PERSONA, HELLO, replies)
    assert again.propose([(PERSONA, HELLO)]) == bot.propose([(PERSONA, HELLO)])
    if subwords:
        assert again.model.codec.encode("zebras") != again.model.codec.encode("zzz")
