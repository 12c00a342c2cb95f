"""Static against interactive SSA, per system (Adiwardana et al. 2020, sections 4.1 and 4.3).

Interactive less static sensibleness, specificity and SSA, in points, of every system that both
modes of evaluation have, such as two campaigns of one table. Systems whose `settings` differ are
not paired. The paper prints no interval; these join the two evaluations' own
(`difference_interval`), whose people are taken to be different ones. With messages there is the
share of greetings and goodbyes among the turns labeled, by lists of phrases (ours).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import product
from typing import Any

import pandas as pd

from analysis.conversations.transcripts import mean_per
from analysis.metrics.ssa import ssa
from analysis.output.paper_layouts import printed
from analysis.reference import reference
from analysis.report import ENDS, PRINTED, Chart, Report, Section, dots
from analysis.scores.evaluation_modes import INTERACTIVE, STATIC, modes
from analysis.stats.intervals import Interval, difference_interval
from analysis.tables.dependencies import SENSIBLE
from analysis.tables.schema import MessageTable, RatingTable
from analysis.tables.system_settings import settings_by_system
from analysis.text.lexicons import is_goodbye, is_greeting

SIMULATED_AS = ("ssa",)

SCORES = ("sensibleness", "specificity", "ssa")
MODES = (INTERACTIVE, STATIC)
NONE = "No system has both a static and an interactive evaluation."
OF_STUDIES = True
NOTE = "Points, interactive less static, with 95 % intervals of independent evaluations."
WORDS = "A turn that begins with a greeting, or begins or ends with a goodbye; percent of turns."


def meena_static_interactive(ratings: RatingTable, messages: MessageTable | None = None) -> Report:
    """Return the differences, systems left out with the reason, then those of the print."""
    results = ssa(ratings)
    by_protocol = modes(ratings, results)
    scores, rows = (
        each.assign(mode=each["protocol"].map(by_protocol)) for each in (results, ratings)
    )
    found, left_out = _paired(scores, rows)
    finding = _finding(found) if len(found) else NONE
    own = [
        Section(finding, found, NOTE, chart=_chart(found)),
        Section("Systems that are not paired", left_out),
        Section("Greetings and goodbyes among labeled turns", _polite(rows, messages), WORDS),
    ]
    return Report(
        name="meena_static_interactive",
        title="Static and interactive evaluation",
        findings=(finding,),
        sections=(
            *(each for each in own if len(each.frame)),
            Section(f"{PRINTED}interactive less static", _of_print(), _source()),
            printed("meena_ssa"),
        ),
    )


# --- scores of both evaluations ---------------------------------------------------------------


def _paired(scores: pd.DataFrame, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the differences of all pairs, and the systems without one, with the reason."""
    pairs, left_out = [], []
    for system, part in scores.groupby("system", sort=True):
        by_mode = [sorted(part.loc[part["mode"] == mode, "protocol"].unique()) for mode in MODES]
        if not all(by_mode):
            lacking = STATIC if by_mode[0] else INTERACTIVE
            left_out.append({"system": system, "reason": f"no {lacking} evaluation"})
        for live, still in product(*by_mode):
            reason = _differing(str(system), rows, live, still) or _open(part)
            if reason:
                left_out.append({"system": system, "reason": reason})
            else:
                pairs += list(_differences(str(system), part, live, still))
    return pd.DataFrame(pairs), pd.DataFrame(left_out)


def _differing(system: str, rows: pd.DataFrame, live: str, still: str) -> str:
    """Return how the settings of a system differ between two protocols; blank is not known."""
    found = [
        settings_by_system(rows[rows["protocol"] == protocol]).get(system, set())
        for protocol in (live, still)
    ]
    known = found[0] | found[1]
    if len(known) < 2:
        return ""
    settings = "; ".join(
        f"{mode}: {' and '.join(sorted(each)) or 'not known'}"
        for mode, each in zip(MODES, found, strict=True)
    )
    return f"settings differ: {settings}"


def _open(part: pd.DataFrame) -> str:
    undecided = sorted(part.loc[part["estimate"].isna(), "mode"].unique())
    return f"no decided item in its {' and '.join(undecided)} evaluation" if undecided else ""


