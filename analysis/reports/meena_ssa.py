"""Sensibleness, specificity and SSA as MEENA reports them (Adiwardana et al. 2020), with agreement.

One's own systems by SSA, people among them, beside what is printed of systems of the same name;
then percent agreement and Krippendorff's alpha of each label, then the printed tables. Over a study
also people beside the bots (section 2.4), and a second panel's labels beside the first ones of the
same messages (section 2.6).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.metrics.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.percent_agreement import percent_agreement
from analysis.metrics.ssa import ssa
from analysis.reference import reference
from analysis.report import PRINTED, Report, Section
from analysis.scores.cautions import cautions
from analysis.tables.dependencies import SENSIBLE, SPECIFIC
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import joined

LABELS = ("sensibleness", "specificity", "ssa")
HUMAN = "human"  # the system that people are
MESSAGE = ["system", "conversation", "message_seq"]
OF_STUDIES = True
BESIDE = "printed "  # before the name of a column


def meena_ssa(ratings: RatingTable, *, seed: int = 0) -> Report:
    """Return the systems by SSA, and how far raters agree on the labels."""
    own = _own(ssa(ratings), ratings)
    sections = [
        Section(
            _finding(own),
            own,
            "Percent, 95 % interval of SSA; n is labeled turns, open ones left out."
            + (" Printed: of the system of that name in the paper." if _is_printed(own) else ""),
        ),
        *_beside_people(own),
        *_panels(ratings),
        Section("Agreement on each label", _agreement(ratings, seed), "n is items with 2 ratings."),
    ]
    for name in ("meena_ssa", "meena_agreement"):
        printed = reference(name)
        frame = pd.DataFrame(list(printed.rows)).dropna(axis="columns", how="all")
        sections.append(Section(f"{PRINTED}{printed.source}", frame, printed.description))
    return Report(
        name="meena_ssa",
        title="Sensibleness and specificity average",
        findings=(_finding(own),),
        sections=tuple(each for each in sections if len(own) or each.is_printed),
        cautions=cautions(ratings),
    )


def _is_printed(own: pd.DataFrame) -> bool:
    return any(str(name).startswith(BESIDE) for name in own)


def _own(results: pd.DataFrame, ratings: RatingTable) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    chats = _conversations(ratings)
    for (protocol, system), part in results.groupby(["protocol", "system"], sort=True):
        values = part.set_index("metric")
        whole = values.loc["ssa"]
        estimates = values["estimate"]
        rows.append(
            {
                "system": system,
                "protocol": protocol,
                "evaluation": whole["evaluation"],
                **{label: 100 * float(estimates[label]) for label in LABELS},
                "ssa low": 100 * whole["low"],
                "ssa high": 100 * whole["high"],
                "n": whole["n"],
                "open": whole["open_items"],
                **({"conversations": chats[str(protocol), str(system)]} if chats else {}),
                **_printed(str(system), str(whole["evaluation"])),
            }
        )
    own = pd.DataFrame(rows)
    if own.empty:
        return own
    return own.sort_values(["ssa", "system"], ascending=[False, True], ignore_index=True)


def _beside_people(own: pd.DataFrame) -> Iterator[Section]:
    """Yield a row per system and kind of evaluation, where people have one beside bots."""
    decided = own[own["ssa"].notna()] if len(own) else own
    if (
        len(decided) == 0
        or set(decided["system"]) <= {HUMAN}
        or HUMAN not in set(decided["system"])
    ):
        return
    most = decided.sort_values("n", ascending=False).drop_duplicates(["evaluation", "system"])
    order = ["evaluation", "ssa", "system"]
    ordered = most.sort_values(order, ascending=[True, False, True])
    people = ordered[ordered["system"] == HUMAN].set_index("evaluation")["ssa"]
    columns = ["evaluation", "system", *LABELS, "ssa low", "ssa high", "n"]
    table = ordered[columns].assign(**{"below people": ordered["evaluation"].map(people)})
    table["below people"] -= table["ssa"]
    yield Section(
        f"People beside bots: {'; '.join(_distances(table))}",
        table.reset_index(drop=True),
        "Percent. Interactive are messages of conversations, static are replies to fixed contexts; "
        "of several campaigns the one with most decided items.",
        key="people",
    )


def _distances(table: pd.DataFrame) -> Iterator[str]:
    for kind, rows in table.groupby("evaluation", sort=True):
        bots = rows[rows["system"] != HUMAN]
        people = rows[rows["system"] == HUMAN]
        if people.empty or bots.empty:
            yield f"{kind}, only {'bots' if people.empty else 'people'} were evaluated"
        else:
            best, score = bots.iloc[0], people["ssa"].iloc[0]
            yield f"{kind}, people {score:.1f} %, {best['system']} {best['ssa']:.1f} %"


def _panels(ratings: RatingTable) -> Iterator[Section]:
    """Yield the labels that each campaign has of messages which several of them have."""
    if not {*MESSAGE, "campaign"} <= set(ratings.columns) or ratings["campaign"].nunique() < 2:
        return
    rows = ratings[ratings["question"].isin(SENSIBLE + SPECIFIC) & ratings["message_seq"].ne("")]
    rows = rows[rows["value"].isin([0.0, 1.0])]
    campaigns = rows.groupby(MESSAGE)["campaign"].transform("nunique")
    table = pd.DataFrame(_panel_rows(rows[campaigns > 1]))
    if len(table):
        yield Section(
            f"Several panels on the same messages: {_panel_finding(table)}",
            table,
            "Percent of all labels, without majorities; only messages that several have labeled.",
            key="panels",
        )


def _panel_rows(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    for (campaign, system), part in rows.groupby(["campaign", "system"], sort=True):
        values = part["value"].astype(float)
        sensible, specific = (
            100 * values[part["question"].isin(names)].mean() for names in (SENSIBLE, SPECIFIC)
        )
        yield {
            "system": system,
            "panel": part["phase"].iloc[0] if "phase" in part else campaign,
            "protocol": part["protocol"].iloc[0],
            "sensibleness": sensible,
            "specificity": specific,
            "ssa": (sensible + specific) / 2,
            "messages": len(part[MESSAGE].drop_duplicates()),
            "raters": part["rater"].nunique(),
        }


def _panel_finding(table: pd.DataFrame) -> str:
    parts = (
        f"{system} "
        + ", ".join(f"{row['ssa']:.1f} % ({row['panel']})" for _, row in part.iterrows())
        for system, part in table.groupby("system", sort=True)
    )
    return "; ".join(parts)


def _conversations(ratings: RatingTable) -> dict[tuple[str, str], int]:
    """Return how many conversations each system's labels are about, where the table names them."""
    labels = ratings[ratings["question"].isin(SENSIBLE + SPECIFIC)]
    if "conversation" not in labels or (labels["conversation"].astype(str) == "").any():
        return {}
    counted = labels.groupby(["protocol", "system"])["conversation"].nunique().reset_index()
    rows = counted.itertuples(index=False)
    return {(str(protocol), str(system)): int(count) for protocol, system, count in rows}


