"""Rows of bots that follow a rule, are people, or live elsewhere, and of what is only listed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

from analysis import read
from analysis.metrics.word_f1 import word_f1
from bots import bot_names
from bots.commands.predictions import Task, predict
from bots.reference import printed
from tests.acceptance.shell import Shell, Shown, slow
from tests.analysis.examples import ROOT
from tests.bots.examples import demo
from tests.bots.zoo.test_generic import PRINTED

MODELS = ("seq2seq", "hred", "language_model")


def b_generic(shell: Shell) -> Shown:
    said = shell.bots("chat", "generic", said="\n".join(text for text, _ in PRINTED)).splitlines()
    right = sum(one == other for one, (_, other) in zip(said, PRINTED, strict=True))
    return shell.shown(right == 9, f"{right} of {len(PRINTED)} replies as printed")


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
    """Their database is another process's, made for it."""
    command = [sys.executable, "-m", "tests.acceptance.two_people"]
    folder = shell.folder / "people"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "DATA_DIR": str(folder), "DEBUG": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    told = json.loads(done.stdout)
    shell.commands.append("python -m tests.acceptance.two_people")
    each_other = told["completed"] == 2 and told["systems"] == ["human"]
    ssa = {"sensibleness": 1.0, "specificity": 0.0, "ssa": 0.5}
    third = told["refused"] == ["p0", "p1"] and told["open"] == [14] * 5 + [0]
    third = third and (told["judged"], told["human"], told["n"]) == (["human"], ssa, [14])
    result = f"PC-P5: {told['completed']} people, {told['messages']} messages, "
    result += f"{told['answers']} answers about each other; ME-P3: open messages before each rater "
    result += f"and at the end {told['open']}, {len(told['refused'])} who chatted are refused, "
    result += f"human SSA of majorities {told['human']['ssa']:.2f} (n {told['n'][0]})"
    return shell.shown(each_other and third, result)


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
    imported = "learned from 2 dialogues" in told and answer.strip() == "Why are you sad?"
    holds = imported and called.strip() == "I have 0 lines and saw 1 messages."
    result = f"2 transcripts imported, one says '{answer.strip()}'; function: '{called.strip()}'"
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
