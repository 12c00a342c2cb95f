"""Sample-and-rank around a bot that writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bots import (
    Decoding,
    Generator,
    InvalidOption,
    Trainable,
    Utterance,
    bot_presets,
    get_bot,
    make_bot,
    version,
)
from bots.zoo.markov import Markov
from bots.zoo.sample_and_rank import SampleAndRank
from tests.bots.examples import HELLO, PERSONA, demo

TURNS = [(PERSONA, HELLO), ((), (Utterance("partner", "I like tea."),))]


def worn(**options: object) -> SampleAndRank:
    made = make_bot("sample_and_rank", **options)
    assert isinstance(made, SampleAndRank)
    return made


def inner() -> Markov:
    made = get_bot("markov")
    assert isinstance(made, Markov)
    return made


def test_one_sample_is_plain_sampling() -> None:
    plain = inner().propose(TURNS, Decoding("sample", 1, 0.88, seed=3))
    assert worn(number=1, seed=3).propose(TURNS) == plain


def test_at_temperature_zero_it_is_greedy() -> None:
    greedy = inner().propose(TURNS, Decoding("greedy"))
    cold = worn(temperature=0.0, number=3).propose(TURNS)
    assert [found[0].text for found in cold] == [found[0].text for found in greedy]
    colder = [worn(temperature=t, number=1).propose(TURNS)[0][0].log_probs[0] for t in (2.0, 0.02)]
    assert colder[1] == pytest.approx(greedy[0][0].log_probs[0])
    assert colder[0] < colder[1]


@pytest.mark.parametrize("rank_by", ["mean_logp", "sum_logp", "gnmt"])
def test_the_likeliest_of_n_comes_first(rank_by: str) -> None:
    bot = worn(rank_by=rank_by)
    for found in bot.propose(TURNS):
        scores = [each.score(bot.rank_by, bot.alpha) for each in found]
        assert len(found) == 20
        assert scores == sorted(scores, reverse=True)
    assert bot.respond_many(TURNS)[0].text


def test_more_samples_find_likelier_replies() -> None:
    few, many = (worn(number=number).propose(TURNS)[0][0].score("mean_logp") for number in (1, 20))
    assert many > few


def test_the_presets_are_the_papers() -> None:
    assert bot_presets("sample_and_rank")["base"] == {
        "number": 20,
        "temperature": 0.88,
        "top_k": 0,
    }
    full = worn(**bot_presets("sample_and_rank")["full"])
    assert full._decoding() == replace(Decoding("sample", 20, 1.0, 40), max_tokens=full.max_tokens)


def test_wrappers_are_worn_one_over_another() -> None:
    outer = make_bot("no_repeat", bot="sample_and_rank", options={"number": 3, "seed": 3})
    assert isinstance(outer, Generator)
    assert outer.propose(TURNS) == worn(number=3, seed=3).propose(TURNS)


def test_what_is_inside_must_be_known_and_must_write() -> None:
    with pytest.raises(LookupError, match="no bot 'nobody'"):
        worn(bot="nobody")
    with pytest.raises(InvalidOption, match="order is 99, but must be"):
        worn(options={"order": 99})
    with pytest.raises(InvalidOption, match="bot is 'generic', but must be one that writes"):
        worn(bot="generic").propose(TURNS)


def test_ranking_and_likelihood_are_those_of_the_bot_inside() -> None:
    replies = ["I have two cats.", "No."]
    assert worn().rank(PERSONA, HELLO, replies) == inner().rank(PERSONA, HELLO, replies)
    assert worn().next_word(PERSONA, HELLO, ["i"]) == inner().next_word(PERSONA, HELLO, ["i"])


def test_a_reply_is_recorded_with_the_weights_of_the_bot_inside(tmp_path: Path) -> None:
    small = {"width": 8, "heads": 2, "layers": 1, "examples": 20, "batch": 8, "tokens": 8}
    versions = []
    for seed in (1, 2):
        learner = make_bot("two_head", **small)
        assert isinstance(learner, Trainable)
        learner.train(demo("train")[:6], seed=seed)
        learner.save(tmp_path)
        versions.append(version(worn(bot="two_head", options={"weights": str(tmp_path)})))
    assert versions[0]["model"] == versions[1]["model"] == "sample_and_rank"
    assert versions[0]["parameters"] != versions[1]["parameters"]
