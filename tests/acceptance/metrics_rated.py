"""Rows of metrics of what people answered: aggregates, agreement, calibration, tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from analysis import get_metric
from analysis.metrics.calibrated_score import calibrated_score
from analysis.metrics.explanation_rank import explanation_rank
from analysis.metrics.likert import likert
from analysis.metrics.nol import nol
from analysis.metrics.persona_detection import persona_detection
from analysis.metrics.rank_score import rank_score
from analysis.metrics.ssa import ssa
from analysis.raters import kappas
from analysis.raters.alpha import alpha
from analysis.scores.calibration import posterior
from analysis.stats.between_runs import over_parts, over_raters, over_repeats
from analysis.stats.correlation import line, pearson, spearman
from analysis.stats.filtering import curve
from analysis.stats.intervals import bootstrap, percentile_interval
from analysis.stats.significance import binomial, chi_square, holm, t_test
from tests.acceptance.metrics_predicted import near
from tests.acceptance.shell import Shell, Shown, slow
from tests.analysis.cast import play
from tests.analysis.examples import labels, ratings
from tests.analysis.golden import golden_agreement, golden_calibration
from tests.analysis.golden.figures import Compared
from tests.analysis.metrics.test_plackett_luce import rankings
from tests.analysis.metrics.test_ssa import GENERIC, MEENA
from tests.analysis.preferring import preferring

SEED = 1


def m_pdet(shell: Shell) -> Shown:
    rows: list[dict[str, object]] = [{"value": int(k < 95)} for k in range(100)]
    row = persona_detection(ratings(rows, question="persona", level="nominal")).iloc[0]
    lot = np.random.default_rng(SEED).integers(0, 2, 4000)
    by_lot = persona_detection(
        ratings([{"value": int(v)} for v in lot], question="persona", level="nominal")
    ).iloc[0]
    result = f"95 of 100: {row['estimate']:.2f} (SD {row['sd']:.2f}), chance {row['chance']:g}; "
    result += f"guesses {by_lot['estimate']:.3f} [{by_lot['low']:.3f}, {by_lot['high']:.3f}]"
    holds = row["chance"] == 0.5 and by_lot["low"] < 0.5 < by_lot["high"] and round(row["sd"], 2)
    return shell.shown(holds == 0.22, result, persona_detection)


def m_likert(shell: Shell) -> Shown:
    values = [3, 4, 2, 5, 4, 4]
    row = likert(ratings([{"value": value} for value in values])).iloc[0]
    mean = sum(values) / 6
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / 5)
    pairs = ((row["estimate"], mean), (row["sd"], sd), (row["se"], sd / math.sqrt(6)))
    told = f"mean {row['estimate']:.4f} (SD {row['sd']:.4f}), SE {row['se']:.4f}"
    return shell.shown(near(*pairs, within=1e-9), f"{told}, as by hand", likert)


def m_ssa(shell: Shell) -> Shown:
    given = [("meena", f"i{k}", f"r{k}", a, b) for k, (a, b) in enumerate(MEENA)]
    given += [("generic", f"i{k}", f"r{k}", a, b) for k, (a, b) in enumerate(GENERIC)]
    fixture = ssa(labels(given))
    ours = float(fixture[fixture.eval("system == 'meena' and metric == 'ssa'")]["estimate"].iloc[0])
    means = []
    for sensible, specific in ((68, 45), (72, 40)):
        votes = [("s", f"i{k}", f"r{k}", int(k < sensible), int(k < specific)) for k in range(100)]
        found = ssa(labels(votes)).set_index("metric")["estimate"]
        means.append(100 * float(found["ssa"]))
    holds = near((ours, 0.9444), (means[0], 56.5), (means[1], 56.0))
    result = f"68/45 gives {means[0]:g}, 72/40 gives {means[1]:g}, unrounded; fixture {ours:.4f}"
    return shell.shown(holds, result, ssa)


def m_nol(shell: Shell) -> Shown:
    rows = [
        {"item": f"u{k}", "rater": f"r{j}", "value": int(j < yes), "system": "kim"}
        for k, yes in enumerate((0, 5, 1))
        for j in range(5)
    ]
    (row,) = nol(ratings(rows, question="likely", level="nominal")).to_dict("records")
    cast = nol(play()[0])
    counts = [int(row[f"nol_{k}"]) for k in range(6)]
    result = (
        f"0, 5 and 1 of 5 votes: mean {row['estimate']:g}, counts of 0 to 5 {counts}; a cast's "
    )
    result += f"means {cast['estimate'].min():.2f} to {cast['estimate'].max():.2f}"
    holds = near((row["estimate"], 2)) and counts == [1, 1, 0, 0, 0, 1]
    return shell.shown(holds and cast["estimate"].between(0, 5).all(), result, nol)


def m_rankscore(shell: Shell) -> Shown:
    table = preferring(rankings(6, {"a": 0.6, "b": 0.1, "c": -0.2, "d": -0.5}, 200))
    scores, turned = rank_score(table), explanation_rank(table)
    total, mirrored = float(scores["estimate"].sum()), float(turned["estimate"].sum())
    one: list[tuple[str, str, str, tuple[int, ...]]] = [
        ("1", judge, "ab", (1, 2) if judge == "ann" else (2, 1)) for judge in ("ann", "bob", "cyd")
    ]
    se = float(rank_score(preferring(one)).iloc[0]["se"])
    told = ", ".join(f"{row.system} {row.estimate:.3f}" for row in scores.itertuples())
    result = f"{told}: sum {total:.4f} (N/2 = 2); L2E ranks sum to {mirrored:.4f}; SE of 1, 0, 0 "
    result += f"{se:.4f} (by hand √(1/3))"
    holds = near((total, 2), (mirrored, 2), (se, math.sqrt(1 / 3)))
    return shell.shown(holds, result, rank_score, explanation_rank)


def m_agree(shell: Shell) -> Shown:
    return _golden(shell, golden_agreement.vectors(), "metrics.md 7.1", kappas.percents)


def m_alpha(shell: Shell) -> Shown:
    return _golden(shell, golden_agreement.vectors(), "metrics.md 7.2", alpha)


def m_kappa(shell: Shell) -> Shown:
    return _golden(shell, golden_agreement.vectors(), "metrics.md 7.3", kappas.fleiss)


def m_calib(shell: Shell) -> Shown:
    rows = golden_calibration.worked()
    return _golden(shell, rows, "metrics.md 7.4", calibrated_score, posterior)


def _golden(
    shell: Shell, figures: Iterable[Compared], source: str, *by: Callable[..., object]
) -> Shown:
    """Show the golden figures of a section of the specification."""
    rows = [row for row in figures if row.source == source]
    told = ", ".join(f"{row.what} {row.ours:.4f}" for row in rows)
    return shell.shown(rows and all(row.agrees for row in rows), told, *by)


def m_corr(shell: Shell) -> Shown:
    adjusted = holm([0.001, 0.02, 0.03, 0.04])
    ties = spearman([1, 2, 2, 3], [10, 20, 30, 40]).estimate
    plain = pearson([1, 2, 3], [2, 1, 3]).estimate
    r2 = line([1, 2, 3], [2, 1, 3]).r2
    told = ", ".join(f"{p:g}" for p in adjusted)
    result = (
        f"Holm {told}; Spearman with a tie {ties:.4f} (4.5/√22.5); Pearson {plain:g}, R² {r2:g}"
    )
    pairs = (*zip(adjusted, (0.004, 0.06, 0.06, 0.06), strict=True), (ties, 4.5 / math.sqrt(22.5)))
    return shell.shown(
        near(*pairs, (plain, 0.5), (r2, 0.25)), result, holm, spearman, pearson, line
    )


def m_aupr(shell: Shell) -> Shown:
    bad = [True, True, False, False, False]
    perfect = curve([0.1, 0.2, 0.5, 0.6, 0.9], bad)
    rng = np.random.default_rng(2)
    areas = []
    for _ in range(100):
        drawn = curve(rng.normal(size=500), rng.random(500) < 0.3)
        assert drawn is not None
        areas.append(drawn.area())
    assert perfect is not None
    result = f"perfect {perfect.area():g}; random, prevalence .3: {np.mean(areas):.3f}"
    return shell.shown(perfect.area() == 1 and abs(np.mean(areas) - 0.3) < 0.02, result, curve)


def m_ci(shell: Shell) -> Shown:
    values = np.random.default_rng(3).normal(10, 2, 400)
    ends = [
        percentile_interval(bootstrap(lambda drawn: drawn @ values / 400, 400, seed=seed))
        for seed in (1, 1, 2)
    ]
    repeats = over_repeats([70, 72, 74, 72, 71, 73, 72])
    parts = [over_parts(values, seed=seed).sd for seed in (1, 1)]
    five = over_raters([0.9, 0.8, 1.0, 0.7, 0.6]).interval
    result = f"bootstrap [{ends[0].low:.3f}, {ends[0].high:.3f}] twice from one seed; SD over 7 "
    result += f"repeats {repeats.sd:.3f}, of 5 parts {parts[0]:.3f}; t(4) of 5 raters "
    result += f"[{five.low:.3f}, {five.high:.3f}]"
    holds = ends[0] == ends[1] != ends[2] and parts[0] == parts[1]
    return shell.shown(holds, result, bootstrap, over_repeats, over_parts, over_raters)


def m_tests(shell: Shell) -> Shown:
    nine, welch, chi = (
        binomial(9, 10),
        t_test([1, 2, 3], [2, 4, 6]),
        chi_square([[20, 10], [10, 10]]),
    )
    square = sum((o - e) ** 2 / e for o, e in ((20, 18), (10, 12), (10, 12), (10, 8)))
    pairs = (
        (nine.p, 22 / 1024),
        (welch.statistic, -2 / math.sqrt(5 / 3)),
        (chi.statistic, square),
        (chi.effect, math.sqrt(square / 50)),
    )
    result = f"binomial 9 of 10 p {nine.p:.4f}; Welch t {welch.statistic:.4f}; "
    result += f"χ² {chi.statistic:.4f}, φ {chi.effect:.4f}; all as by hand"
    return shell.shown(near(*pairs, within=1e-9), result, binomial, t_test, chi_square)


@slow
def m_maj(shell: Shell) -> Shown:
    """Of 3 replies, 3, 2 and 3 of five raters say yes: the mean vote is .53, majorities say 2/3."""
    looks = shell.campaign("open_votes")
    told, open_items = [], []
    for raters, rows in looks.items():
        found = {row["metric"]: row for row in rows}
        values = [found[name]["estimate"] for name in ("sensibleness", "specificity", "ssa")]
        open_items.append((int(raters), found["ssa"]["n"], found["ssa"]["open_items"], values))
        shown = "/".join("-" if value is None else f"{value:.2f}" for value in values)
        told.append(f"{raters} raters: {found['ssa']['n']} decided, {shown}")
    none = [None, None, None]
    waiting = [(raters, 0, 3, none) for raters in (1, 3, 4)]
    *before, after = open_items
    holds = before == waiting and after[:3] == (5, 3, 0) and near(
        *zip(after[3], (2 / 3, 0, 1 / 3), strict=True)
    )  # fmt: skip
    return shell.shown(holds, f"exports of a live campaign: {'; '.join(told)}", ssa)


@slow
def m_engage(shell: Shell) -> Shown:
    from tests.analysis.metrics.test_engagement import TWO_USERS

    found = get_metric("engagement")(TWO_USERS).set_index("metric")["estimate"]
    wanted = {
        "exchanges_per_session": 5 / 3,
        "return_rate": 0.5,
        "turns_non_neutral": 2 / 6,
        "users_offensive": 0.5,
        "turns_offensive": 1 / 6,
        "turns_assent": 2 / 6,
        "gap_seconds": 65,
    }
    told = ", ".join(f"{name} {float(found[name]):.3f}" for name in wanted)
    holds = near(*((float(found[name]), value) for name, value in wanted.items()))
    return shell.shown(holds, told, get_metric("engagement"))
