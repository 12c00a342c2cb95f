"""Questions asked, the data of the two bar charts of ConvAI2 figure 5 (Dinan et al. 2019).

Messages that begin with a question word and messages with a question mark, per 100 conversations.
"""

from __future__ import annotations

import pandas as pd

from analysis.metrics.questions_asked import questions_asked
from analysis.output.paper_layouts import both_sides, extremes, sections, with_engagingness
from analysis.report import Chart, Report, Section
from analysis.tables.schema import MessageTable, RatingTable

BEGIN, MARK = "begin with question word", "with question mark"


def convai2_questions(messages: MessageTable, ratings: RatingTable | None = None) -> Report:
    """Return a table for each chart, above the two bars that the text prints."""
    found = questions_asked(messages)
    columns = {"begins_with_question_word": BEGIN, "has_question_mark": MARK}
    own = with_engagingness(both_sides(found, columns, counted="conversations"), ratings)
    charts = [
        _chart(own, BEGIN, "begin with a question word", MARK),
        _chart(own, MARK, "have a question mark", BEGIN),
    ]
    return Report(
        name="convai2_questions",
        title="Questions asked, as in ConvAI2 figure 5",
        findings=tuple(chart.title for chart in charts),
        sections=sections(charts, "convai2_questions"),
    )


def _chart(own: pd.DataFrame, column: str, verb: str, other: str) -> Section:
    kept = own[[name for name in map(str, own) if not name.startswith(other)]]
    title = extremes(own, f"{column} model", f"messages that {verb}")
    rows = [
        {"system": str(row["system"]), "series": who, "value": float(row[f"{column} {who}"])}
        for row in own.to_dict("records")
        for who in ("model", "human")
        if pd.notna(row.get(f"{column} {who}"))
    ]
    drawn = Chart(kind="grouped", rows=rows, axis=f"messages that {verb}, per 100 conversations")
    return Section(title, kept, "Per 100 conversations.", chart=drawn)
