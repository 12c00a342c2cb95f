"""Sensibleness, specificity and SSA as MEENA reports them (Adiwardana et al. 2020), with agreement.

One's own systems by SSA, people among them, beside what is printed of systems of the same name;
then percent agreement and Krippendorff's alpha of each label; then the printed tables.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.metrics.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.percent_agreement import percent_agreement
from analysis.metrics.ssa import ssa
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.scores.cautions import cautions
from analysis.tables.dependencies import SENSIBLE, SPECIFIC
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import joined

LABELS = ("sensibleness", "specificity", "ssa")
PRINTED = "printed "  # before the name of a column


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
        Section("Agreement on each label", _agreement(ratings, seed), "n is items with 2 ratings."),
    ]
    for name in ("meena_ssa", "meena_agreement"):
        printed = reference(name)
        frame = pd.DataFrame(list(printed.rows)).dropna(axis="columns", how="all")
        sections.append(Section(f"As printed: {printed.source}", frame, printed.description))
    return Report(
        name="meena_ssa",
        title="Sensibleness and specificity average",
        findings=(_finding(own),),
        sections=tuple(sections) if len(own) else tuple(sections[2:]),
        cautions=cautions(ratings),
    )


def _is_printed(own: pd.DataFrame) -> bool:
    return any(str(name).startswith(PRINTED) for name in own)


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
            return {PRINTED + label: row[label] for label in LABELS}
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
    return f"{best['system']} has the highest SSA of {len(decided)}: {best['ssa']:.1f} %{still}."
