"""Rows of analyses that run models: `python -m bots benchmark` on the demo, at toy size."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.stats import binomtest

from bots import Dialogue, Generator, Ranker, Trainable, make_bot
from bots.benchmarks.cross_turn_repetition import converse
from bots.benchmarks.profile_prediction import MOST, error
from bots.commands.answers import answer
from bots.commands.predictions import Task
from bots.commands.test_set_replies import distinct
from bots.datasets import jsonl
from bots.text.events import mined, write_pairs
from bots.text.repetition import RepetitionRule
from bots.weights import data_digest, digest_of
from bots.zoo.event_causality import EventCausality
from bots.zoo.hredgan import HredGan
from tests.acceptance import personachat_dev, planted
from tests.acceptance.bots_ranking import on_real, ranking
from tests.acceptance.bots_writing import discriminated, is_degenerate, real_turns, real_writer
from tests.acceptance.paired import Paired, paired, slope_interval
from tests.acceptance.planted import Told
from tests.acceptance.protocols.nlp4convai_tables import printed_tables
from tests.acceptance.shell import SEED, Shell, Shown, slow
from tests.bots.examples import demo
from tests.bots.zoo.test_event_causality import CAUSED, LIKELY, SAID

LIMIT = "60"
FLOOR = 0.2  # distinct-2 of a writer that is not stuck
LONGEST = 8  # messages of a person in table 14
LENT = (
    *("tfidf", "starspace", "profile_memory", "dual_encoder", "two_head", "toy_f1", "meena"),
    *("seq2seq", "hred", "vhred", "hredgan", "ta_seq2seq", "thred", "language_model"),
    "generative_profile_memory",
)
Rows = list[dict[str, Any]]
REVISED = ("--revised", "demo:train:revised", "--revised-test", "demo:test:revised")


def benchmark(shell: Shell, name: str, *more: str, lent: tuple[str, ...] = LENT) -> Path:
    """Run an analysis on demo:train and demo:test; return where its tables are.

    Weights that rows of bots trained are lent to it: it would train the same ones.
    """
    out = shell.folder / "benchmark"
    for each in lent:
        run = digest_of([each, {}, int(SEED), data_digest(demo("train"))])
        place = out / "weights" / f"{each}-{run[:16]}"
        if not place.exists():
            shutil.copytree(shell.weights(each), place)
    arguments = (
        *("benchmark", name, "--data", "demo:train", "--test", "demo:test", *more),
        *("--seed", SEED, "--limit", LIMIT, "--out", str(out)),
    )
    once = out / f"{name}.done"
    if once.exists():  # another row has run it
        shell.commands.append(once.read_text(encoding="utf-8"))
    else:
        shell.bots(*arguments)
        once.write_text(shell.commands[-1], encoding="utf-8")
    return out


def table(out: Path, name: str) -> Rows:
    """Return our rows of a table, and see that the printed ones stand beside them."""
    about = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
    rows: Rows = about["rows"]
    return rows


def printed(out: Path, name: str) -> Rows:
    """Return the paper's rows of a table."""
    rows: Rows = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))["printed"]
    return rows


@slow
def a_cond(shell: Shell) -> Shown:
    lent = ("tfidf", "starspace", "profile_memory", "seq2seq", "generative_profile_memory")
    out = benchmark(shell, "persona_conditions", *REVISED, lent=lent)
    rankers, writers = (
        table(out, f"persona_conditions_{kind}") for kind in ("rankers", "generators")
    )
    told = [
        f"{row['model']} ({row['train']}) none {row['none orig']:.2f}, self "
        f"{row['self orig']:.2f}/{row['self rewrite']:.2f}, their {row['their orig']:.2f}, both "
        f"{row['both orig']:.2f}"
        for row in rankers
    ]
    told += [
        f"{row['model']} {row['persona']} ppl {row['original ppl']:.0f}"
        for row in writers
        if row["persona"] in ("none", "self")
    ]
    columns = {
        f"{c} {form}" for c in ("none", "self", "their", "both") for form in ("orig", "rewrite")
    }
    layout = all(columns <= row.keys() for row in rankers) and len(rankers) == 7
    layout &= bool(printed(out, "persona_conditions_rankers")) and len(writers) == 8
    raised, wrong = _worth(shell)
    gains = ", ".join(f"{name} {each}" for name, each in raised.items())
    others = ", ".join(f"{name} {each}" for name, each in wrong.items())
    result = f"on held-out real dialogues one's own persona raises hits@1 of {gains}; somebody "
    result += f"else's {others}; layout, hits@1/20 of the demo, original/revised: "
    holds = all(each.above for each in raised.values())
    holds &= not any(each.above for each in wrong.values())
    return shell.shown(layout and holds, result + "; ".join(told))


