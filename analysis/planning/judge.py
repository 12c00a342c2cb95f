"""`python -m analysis judge`: a judge model's scores of all items, with people's of a random part.

The judge is a rater in the table, or in one of its own (--scores, as `manage.py judge` writes it),
by the name given with --judge; the others are people. For each system: the mean that people would
give, from both, with an interval that is never wider than that of people alone. A system is
refused, with the reason, where the judge's scores cannot be carried over: nobody rated it, or what
people rated is no random part of it. Then the alternative annotator test: whether the judge may
stand in for a rater (docs/planning.md).
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from analysis import arguments as parsers
from analysis.output.terminal import table
from analysis.planning.annotator_test import AnnotatorTest, annotator_test
from analysis.planning.paired import question_of, read_ratings
from analysis.planning.prediction_powered import JudgeRefused, PoweredMean, powered_mean
from analysis.report import many
from analysis.tables.options import BadOption
from analysis.tables.schema import BadTable, RatingTable

BAD = 2


@dataclass(frozen=True)
class JudgedSystem:
    """A system's mean from people and the judge, or why there is none."""

    system: str
    mean: PoweredMean | None
    judge: float
    refused: str = ""


def judged_systems(ratings: RatingTable, question: str, judge: str) -> list[JudgedSystem]:
    """Return each system's mean, or why the judge's scores cannot be used for it.

    Raises:
        BadOption: there is no rater of this name, or the judge and people share no item.
    """
    people, scores = _sides(ratings, question, judge)
    known = people.merge(scores, on=["system", "item"], suffixes=("", "_judge"))
    if known.empty:
        right = "a rater who scored items that people rated; both are matched by the column item"
        raise BadOption("--judge", judge, right)
    return [_judged(str(system), of, known) for system, of in scores.groupby("system")]


def _judged(system: str, scores: pd.DataFrame, known: pd.DataFrame) -> JudgedSystem:
    rated = known[known["system"] == system]
    others = scores.loc[~scores["item"].isin(rated["item"]), "value"]
    mean = float(scores["value"].mean())
    if rated.empty:
        return JudgedSystem(system, None, mean, _without_people(scores["value"], known))
    value, rater, item = (rated[name].to_numpy() for name in ("value", "rater", "item"))
    try:
        found = powered_mean(value, rater, item, rated["value_judge"], others)
        return JudgedSystem(system, found, mean)
    except JudgeRefused as error:
        return JudgedSystem(system, None, mean, str(error))


def _without_people(scores: pd.Series, known: pd.DataFrame) -> str:
    """Say why other systems tell nothing of this one, with what is known of the judge's errors."""
    errors = (known["value"] - known["value_judge"]).groupby(known["system"]).mean()
    low, high = known["value_judge"].min(), known["value_judge"].max()
    outside = float(((scores < low) | (scores > high)).mean())
    beyond = f"; {outside:.0%} of its scores lie outside all that people checked" if outside else ""
    spread = (
        f"off by {-errors.max():+.3f} to {-errors.min():+.3f} in the mean"
        if len(errors) > 1
        else f"off by {-errors.iloc[0]:+.3f} in the mean"
    )
    return (
        f"nobody rated it, and on {many(len(errors), 'other system')} the judge is {spread}"
        f"{beyond}; let people rate a random part of it"
    )


def tested(ratings: RatingTable, question: str, judge: str, *, epsilon: float) -> AnnotatorTest:
    """Return the alternative annotator test of one question, an item of a system as an instance."""
    people, scores = _sides(ratings, question, judge)
    nominal = bool((people["level"] == "nominal").all())
    by_rater = {
        str(rater): dict(zip(_instances(rows), rows["value"].astype(float), strict=True))
        for rater, rows in people.groupby("rater", sort=True)
    }
    judged = dict(zip(_instances(scores), scores["value"].astype(float), strict=True))
    return annotator_test(by_rater, judged, epsilon=epsilon, nominal=nominal)


def _instances(rows: pd.DataFrame) -> list[str]:
    return [f"{system}\0{item}" for system, item in zip(rows["system"], rows["item"], strict=True)]


