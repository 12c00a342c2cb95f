"""Rows of L2E: explanations that are ranked within one data set, and rated within one arm."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import passed, simulated

PAGES = "tests/webapp/views/refused/test_nlp4convai_explanations.py"
BATCH = 10
DIMENSIONS = ("goodness", "relatedness", "grammaticality", "helpfulness", "plausibility")
Row = Mapping[str, str]


def nl_p8(shell: Shell) -> Shown:
    """Each worker ranks ten prompts of one data set; ranks are from 0 to 1."""
    found = simulated(shell, "explanation_ranking")
    rows = found.table("ratings")
    prompts, sets = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for row in rows:
        prompts[row["rater"]].add(row["context"])
        sets[row["rater"]].add(row["dataset"])
    ranks = _normalized(rows)
    printed = _ranks(shell.analysis(found.export, "--report", "explanation_models"))
    seven = passed(shell, *_nodes("seven_to_nine", "a_dash"))
    nine = passed(
        shell, "tests/browser/test_lists.py::test_nine_explanations_are_ranked_by_keyboard"
    )
    holds = {len(each) for each in prompts.values()} == {BATCH} and len(prompts) >= 6
    holds = holds and all(len(each) == 1 for each in sets.values())
    holds = holds and {name for each in sets.values() for name in each} == {"first", "second"}
    holds = holds and _is_same(printed, ranks) and min(ranks.values()) >= 0 < max(ranks.values())
    told = ", ".join(f"{name} {value:.3f} on {dataset}" for (dataset, name), value in ranks.items())
    return shell.shown(
        holds,
        f"{found.line}; {len(prompts)} workers, each with {BATCH} prompts of one data set; ranks "
        f"of 0 to 1 as by hand: {told}; lists of 7, 8 and 9 ranked without ties on pages: {seven} "
        f"tests, and nine by keyboard in a browser: {nine} test",
    )


def nl_p9(shell: Shell) -> Shown:
    """Nobody rates two arms, not even who comes twice; intervals are bootstraps over people."""
    found = simulated(shell, "explanation_rating", "--times", "2")
    both = [*found.table("ratings", found.study)]
    arms = defaultdict[str, set[str]](set)
    for row in both:
        arms[row["rater"]].add(row["system"])
    told = (found.folder.parent / "explanation_rating.txt").read_text(encoding="utf-8")
    twice = int(*re.findall(r"(\d+) people came twice, each in the arm of before", told))
    text = shell.analysis(found.export, "--report", "explanation_ratings")
    printed = _means(text)
    wanted = _by_hand(found.table("ratings"))
    values = [float(row["value"]) for row in both]
    pages = passed(shell, *_nodes("a_slider", "planted_correlations"))
    holds = len(arms) >= 12 and all(len(each) == 1 for each in arms.values())
    holds = holds and {name for each in arms.values() for name in each} == {
        "alpha",
        "beta",
        "gamma",
    }
    holds = holds and printed.keys() == wanted.keys() and len(wanted) == 3 * len(DIMENSIONS)
    holds = holds and all(
        max(abs(one - other) for one, other in zip(printed[key], wanted[key], strict=True)) < 6e-3
        for key in wanted
    )
    holds = holds and min(values) >= 0 and max(values) <= 1 and twice >= 6
    first = ("goodness", "alpha")
    estimate, low, high = printed[first]
    return shell.shown(
        holds,
        f"{found.line}; {len(arms)} participations with one arm each; {twice} people came to both "
        f"campaigns of the study, each in the arm of before; {len(wanted)} means and intervals "
        f"as bootstraps of participants by hand, as goodness of alpha {estimate:.3f} "
        f"[{low:.3f}, {high:.3f}]; sliders off 0 to 1 refused, the other arm on no page: "
        f"{pages} tests",
    )


def a_l2e(shell: Shell) -> Shown:
    """Ranks per data set are as by hand; what is planted on pages comes back."""
    found = simulated(shell, "explanation_ranking")
    text = shell.analysis(found.export, "--report", "explanation_models")
    ranks, printed = _normalized(found.table("ratings")), _ranks(text)
    heads = re.findall(r"^As printed: .*table (\d)", text, re.MULTILINE)
    dash = passed(shell, *_nodes("a_dash"))
    planted = passed(shell, *_nodes("planted_correlations"))
    holds = _is_same(printed, ranks) and all(0 <= value <= 1 for value in printed.values())
    holds = holds and heads == ["3", "4"] and len(printed) == 6
    told = ", ".join(f"{name} {value:.3f} on {dataset}" for (dataset, name), value in ranks.items())
    return shell.shown(
        holds,
        f"mean ranks per data set as counted from the export: {told}; planted on pages: a model "
        f"that a data set lacks is a dash there ({dash} test); correlations of .8 among four "
        "dimensions and .25 with the fifth inside all ten intervals, intervals of means as "
        f"bootstraps of participants by hand ({planted} test)",
    )


# --- counted by hand ------------------------------------------------------------------------------


def _nodes(*parts: str) -> list[str]:
    """Return the tests of pages whose names have these words."""
    with open(PAGES, encoding="utf-8") as file:
        names = re.findall(r"^def (test_\w+)", file.read(), re.MULTILINE)
    return [f"{PAGES}::{next(name for name in names if part in name)}" for part in parts]


def _normalized(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """Return each system's rank per data set, 0 the best: over prompts, then over raters."""
    sizes = defaultdict[tuple[str, str], int](int)
    for row in rows:
        sizes[row["rater"], row["item"]] += 1
    cells = defaultdict[tuple[str, str, str], list[float]](list)
    for row in rows:
        rank = (int(row["value"]) - 1) / (sizes[row["rater"], row["item"]] - 1)
        cells[row["dataset"], row["system"], row["rater"]].append(rank)
    people = defaultdict[tuple[str, str], list[float]](list)
    for (dataset, system, _), found in sorted(cells.items()):
        people[dataset, system].append(fmean(found))
    return {key: fmean(found) for key, found in people.items()}


