"""The dual encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from bots import Utterance, make_bot
from bots.rankers.dual import Recipe, compare, noam
from bots.text import glove
from bots.text.tokens import key
from bots.zoo.dual_encoder import BOT, PRESETS, Dual
from tests.bots.examples import HELLO, PERSONA, demo, hits_on_demo, trained, weights
from tests.bots.topics import about_topics, auc

SMALL = {"hidden": 12, "dimension": 16, "attention": 4, "batch": 32, "epochs": 6, "patience": 6}


@pytest.mark.parametrize("cell", ["sru", "lstm"])
def test_auc_on_synthetic_dialogues_of_both_cells(cell: str) -> None:
    bot = BOT(**SMALL, cell=cell, rate=0.03)  # type: ignore[arg-type]
    bot.train(about_topics(400, seed=0), seed=0)
    assert auc(bot, about_topics(64, seed=1)) > 0.9


def test_a_persona_helps() -> None:
    bot = trained("dual_encoder")
    told, untold = hits_on_demo(bot, "self"), hits_on_demo(bot, "none")
    assert told > 2 * untold
    assert told > 0.14


def test_it_says_the_reply_with_the_largest_product_of_all() -> None:
    bot = trained("dual_encoder")
    assert isinstance(bot, Dual)
    replies = bot._ready().replies
    scores = bot.rank(PERSONA, HELLO, replies)
    best = replies[max(range(len(replies)), key=scores.__getitem__)]
    reply = bot.respond(PERSONA, HELLO)
    assert key(reply.text) == key(best)
    assert reply.score == pytest.approx(max(scores), abs=1e-4)


def test_of_a_long_history_the_end_is_read_and_the_persona_stays() -> None:
    bot = trained("dual_encoder")
    assert isinstance(bot, Dual)
    table = bot._ready().network.table
    marks = [table.vocabulary.size + mark for mark in range(3)]
    word = table.vocabulary.bag
    turns = [Utterance("partner", "no no no"), Utterance("self", "yes"), *HELLO]
    read = table.dialogue(["cats"], turns, 6)
    assert read == (marks[0], *word("cats"), *word("do you have any pets")[1:])
    assert table.dialogue([], turns[:2], 9) == (
        *(marks[2], *word("no no no")),
        *(marks[1], *word("yes")),
    )


@pytest.mark.parametrize("loss", ["softmax", "softmax_outside", "hinge"])
def test_every_loss_falls(loss: str) -> None:
    bot = BOT(**SMALL, loss=loss, cell="gru")  # type: ignore[arg-type]
    bot.train(about_topics(120, seed=0), seed=0)
    assert bot._about is not None
    losses = [epoch["loss"] for epoch in bot._about.history]
    assert losses[-1] < losses[0]


def test_losses_by_hand() -> None:
    own, others = torch.tensor([1.0]), torch.tensor([[0.9, -2.0]])
    outside = -1 + torch.tensor([0.9, -2.0]).exp().sum().log()
    inside = -1 + torch.tensor([1.0, 0.9, -2.0]).exp().sum().log()
    wanted = {"softmax_outside": outside, "softmax": inside, "hinge": torch.tensor(0.15 / 2)}
    for loss, value in wanted.items():
        recipe = Recipe(loss, 2, 0.25, 9, 9)  # type: ignore[arg-type]
        torch.testing.assert_close(compare(own, others, recipe), value)


def test_the_schedule_rises_to_one_and_falls_by_the_root() -> None:
    share = noam(100)
    assert [share(1), share(50), share(100), share(400)] == [0.01, 0.5, 1.0, 0.5]


def test_glove_words_may_stay_as_they_are() -> None:
    bot = BOT(**{**SMALL, "epochs": 1}, vectors="glove", frozen=True)  # type: ignore[arg-type]
    bot.train(demo("valid"), seed=0)
    table = bot._ready().network.table
    found = list(glove.find(table.vocabulary.listed))
    assert len(found) > 500
    assert all(
        (table.weight[1 + place].detach().numpy() == vector).all() for place, vector in found
    )
    assert table.weight.shape[1] == 50


def test_papers_presets_are_built() -> None:
    for cell, millions in (("paper", 4.0), ("paper_lstm", 3.6)):
        bot = make_bot("dual_encoder", **{**PRESETS[cell], "epochs": 0, "candidates": 1})
        assert isinstance(bot, Dual)
        bot.train(about_topics(4, seed=0), seed=0)
        cells = bot._ready().network.contexts.reader.cells
        assert sum(each.numel() for each in cells.parameters()) / 1e6 == pytest.approx(
            millions, abs=0.05
        )


def test_weights_of_another_bot_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds weights of tfidf, not of dual_encoder"):
        make_bot("dual_encoder").load(Path(weights("tfidf")))  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="trained, or be given"):
        BOT().respond((), ())
    with pytest.raises(ValueError, match="nothing to save"):
        BOT().save(tmp_path)
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)
