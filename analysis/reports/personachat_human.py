"""Human evaluation in the layout of PERSONA-CHAT table 4 (Zhang et al. 2018).

Fluency, engagingness and consistency as mean (SD over dialogues, with n as the paper has it),
persona detection as share (SD); the printed rows stand below one's own.
"""

from __future__ import annotations

from typing import cast

import pandas as pd

from analysis.metrics.likert import likert
from analysis.metrics.persona_detection import persona_detection
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.scores.cautions import cautions
from analysis.tables.schema import RatingTable

SCALES = ("fluency", "engagingness", "consistency")
DETECTION = "persona detection"
COLUMNS = ("system", *SCALES, DETECTION, "n")
OF_STUDIES = True  # the human row is a campaign of people, those of bots are another


def personachat_human(ratings: RatingTable) -> Report:
    """Return the table of one's own systems, best engagingness first, above the printed one."""
    own = _own(ratings)
    sections = [Section(_finding(own), own, "Mean (SD); SD with n, as the paper prints it.")]
    printed = reference("personachat_human")
    sections.append(Section(f"As printed: {printed.source}", _printed(), printed.description))
    return Report(
        name="personachat_human",
        title="Human evaluation in the layout of PERSONA-CHAT table 4",
        findings=(_finding(own),),
        sections=tuple(sections) if len(own) else tuple(sections[1:]),
        cautions=cautions(ratings),
    )


def _own(ratings: RatingTable) -> pd.DataFrame:
    scales, detection = likert(ratings), persona_detection(ratings)
    scales = scales[scales["question"].isin(SCALES)]
    systems = pd.unique(pd.concat([scales["system"], detection["system"]]))
    rows = [_row(str(system), scales, detection) for system in sorted(systems)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["engagingness", "system"], ascending=[False, True], ignore_index=True)


def _row(system: str, scales: pd.DataFrame, detection: pd.DataFrame) -> dict[str, object]:
    mine = scales[scales["system"] == system]
    row: dict[str, object] = {"system": system}
    for question in SCALES:
        row[question] = _cell(mine[mine["question"] == question], "sd_population")
    guesses = detection[detection["system"] == system]
    row[DETECTION] = _cell(guesses, "sd")
    row["n"] = max([*mine["n"], *guesses["n"]], default=0)
    return row


def _cell(rows: pd.DataFrame, sd: str) -> str:
    """Return mean (SD), over protocols weighted by dialogues where there is more than one."""
    if rows.empty:
        return "-"
    n = rows["n"].astype(float)
    mean = float((rows["estimate"] * n).sum() / n.sum())
    squares = ((rows[sd] ** 2 + (rows["estimate"] - mean) ** 2) * n).sum() / n.sum()
    return f"{mean:.2f} ({float(squares) ** 0.5:.2f})"


def _finding(own: pd.DataFrame) -> str:
    if own.empty:
        return "This table has no ratings of fluency, engagingness, consistency or persona."
    best = own.iloc[0]
    return f"{best['system']} is the most engaging of {len(own)}: {best['engagingness']}."


def _printed() -> pd.DataFrame:
    rows = []
    for row in reference("personachat_human").rows:
        shown: dict[str, object] = {"system": f"{row['model']} ({row['profile']} persona)"}
        for column, name in zip((*SCALES, DETECTION), (*SCALES, "persona_detection"), strict=True):
            shown[column] = "{mean:.2f} ({sd:.2f})".format_map(cast(dict[str, float], row[name]))
        rows.append({**shown, "n": 100})
    return pd.DataFrame(rows, columns=list(COLUMNS))