def _worth(shell: Shell) -> tuple[dict[str, Paired], dict[str, Paired]]:
    """Return by how much the own persona, and that of another dialogue, raise hits of rankers."""
    tested = jsonl.read(personachat_dev.parts(shell.folder)[1][6:])
    turned = [
        replace(each, persona=other.persona)
        for each, other in zip(tested, [*tested[1:], tested[0]], strict=True)
    ]
    jsonl.write(turned, shell.folder / "turned.jsonl")
    raised, wrong = {}, {}
    for name in ("tfidf", "linear_map"):
        plain, own = (on_real(shell, name, persona)[1] for persona in ("none", "self"))
        _, strange = ranking(
            shell,
            name,
            "self",
            data=(f"jsonl:{shell.path('turned.jsonl')}",),
            where=shell.path(f"{name}-real"),
            sides="self",
        )
        raised[name], wrong[name] = paired(own, plain), paired(strange, plain)
    return raised, wrong


@slow
def a_f1(shell: Shell) -> Shown:
    lent = ("toy_f1", "tfidf", "profile_memory", "seq2seq", "language_model", "hred", "two_head")
    rows = table(benchmark(shell, "toy_f1", lent=lent), "toy_f1")
    told = ", ".join(f"{row['model']} {row['f1 %']:.1f}" for row in rows)
    return shell.shown(rows[0]["model"] == "toy_f1", f"F1 in percent: {told}")


def _profiles(shell: Shell) -> Path:
    return benchmark(shell, "profile_prediction", lent=("profile_memory",))


@slow
def a_prof(shell: Shell) -> Shown:
    rows = table(_profiles(shell), "profile_prediction")
    names = [f"{level}_level {kind}" for level in ("profile", "sentence")
             for kind in ("KV Profile", "KV w/o Profile")]  # fmt: skip
    told = "; ".join(
        f"{row['speaker']} to {row['profile']} " + ", ".join(f"{row[name]:.3f}" for name in names)
        for row in rows
    )
    own = rows[3]  # the bot's words, its own profile
    near = abs(own["profile_level KV w/o Profile"] - 0.5) < 0.15
    lower = own["profile_level KV Profile"] < own["profile_level KV w/o Profile"]
    return shell.shown(near and lower and len(rows) == 4, f"error (profile level with, without; "
                       f"sentence level with, without): {told}")  # fmt: skip


@slow
def a_proflen(shell: Shell) -> Shown:
    """On real dialogues, since those of the demo are shorter than eight messages of a side."""
    learned, tested, _ = (jsonl.read(each[6:]) for each in personachat_dev.parts(shell.folder))
    own, other = (_by_length(learned, tested, whose=whose) for whose in (0, 1))
    slopes = [slope_interval(each) for each in (own, other)]
    told = ", ".join(
        f"{np.mean([each[n] for each in own if len(each) > n]):.2f}" for n in range(LONGEST)
    )
    (mean, low, high), (flat, *ends) = slopes
    rows = table(_profiles(shell), "profile_prediction_by_length")
    result = f"error by own words, N = 1 to {LONGEST}, {len(own)} people: {told}; slope "
    result += f"{mean:.3f} [{low:.3f}, {high:.3f}] per message, of another's profile {flat:.3f} "
    result += f"[{ends[0]:.3f}, {ends[1]:.3f}]; table of {len(rows)} pairs as printed"
    return shell.shown(high < 0 and high < ends[0] and len(rows) == 4, result, error)


def _by_length(
    learned: Sequence[Dialogue], tested: Sequence[Dialogue], *, whose: int
) -> list[list[float]]:
    """Return a curve of the error per person; the profile is theirs, or that of who comes next."""
    scorer = make_bot("tfidf")
    assert isinstance(scorer, Trainable)
    assert isinstance(scorer, Ranker)
    scorer.train([replace(each, persona=()) for each in learned], seed=1)
    people = sorted((*tested, *learned), key=lambda each: -len(_own(each)))[:MOST]
    profiles = [each.persona for each in learned]
    curves = []
    for index, each in enumerate(people):
        profile = people[(index + whose) % len(people)].persona
        others = Random(index).sample([p for p in profiles if p != profile], MOST)
        said = _own(each)[:LONGEST]
        curves.append(
            [error(scorer, said[:n], profile, others, sentences=True)
             for n in range(1, len(said) + 1)]
        )  # fmt: skip
    return curves


def _own(dialogue: Dialogue) -> list[str]:
    return [turn.text for turn in dialogue.turns if turn.speaker == "self"]


