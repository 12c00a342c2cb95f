"""Sensibleness, specificity and SSA by the depth of contexts and by their tags (MEENA).

Adiwardana et al. 2020, section 2.2: contexts of one, two and three turns, the longer extending the
shorter, some about personality. The file of contexts (`bots/datasets/context_tree.py`) is given by
`--contexts`; `ratings` name the context in the column `context`, as exports do.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.metrics.ssa import ssa
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section, many
from analysis.tables.context_tree import Contexts
from analysis.tables.schema import RatingTable

COLUMNS = ["protocol", "system", "metric", "estimate", "low", "high", "n"]
NO_FILE = "Give the file of the contexts (--contexts FILE)."
NO_CONTEXT = "No answer names a context of the file in its column `context`."


def meena_contexts(ratings: RatingTable, *, contexts: Contexts | None = None) -> Report:
    """Return the contexts' counts, and SSA by depth and by tag."""
    known = contexts or {}
    rows = _of_contexts(ratings, known)
    found: list[Section] = []
    finding = NO_FILE if not known else NO_CONTEXT
    if known:
        found.append(_counts(known, rows))
    if len(rows):
        depth = rows["context"].map({name: facts.depth for name, facts in known.items()})
        found += _sections(rows, "depth", {str(d): depth == d for d in sorted(set(depth))})
        tags = sorted({tag for name in set(rows["context"]) for tag in known[name].tags})
        having = {tag: rows["context"].map(lambda c, t=tag: t in known[c].tags) for tag in tags}
        found += _sections(rows, "tag", having)
        finding = f"{many(rows['context'].nunique(), 'context')} of {len(known):,} were judged."
    return Report(
        name="meena_contexts",
        title="Sensibleness and specificity by depth and tag of the context",
        findings=(finding,),
        sections=sections(found, "meena_contexts"),
    )


def _of_contexts(ratings: RatingTable, known: Contexts) -> pd.DataFrame:
    if "context" not in ratings.columns:
        return ratings.iloc[:0]
    named = ratings["context"].astype(str)
    return ratings.assign(context=named)[named.isin(set(known))]


def _counts(known: Contexts, rows: pd.DataFrame) -> Section:
    judged = set(rows["context"]) if len(rows) else set()
    depths = pd.Series({name: facts.depth for name, facts in known.items()})
    table = depths.value_counts().sort_index().rename_axis("depth").rename("contexts").reset_index()
    table["judged"] = [sum(known[name].depth == d for name in judged) for d in table["depth"]]
    title = f"{many(len(known), 'context')}: " + ", ".join(
        f"{n:,} of {many(d, 'message')}"
        for d, n in zip(table["depth"], table["contexts"], strict=True)
    )
    return Section(title, table)


def _sections(rows: pd.DataFrame, what: str, parts: dict[str, pd.Series]) -> Iterator[Section]:
    tables = []
    for name, kept in parts.items():
        found = ssa(RatingTable(rows[kept.astype(bool)].reset_index(drop=True)))
        tables.append(found.reindex(columns=COLUMNS).assign(**{what: name}))
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    if len(table):
        note = "As in the report meena_ssa, of the contexts of this depth or tag only."
        yield Section(f"By {what}", table[[what, *COLUMNS]], note, key=f"by-{what}")
