"""Paid against wild evaluation, with and without what is flagged (ConvAI2, Dinan et al. 2019).

The paper discounted its wild track because nonsense could not be told apart. Here every mean stands
twice, with and without flagged conversations (`analysis/conversations/spam.py`), beside the shares
flagged per track, system and person. A table of one campaign has one track; the column `campaign`
names it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.conversations.spam import assess
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.stats.between_runs import Spread, over_clusters
from analysis.tables.schema import MessageTable, RatingTable

SIMULATED_AS = ("over_clusters",)


def convai2_wild(ratings: RatingTable, messages: MessageTable) -> Report:
    """Return the share flagged and each mean with and without, by track and system."""
    verdicts = assess(messages, ratings).groupby("conversation")["flagged"].any()
    scored = _scored(ratings, verdicts)
    tracks = _tracks(scored, verdicts)
    shifts = pd.DataFrame(_shifts(scored))
    finding = _finding(shifts)
    return Report(
        name="convai2_wild",
        title="Paid and wild evaluation, with and without flagged conversations",
        findings=(finding,),
        sections=sections(
            [
                Section("Conversations flagged, by track", tracks, "Rules: report spam_flags."),
                Section(finding, shifts, "Mean, 95 % t interval clustered by conversation."),
                Section("Share of each rater's conversations flagged", _by_rater(scored)),
            ],
            "convai2_wild",
        ),
    )


def _scored(ratings: RatingTable, verdicts: pd.Series) -> pd.DataFrame:
    """Return the numeric answers about conversations that are in the log, with their flags."""
    of = ratings["conversation"] if "conversation" in ratings.columns else ratings["item"]
    rows = ratings.assign(conversation=of.astype(str))
    rows = rows[
        rows["level"].isin(["ordinal", "interval"]) & rows["conversation"].isin(verdicts.index)
    ]
    return rows.assign(
        value=rows["value"].astype(float), flagged=rows["conversation"].map(verdicts).astype(bool)
    )


def _tracks(scored: pd.DataFrame, verdicts: pd.Series) -> pd.DataFrame:
    each = scored.drop_duplicates("conversation")
    rows = [
        (str(track), len(part), int(part["flagged"].sum()), float(part["flagged"].mean()))
        for track, part in each.groupby("campaign", sort=True)
    ]
    lost = verdicts[~verdicts.index.isin(each["conversation"])]
    if len(lost):
        rows.append(("(no score)", len(lost), int(lost.sum()), float(lost.mean())))
    return pd.DataFrame(rows, columns=["track", "conversations", "flagged", "share"])


def _shifts(scored: pd.DataFrame) -> Iterator[dict[str, object]]:
    keys = ["campaign", "question", "system"]
    for (track, question, system), rows in scored.groupby(keys, sort=True):
        kept = rows[~rows["flagged"]]
        whole, without = (over_clusters(r["value"], r["conversation"]) for r in (rows, kept))
        yield {
            "track": track,
            "question": question,
            "system": system,
            "flagged": float(rows["flagged"].mean()),
            "all": _shown(whole),
            "n": whole.n,
            "unflagged": _shown(without),
            "n unflagged": without.n,
            "shift": without.mean - whole.mean,
        }


def _by_rater(scored: pd.DataFrame) -> pd.DataFrame:
    each = scored.drop_duplicates(["rater", "conversation"])
    table = each.groupby("rater")["flagged"].agg(conversations="size", share="mean").reset_index()
    bands = pd.cut(table["share"], [-0.01, 0, 0.25, 0.5, 0.999, 1], labels=BANDS)
    return bands.value_counts(sort=False).rename_axis("flagged").reset_index(name="raters")


BANDS = ["none", "up to a quarter", "up to half", "more", "all"]


def _shown(found: Spread) -> str:
    low, high = found.interval
    if found.n == 0:
        return "-"
    return f"{found.mean:.2f}" if low != low else f"{found.mean:.2f} [{low:.2f}, {high:.2f}]"


def _finding(shifts: pd.DataFrame) -> str:
    if shifts.empty:
        return "No score is of a conversation in the log."
    known = shifts.dropna(subset=["shift"])
    if known.empty:
        return "Every scored conversation is flagged."
    most = known.iloc[int(known["shift"].abs().argmax())]
    return (
        f"Without flagged conversations, means change by up to {abs(most['shift']):.2f} "
        f"({most['system']}, {most['question']}, {most['track']})."
    )
