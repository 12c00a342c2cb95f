"""Whitelists of replies compared (A-WL): the layouts of ASAPP's tables 4 to 6 (2019; NLP4CONVAI).

Table 4: Recall@k among n random candidates. Table 5: Recall@k and BLEU where the reply is chosen
from a whitelist, the true reply added to it or only where it is covered. Table 6: Recall@1 against
coverage. A whitelist's predictions are told by their column `gold_score`; `dataset` names the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.metrics.recall import recall
from analysis.predictions.prediction_rows import Group, groups
from analysis.predictions.whitelists import Listed, listed
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.scores.cautions import REFERENCE_NOTE
from analysis.tables.schema import PredictionTable
from analysis.text.bleu import counts
from analysis.text.tokens import split_lower

KS = (1, 3, 5, 10)
NOTES = {
    4: "The gold reply among random ones, drawn by how often they occur.",
    5: f"BLEU-4 of the chosen reply against the true one. {REFERENCE_NOTE}",
    6: "Coverage: the share of true replies on the list.",
}


def whitelists(predictions: PredictionTable, *, seed: int = 0) -> Report:
    """Return the three tables of one's own, each above the printed one."""
    lists = [group for group in groups(predictions) if _is_list(group)]
    chosen = [row for group in lists for row in _chosen(group, seed)]
    own = {4: _random(predictions, lists, seed), 5: _frame(chosen), 6: _covered(lists, seed)}
    sections: list[Section] = []
    for number, frame in own.items():
        if len(frame):
            sections.append(Section(f"Own systems, layout of table {number}", frame, NOTES[number]))
        printed = reference(f"asapp_table{number}")
        rows = pd.DataFrame(list(printed.rows))
        sections.append(Section(f"As printed: {printed.source}", rows, printed.description))
    return Report(
        name="whitelists",
        title="Whitelists of replies: recall, BLEU, coverage",
        findings=(_finding(own[6]),),
        sections=tuple(sections),
        cautions=(REFERENCE_NOTE,) if chosen else (),
    )


def _is_list(group: Group) -> bool:
    return any(row.gold_score is not None for row in group.rows)


def _random(predictions: PredictionTable, lists: Sequence[Group], seed: int) -> pd.DataFrame:
    found = recall(predictions, seed=seed, ks=KS)
    known = {(group.dataset, group.system) for group in lists}
    mine = [
        (dataset, system) not in known and metric.startswith("recall@")
        for dataset, system, metric in zip(
            found["protocol"], found["system"], found["metric"], strict=True
        )
    ]
    found = found[mine]
    if found.empty:
        return pd.DataFrame()
    wide = found.assign(metric="R@" + found["metric"].str.removeprefix("recall@")).pivot(
        index=["protocol", "system", "question"], columns="metric", values="estimate"
    )
    wide = wide.reindex(columns=[f"R@{k}" for k in KS if f"R@{k}" in wide]).reset_index()
    names = {"protocol": "dataset", "question": "candidates"}
    return wide.rename(columns=names).rename_axis(columns=None)


def _chosen(group: Group, seed: int) -> Iterator[dict[str, object]]:
    found = listed(group.rows, seed)
    about = {"whitelist": group.dataset, "system": group.system}
    for added in (True, False):
        rows = [each for each in found if (each.added if added else each.within) is not None]
        if rows:
            shares = {f"R@{k}": sum((r.rank or 0) <= k for r in rows) / len(rows) for k in KS}
            yield {
                **about,
                "true_added": added,
                **shares,
                "BLEU": _bleu(rows),
                "n": len(rows),
            }


def _bleu(rows: Sequence[Listed]) -> float:
    pairs = [
        (split_lower(each.chosen or ""), [split_lower(gold) for gold in each.row.golds])
        for each in rows
    ]
    return counts(pairs).score()


def _covered(lists: Sequence[Group], seed: int) -> pd.DataFrame:
    rows: list[dict[str, object]] = []
    for group in lists:
        found = listed(group.rows, seed)
        first = [each.within == 1 for each in found if each.within is not None]
        rows.append(
            {
                "whitelist": group.dataset,
                "system": group.system,
                "R@1": sum(first) / len(first) if first else None,
                "coverage_percent": 100 * sum(each.covered for each in found) / len(found),
                "n": len(found),
            }
        )
    return _frame(rows)


def _frame(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


def _finding(covered: pd.DataFrame) -> str:
    if covered.empty:
        return "This table has no predictions from a whitelist (none has a gold_score)."
    best = covered.sort_values("coverage_percent", kind="stable").iloc[-1]
    return (
        f"{best['whitelist']} covers most of {len(covered)}: {best['coverage_percent']:.1f} % of "
        "the true replies."
    )
