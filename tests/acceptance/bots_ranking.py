"""Rows of bots that rank replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bots import Ranker, make_bot
from bots.datasets import jsonl
from tests.acceptance import personachat_dev
from tests.acceptance.paired import paired, share_interval
from tests.acceptance.shell import Shell, Shown, slow
from tests.bots.topics import about_topics, auc

CHANCE, CHANCE_OF_100 = 1 / 20, 1 / 100
UNTAUGHT = ("sim",)
BATCHES = "4"  # of 100 replies
SIZE = "850 to learn from"
STARSPACE = ("--preset", "without_persona", "--seed", "1")
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
    taught = () if name in UNTAUGHT else ("--weights", where or shell.weights(name))
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
    told, holds = [], True
    for method, share, low in one_of_100(shell, "bm25", ("method=tfidf", "method=bm25")):
        told.append(f"{method.partition('=')[2]} {share:.3f} (at least {low:.3f})")
        holds = holds and low > 5 * CHANCE_OF_100
    _, lot, lowest = next(iter(one_of_100(shell, "random_candidate", ("",))))
    result = f"1-of-100 on held-out dialogues: {', '.join(told)}, by lot {lot:.3f}; asked: "
    return shell.shown(
        holds and lowest < CHANCE_OF_100, f"{result}five times chance, {5 * CHANCE_OF_100:.2f}"
    )


def one_of_100(
    shell: Shell, name: str, options: Sequence[str], *train: str
) -> Iterator[tuple[str, float, float]]:
    """Yield each option with the share of right choices on real dialogues, and its lower end."""
    learned, tested, _ = personachat_dev.parts(shell.folder)
    for chosen in options:
        settings = ("--set", chosen) if chosen else ()
        out, where = shell.folder / f"of-100-{name}{chosen}.jsonl", shell.path(f"{name}-real")
        taught: tuple[str, ...] = ()
        if name not in UNTAUGHT:
            taught = ("--weights", where)
            if not Path(where).is_dir():
                shell.bots("train", name, "--data", learned, "--seed", "1", *train, "--out", where)
        shell.bots(
            *("predict", name, *taught, *settings, "--data", tested, "--batches", BATCHES),
            *("--out", str(out)),
        )
        share, low, _ = share_interval(out)
        yield chosen, share, low


@slow
def b_sim(shell: Shell) -> Shown:
    found = ranked(shell, "sim", "self")
    told = f"without weights hits@1/20 {found:.3f} (chance .05)"
    return shell.shown(found > CHANCE, told)


def on_real(shell: Shell, name: str, persona: str, *train: str) -> tuple[float, Path]:
    """Return hits@1/20 on held-out real dialogues, and the predictions; trained on the others."""
    learned, tested, _ = personachat_dev.parts(shell.folder)
    where = shell.path(f"{name}-real")
    if name not in UNTAUGHT and not Path(where).is_dir():
        shell.bots("train", name, "--data", learned, "--seed", "1", *train, "--out", where)
    return ranking(shell, name, persona, data=(tested,), where=where, sides="self")


@slow
def b_map(shell: Shell) -> Shown:
    mapped, of_map = on_real(shell, "linear_map", "self")
    plain, of_sim = on_real(shell, "sim", "self")
    found = paired(of_map, of_sim)
    told = f"hits@1/20 on held-out real dialogues: MAP {mapped:.3f}, SIM {plain:.3f} of the same "
    return shell.shown(found.above, f"{told}vectors; MAP above SIM by {found}, n {found.n}")


@slow
def b_ngram(shell: Shell) -> Shown:
    """Its group in the paper: TF-IDF, BM25, and SIM and MAP of vectors learned elsewhere."""
    own, of_own = on_real(shell, "ngram_encoder", "self")
    others = {name: on_real(shell, name, "self") for name in ("bm25", "sim", "linear_map")}
    found = {name: paired(of_own, file) for name, (_, file) in others.items()}
    told = ", ".join(
        f"{name} {share:.3f} (by {found[name]})" for name, (share, _) in others.items()
    )
    result = f"hits@1/20 on held-out real dialogues, {SIZE}: n-gram encoder {own:.3f}; {told}"
    return shell.shown(all(each.above for each in found.values()), result)


@slow
def b_starspace(shell: Shell) -> Shown:
    """Trained without personas, as it is asked; its query is the released one, two messages."""
    learned, tested, _ = personachat_dev.parts(shell.folder)
    bare, where = shell.folder / "without-personas.jsonl", shell.path("starspace-alone")
    known = jsonl.read(learned.partition(":")[2])
    jsonl.write([replace(each, persona=(), partner_persona=()) for each in known], bare)
    shell.bots("train", "starspace", "--data", f"jsonl:{bare}", *STARSPACE, "--out", where)
    star, of_star = ranking(shell, "starspace", "none", data=(tested,), where=where, sides="self")
    plain, of_ir = on_real(shell, "tfidf", "none")
    at, two = shell.path("tfidf-real"), ("--set", "history=2")
    as_much = ranking(shell, "tfidf", "none", *two, data=(tested,), where=at, sides="self")
    found, of_two = paired(of_star, of_ir), paired(of_star, as_much[1])
    result = f"hits@1/20 without persona on held-out real dialogues, {SIZE}: StarSpace "
    result += f"{star:.3f}, IR {plain:.3f}; StarSpace above IR by {found}, n {found.n}; above an "
    result += f"IR that reads as many messages ({as_much[0]:.3f}) by {of_two}"
    return shell.shown(found.above, result)


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
