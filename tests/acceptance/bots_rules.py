"""Rows of bots that follow a rule, are people, or live elsewhere, and of what is only listed."""

from __future__ import annotations

import json
import os
from pathlib import Path

from analysis import read
from analysis.metrics.word_f1 import word_f1
from bots import bot_names, get_dataset
from bots.commands.predictions import Task, predict
from bots.reference import printed
from bots.text.tokens import key
from bots.weights import read_about
from tests.acceptance import outside_bots
from tests.acceptance.shell import Shell, Shown, slow
from tests.bots.examples import demo
from tests.bots.zoo.test_generic import PRINTED
from tests.conftest import SHARED

MODELS = ("seq2seq", "hred", "language_model")


def b_generic(shell: Shell) -> Shown:
    """The specification has the replies to the paper's nine contexts, and which are questions."""
    right = _right(shell, [text for text, _ in PRINTED])
    no_marks = _right(shell, [text.replace("?", ".") for text, _ in PRINTED])
    result = f"{right} of {len(PRINTED)} replies as printed; with no question marks {no_marks}"
    spec = SHARED.parent / "spec" / "reference_results.json"
    if spec.is_file():
        given = json.loads(spec.read_text("utf-8"))["MEENA"]["table4_labels"]["GenericBot"][
            "replies"
        ]
        same = given == [reply for _, reply in PRINTED]
        result += f"; the specification's nine replies, in their order: {same}"
        right = right if same else 0
    return shell.shown((right, no_marks) == (9, 5), result)


def _right(shell: Shell, asked: list[str]) -> int:
    said = shell.bots("chat", "generic", said="\n".join(asked)).splitlines()
    return sum(one == other for one, (_, other) in zip(said, PRINTED, strict=True))


@slow
def b_toyf1(shell: Shell) -> Shown:
    said = shell.bots("chat", "toy_f1", said="Hi!\nWhy?\nI have two cats.").splitlines()
    string = printed("convai2_toy_f1")["reply"]
    fixed = len(said) == 3 and {text.lower() for text in said} == {string}
    scores = {name: _f1(shell, name) for name in ("toy_f1", *MODELS)}
    best = max(scores[name] for name in MODELS)
    told = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
    holds = fixed and scores["toy_f1"] > best
    return shell.shown(holds, f"'{said[0]}' {len(said)} times; F1 {told}", word_f1)


def _f1(shell: Shell, name: str) -> float:
    file = shell.path(f"answers-{name}.jsonl")
    shell.bots(
        *("answer", name, "--weights", shell.weights(name), "--data", "demo:test"),
        *("--sides", "both", "--limit", "200", "--out", file),
    )
    table = read(file).predictions
    assert table is not None
    return float(word_f1(table)["estimate"].iloc[0])


@slow
def b_parrot(shell: Shell) -> Shown:
    said = shell.bots("chat", "parrot", said="I like tea.\nDo you?").splitlines()
    task = Task("demo", sides="both", parrot=True, limit=40)
    rows = list(predict(shell.bot("tfidf"), "tfidf", demo("test"), task))
    among = sum(row["candidates"][20:] == row["context"][-1:] for row in rows)
    holds = said == ["I like tea.", "Do you?"] and among == len(rows)
    told = f"says {', '.join(said)}; 21st candidate of {among} of {len(rows)} examples"
    return shell.shown(holds, told, predict)


@slow
def b_human(shell: Shell) -> Shown:
    told = shell.campaign("two_people")
    each_other = told["completed"] == 2 and told["systems"] == ["human"]
    ssa = {"sensibleness": 1.0, "specificity": 0.0, "ssa": 0.5}
    third = told["refused"] == ["p0", "p1"] and told["open"] == [14] * 5 + [0]
    third = third and (told["judged"], told["human"], told["n"]) == (["human"], ssa, [14])
    result = f"PC-P5: {told['completed']} people, {told['messages']} messages, "
    result += f"{told['answers']} answers about each other; ME-P3: open messages before each rater "
    result += f"and at the end {told['open']}, {len(told['refused'])} who chatted are refused, "
    result += f"human SSA of majorities {told['human']['ssa']:.2f} (n {told['n'][0]})"
    return shell.shown(each_other and third, result)


CORPORA = {"own": ("demo:train", "Parley small talk", "MIT"),
           "outside": ("help_desk:200:1", "synthetic help desk", "CC0-1.0")}  # fmt: skip


