"""Selecting lines of a bot's store: what does not fit a character is removed by a threshold.

Source: PERSONA-METRICS (Miyazaki et al. 2021), abstract, figure 1 and section 6: utterances that a
character would not say are removed where PSProb, PTSal or MaxBLEU is at most the threshold, or
uPPL at least. The threshold is the one of most recall whose precision on judged lines (NoL 0 or 1
is bad) is as wanted; as it is chosen on these lines, it is also tried on lines it was not chosen
on: each half of them by the other's. What is kept is written as dialogues of two turns, a message
and its reply, which `python -m bots train tfidf --data jsonl:KEPT` makes a bot of.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.arguments import select as parser
from analysis.conversations.persona_likeness import HIGH_IS_BAD, INAPPROPRIATE, likeness, study
from analysis.stats.filtering import Threshold, threshold
from analysis.tables.reading import read_all
from analysis.tables.schema import BadTable, MessageTable, RatingTable

BAD = 2


class CannotSelect(ValueError):
    """Judged lines or a store of which no selection can be made."""


@dataclass(frozen=True)
class Pair:
    """A message and the reply to it, which is the bot's line."""

    name: str
    message: str
    reply: str

    @property
    def record(self) -> dict[str, object]:
        """The line of the file of what is kept."""
        turns = [{"speaker": "partner", "text": self.message}]
        return {"id": self.name, "turns": [*turns, {"speaker": "self", "text": self.reply}]}


def main(arguments: Sequence[str]) -> int:
    """Write what is kept, and print the threshold with its precision, recall and prevalence."""
    options = parser().parse_args(arguments)
    try:
        _select(options)
    except (BadTable, ValueError) as error:
        print(error, file=sys.stderr)
        return BAD
    except OSError as error:
        print(f"{error.filename}: {error.strerror or error}", file=sys.stderr)
        return BAD
    return 0


def _select(options: argparse.Namespace) -> None:
    tables = read_all(options.file)
    if tables.ratings is None or tables.messages is None:
        raise CannotSelect("judged lines need both votes on `likely` and the messages")
    if not 0 < options.precision <= 1:
        raise CannotSelect(f"--precision is {options.precision:g}, but must be above 0, at most 1")
    pairs = list(store(options.store))
    judged = lines_of(tables.ratings, tables.messages, options.character, options.seed)
    cut = chosen(judged, options.metric, options.precision)
    texts = [each.reply for each in pairs]
    scores = likeness(texts, options.character, tables.ratings, tables.messages, seed=options.seed)[
        options.metric
    ].to_numpy(dtype=float)
    gone = cut.takes(scores)
    _write(options.out, [pair.record for pair, out in zip(pairs, gone, strict=True) if not out])
    removed = [
        {"text": text, options.metric: float(score)}
        for text, score, out in zip(texts, scores, gone, strict=True)
        if out
    ]
    if options.removed is not None:
        _write(options.removed, removed)
    print("\n".join(_found(options, judged, cut)))
    print(f"{len(removed)} of {len(pairs)} lines of the store removed; the rest in {options.out}")


def lines_of(
    ratings: RatingTable, messages: MessageTable, character: str, seed: int = 0
) -> pd.DataFrame:
    """Return the judged lines of a character with their metrics and NoL; raises CannotSelect."""
    found = study(ratings, messages, seed=seed)
    if found.reason is not None:
        raise CannotSelect(f"no threshold can be found: {found.reason}")
    mine = found.frame[found.frame["character"] == character]
    if mine.empty:
        known = ", ".join(sorted(set(found.frame["character"])))
        raise CannotSelect(f"--character is {character!r}, but judged are {known}")
    return mine.sort_values("item", ignore_index=True)


def chosen(judged: pd.DataFrame, metric: str, precision: float) -> Threshold:
    """Return the threshold for a wanted precision; raises CannotSelect where none reaches it."""
    bad = judged["nol"] <= INAPPROPRIATE
    cut = threshold(judged[metric], bad, precision=precision, low_is_bad=metric != HIGH_IS_BAD)
    if cut is None:
        raise CannotSelect(
            f"no threshold of {metric} removes judged lines with a precision of {precision:g}: "
            f"{int(bad.sum())} of {len(bad)} are unfit; try another metric, or less precision"
        )
    return cut


def tried(judged: pd.DataFrame, metric: str, precision: float) -> tuple[int, int, int]:
    """Return what halves remove by the other's threshold: unfit, all removed, all unfit."""
    bad = (judged["nol"] <= INAPPROPRIATE).to_numpy()
    halves = [np.arange(len(judged)) % 2 == k for k in (0, 1)]
    hit = taken = 0
    for half in halves:
        cut = threshold(
            judged[metric][~half], bad[~half],
            precision=precision, low_is_bad=metric != HIGH_IS_BAD,
        )  # fmt: skip
        if cut is not None:
            gone = cut.takes(judged[metric][half])
            hit, taken = hit + int((gone & bad[half]).sum()), taken + int(gone.sum())
    return hit, taken, int(bad.sum())


def store(path: Path) -> Iterator[Pair]:
    """Yield the bot's lines that answer a message; raises CannotSelect, naming the bad lines."""
    problems = []
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            turns = [(turn["speaker"], str(turn["text"])) for turn in record["turns"]]
            for index, ((who, message), (next_, reply)) in enumerate(pairwise(turns)):
                if (who, next_) == ("partner", "self"):
                    yield Pair(f"{record['id']}:{index + 1}", message, reply)
        except (ValueError, KeyError, TypeError, RecursionError):
            problems.append(f"{path}: line {number} must be a dialogue with id and turns")
    if problems:
        raise CannotSelect("\n".join(problems))


def _found(options: argparse.Namespace, judged: pd.DataFrame, cut: Threshold) -> Iterator[str]:
    sign = "<=" if cut.low_is_bad else ">="
    yield f"{options.character}: removed where {options.metric} {sign} {cut.value:.6g}"
    yield (
        f"on {cut.n} judged lines: precision {cut.precision:.3f} (wanted {options.precision:g}), "
        f"recall {cut.recall:.3f}, prevalence {cut.prevalence:.3f}, {cut.taken} removed"
    )
    hit, taken, unfit = tried(judged, options.metric, options.precision)
    share = f"{hit / taken:.3f}" if taken else "none removed"
    yield f"each half by the other's threshold: precision {share}, recall {hit / unfit:.3f}"
    kept = judged.loc[~cut.takes(judged[options.metric]), "nol"]
    mean = f"{kept.mean():.2f}" if len(kept) else "no line"
    yield f"mean NoL: all {judged['nol'].mean():.2f}, kept {mean}"


def _write(path: Path, records: Sequence[object]) -> None:
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)
    path.write_text(text, encoding="utf-8")
