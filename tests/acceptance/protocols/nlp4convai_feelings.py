"""Rows of Chikai and others: labels of two replies side by side, and perceived sentiment."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import passed, simulated

PAGES = "tests/webapp/views/refused/test_nlp4convai_feelings.py"
INTENTS = ("positive", "neutral", "negative")
COMPARED = ("domain_awareness", "sentiment_richness")
Row = Mapping[str, str]


def nl_p6(shell: Shell) -> Shown:
    """Influent replies are inconsistent, and the two of a pair have one point between them."""
    found = simulated(shell, "reply_quality")
    rows = found.table("ratings")
    labels = _labels(rows)
    influent = [each for each in labels if each["fluency"] == "0"]
    forced = [each for each in influent if each["consistency"] == "0" and each["follows"] == "1"]
    pairs = {name: _points(rows, name) for name in COMPARED}
    sums = {name: Counter(map(sum, acts.values())) for name, acts in pairs.items()}
    of_pairs = [row for row in rows if row["question"] == COMPARED[0]]
    judged = {(row["rater"], row["item"]) for row in of_pairs}
    felt = {(row["rater"], row["item"]) for row in of_pairs if row["intended"] in INTENTS[::2]}
    nodes = ("influent_reply", "consistency_is_asked", "one_of_two", "richness_is_asked", "nobody")
    refused = passed(shell, *(f"{PAGES}::{name}" for name in _tests(nodes)))
    holds = len(forced) == len(influent) >= 20 and len(labels) == 2 * len(judged) >= 100
    holds = holds and {"0", "1"} <= {each["consistency"] for each in labels}
    holds = holds and all(set(counts) == {1.0} for counts in sums.values())
    holds = holds and all(len(act) == 2 for acts in pairs.values() for act in acts.values())
    holds = holds and set(pairs["sentiment_richness"]) == felt < judged
    return shell.shown(
        holds,
        f"{found.line}; {len(forced)} of {len(influent)} influent replies inconsistent by "
        f"themselves; points of two replies add up to 1 in {sums[COMPARED[0]][1.0]} of "
        f"{len(judged)} pairs by domain, and in {sums[COMPARED[1]][1.0]} of {len(felt)} that were "
        f"meant to be positive or negative by sentiment; refused or hidden on pages: {refused} "
        "tests",
    )


def nl_p7(shell: Shell) -> Shown:
    """The printed matrix has the counts of the export; one planted on pages comes back exactly."""
    found = simulated(shell, "perceived_sentiment")
    counts = Counter((row["intended"], row["value"]) for row in found.table("ratings"))
    text = shell.analysis(found.export, "--report", "chikai_sentiment")
    printed = _matrix(text.partition("The same in annotations")[2])
    wanted = {(row, column): counts[row, column] for row in INTENTS for column in INTENTS}
    share = sum(counts[name, name] for name in INTENTS) / max(1, counts.total())
    planted = passed(
        shell, *(f"{PAGES}::{name}" for name in _tests(("matrix", "a_sentiment_that")))
    )
    hidden = passed(shell, f"{PAGES}::{_tests(('nobody',))[0]}")
    holds = printed == wanted and counts.total() == sum(wanted.values()) >= 100
    holds = holds and f"Perceived as intended: {share:.1%} of {counts.total()}" in text
    told = "; ".join(
        f"{name} seen as {', '.join(f'{column} {wanted[name, column]}' for column in INTENTS)}"
        for name in INTENTS
    )
    return shell.shown(
        holds,
        f"{found.line}; {counts.total()} annotations, {share:.1%} as intended: {told}; a matrix "
        f"planted on pages came back exactly, a fourth answer was refused: {planted} tests; what "
        f"was meant stands on no page: {hidden} tests",
    )


def a_chikai(shell: Shell) -> Shown:
    """Shares and kappas are as counted by hand; what is both is counted, not multiplied."""
    found = simulated(shell, "reply_quality")
    rows = found.table("ratings")
    text = shell.analysis(found.export, "--report", "chikai_quality").partition("As printed")[0]
    points = {name: _points(rows, name) for name in COMPARED}
    own = _quality(text)
    wanted = _by_hand(rows)
    kappas = defaultdict[str, set[str]](set)
    for (label, system), (_, kappa) in own.items():
        kappas[label].add(f"{system} {kappa}" if label in ("fluency", "consistency") else kappa)
    domain = _kappa(points["domain_awareness"], rows)
    (one,) = kappas["domain-awareness"]
    planted = passed(shell, f"{PAGES}::{_tests(('the_share',))[0]}")
    holds = len(wanted) == len(own) == 15
    holds = holds and all(abs(own[key][0] - mean) < 6e-4 for key, mean in wanted.items())
    holds = holds and abs(float(one) - domain) < 6e-4 and len(kappas["sentiment-richness"]) == 1
    holds = holds and len(kappas["fluency"]) == len(kappas["consistency"]) == 3
    joint = own["both domain-aware and sentiment-rich", "alpha"][0]
    product = own["domain-awareness", "alpha"][0] * own["sentiment-richness", "alpha"][0]
    holds = holds and joint != round(product, 3)
    return shell.shown(
        holds,
        f"{len(own)} shares as counted from the export; alpha both {joint:.1%}, where the margins "
        f"give {product:.1%}; kappa of domain-awareness {one}, one for all systems, as by hand; "
        f"fluency has one for each; planted on pages: joint 68.1 %, margins 63.8 %, pairs add up "
        f"to 1: {planted} test",
    )


# --- counted by hand ------------------------------------------------------------------------------


def _tests(parts: Iterable[str]) -> list[str]:
    """Return the names of the tests of pages that have these words in them."""
    with open(PAGES, encoding="utf-8") as file:
        names = re.findall(r"^def (test_\w+)", file.read(), re.MULTILINE)
    return [next(name for name in names if part in name) for part in parts]


def _labels(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return fluency and consistency of each reply by each rater, and whether the last follows."""
    found = defaultdict[tuple[str, ...], dict[str, str]](dict)
    for row in rows:
        if row["question"] in ("fluency", "consistency"):
            one = found[row["rater"], row["item"], row["system"]]
            one[row["question"]] = row["value"]
            if row["question"] == "consistency":
                one["follows"] = row["follows"]
    return list(found.values())