def _differences(
    system: str, part: pd.DataFrame, live: str, still: str
) -> Iterator[dict[str, object]]:
    for score in SCORES:
        rows = part[part["metric"] == score].to_dict("records")
        of = {str(row["protocol"]): row for row in rows}
        ends = [_percent(of[live]), _percent(of[still])]
        low, high = difference_interval(*ends[0], *ends[1])
        row: dict[str, object] = {"system": system, "score": score}
        row |= {mode: value for mode, (value, _) in zip(MODES, ends, strict=True)}
        row |= {"difference": ends[0][0] - ends[1][0], "low": low, "high": high}
        yield row | {"n interactive": of[live]["n"], "n static": of[still]["n"]}


def _percent(row: Mapping[Hashable, Any]) -> tuple[float, Interval]:
    estimate, low, high = (100 * float(row[name]) for name in ENDS)
    return estimate, Interval(low, high)


def _chart(found: pd.DataFrame) -> Chart | None:
    if found.empty:
        return None
    named = found.rename(columns={"difference": "estimate"})
    rows = [
        one for score in SCORES for one in dots(named[named["score"] == score], score)
    ]  # a series per score
    return Chart(kind="intervals", rows=rows, axis="points, interactive less static", line=0.0)


def _finding(found: pd.DataFrame) -> str:
    rows = found[found["score"] == "ssa"]
    gaps = zip(rows["system"], rows["difference"], strict=True)
    listed = ", ".join(f"{system} {gap:+.1f}" for system, gap in gaps)
    return f"Interactive less static SSA, in points: {listed}."


# --- greetings and goodbyes -------------------------------------------------------------------


def _polite(rows: pd.DataFrame, messages: MessageTable | None) -> pd.DataFrame:
    """Return the share of such turns per system and evaluation, clustered by conversation."""
    if messages is None or not {"conversation", "message_seq"} <= set(rows.columns):
        return pd.DataFrame()
    labeled = rows[rows["question"].isin(SENSIBLE)].assign(
        seq=lambda part: pd.to_numeric(part["message_seq"].astype(object), errors="coerce"),
        conversation=lambda part: part["conversation"].astype(str),
    )
    by = ["campaign", "conversation"] if "campaign" in messages.columns else ["conversation"]
    turns = labeled.drop_duplicates(["system", "mode", *by, "seq"])
    known = messages.astype({"conversation": str})[[*by, "seq", "text"]]
    found = turns.merge(known, on=[*by, "seq"])
    found["greeting"] = found["text"].map(is_greeting).astype(bool)
    found["goodbye"] = found["text"].map(is_goodbye).astype(bool)
    return pd.DataFrame(
        _share(str(system), str(mode), part)
        for (system, mode), part in found.groupby(["system", "mode"], sort=True)
    )


def _share(system: str, mode: str, part: pd.DataFrame) -> dict[str, object]:
    either = (part["greeting"] | part["goodbye"]).astype(float)
    by = either.groupby([part["campaign"], part["conversation"]]).agg(["sum", "size"])
    found = mean_per([(float(a), float(b)) for a, b in by.to_numpy()], times=100.0, most=1)
    row: dict[str, object] = {"system": system, "evaluation": mode}
    row |= {name: 100 * float(part[name].mean()) for name in ("greeting", "goodbye")}
    ends = {name: found.get(name, float("nan")) for name in ("low", "high")}
    return row | {"either": found["estimate"], **ends, "turns": found["n"]}


# --- the printed scores -----------------------------------------------------------------------


def _of_print() -> pd.DataFrame:
    """Return interactive less static of the printed scores, where both are printed."""
    table = pd.DataFrame(list(reference("meena_ssa").rows)).set_index(["system", "mode"])[
        list(SCORES)
    ]
    live, still = (table.xs(mode, level="mode").astype(float) for mode in MODES)
    gaps = (live - still).dropna(how="all")
    order = list(dict.fromkeys(table.index.get_level_values("system")))
    return gaps.loc[[name for name in order if name in gaps.index]].reset_index()


def _source() -> str:
    return f"{reference('meena_ssa').source}: scores as printed, rounded before subtracting."
