"""Written answers: what raters wrote in their own words, per question and system, to be read.

ConvAI2 (Dinan et al. 2019, section 3.2.3) looks for themes in such comments and then tests a theme
by a statistic of the log, as the report convai2_questions does. Nothing here is a score.
"""

from __future__ import annotations

import pandas as pd

from analysis.report import Report, Section, many
from analysis.tables.schema import TEXT, RatingTable

BESIDE = ("conversation", "rater")
BY = ["protocol", "question", "system"]


def written_answers(ratings: RatingTable) -> Report:
    """Return how many texts there are and how long, then each of them."""
    texts = ratings[ratings["level"] == TEXT]
    finding = "No question was answered in the raters' own words."
    sections: tuple[Section, ...] = ()
    if len(texts):
        finding = f"{many(len(texts), 'answer')} in the raters' own words."
        lengths = Section(
            "Texts per question and system",
            _lengths(texts),
            "Words are parted by spaces; the median of each text's count.",
        )
        sections = (lengths, *_listed(texts))
    return Report(
        name="written_answers",
        title="Answers in the raters' own words",
        findings=(finding,),
        sections=sections,
    )


def _lengths(texts: pd.DataFrame) -> pd.DataFrame:
    words = [len(str(text).split()) for text in texts["value"]]
    groups = texts.assign(words=words).groupby(BY, sort=True)["words"]
    return groups.agg(texts="size", median_words="median").reset_index()


def _listed(texts: pd.DataFrame) -> list[Section]:
    """Return a table of the texts of each question, those about one system together."""
    columns = ["system", *(name for name in BESIDE if name in texts), "value"]
    several = texts["protocol"].nunique() > 1
    found = []
    for (protocol, question), rows in texts.groupby(BY[:2], sort=True):
        shown = rows[columns].sort_values(columns, ignore_index=True)
        name = f"{protocol}, {question}" if several else str(question)
        found.append(Section(f"Texts: {name}", shown.rename(columns={"value": "text"})))
    return found
