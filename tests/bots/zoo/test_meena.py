"""The encoder-decoder of MEENA."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from bots import bot_presets, examples, make_bot
from bots.generation.likelihood import Likelihood, measure
from bots.text.subwords import SubwordCodec
from bots.text.tokens import split
from bots.zoo.meena import Meena
from tests.bots.examples import HELLO, PERSONA, demo, trained, weights

TINY: dict[str, object] = {
    "width": 16,
    "heads": 2,
    "branch_heads": 4,
    "layers": 1,
    "tokens": 16,
    "examples": 40,
    "batch": 8,
    "subwords": 300,
}


def answering() -> Meena:
    bot = trained("meena")
    assert isinstance(bot, Meena)
    return bot


def tiny(**options: object) -> Meena:
    bot = make_bot("meena", **{**TINY, **options})
    assert isinstance(bot, Meena)
    return bot


def test_perplexity_is_reported_per_token_and_per_word() -> None:
    told = json.loads((Path(weights("meena")) / "bot.json").read_text("utf-8"))["history"][-1]
    tokens, words = math.log(told["ppl_per_token"]), math.log(told["ppl_per_word"])
    assert words == pytest.approx(tokens * told["tokens_per_word"])
    assert told["tokens_per_word"] > 1
    codec = answering().model.codec
    assert isinstance(codec, SubwordCodec)
    assert told["ppl_per_token"] < codec.size / 2


def test_a_likelihood_counts_each_reply_with_its_end() -> None:
    bot = answering()
    asked = list(examples(demo("valid")))[:3]
    found = measure(bot.model, asked)
    assert found.words == sum(len(split(each.reply)) + 1 for each in asked)
    ranks = [bot.rank(each.persona, each.history, [each.reply])[0] for each in asked]
    lengths = [len(bot.model.codec.encode(each.reply)) + 1 for each in asked]
    assert found.tokens == sum(lengths)
    nats = -sum(mean * length for mean, length in zip(ranks, lengths, strict=True))
    assert found.nats == pytest.approx(nats, abs=1e-3)
    assert Likelihood(math.log(8), 3, 1).per_token == pytest.approx(2)
    assert Likelihood(math.log(8), 3, 1).per_word == pytest.approx(8)
    with pytest.raises(ValueError, match="no reply"):
        measure(bot.model, [])


@pytest.mark.parametrize("block", ["evolved", "vanilla"])
def test_both_blocks_learn_and_come_back(tmp_path: Path, block: str) -> None:
    bot = tiny(block=block, epochs=6)
    bot.train(demo("train")[:20], seed=2)
    assert bot._about is not None
    losses = [each["loss"] for each in bot._about.history if "loss" in each]
    assert losses[-1] < losses[0] - 0.3
    bot.save(tmp_path)
    again = make_bot("meena", weights=str(tmp_path))
    assert isinstance(again, Meena)
    assert again.block == block
    assert again.propose([(PERSONA, HELLO)]) == bot.propose([(PERSONA, HELLO)])


def test_it_descends_by_adafactor_as_the_paper_says() -> None:
    parameter = torch.nn.Parameter(torch.ones(4, 4))
    optimizer = tiny(rate=0.01).descent(torch.nn.ParameterList([parameter]))
    assert isinstance(optimizer, torch.optim.Adafactor)
    moved = []
    for step in (1, 10_000, 40_000):
        if step > 1:
            optimizer.state[parameter]["step"].fill_(step - 1)
        parameter.data.fill_(1.0)
        parameter.grad = torch.ones(4, 4)
        optimizer.step()  # type: ignore[no-untyped-call]
        moved.append(1 - parameter[0, 0].item())
    assert moved == pytest.approx([0.01, 0.01, 0.005], rel=0.02)


def test_presets_have_the_papers_sizes() -> None:
    paper, vanilla = (bot_presets("meena")[name] for name in ("paper", "vanilla"))
    assert (paper["width"], paper["heads"], paper["layers"]) == (2560, 32, 13)
    assert (paper["subwords"], paper["tokens"], paper["rate"]) == (8000, 128, 0.01)
    assert (vanilla["block"], vanilla["layers"]) == ("vanilla", 32)
    bot = make_bot("meena", **paper)
    assert isinstance(bot, Meena)
    codec = SubwordCodec(tuple(map(str, range(8000 - 4))))
    with torch.device("meta"):
        size = sum(each.numel() for each in bot.build(codec).parameters())
    assert 2.4e9 < size < 2.8e9  # 2.6 billion, section 3.2