@slow
def a_n(shell: Shell) -> Shown:
    rows = table(benchmark(shell, "sample_and_rank", lent=("meena",)), "sample_and_rank")
    told = "; ".join(
        f"{row['decoding']}, N {row['N']}: {row['log P per token']:.2f}, {row['f1']:.3f}, "
        f"{row['distinct-2']:.2f}"
        for row in rows
    )
    steps = [pair for pair in pairwise(rows) if pair[0]["decoding"] == pair[1]["decoding"]]
    grows = all(fewer["log P per token"] < more["log P per token"] for fewer, more in steps)
    holds = grows and {row["N"] for row in rows} == {1, 20, 400}
    return shell.shown(holds, f"log P per token, F1, distinct-2: {told}")


@slow
def a_beam(shell: Shell) -> Shown:
    """The table is of the demo; the lists that are looked at are of a writer that learned more."""
    rows = table(benchmark(shell, "sample_and_rank", lent=("meena",)), "beam_and_samples")
    inside = {"bot": "seq2seq", "options": {"weights": real_writer(shell)}}
    turns, lists = real_turns(shell, 24), {}
    for method in ("beam", "nucleus"):
        bot = make_bot("beam", **inside, method=method, top_p=1.0, temperature=0.88)
        assert isinstance(bot, Generator)
        lists[method] = bot.propose(turns)
    apart = {
        method: [distinct([each.text for each in listed], 2) for listed in found]
        for method, found in lists.items()
    }
    fewer = Told(sum(a < b for a, b in zip(*apart.values(), strict=True)), len(turns))
    poor = sum(is_degenerate(listed[0].text) for listed in lists["beam"])
    first = {
        method: f"'{found[0][0].text}' ({sum(found[0][0].log_probs):.1f})"
        for method, found in lists.items()
    }
    result = f"table of {len(rows)} of each; of a trained writer first {first['beam']} by beam and "
    result += f"{first['nucleus']} of samples; distinct bigrams of 10 {np.mean(apart['beam']):.2f} "
    result += f"and {np.mean(apart['nucleus']):.2f}, fewer in the beam at {fewer}; {poor} of "
    result += f"{len(turns)} beams begin with a degenerate reply"
    return shell.shown(len(rows) == 10 and fewer.holds and poor <= 2, result)


@slow
def a_rept(shell: Shell) -> Shown:
    """The table is of the demo; the claim is of a writer that learned 850 real dialogues."""
    out = benchmark(shell, "cross_turn_repetition", lent=("meena", "seq2seq"))
    rows = table(out, "cross_turn_repetition")
    inside: dict[str, Any] = {"bot": "seq2seq", "options": {"weights": real_writer(shell)}}
    base = make_bot("sample_and_rank", **inside)
    ruled = make_bot("no_repeat", bot="sample_and_rank", options=inside)
    idle = {"run": 1000, "share": 1.0, "least": 1000}
    off = make_bot("no_repeat", bot="sample_and_rank", options=inside, **idle)
    tested = jsonl.read(personachat_dev.parts(shell.folder)[1][6:])[:20]
    shares = {}
    for name, bot in (("base", base), ("with the rule", ruled), ("with a rule that is off", off)):
        assert isinstance(bot, Generator)
        assert isinstance(base, Generator)
        said = converse(bot, base, tested, 10)
        shares[name] = sum(any(RepetitionRule().flagged(each)) for each in said)
    gone = binomtest(shares["with the rule"], len(tested), shares["base"] / len(tested))
    told = ", ".join(f"{name} {count}" for name, count in shares.items())
    result = f"table of {len(rows)} rows; of {len(tested)} conversations of a trained writer with "
    result += f"itself have a repeated turn: {told} (MEENA: about a third of the base's)"
    holds = len(rows) == 4 and gone.pvalue < 0.05 and shares["with the rule"] < shares["base"]
    return shell.shown(holds and shares["with a rule that is off"] == shares["base"], result)


def _generators(shell: Shell) -> Path:
    lent = ("seq2seq", "hred", "vhred", "hredgan", "ta_seq2seq", "thred")
    return benchmark(shell, "generators", lent=lent)


