"""Row of MEENA's figures 1 and 3 to 5: scores against perplexity, of both kinds of campaigns."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import correlation, fmean

import pandas as pd

from analysis import Report, Section, get_report, prediction_table, rating_table, read
from analysis.tables.several import joined
from tests.acceptance.protocols.meena_tables import LABELS, Row, is_near, printed, ssa
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, simulated

REPORT = "meena_ssa_perplexity"
ORDERS = {"order-2": ("2", 0.9), "order-3": ("3", 0.6), "order-5": ("5", 0.3)}  # share planted
OTHER, OTHER_SHARE = "echo", 0.75  # a bot without a perplexity
DRAWN = {"number": "1", "temperature": "1"}  # the same of all; of many, marks are the likeliest
SCORES = ("sensibleness", "specificity", "ssa")
KINDS = {"meena_static": "static", "meena_interactive": "interactive"}
DATASET = "demo:valid"
SPOKEN, RARER = "5", "10"  # words that are said so often are the vocabulary, and another one
ASKED = ("--data", DATASET, "--dictionary", "demo:train", "--limit", "20")
Scores = Mapping[str, tuple[float, ...]]


def a_ssaline(shell: Shell) -> Shown:
    """Six charts of sizes of one family; another bot is a line; vocabularies are not mixed."""
    campaigns = {kind: _campaign(shell, name) for name, kind in KINDS.items()}
    likely = {name: _answers(shell, name, SPOKEN) for name in ORDERS}
    by_name = {name: _perplexity(rows) for name, rows in likely.items()}
    files = [each.export for each in campaigns.values()]
    known = _predictions(shell, "likely", [*likely.values(), _without(shell)])
    text, report = shell.analysis(*files, known, "--report", REPORT), _report(files, known)
    charts = [_chart(text, report, kind, campaigns[kind], by_name) for kind in campaigns]
    same = _fits(_report(files, known, left_out=OTHER)).equals(_fits(report))
    mixed = likely | {"order-5": _answers(shell, "order-5", RARER)}
    other = _predictions(shell, "mixed", [*mixed.values()])
    refused, reason = shell.analysis(*files, other, "--report", REPORT), _report(files, other)
    drawn = [each for each in report.sections if each.chart]
    holds = all(each for each, _ in charts) and len(drawn) == 6 and same
    listed = ", ".join(f"{name} {value:.1f}" for name, value in by_name.items())
    return shell.shown(
        holds and _is_refused(refused, reason),
        f"perplexity {listed}; {len(drawn)} charts, R² by hand {'; '.join(t for _, t in charts)}; "
        f"{OTHER} is a horizontal line in each, without it {'the same' if same else 'other'} fits; "
        f"with another vocabulary: {reason.findings[0]}",
    )


def _chart(
    text: str, report: Report, kind: str, found: Simulated, by_name: Mapping[str, float]
) -> tuple[bool, str]:
    """Tell whether the charts of a kind of campaign, and the printed fits, are as by hand."""
    fits = {row["score"]: row for row in printed(text, "R²", "slope") if row["evaluation"] == kind}
    drawn = {each.title.split(" by ")[0]: each for each in report.sections if each.chart}
    scores = {name: _scores(found, name) for name in (*ORDERS, OTHER)}
    holds, r2 = _is_planted(scores) and len(fits) == len(SCORES), list[str]()
    for at, score in enumerate(SCORES):
        of = {name: values[at] for name, values in scores.items()}
        explained = correlation(list(by_name.values()), [of[name] for name in ORDERS]) ** 2
        title = f"{kind.capitalize()} {'SSA' if score == 'ssa' else score}"
        holds &= is_near(fits[score]["R²"], explained) and fits[score]["systems"] == "3"
        holds &= title in drawn and title in text and _is_drawn(drawn[title], by_name, of)
        r2 += [f"{score} {explained:.2f}"]
    return holds, f"{kind} {', '.join(r2)}"


def _campaign(shell: Shell, protocol: str) -> Simulated:
    rows: list[dict[str, object]] = [
        {"name": name, "bot": "markov", "share": share, "options": DRAWN | {"order": order}}
        for name, (order, share) in ORDERS.items()
    ]
    rows += [{"name": OTHER, "bot": "parrot", "share": OTHER_SHARE, "options": {}}]
    text = json.dumps({"systems": rows})
    return simulated(shell, protocol, "--systems", shell.written("sizes.json", text))


def _answers(shell: Shell, name: str, least: str) -> list[dict[str, object]]:
    """Return a size's predictions of true replies, by the name that the campaigns have for it."""
    file, order = f"{name}-{least}.jsonl", ORDERS[name][0]
    words = ("--set", f"order={order}", *ASKED, "--least", least, "--out", shell.path(file))
    shell.bots("answer", "markov", *words)
    return _named(shell, file, name)


