"""How many people a campaign's results rest on, and who and what is left out for which reason."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis import RatingTable
from webapp.models import Campaign, Participation
from webapp.services import charts
from webapp.services.parts import Part


def turnout(campaign: Campaign, whole: RatingTable) -> Iterator[Part]:
    """Yield how far people came, what is set aside and why, and what is flagged."""
    yield _flow(campaign, whole)
    aside = whole[whole["excluded"] != ""]
    if len(aside):
        counted = _counts(aside, aside["excluded"])
        yield Part(
            key="excluded",
            title=f"{len(aside)} of {len(whole)} answers are set aside",
            frame=counted.rename(columns={"kind": "reason"}),
            note="They stay in the export, in ratings_all.csv. A person can have several reasons.",
        )
    flagged = whole[whole["flags"] != ""]
    if len(flagged):
        kinds = flagged.assign(kind=flagged["flags"].str.split(";")).explode("kind")
        yield Part(
            key="flagged",
            title=f"{len(flagged)} of {len(whole)} answers belong to something flagged",
            frame=_counts(kinds, kinds["kind"]),
            note="A flag decides nothing by itself: settle it, or exclude with a reason.",
        )


def _counts(rows: pd.DataFrame, by: pd.Series) -> pd.DataFrame:
    groups = rows.groupby(by.rename("kind"))
    frame = groups.agg(answers=("answer", "size"), raters=("rater", "nunique"))
    return frame.reset_index()


def _flow(campaign: Campaign, whole: RatingTable) -> Part:
    people = campaign.participations.filter(withdrawn_at=None)
    outcomes = list(people.values_list("outcome", "state", "system_id"))
    counted = whole[whole["excluded"] == ""]["rater"].nunique()
    labels = dict(Participation.Outcome.choices)
    ended = [
        (f"ended: {label}", sum(o == name for o, _, _ in outcomes))
        for name, label in labels.items()
    ]
    begun = sum(state != Participation.State.READY for _, state, _ in outcomes)
    completed = sum(o == Participation.Outcome.COMPLETED for o, _, _ in outcomes)
    withdrawn = campaign.participations.exclude(withdrawn_at=None).count()
    steps = [
        ("consented", len(outcomes)),
        ("began", begun),
        ("completed", completed),
        ("in the results", counted),
    ]
    aside = [row for row in ended if row[1] and row[0] != "ended: completed"]
    running = sum(not outcome for outcome, _, _ in outcomes)
    rest = [("still under way", running), ("withdrew", withdrawn)]
    rows = [{"step": step, "people": count} for step, count in [*steps, *aside, *rest]]
    return Part(
        key="flow",
        title=f"{completed} of {len(outcomes)} people completed; the results rest on {counted}",
        frame=pd.DataFrame(rows),
        note="Who withdrew is counted in the last row only.",
        spec=charts.bars(rows[: len(steps)], axis="people"),
    )
