"""Human evaluation in the layout of PERSONA-CHAT table 4 (Zhang et al. 2018).

Fluency, engagingness and consistency as mean (SD over dialogues, with n as the paper has it),
persona detection as share (SD), in the paper's four groups: people, models that write, models that
rank, and models trained on other data. A column `group` tells a system's; without it people are
told by their name, other data by a name that begins with "outside", and the rest by the bot in
their `settings`. `profile` is self where a system saw its persona. The printed rows stand below.
"""

from __future__ import annotations

from typing import cast

import pandas as pd

from analysis.conversations.transcripts import HUMAN
from analysis.metrics.likert import likert
from analysis.metrics.persona_detection import persona_detection
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.scores.cautions import cautions
from analysis.tables import cell_values
from analysis.tables.schema import RatingTable
from analysis.tables.system_settings import options, settings_by_system
from analysis.tables.tidy import joined

SCALES = ("fluency", "engagingness", "consistency")
DETECTION = "persona detection"
SCORES = (*SCALES, DETECTION)
COLUMNS = ("group", "system", "profile", *SCORES, "n")
OF_STUDIES = True  # the human row is a campaign of people, those of bots are another
PEOPLE, WRITES, RANKS, OUTSIDE = "human", "generative", "ranking", "other data"
UNTOLD = "group not told"
GROUPS = (PEOPLE, WRITES, RANKS, UNTOLD, OUTSIDE)
# The bots of the paper, and what else writes or ranks by its recipe.
BOTS = {
    **dict.fromkeys(("seq2seq", "generative_profile_memory", "language_model"), WRITES),
    **dict.fromkeys(("starspace", "profile_memory", "kv_profile_memory", "tfidf"), RANKS),
}
PRINTED_GROUPS = {"generative PersonaChat": WRITES, "ranking PersonaChat": RANKS}


def personachat_human(ratings: RatingTable) -> Report:
    """Return the table of one's own systems by group, with intervals, above the printed one."""
    scales, detection = likert(ratings), persona_detection(ratings)
    scales = scales[scales["question"].isin(SCALES)]
    own = _own(ratings, scales, detection)
    finding = _finding(own)
    printed = reference("personachat_human")
    below = Section(f"As printed: {printed.source}", _printed(), printed.description)
    above = [
        Section(finding, own, "Mean (SD); SD with n, as the paper prints it; n is dialogues."),
        Section("Intervals", _intervals(scales, detection), "95 % intervals of the means."),
    ]
    return Report(
        name="personachat_human",
        title="Human evaluation in the layout of PERSONA-CHAT table 4",
        findings=(finding,),
        sections=(*(above if len(own) else ()), below),
        cautions=cautions(ratings),
    )


def _own(ratings: RatingTable, scales: pd.DataFrame, detection: pd.DataFrame) -> pd.DataFrame:
    systems = sorted(set(map(str, [*scales["system"], *detection["system"]])))
    rows = [
        {**_group_and_profile(ratings, name), **_row(name, scales, detection)} for name in systems
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    order = {group: index for index, group in enumerate(GROUPS)}
    table["place"] = table["group"].map(order).fillna(order[UNTOLD])
    by = ["place", "group", "engagingness", "system"]
    table = table.sort_values(by, ascending=[True, True, False, True], ignore_index=True)
    return table.drop(columns="place")


def _group_and_profile(ratings: RatingTable, system: str) -> dict[str, object]:
    """Return a system's group and profile, as far as the table tells them."""
    rows = ratings[ratings["system"] == system]
    named = [] if "group" not in rows else [x for x in rows["group"] if not cell_values.is_blank(x)]
    known = [options(text) for text in sorted(settings_by_system(rows).get(system, ()))]
    found = {BOTS.get(str(each.get("bot")), UNTOLD) for each in known}
    flags = {bool(each["sees_persona"]) for each in known if "sees_persona" in each}
    group = found.pop() if len(found) == 1 else UNTOLD
    if system.lower() == HUMAN:
        group, flags = PEOPLE, {True}
    elif system.lower().startswith("outside"):
        group = OUTSIDE
    profile = ("self" if True in flags else "none") if len(flags) == 1 else ""
    return {"group": str(named[0]) if named else group, "profile": profile}


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


def _intervals(scales: pd.DataFrame, detection: pd.DataFrame) -> pd.DataFrame:
    found = joined([scales, detection.assign(question=DETECTION)])
    columns = ["protocol", "question", "system", "estimate", "low", "high", "n", "reason"]
    return found.reindex(columns=columns)


def _finding(own: pd.DataFrame) -> str:
    if own.empty:
        return "This table has no ratings of fluency, engagingness, consistency or persona."
    known = own[own["group"] != PEOPLE]
    ordered = (known if len(known) else own).sort_values(
        ["engagingness", "system"], ascending=[False, True]
    )
    best = ordered.iloc[0]
    return f"{best['system']} is the most engaging of {len(ordered)}: {best['engagingness']}."


def _printed() -> pd.DataFrame:
    rows = []
    for row in reference("personachat_human").rows:
        group = str(row["group"])
        shown: dict[str, object] = {"group": PRINTED_GROUPS.get(group, group)}
        shown |= {"system": row["model"], "profile": row["profile"], "n": 100}
        for column, name in zip(SCORES, (*SCALES, "persona_detection"), strict=True):
            shown[column] = "{mean:.2f} ({sd:.2f})".format_map(cast(dict[str, float], row[name]))
        rows.append(shown)
    return pd.DataFrame(rows, columns=list(COLUMNS))