@slow
def a_gan(shell: Shell) -> Shown:
    """The table is of the demo, at toy size; the floors are for a writer that was taught.

    One that says the same to all, and a discriminator that does, fall below them.
    """
    out = _generators(shell)
    rows, listed = table(out, "generators"), table(out, "discriminator_ranking")
    text = shell.analysis(str(out / "generators.jsonl"), "--report", "generators")
    told = ", ".join(
        f"{row['model']} ppl {row['ppl']:.0f} d2 {row['distinct-2']:.2f}" for row in rows
    )
    scores = [row["log D"] for row in listed]
    bot = planted.taught("hredgan", **planted.WORDS, noise="word", samples=12, alpha=50.0)
    assert isinstance(bot, HredGan)
    said = _distinct_2(shell, bot)
    order, spread, _ = discriminated(bot)
    for each in bot.adversaries.discriminator.parameters():
        each.data.zero_()
    broken, flat, _ = discriminated(bot)
    holds = len(rows) == 6 and scores == sorted(scores, reverse=True) and "rouge2_f1" in text
    holds &= said["taught"] > FLOOR > said["broken"] and order.holds and spread > 0.1
    holds &= not broken.holds and flat < 1e-5
    return shell.shown(
        holds,
        f"{told}; {len(listed)} replies by log D {scores[0]:.2f} to {scores[-1]:.2f}; distinct-2 "
        f"of a taught hredGAN {said['taught']:.2f}, of one reply to all {said['broken']:.2f}, "
        f"floor {FLOOR}; D has right words above the same turned round {order}, a constant one "
        f"{broken.right}",
    )


def _distinct_2(shell: Shell, bot: Any) -> dict[str, float]:
    """Return what the report prints of a writer's replies, and of the first one said to all."""
    asked = planted.questions(held_out=True)
    taught = list(answer(bot, "taught", asked, Task("planted", sides="self")))
    same = [
        {**row, "prediction": f"b{row['prediction']}", "system": "broken"}
        | {"response": taught[0]["response"]}
        for row in taught
    ]
    lines = "".join(json.dumps(row) + "\n" for row in [*taught, *same])
    file = shell.written("taught.jsonl", lines)
    own = printed_tables(shell.analysis(file, "--report", "generators"))[0]
    return {row["model"]: float(row["distinct2"]) for row in own}


@slow
def a_event(shell: Shell) -> Shown:
    """The table is of the demo; what changes is shown of a trained writer, and of a planted pair.

    Events are mined from what it learned; a pool that knows none of them must change nothing.
    """
    out = benchmark(shell, "event_reranking", lent=("seq2seq", "hred"))
    rows = table(out, "event_reranking")
    told = "\n".join(json.dumps([turn.text for turn in each.turns]) for each in demo("train"))
    training = shell.written("conversations.jsonl", told + "\n")
    file = str(out / "event_reranking.jsonl")
    text = shell.analysis(file, "--report", "event_reranking", "--training", training)
    columns = ("reranked_percent", "bleu", "nist", "extrema", "dist1", "dist2", "pmi", "length")
    shares = _reranked(shell)
    order = [LIKELY, CAUSED]
    bot = EventCausality(rank_by="sum_logp", power=2.0)
    chosen, without = bot._ordered(SAID, order)[0], EventCausality(power=0.0)._ordered(SAID, order)
    result = f"{len(rows)} rows of {', '.join(columns)}; of replies of a trained writer to real "
    result += "prompts are changed: "
    result += ", ".join(f"{name} {changed} of {n}" for name, (changed, n) in shares.items())
    result += f"; a planted pair of lift 9 moves '{CAUSED.text}' before '{LIKELY.text}'"
    holds = shares["pairs"][0] > 0 and shares["embedding"][0] > 0 and not shares["no pair"][0]
    holds &= chosen is CAUSED and without[0] is LIKELY
    return shell.shown(holds and len(rows) == 10 and all(name in text for name in columns), result)


def _reranked(shell: Shell) -> dict[str, tuple[int, int]]:
    """Return how many first replies re-ranking changes, by how pairs are found."""
    learned = jsonl.read(personachat_dev.parts(shell.folder)[0][6:])
    mined_pairs = shell.folder / "event-pairs-real.tsv"
    write_pairs(mined([turn.text for turn in each.turns] for each in learned), mined_pairs)
    strange = shell.written("event-pairs-none.tsv", "zap quark\tzap boson\t9\n")
    inside = {"bot": "seq2seq", "options": {"weights": real_writer(shell)}, "number": 10}
    turns = real_turns(shell, 120)
    plain = make_bot("beam", **inside)
    assert isinstance(plain, Generator)
    first = [found[0].text for found in plain.propose(turns)]
    found = {}
    for name, how in (
        ("pairs", {"pairs": str(mined_pairs)}),
        ("embedding", {"pairs": str(mined_pairs), "matching": "embedding"}),
        ("no pair", {"pairs": strange}),
    ):
        bot = make_bot("event_causality", **inside, **how)
        assert isinstance(bot, Generator)
        texts = [each[0].text for each in bot.propose(turns)]
        changed = sum(one != other for one, other in zip(first, texts, strict=True))
        found[name] = changed, len(turns)
    return found