@slow
def b_outside(shell: Shell) -> Shown:
    """Chats, ratings and tables are another process's, with a database made for it."""
    where = {}
    for name, (data, corpus, license) in CORPORA.items():
        where[name] = shell.path(f"tfidf-{name}")
        record = ("--corpus", corpus, "--license", license)
        shell.bots("train", "tfidf", "--data", data, *record, "--out", where[name])
    told = shell.campaign("outside_model", *where.values())
    about = [read_about(Path(path)) for path in where.values()]
    same = about[0].options == about[1].options and about[0].data != about[1].data
    recorded = {
        name: (plan["version"]["corpus"], plan["version"]["license"])
        for name, plan in told["plan"].items()
    }
    talks = [each for each in told["talks"] if each["system"] == "outside"]
    known = {key(text) for text in about[1].replies} or _said_in(CORPORA["outside"][0])
    said = [text for each in talks for text in each["said"]]
    theirs = sum(key(text) in known for text in said)
    on_file = all(each["on_file"] and not each["sees_persona"] for each in talks)
    unseen, seen = (told["given"][where[name]] for name in ("outside", "own"))
    last = told["table"][-1]
    result = f"one recipe, two corpora: {'; '.join(' / '.join(r) for r in recorded.values())} in "
    result += f"plan and replies; outside has a persona on file in {len(talks)} chats, was given "
    result += f"{unseen}, own {len(seen)} of them; {theirs} of {len(said)} of its replies are of "
    result += f"its corpus; last row {last}"
    holds = same and recorded == {name: each[1:] for name, each in CORPORA.items()}
    holds = holds and on_file and unseen == [[]] and [] not in seen and theirs == len(said)
    corpora = {each["system"]: each["corpora"] for each in told["talks"]}
    holds = holds and corpora == {name: [each[1]] for name, each in CORPORA.items()}
    return shell.shown(holds and last == ["other data", "outside", "none", len(talks)], result)


def _said_in(source: str) -> set[str]:
    kind, _, where = source.partition(":")
    return {key(turn.text) for each in get_dataset(kind).read(where) for turn in each.turns}


@slow
@slow
def b_ext(shell: Shell) -> Shown:
    chats = "Human: Hi!\nEliza: How do you do?\n\nHuman: I am sad.\nEliza: Why are you sad?\n"
    where = shell.written("chats.txt", chats)
    told = shell.bots(
        "train", "tfidf", "--data", f"transcripts:{where}", "--out", shell.path("eliza")
    )
    answer = shell.bots("chat", "tfidf", "--weights", shell.path("eliza"), said="I am sad.")
    function = "tests.bots.functions.count"
    before = os.environ.get("BOT_CALLABLES", "")
    os.environ["BOT_CALLABLES"] = function
    try:
        called = shell.bots("chat", "callable", "--set", f"function={function}", said="Hi!")
    finally:
        os.environ["BOT_CALLABLES"] = before
    found = shell.campaign("outside_bots")
    live = {name: [shown for _raw, shown in replies] for name, replies in found["live"].items()}
    judged = {name: round(rate, 6) for name, rate in found["judged"].items()}
    share = outside_bots.FOR_ELIZA / outside_bots.VOTES
    holds = (
        "learned from 2 dialogues" in told
        and answer.strip() == "Why are you sad?"
        and called.strip() == "I have 0 lines and saw 1 messages."
        and set(live) == set(outside_bots.BOTS)
        and all(len(said) == len(outside_bots.SAID) and all(said) for said in live.values())
        and all(raw == shown for each in found["live"].values() for raw, shown in each)
        and live["function"][0].endswith("saw 1 messages.")
        and live["function"][1].endswith("saw 3 messages.")
        and judged == {"Eliza": share, "Parry": round(1 - share, 6)}
    )
    result = (
        f"2 transcripts imported, one says '{answer.strip()}'; chats of two bots held elsewhere, "
    )
    result += f"judged: {judged}; live: {live}"
    return shell.shown(holds, result)


def b_entrants(shell: Shell) -> Shown:
    return _listed(shell, "B-ENTRANTS", ("little baby", "mohd shadab alam", "adapt", "high five"))


def b_periph(shell: Shell) -> Shown:
    return _listed(shell, "B-PERIPH", ("bert", "posnet", "energy", "carryover"))


def _listed(shell: Shell, row: str, names: tuple[str, ...]) -> Shown:
    lines = shell.bots("list").splitlines()
    reported = {each["name"] for each in printed("systems")["rows"] if each["row"] == row}
    here = [line for line in lines if line.partition(":")[0] in reported]
    scored = [line for line in here if "no scores" not in line and "Printed (" in line]
    missing = [name for name in names if not any(name in line.lower() for line in here)]
    runnable = [name for name in bot_names() if any(line.startswith(name) for line in here)]
    holds = here and not missing and not runnable
    told = f"{len(here)} systems listed as not runnable, {len(scored)} with printed scores"
    return shell.shown(holds, told + (f"; missing {missing}" if missing else ""))
