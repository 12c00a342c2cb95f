"""Power of a run: how often honest ratings, without the chats, bring the planted order back.

The ratings come from the people of the crowd, by the function that the crowd rates with; what is
made of them is the analysis of the results page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

import analysis
from webapp.crowd.people import Mix, Person, Quality, draw_people, scale_point

POINTS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Power:
    """The outcome of `runs` simulated campaigns; `failed` has the seeds of those that failed."""

    runs: int
    failed: tuple[int, ...]

    @property
    def share(self) -> float:
        return 1 - len(self.failed) / self.runs


def planted_order(planted: Mapping[str, Quality], question: str) -> list[str]:
    """Return the systems from best to worst, as planted."""
    return sorted(planted, key=lambda system: -planted[system][question])


def found_order(results: pd.DataFrame, question: str) -> list[str]:
    """Return the systems from best to worst by calibrated score."""
    chosen = results[(results["metric"] == "calibrated_score") & (results["question"] == question)]
    return [str(name) for name in chosen.sort_values("estimate", ascending=False)["system"]]


def recovered(
    results: pd.DataFrame, planted: Mapping[str, Quality], questions: Sequence[str]
) -> bool:
    """Tell whether the order of every question is the planted one."""
    return all(found_order(results, each) == planted_order(planted, each) for each in questions)


def power(
    planted: Mapping[str, Quality],
    questions: Sequence[str],
    *,
    each: int,
    runs: int,
    seed: int,
    mix: Mix,
) -> Power:
    """Simulate `runs` campaigns with `each` people per system and count the orders recovered."""
    metric = analysis.get_metric("calibrated_score")
    failed = []
    for run in range(seed, seed + runs):
        table = analysis.rating_table(ratings(planted, questions, each=each, seed=run, mix=mix))
        if not recovered(metric(table), planted, questions):
            failed.append(run)
    return Power(runs, tuple(failed))


def ratings(
    planted: Mapping[str, Quality], questions: Sequence[str], *, each: int, seed: int, mix: Mix
) -> pd.DataFrame:
    """Return the ratings of one campaign in which every person rates one partner.

    `each` people come to a system; those who walk off rate nothing and are not replaced in time.
    """
    people = draw_people(each * len(planted), seed=seed, mix=mix)
    systems = [system for system in planted for _ in range(each)]
    rows = [
        row
        for person, system in zip(people, systems, strict=True)
        if person.drops_after is None
        for row in _answers(person, system, planted[system], questions)
    ]
    return pd.DataFrame(rows)


def _answers(
    person: Person, system: str, quality: Quality, questions: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for question in questions:
        yield {
            "answer": f"{person.name}.{question}",
            "campaign": "simulated",
            "protocol": "personachat_bot",
            "question": question,
            "level": "ordinal",
            "item": person.name,
            "system": system,
            "rater": person.name,
            "value": scale_point(person, quality[question], POINTS, question),
            "place": 0,
            "scale_low": POINTS[0],
            "scale_high": POINTS[-1],
        }
