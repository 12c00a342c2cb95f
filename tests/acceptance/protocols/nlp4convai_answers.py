"""Rows of answers: how many people find plausible, beside how many are right; chat quality."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from tests.acceptance.protocols.nlp4convai_tables import printed_tables
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, passed, simulated

REFUSED = "tests/webapp/views/refused/test_answers.py"
RIGHT = {"alpha": 0.7, "beta": 0.3, "gamma": 0.0}  # planted: how often a system is right
OPTIONS = {"yes", "no", "can't tell"}
ROUNDED = 0.005 + 1e-9
FEWEST = 20  # answers of a system, or questions that it answered


def nl_p10(shell: Shell) -> Shown:
    """Yes among yes and no of people, in one row with hits@1 of predictions of the questions."""
    found = simulated(shell, "answer_plausibility")
    answers = _answers(found)
    lines = list(_predictions(found))
    file = shell.written(
        "plausible_predictions.jsonl", "".join(json.dumps(line) + "\n" for line in lines)
    )
    text = shell.analysis(file, found.export, "--report", "answer_accuracy")
    rows = {row["system"]: row for row in printed_tables(text)[0]}
    told, wrong = [], list[str]()
    for system, counts in sorted(answers.items()):
        marks = [line["scores"][0] for line in lines if line["system"] == system]
        wanted = _wanted(counts, marks)
        wrong += [
            f"{system} {name} {rows[system][name]}, not {value:.2f}"
            for name, value in wanted.items()
            if abs(float(rows[system][name]) - value) > ROUNDED
        ]
        if set(counts) - OPTIONS or min(wanted["yes and no"], len(marks)) < FEWEST:
            wrong.append(f"{system} has {dict(counts)} and {len(marks)} predictions")
        told.append(f"{system} {wanted['human']:.1f} / {wanted['automatic']:.1f} %")
    holds = not wrong and set(rows) == set(answers) == set(RIGHT)
    holds &= set().union(*answers.values()) == OPTIONS
    pages = passed(shell, REFUSED)
    return shell.shown(
        holds,
        f"{found.line}; yes of yes and no / planted hits@1, in one row of report answer_accuracy: "
        f"{', '.join(told)}; only yes, no and can't tell are taken: {pages} tests"
        f"{'; '.join(['', *wrong])}",
    )


def _wanted(counts: Counter[str], marks: Sequence[float]) -> dict[str, float]:
    """Return a row of the report by hand, in percent."""
    decided = counts["yes"] + counts["no"]
    human, automatic = 100 * counts["yes"] / decided, 100 * fmean(marks)
    return {
        "human": human,
        "can't tell": 100 * counts["can't tell"] / counts.total(),
        "yes and no": decided,
        "automatic": automatic,
        "human - automatic": human - automatic,
    }


def _answers(found: Simulated) -> dict[str, Counter[str]]:
    counts = defaultdict[str, Counter[str]](Counter)
    for row in found.table("ratings"):
        counts[row["system"]][row["value"]] += 1
    return dict(counts)


def _predictions(found: Simulated) -> Iterator[dict[str, Any]]:
    """Yield what each system chose for the questions that people judged; of so many the right one.

    Bots of simulations repeat what they read, so that what is right is planted too.
    """
    asked = sorted({row["context"] for row in found.table("ratings")})
    for system, share in RIGHT.items():
        for number, context in enumerate(asked):
            is_right = number < round(share * len(asked))
            yield {
                "prediction": f"{system}-{context}",
                "system": system,
                "dataset": "questions",
                "example": context,
                "context": [context],
                "gold": "right",
                "response": None,
                "candidates": ["right", "wrong"],
                "scores": [float(is_right), float(not is_right)],
                "log_probs": None,
            }


def nl_p13(shell: Shell) -> Shown:
    """Experts who judge whole chats by a form that is there; the page has it as an entry only."""
    found = simulated(shell, "convai2_blind")
    scores = [row for row in found.table("ratings") if row["question"] == "score"]
    each = Counter(row["item"] for row in scores)
    means = {
        name: fmean(float(row["value"]) for row in scores if row["system"] == name)
        for name in RIGHT
    }
    entry = passed(shell, "tests/webapp/views/staff/test_choosing.py", "-k", "without_a_procedure")
    holds = len(each) >= FEWEST / 2 and set(each.values()) == {2}
    told = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    return shell.shown(
        holds and list(means) == sorted(means, key=lambda name: -means[name]),
        f"{len(each)} chats judged by 2 experts each, of 1 to 4: {told}; listed among "
        f"protocols, as an entry that cannot be chosen: {entry} test",
    )