def _points(rows: Sequence[Row], question: str) -> dict[tuple[str, str], list[float]]:
    """Return the points of each pair: 1 for the preferred reply, whose rank is 1, else 0."""
    found = defaultdict[tuple[str, str], list[float]](list)
    for row in rows:
        if row["question"] == question:
            found[row["rater"], row["item"]].append({"1": 1.0, "2": 0.0}[row["value"]])
    return dict(found)


def _by_hand(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """Return the macro-average over raters of each label and system."""
    wins = dict[tuple[str, str, str, str], float]()
    cells = defaultdict[tuple[str, str, str], list[float]](list)
    for row in rows:
        name = row["question"]
        value = 2 - float(row["value"]) if name in COMPARED else float(row["value"])
        wins[name, row["system"], row["rater"], row["item"]] = value
        cells[name.replace("_", "-"), row["system"], row["rater"]].append(value)
    for (name, system, rater, item), value in wins.items():
        if name == COMPARED[1]:
            both = value * wins[COMPARED[0], system, rater, item]
            cells["both domain-aware and sentiment-rich", system, rater].append(both)
    means = defaultdict[tuple[str, str], list[float]](list)
    for (name, system, _), values in cells.items():
        means[name, system].append(fmean(values))
    return {key: fmean(values) for key, values in means.items()}


def _kappa(points: Mapping[tuple[str, str], object], rows: Sequence[Row]) -> float:
    """Return Fleiss' kappa of who won each pair, by its definition."""
    votes = defaultdict[str, Counter[str]](Counter)
    for row in rows:
        if row["question"] == COMPARED[0] and row["value"] == "1":
            votes[row["item"]][row["system"]] += 1
    assert sum(each.total() for each in votes.values()) == len(points)
    agree = [
        sum(n * (n - 1) for n in each.values()) / (each.total() * (each.total() - 1))
        for each in votes.values()
    ]
    whole = sum(votes.values(), Counter[str]())
    chance = sum((n / whole.total()) ** 2 for n in whole.values())
    return (fmean(agree) - chance) / (1 - chance)


def _quality(text: str) -> dict[tuple[str, str], tuple[float, str]]:
    """Return mean and kappa of each label and system, as printed."""
    found = {}
    for line in text.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) == 8 and cells[0] != "label":
            found[cells[0], cells[1]] = (float(cells[2]), cells[5])
    return found


def _matrix(text: str) -> dict[tuple[str, str], int]:
    """Return the counts of a printed matrix, by row and column."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    columns = next(line[1:] for line in lines if line[0] == "intended")
    return {
        (line[0], column): int(cell)
        for line in lines[:6]
        if line[0] in INTENTS
        for column, cell in zip(columns, line[1:], strict=True)
    }
