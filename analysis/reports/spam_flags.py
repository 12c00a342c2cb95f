"""Spam flags: conversations of people who seem not to take part in earnest, with reasons.

The flags that ConvAI2's wild track (Dinan et al. 2019) lacked; rules, limits and weights stand in
`analysis/conversations/spam.py`. What is flagged is kept: a flag asks people to look.
"""

from __future__ import annotations

from collections import Counter

import pandas as pd

from analysis.conversations.spam import RULES, assess
from analysis.report import Report, Section
from analysis.tables.schema import MessageTable, RatingTable

MOST = 20
MEASURED = "Detection rates and false alarms of the rules: python -m tests.benchmarks.spam_roc."


def spam_flags(messages: MessageTable, ratings: RatingTable | None = None) -> Report:
    """Return shares flagged by system and by person, the reasons, and the rules."""
    found = assess(messages, ratings)
    finding = _finding(found)
    sections = [
        Section(finding, _shares(found, "system"), MEASURED),
        Section("Reasons (a conversation may have several)", _reasons(found)),
        *_people(found, ratings),
        Section("The rules: what is measured, and the limit", _rules(), "Flagged at weight 1."),
    ]
    return Report(
        name="spam_flags",
        title="Conversations to review",
        findings=(finding,),
        sections=tuple(section for section in sections if len(section.frame)),
    )


def _finding(found: pd.DataFrame) -> str:
    if found.empty:
        return "No conversation of a person with a system, or with another person."
    flagged = int(found["flagged"].sum())
    return f"{flagged} of {len(found)} conversations are flagged: {flagged / len(found):.1%}."


def _shares(found: pd.DataFrame, by: str) -> pd.DataFrame:
    groups = found.groupby(by, sort=True)["flagged"]
    table = groups.agg(conversations="size", flagged="sum", share="mean").reset_index()
    order = ["share", "conversations", by]
    return table.sort_values(order, ascending=[False, False, True], ignore_index=True)


def _reasons(found: pd.DataFrame) -> pd.DataFrame:
    times = Counter(name for names in found["reasons"] for name in names)
    return pd.DataFrame(
        [(name, times[name]) for name in RULES if times[name]], columns=["reason", "conversations"]
    )


def _people(found: pd.DataFrame, ratings: RatingTable | None) -> list[Section]:
    """Return the shares by person, where ratings say who talked in which conversation."""
    if ratings is None or "conversation" not in ratings.columns:
        return []
    who = ratings.astype({"conversation": str}).groupby("conversation")["rater"]
    known = found.assign(person=found["conversation"].map(who.first()[who.nunique() == 1]))
    table = _shares(known.dropna(subset=["person"]), "person")
    return [Section(f"The {MOST} people most often flagged", table.head(MOST))]


def _rules() -> pd.DataFrame:
    rows = []
    for name, rule in RULES.items():
        meaning = (rule.measure.__doc__ or "").removeprefix("Return ")
        above = "above" if rule.start < rule.limit else "below"
        rows.append((name, meaning, f"{above} {rule.limit:g}", rule.weight))
    return pd.DataFrame(rows, columns=["reason", "measure", "limit", "weight"])
