"""Rows of analyses that run models: `python -m bots benchmark` on the demo, at toy size."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bots import Dialogue, Generator, Ranker, Trainable, make_bot
from bots.benchmarks.cross_turn_repetition import converse
from bots.benchmarks.profile_prediction import MOST, error
from bots.datasets import jsonl
from bots.text.repetition import RepetitionRule
from bots.weights import data_digest, digest_of
from tests.acceptance import personachat_dev
from tests.acceptance.paired import slope_interval
from tests.acceptance.shell import SEED, Shell, Shown, slow
from tests.bots.examples import demo

LIMIT = "60"
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
    beside = bool(printed(out, "persona_conditions_rankers"))
    return shell.shown(layout and beside and len(writers) == 8, "hits@1/20, original/revised: "
                       + "; ".join(told))  # fmt: skip


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
    out = benchmark(shell, "sample_and_rank", lent=("meena",))
    rows = table(out, "beam_and_samples")
    about = json.loads((out / "beam_and_samples.json").read_text(encoding="utf-8"))
    apart = next(note for note in about["notes"] if note.startswith("distinct"))
    beam, drawn = map(float, re.findall(r"\d\.\d+", apart))
    first = rows[0]
    result = f"{len(rows)} of each; first '{first['beam']}' ({first['beam log P']:.1f}) and "
    result += f"'{first['samples']}' ({first['samples log P']:.1f}); {apart}"
    return shell.shown(len(rows) == 10 and beam < drawn, result)


@slow
def a_rept(shell: Shell) -> Shown:
    out = benchmark(shell, "cross_turn_repetition", lent=("meena", "seq2seq"))
    rows = table(out, "cross_turn_repetition")
    told = [f"{row['model']} {row['system']} {row['conversations']:.2f}" for row in rows]
    few = {"bot": "markov", "number": 8, "temperature": 0.5}
    base = make_bot("sample_and_rank", **few)
    ruled = make_bot("no_repeat", bot="sample_and_rank", options=few)
    assert isinstance(base, Generator)
    assert isinstance(ruled, Generator)
    shares = []
    for bot in (base, ruled):
        said = converse(bot, base, demo("test")[:12], 8)
        shares.append(sum(any(RepetitionRule().flagged(each)) for each in said) / len(said))
    told.append(f"markov at T 0.5 base {shares[0]:.2f}, with the rule {shares[1]:.2f}")
    result = f"conversations with a repeated turn: {', '.join(told)}"
    return shell.shown(len(rows) == 4 and shares[0] > shares[1], result, converse)


def _generators(shell: Shell) -> Path:
    lent = ("seq2seq", "hred", "vhred", "hredgan", "ta_seq2seq", "thred")
    return benchmark(shell, "generators", lent=lent)


@slow
def a_gan(shell: Shell) -> Shown:
    out = _generators(shell)
    rows, listed = table(out, "generators"), table(out, "discriminator_ranking")
    text = shell.analysis(str(out / "generators.jsonl"), "--report", "generators")
    told = ", ".join(
        f"{row['model']} ppl {row['ppl']:.0f} d2 {row['distinct-2']:.2f}" for row in rows
    )
    scores = [row["log D"] for row in listed]
    holds = len(rows) == 6 and scores == sorted(scores, reverse=True) and "rouge2_f1" in text
    return shell.shown(holds, f"{told}; {len(listed)} replies by log D {scores[0]:.2f} to "
                       f"{scores[-1]:.2f}")  # fmt: skip


@slow
def a_event(shell: Shell) -> Shown:
    out = benchmark(shell, "event_reranking", lent=("seq2seq", "hred"))
    rows = table(out, "event_reranking")
    told = "\n".join(json.dumps([turn.text for turn in each.turns]) for each in demo("train"))
    training = shell.written("conversations.jsonl", told + "\n")
    file = str(out / "event_reranking.jsonl")
    text = shell.analysis(file, "--report", "event_reranking", "--training", training)
    columns = ("reranked_percent", "bleu", "nist", "extrema", "dist1", "dist2", "pmi", "length")
    shares = [row["reranked %"] for row in rows if "reranked %" in row]
    result = f"{len(rows)} rows of {', '.join(columns)}; of {LIMIT} toy replies each "
    result += f"{min(shares):.1f} to {max(shares):.1f} % changed by 8 re-rankings; "
    plain = [row for row in rows if row["rerank"] == "1-best"]
    result += "; ".join(f"{row['model']} F1 {row['f1']:.3f}" for row in plain)
    return shell.shown(len(shares) == 8 and all(name in text for name in columns), result)