def _printed(system: str, evaluation: str) -> dict[str, object]:
    """Return the printed figures of a system of this name, in the same kind of evaluation."""
    for row in reference("meena_ssa").rows:
        named = str(row["system"]).split()[0].casefold() == system.casefold()
        if named and row["mode"] == evaluation:
            return {BESIDE + label: row[label] for label in LABELS}
    return {}


def _agreement(ratings: RatingTable, seed: int) -> pd.DataFrame:
    found = joined([percent_agreement(ratings, seed=seed), krippendorff_alpha(ratings, seed=seed)])
    labels = found[found["question"].isin(SENSIBLE + SPECIFIC)]
    columns = ["question", "system", "metric", "estimate", "low", "high", "n", "reason"]
    return labels.reindex(columns=columns).reset_index(drop=True)


def _finding(own: pd.DataFrame) -> str:
    if own.empty:
        return "This table has no labels named sensible and specific."
    decided = own[own["ssa"].notna()]
    if decided.empty:
        return f"No item is decided yet: too few votes, or ties (open: {own['open'].sum()})."
    best, waiting = decided.iloc[0], int(own["open"].sum())
    still = f" (open: {waiting} of {waiting + own['n'].sum()} items)" if waiting else ""
    several = decided["protocol"].nunique() > 1
    name = f"{best['system']} ({best['protocol']})" if several else best["system"]
    return f"{name} has the highest SSA of {len(decided)}: {best['ssa']:.1f} %{still}."