def _ranks(text: str) -> dict[tuple[str, str], float]:
    """Return the printed ranks by data set and model."""
    own = text.partition("Ranks with their intervals")[2].partition("As printed")[0]
    cells = (line.split() for line in own.splitlines())
    rows = [each for each in cells if len(each) == 11 and each[0] != "dataset"]
    return {(each[0], each[2]): float(each[3]) for each in rows}


def _is_same(
    printed: Mapping[tuple[str, str], float], wanted: Mapping[tuple[str, str], float]
) -> bool:
    return printed.keys() == wanted.keys() and all(
        abs(printed[key] - wanted[key]) < 6e-4 for key in wanted
    )


def _means(text: str) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Return mean and interval of each dimension and system, as printed."""
    own = text.partition("Means per dimension")[2].partition("Correlations")[0]
    cells = (line.split() for line in own.splitlines())
    rows = [each for each in cells if len(each) == 7 and each[0] in DIMENSIONS]
    return {(a, b): (float(mean), float(low), float(high)) for a, b, mean, low, high, *_ in rows}


def _by_hand(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Return mean and bootstrap over participants of each dimension and system."""
    cells = defaultdict[tuple[str, str], dict[str, list[float]]](lambda: defaultdict(list))
    for row in rows:
        cells[row["question"], row["system"]][row["rater"]].append(float(row["value"]))
    return {key: _interval(list(people.values())) for key, people in cells.items()}


def _interval(people: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    sums = np.array([(sum(each), len(each)) for each in people])
    drawn = np.random.default_rng(1).integers(len(sums), size=(20_000, len(sums)))
    totals = sums[drawn].sum(axis=1)
    low, high = np.percentile(totals[:, 0] / totals[:, 1], [2.5, 97.5])
    return float(sums[:, 0].sum() / sums[:, 1].sum()), float(low), float(high)
