"""Orderings that the papers report and that hold at toy size; others are tests of their bots.

Self persona above none: the tests of each ranker. MAP above SIM: test_linear_map. N = 20 above
N = 1: test_sample_and_rank. The repetition rule: test_no_repeat. Beam lists: test_beam.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import get_dataset, make_bot
from bots.predictions import hits
from bots.study import Split, Study
from tests.bots.examples import demo, trained

RANKERS = ("tfidf", "profile_memory", "kv_profile_memory", "starspace")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    revised = tuple(get_dataset("demo").read("test:revised"))
    original = Split(demo("train"), demo("test"))
    forms = {"original": original, "revised": Split(demo("train"), revised)}
    return Study("demo", forms, tmp_path, limit=150)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", RANKERS)
def test_original_personas_help_more_than_revised_ones(name: str, study: Study) -> None:
    bot = trained(name)
    original = hits(study.rows(bot, "self", "original"))  # type: ignore[arg-type]
    revised = hits(study.rows(bot, "self", "revised"))  # type: ignore[arg-type]
    assert original > revised + 0.05


def test_rankers_are_far_above_generators(study: Study) -> None:
    rankers = [hits(study.rows(trained(name))) for name in RANKERS]  # type: ignore[arg-type]
    writes = hits(study.rows(trained("seq2seq")))  # type: ignore[arg-type]
    assert min(rankers) > 1.5 * writes


def test_the_parrot_hurts_bags_of_words_more_than_a_bot_that_reads_order(study: Study) -> None:
    """Zhang's tf-idf without a persona falls for its own words; seq2seq's likelihood does not."""
    lost = {}
    for name in ("tfidf", "seq2seq"):
        bot = trained(name)
        before = hits(study.rows(bot, "none"))  # type: ignore[arg-type]
        after = hits(study.rows(bot, "none", parrot=True))  # type: ignore[arg-type]
        lost[name] = (before - after) / before
    assert lost["tfidf"] > 0.5 > lost["seq2seq"]


def test_generic_bot_is_never_specific_by_its_rule() -> None:
    """MEENA section 4: what it says fits anything, so its SSA is half its sensibleness."""
    bot = make_bot("generic")
    said = {bot.respond((), each.turns[:1]).text for each in demo("test")}  # type: ignore[attr-defined]
    assert said <= {"I don't know", "ok", "I don't know.", "Ok"}
