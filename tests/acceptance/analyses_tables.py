"""Rows of analyses that read ratings: `python -m analysis FILE --report NAME`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from analysis import Report, get_report
from analysis.report import Chart
from bots.zoo.faq.faq_examples import COMPANY, GENERAL
from tests.acceptance.shell import Shell, Shown, slow
from tests.analysis.examples import labels, ratings
from tests.analysis.reports.test_convai2_blind import ROWS as BLIND
from tests.analysis.reports.test_learned_metric import RATINGS, VALUES, _predictions
from tests.analysis.reports.test_meena_ssa_perplexity import likely, rated
from tests.analysis.reports.test_meena_studies import _joined, _system

SYSTEMS = ("generic", "tfidf", "parrot")


def reported(shell: Shell, name: str, **tables: pd.DataFrame) -> tuple[str, Report]:
    """Write tables to files and print a report by the command; return its text and the report."""
    files = []
    for kind, frame in tables.items():
        file = shell.folder / f"{name}-{kind}.jsonl"
        frame.to_json(file, orient="records", lines=True)
        files.append(str(file))
    text = shell.analysis(*files, "--report", name)
    return text, get_report(name)(**tables)


def layout(text: str, report: Report, *columns: str) -> bool:
    """Tell whether our rows have these columns, and the printed ones stand below them."""
    first = report.sections[0].frame
    return set(columns) <= set(map(str, first.columns)) and "As printed" in text


@slow
def a_cal(shell: Shell) -> Shown:
    text, report = reported(shell, "calibration", ratings=severe())
    orders = report.sections[0].frame
    charts = [section for section in report.sections if section.chart is not None]
    found = {
        name: list(orders.sort_values(name)["system"].astype(str))
        for name in ("raw mean", "calibrated")
    }
    told = ", ".join(
        f"{row['system']} {row['raw mean']:.2f}/{row['calibrated']:.2f}"
        for row in orders.to_dict("records")
    )
    planted = ["s0", "s1", "s2", "s3"]
    result = (
        f"{len(charts)} charts; raw/calibrated {told}; order raw {' '.join(found['raw mean'])}, "
    )
    result += f"calibrated {' '.join(found['calibrated'])}, planted {' '.join(planted)}"
    holds = found["calibrated"] == planted and len(charts) >= 2 and "calibrated" in text
    return shell.shown(holds, result)


def severe() -> pd.DataFrame:
    """Return ratings of known order in which the best system met mostly severe raters."""
    rng = np.random.default_rng(4)
    rows: list[dict[str, object]] = []
    for rater in range(60):
        severity = -1.2 if rater % 2 else 0.6
        chances = [0.4, 0.3, 0.2, 0.1] if severity > 0 else [0.1, 0.2, 0.3, 0.4]
        for system in rng.choice(4, 3, replace=False, p=chances):
            score = 2.4 + 0.5 * system + severity + rng.normal(0, 0.5)
            value = int(np.clip(np.round(score), 1, 5))
            rows.append({"system": f"s{system}", "rater": f"r{rater}", "value": value})
    return ratings(rows, scale_low=1, scale_high=5)


@slow
def a_blind(shell: Shell) -> Shown:
    text, report = reported(shell, "convai2_blind", ratings=ratings(BLIND))
    told = "; ".join(
        f"{row['judge']}: a {row['a']:.2f}, b {row['b']:.2f}"
        for row in report.sections[0].frame.to_dict("records")
    )
    return shell.shown(layout(text, report, "judge", "a", "b"), told)


def a_ssa(shell: Shell) -> Shown:
    text, report = reported(shell, "meena_ssa_perplexity", ratings=rated(), predictions=likely())
    fits, points = (section.frame for section in report.sections[:2])
    told = ", ".join(f"{row['score']} R² {row['R²']:.3f}" for row in fits.to_dict("records"))
    at = ", ".join(f"({r['perplexity']:.0f}, {r['ssa']:.1f})" for r in points.to_dict("records"))
    drawn = {each.key.rpartition("-")[2]: each.chart for each in report.sections if each.chart}
    wrong = [
        score
        for score, fit in zip(fits["score"], fits["R²"], strict=True)
        if not _drawn(drawn.get(score), points, score)
        or abs(np.corrcoef(points["perplexity"], points[score])[0, 1] ** 2 - fit) > 1e-9
    ]
    holds = layout(text, report, "R²", "slope") and (fits["slope"] < 0).all()
    result = f"points (perplexity, SSA) {at}; {told}; {len(drawn)} charts of the points and their "
    result += f"line, wrong: {', '.join(wrong) or 'none'}"
    return shell.shown(holds and len(drawn) == 3 and not wrong, result)


def _drawn(chart: Chart | None, points: pd.DataFrame, score: str) -> bool:
    """Tell whether a chart has each point, and a line between the ends of the least squares."""
    if chart is None or chart.kind != "plane":
        return False
    x, y = points["perplexity"].to_numpy(), points[score].to_numpy()
    shown = {(round(r["x"], 6), round(r["y"], 6)) for r in chart.rows if not r["joined"]}
    line = [(r["x"], r["y"]) for r in chart.rows if r["joined"]]
    slope, intercept = np.polyfit(x, y, 1)
    on_line = all(abs(intercept + slope * at - value) < 1e-6 for at, value in line)
    return shown == set(zip(x.round(6), y.round(6), strict=True)) and len(line) > 1 and on_line


def a_hl(shell: Shell) -> Shown:
    table = _joined(_system("a", 10, 4, 8), _system("b", 14, 6, 11), _system("c", 18, 14, 18))
    text, report = reported(shell, "meena_human_likeness", ratings=table)
    fits = report.sections[0].frame
    told = ", ".join(f"{row['score']} {row['R²']:.3f}" for row in fits.to_dict("records"))
    return shell.shown(layout(text, report, "R²") and len(fits) == 3, f"R²: {told}")


@slow
def a_stab(shell: Shell) -> Shown:
    counts = [8, 10, 12, 9, 11, 10, 10]
    tables = [
        labels([("m", f"i{k}", "r", int(k < n), 0) for k in range(20)]).assign(campaign=f"e{j}")
        for j, n in enumerate(counts)
    ]
    text, report = reported(shell, "meena_repeatability", ratings=_joined(*tables))
    row = report.sections[0].frame.iloc[0]
    by_hand = float(np.std([100 * n / 20 / 2 for n in counts], ddof=1))
    result = (
        f"SD of SSA over {row['evaluations']} evaluations {row['sd']:.3f} (by hand {by_hand:.3f})"
    )
    return shell.shown("As printed" in text and abs(row["sd"] - by_hand) < 1e-9, result)


@slow
def a_conf(shell: Shell) -> Shown:
    votes = [["positive"] * 5, ["positive"] * 2 + ["neutral"] * 3, ["negative"] * 4 + ["neutral"]]
    rows: list[dict[str, object]] = [
        {"item": f"i{k}", "rater": f"r{j}", "value": said, "intended": intended}
        for k, (intended, each) in enumerate(
            zip(("positive", "neutral", "negative"), votes, strict=True)
        )
        for j, said in enumerate(each)
    ]
    table = ratings(rows, question="perceived_sentiment", level="nominal", system="bot")
    text, report = reported(shell, "chikai_sentiment", ratings=table)
    matrix = report.sections[1].frame.set_index("intended")
    told = "; ".join(f"{name} {[round(v, 1) for v in row]}" for name, row in
                     zip(matrix.index, matrix.to_numpy().tolist(), strict=True))  # fmt: skip
    holds = matrix.shape == (3, 3) and "As printed" in text
    result = f"{report.findings[0]} Percent perceived positive, neutral, negative: {told}"
    return shell.shown(holds, result)


@slow
def a_nexcv(shell: Shell) -> Shown:
    asked = [
        json.dumps({"text": question, "label": intent})
        for intent, (_, questions) in {**COMPANY, **GENERAL}.items()
        for question in questions
    ]
    file = shell.written("questions.jsonl", "\n".join(asked) + "\n")
    told = shell.analysis("nexcv", file, "--repeats", "3")
    pairs = told.partition("most frequent confusions at (0, 0.15):\n")[2].strip().splitlines()[1:]
    rows = told.splitlines()[:4]
    result = f"most confused: {'; '.join(' '.join(each.split()) for each in pairs)}; "
    result += " / ".join(" ".join(row.split()) for row in rows)
    holds = pairs and {"carefulness", "automation"} <= set(rows[0].split())
    return shell.shown(holds, result)


def a_adem(shell: Shell) -> Shown:
    table = _predictions(learned_score=[float(value) for value in VALUES])
    text, report = reported(shell, "learned_metric", ratings=RATINGS, predictions=table)
    told = "; ".join(
        f"{row['metric']} {row['coefficient']} {row['estimate']:.3f}"
        for row in report.sections[0].frame.dropna(subset=["estimate"]).to_dict("records")
    )
    plugged = report.sections[0].frame["metric"].eq("learned_score").any()
    return shell.shown(plugged and "As printed" in text, f"correlation with ratings: {told}")