def _without(shell: Shell) -> list[dict[str, object]]:
    """Return the answers of the bot that tells no chances of words."""
    shell.bots("answer", "parrot", *ASKED, "--out", shell.path("echo.jsonl"))
    return _named(shell, "echo.jsonl", OTHER)


def _named(shell: Shell, file: str, name: str) -> list[dict[str, object]]:
    rows = enumerate(shell.records(file))
    return [row | {"system": name, "prediction": f"{name}:{n}"} for n, row in rows]


def _predictions(shell: Shell, name: str, parts: Sequence[Sequence[object]]) -> str:
    lines = [json.dumps(row) for part in parts for row in part]
    return shell.written(f"{name}.jsonl", "\n".join(lines) + "\n")


def _perplexity(rows: Sequence[Mapping[str, object]]) -> float:
    lists = [each for row in rows if isinstance(each := row["log_probs"], list)]
    return math.exp(-fmean(value for each in lists for value in each if value is not None))


def _report(exports: Sequence[str], predictions: str, *, left_out: str = "") -> Report:
    ratings = joined([read(each) for each in exports]).ratings
    assert ratings is not None
    rated = rating_table(ratings[ratings["system"] != left_out].reset_index(drop=True))
    known = read(Path(predictions)).predictions
    assert known is not None
    found: Report = get_report(REPORT)(rated, prediction_table(known))
    return found


def _fits(report: Report) -> pd.DataFrame:
    return report.sections[0].frame


def _scores(found: Simulated, system: str) -> tuple[float, float, float]:
    """Return the scores by hand: of majorities, or of the single labels of a conversation."""
    rows = [row for row in found.table("ratings") if row["system"] == system]
    if {row["votes"] for row in rows} != {"1"}:
        return ssa(rows, system)
    sensible, specific = (100 * _share(rows, question) for question in LABELS)
    return sensible, specific, (sensible + specific) / 2


def _share(rows: Sequence[Row], question: str) -> float:
    return fmean(int(row["value"]) for row in rows if row["question"] == question)


def _is_planted(scores: Scores) -> bool:
    """Tell whether the sizes come back in the planted order, by each score."""
    best, middle, worst = (scores[name] for name in ORDERS)
    steps = zip(best, middle, worst, strict=True)
    return all(first > second > third for first, second, third in steps)


def _is_drawn(section: Section, by_name: Mapping[str, float], of: Mapping[str, float]) -> bool:
    """Tell whether a chart has the sizes as points, and the other bot as a horizontal line."""
    assert section.chart is not None
    rows = section.chart.rows
    points = {row["name"]: (row["x"], row["y"]) for row in rows if not row["joined"]}
    flat = [(row["x"], row["y"]) for row in rows if row["joined"] and row["series"] == OTHER]
    fitted = [row for row in rows if row["joined"] and row["series"] != OTHER]
    wanted = {name: (by_name[name], of[name]) for name in ORDERS}
    line = [(end(by_name.values()), of[OTHER]) for end in (min, max)]
    if points.keys() != wanted.keys() or len(flat) != len(line) or len(fitted) < len(line):
        return False
    pairs = [*((points[name], wanted[name]) for name in wanted), *zip(flat, line, strict=True)]
    return all(math.dist(one, other) < 1e-6 for one, other in pairs)


def _is_refused(text: str, report: Report) -> bool:
    """Tell whether no fit has a line, and the words say why."""
    lines = [row for each in report.sections if each.chart for row in each.chart.rows]
    joined = {row["series"] for row in lines if row["joined"]}
    reason = "Perplexities of different vocabularies: of "
    return (
        bool(_fits(report)["R²"].isna().all())
        and joined == {OTHER}
        and report.findings[0].startswith(reason)
        and report.findings[0] in " ".join(text.split())
    )
