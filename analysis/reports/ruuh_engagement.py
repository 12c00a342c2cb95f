"""Engagement of a live bot beside the figures of Ruuh (NLP4ConvAI 2019).

Exchanges per session, return, retention, emotion, offense, assent and timing from a message table
with users and times; formulas in `analysis/metrics/engagement.py`.
"""

from __future__ import annotations

import pandas as pd

from analysis.metrics.engagement import engagement
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.tables.schema import MessageTable

COLUMNS = ["system", "metric", "estimate", "low", "high", "n", "reason"]

# `docs/simulation.md`
NOTE = (
    "95 % intervals over users; a session ends after 30 minutes. With 20 users those of shares of "
    "users held .95 to .97 of the time, of gaps, sessions and days .91 to .93, of turns with a "
    "feeling or an offense .90 to .94: with few users take these for narrower than they should be."
)


def ruuh_engagement(messages: MessageTable) -> Report:
    """Return every figure, the ratio of emotions, and what is printed."""
    found = engagement(messages)
    finding = "No message has a user and a time: the log needs the columns `user` and `sent_at`."
    own: list[Section] = []
    if len(found):
        first = found[found["metric"] == "exchanges_per_session"].iloc[0]
        finding = f"{first['system']}: {first['estimate']:.1f} exchanges per session."
        table = found.reindex(columns=COLUMNS)
        own = [
            Section(finding, table, NOTE),
            Section("Anger, sadness and happiness, anger as 1", _ratios(found)),
        ]
    return Report(
        name="ruuh_engagement",
        title="Engagement of a live bot",
        findings=(finding,),
        sections=sections(own, "ruuh_engagement"),
    )


def _ratios(found: pd.DataFrame) -> pd.DataFrame:
    names = ["turns_anger", "turns_sadness", "turns_happiness"]
    wide = found[found["metric"].isin(names)].pivot_table(
        index="system", columns="metric", values="estimate"
    )[names]
    known = wide[wide["turns_anger"] > 0]
    return known.div(known["turns_anger"], axis=0).reset_index()