def _sides(ratings: RatingTable, question: str, judge: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return people's and the judge's ratings, one per rater and item of a system."""
    rows = ratings[(ratings["question"] == question) & ratings["value"].notna()]
    rows = rows.astype(dict.fromkeys(("rater", "system", "item", "level"), str))
    rows = rows.assign(value=pd.to_numeric(rows["value"]))
    keys = ["rater", "system", "item", "level"]
    once = rows.groupby(keys, sort=False)["value"].mean().reset_index()
    is_judge = once["rater"] == judge
    if not is_judge.any() or is_judge.all():
        raise BadOption("--judge", judge, "a rater of the table, beside people")
    scores = once[is_judge][["system", "item", "value"]]
    return once[~is_judge].reset_index(drop=True), scores.reset_index(drop=True)


def with_scores(people: RatingTable, scores: RatingTable) -> RatingTable:
    """Return people's ratings with those of a judge, which stand in a table of their own."""
    shared = [name for name in people.columns if name in scores.columns]
    return RatingTable(pd.concat([people[shared], scores[shared]], ignore_index=True))


def main(arguments: Sequence[str]) -> int:
    """Print systems and test; return 2 where an input cannot be used, 1 if all are refused."""
    options = parsers.judge().parse_args(arguments)
    try:
        if not 0 <= options.epsilon < 1:
            raise BadOption("--epsilon", str(options.epsilon), "0 or more, and below 1")
        ratings, _ = read_ratings("file", options.file)
        if options.scores is not None:
            ratings = with_scores(ratings, read_ratings("--scores", [options.scores])[0])
        question = question_of(ratings, options.question)
        found = judged_systems(ratings, question, options.judge)
        agreement = tested(ratings, question, options.judge, epsilon=options.epsilon)
    except (BadOption, BadTable) as error:
        print(error, file=sys.stderr)
        return BAD
    except OSError as error:
        print(f"{error.filename}: cannot be read ({error.strerror or error})", file=sys.stderr)
        return BAD
    if options.json:
        print(json.dumps(_record(found, agreement, options.epsilon), indent=1))
    else:
        _print(question, found, agreement, options.epsilon)
    return int(all(each.mean is None for each in found))


def _print(
    question: str, found: Sequence[JudgedSystem], agreement: AnnotatorTest, epsilon: float
) -> None:
    used = [each for each in found if each.mean is not None]
    print(f"{question}: people and judge together\n")
    if used:
        print(table(pd.DataFrame([_row(each) for each in used])))
    for each in found:
        if each.refused:
            print(f"\nRefused, {each.system} (judge's mean {each.judge:.3f}): {each.refused}.")
    print(f"\nAlternative annotator test: {_verdict(agreement, epsilon)}")


def _row(each: JudgedSystem) -> dict[str, object]:
    mean = each.mean
    assert mean is not None  # noqa: S101 # only those with a mean have a row
    width = mean.interval.high - mean.interval.low
    alone = mean.people_interval.high - mean.people_interval.low
    return {
        "system": each.system,
        "mean": mean.estimate,
        "low": mean.interval.low,
        "high": mean.interval.high,
        "people alone": mean.people,
        "from": mean.people_interval.low,
        "to": mean.people_interval.high,
        "width": width / alone if alone > 0 else math.nan,
        "lambda": mean.power,
        "judge": each.judge,
        "rated": mean.rated,
        "others": mean.others,
    }


def _verdict(test: AnnotatorTest, epsilon: float) -> str:
    if not test.p:
        return "not possible: no rater has 30 items that somebody else rated too."
    skipped = f"; {many(len(test.skipped), 'rater')} with fewer than 30 left out" * bool(
        test.skipped
    )
    return (
        f"the judge {'may' if test.passes else 'may not'} stand in for a rater: it beats "
        f"{test.winning_rate:.2f} of {many(len(test.p), 'rater')} (half is needed), advantage "
        f"probability {test.advantage:.2f}, epsilon {epsilon:g}{skipped}."
    )


def _record(
    found: Sequence[JudgedSystem], agreement: AnnotatorTest, epsilon: float
) -> dict[str, object]:
    test = asdict(agreement) | {"passes": agreement.passes, "epsilon": epsilon}
    plain = {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in test.items()}
    return {"systems": [asdict(each) for each in found], "annotator_test": plain}
