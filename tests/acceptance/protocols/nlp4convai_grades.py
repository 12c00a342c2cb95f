"""Rows of graded replies: THRED's four grades, and the bad, good and great of ASAPP."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from scipy.stats import t as student

from tests.acceptance.protocols.nlp4convai_tables import Row, printed_tables
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, passed, simulated

REFUSED = "tests/webapp/views/refused/test_grades.py"
THRED = {"excellent": "3", "good": "2", "poor": "1", "bad": "0"}
ASAPP = {"great": "2", "good": "1", "bad": "0"}
SOURCES = ("alpha", "beta", "gamma", "delta", "epsilon")  # as planted, best first
VOTES = {"graded_pairs": 5, "reply_grades": 3}
EVEN = (0.05, 0.35)  # of a place on the page that each of five has; .2 is planted
FEWEST = 60  # grades of a system, and orders of five on as many pages
PREDICTED = (0.9, 0.4), (0.8, 0.3, 0.2, 0.1)  # right and wrong replies of the specification
AREAS = {"AUC": 0.875, "AUC@0.1": 0.5, "AUC@0.05": 0.5, "AUC@0.01": 0.5}


def nl_p1(shell: Shell) -> Shown:
    """Shares of four grades with their 90 % intervals and kappa, by hand as in the report."""
    found = simulated(shell, "graded_pairs")
    grades = _grades(found)
    table = printed_tables(shell.analysis(found.export, "--report", "thred_human"))[0]
    rows, told, wrong = {row["system"]: row for row in table}, [], list[str]()
    for system, answers in sorted(grades.items()):
        row = rows[system]
        for name, grade in THRED.items():
            if row[name] != (by_hand := _share(answers, grade)):
                wrong.append(f"{system} {name} {row[name]}, not {by_hand}")
        kappa = _kappa(answers)
        if abs(float(row["kappa"]) - kappa) > 0.0005 + 1e-9:
            wrong.append(f"kappa of {system} {row['kappa']}, not {kappa:.4f}")
        told.append(f"{system} {row['excellent']} excellent, kappa {row['kappa']}")
    votes = {len(each) for each in _by(found, "item").values()}
    best = [fmean(int(row["value"]) for row in grades[name]) for name in SOURCES[:3]]
    holds = not wrong and len(rows) == len(grades) == 3 and best == sorted(best, reverse=True)
    holds &= votes == {VOTES["graded_pairs"]} and min(map(len, grades.values())) >= FEWEST
    pages = passed(shell, f"{REFUSED}::test_only_the_four_grades_are_taken_and_none_left_out")
    return shell.shown(
        holds,
        f"{found.line}; % ± 90 % as by hand: {'; '.join(told)}; 5 raters a reply; other grades are "
        f"refused by the page: {pages} tests{'; '.join(['', *wrong])}",
    )


def nl_p3(shell: Shell) -> Shown:
    """Five replies on a page, in every order, graded three times; accept is good and great."""
    found = simulated(shell, "reply_grades")
    shown = [[row["system"] for row in page] for page in _pages(found)]
    five = all(sorted(page) == sorted(SOURCES) for page in shown)
    orders, least, most = len(set(map(tuple, shown))), *_evenness(shown)
    sent, stored = _sent(found), Counter(_values(page) for page in _pages(found))
    table, wrong = _asapp(shell, found)
    accepted = [float(table[name]["accept"]) for name in SOURCES]
    told = ", ".join(f"{name} {share:.2f}" for name, share in zip(SOURCES, accepted, strict=True))
    holds = five and sent == stored and EVEN[0] < least and most < EVEN[1] and not wrong
    holds &= len(shown) >= FEWEST and orders >= FEWEST // 2
    holds &= accepted == sorted(accepted, reverse=True) and accepted[0] > accepted[-1] + 50
    pages = passed(shell, REFUSED)
    return shell.shown(
        holds,
        f"{found.line}; {len(shown)} pages of five in {orders} orders, a source has a place in "
        f"{least:.0%} to {most:.0%}; accept = good + great: {told}; shuffled and without names on "
        f"the page: {pages} tests{'; '.join(['', *wrong])}",
    )


def a_asapp(shell: Shell) -> Shown:
    """Table 7 of five sources from an export, and AUC@p that a rescaled one would not give."""
    found = simulated(shell, "reply_grades")
    table, wrong = _asapp(shell, found)
    text = shell.analysis(found.export, "--report", "asapp_human")
    own, _, printed = printed_tables(text)
    odd = next(row for row in printed if row["source"] == "Clustering 1K")
    kept = (odd["good"], odd["great"], odd["accept"]) == ("21", "55", "77")
    areas = _areas(shell)
    known = all(abs(areas[name] - area) < 0.0005 for name, area in AREAS.items())
    holds = not wrong and len(own) == len(printed) == len(table) == 5 and kept
    rescaled = {p: _rescaled(AREAS[f"AUC@{p}"], p) for p in (0.1, 0.05, 0.01)}
    apart = all(abs(areas[f"AUC@{p}"] - value) > 0.1 for p, value in rescaled.items())
    told = ", ".join(f"{name} {area:.3f}" for name, area in areas.items())
    return shell.shown(
        holds and known and apart and set(areas) == set(AREAS),
        f"{found.line}; 5 sources, accept added before rounding (print: 55 + 21 gives 77); {told} "
        f"(McClish's would be {rescaled[0.05]:.3f} at .05){'; '.join(['', *wrong])}",
    )


# --- grades by hand ---------------------------------------------------------------------------


def _grades(found: Simulated) -> dict[str, list[Row]]:
    return {
        system: [row for row in rows if row["question"] == "grade"]
        for system, rows in _by(found, "system").items()
    }


def _by(found: Simulated, *names: str) -> dict[str, list[Row]]:
    """Return the grades by a column of the table, or several, in the table's order."""
    groups = defaultdict[str, list[Row]](list)
    for row in found.table("ratings"):
        if row["question"] == "grade":
            groups[" ".join(row[name] for name in names)].append(row)
    return dict(groups)


def _share(answers: Sequence[Row], grade: str) -> str:
    """Return a share in percent with half a 90 % t interval over contexts, as printed."""
    marks = defaultdict[str, list[bool]](list)
    for row in answers:
        marks[row["context"]].append(row["value"] == grade)
    means = [fmean(each) for each in marks.values()]  # of contexts that have equally many
    half = float(student.ppf(0.95, len(means) - 1)) * stdev(means) / len(means) ** 0.5
    return f"{100 * fmean(means):.1f} ± {100 * half:.1f}"


def _kappa(answers: Sequence[Row]) -> float:
    """Return Fleiss' kappa of replies that equally many graded (Fleiss 1971)."""
    votes = defaultdict[str, Counter[str]](Counter)
    for row in answers:
        votes[row["item"]][row["value"]] += 1
    raters = len(answers) // len(votes)
    pairs = [
        sum(n * (n - 1) for n in each.values()) / raters / (raters - 1) for each in votes.values()
    ]
    shares = [n / len(answers) for n in Counter(row["value"] for row in answers).values()]
    chance = sum(share**2 for share in shares)
    return (fmean(pairs) - chance) / (1 - chance)


# --- five on a page ---------------------------------------------------------------------------


def _pages(found: Simulated) -> list[list[Row]]:
    """Return the grades of each page in the order of the table, which is that of the page."""
    return list(_by(found, "rater", "context").values())


def _values(page: Sequence[Row]) -> tuple[str, ...]:
    return tuple(row["value"] for row in page)


def _sent(found: Simulated) -> Counter[tuple[str, ...]]:
    """Return the grades that people sent, page by page, in the order in which they saw them."""
    text = (found.folder / "crowd.jsonl").read_text(encoding="utf-8")
    notes = [json.loads(line) for line in text.splitlines()]
    took = {(note["person"], note["id"]) for note in notes if note["what"] == "ok"}
    pages = {
        (note["person"], note["id"]): tuple(note["answers"].values())
        for note in notes
        if note["what"] == "invoke" and "answers" in note
    }
    return Counter(page for key, page in pages.items() if key in took and len(page) > 1)


def _evenness(pages: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Return how often the rarest and the commonest source stands in some place, as shares."""
    counts = Counter((place, name) for page in pages for place, name in enumerate(page))
    shares = [counts[place, name] / len(pages) for place in range(5) for name in SOURCES]
    return min(shares), max(shares)


def _asapp(shell: Shell, found: Simulated) -> tuple[Mapping[str, Mapping[str, str]], list[str]]:
    """Return the report's rows by source, and what in them is not as answered."""
    text = shell.analysis(found.export, "--report", "asapp_human")
    table, wrong = {row["source"]: row for row in printed_tables(text)[0]}, list[str]()
    grades = _grades(found)
    for source, answers in grades.items():
        counts = Counter(row["value"] for row in answers)
        wanted = {name: 100 * counts[grade] / len(answers) for name, grade in ASAPP.items()}
        wanted["accept"] = 100 * (counts["1"] + counts["2"]) / len(answers)
        for name, share in wanted.items():
            if abs(float(table[source][name]) - share) > 0.005 + 1e-9:
                wrong.append(f"{source} {name} {table[source][name]}, not {share:.2f}")
        if len(answers) < FEWEST or set(counts) - set(ASAPP.values()):
            wrong.append(f"{source} has grades {dict(counts)}")
    votes = {len(each) for each in _by(found, "item").values()}
    if set(table) != set(grades) or set(grades) != set(SOURCES):
        wrong.append(f"sources {sorted(table)}")
    if votes != {VOTES["reply_grades"]}:
        wrong.append(f"votes a reply {sorted(votes)}")
    return table, wrong


# --- areas ------------------------------------------------------------------------------------


def _areas(shell: Shell) -> dict[str, float]:
    """Return the areas that the report prints of the specification's example."""
    right, wrong = PREDICTED
    rows = [
        {
            "prediction": str(number),
            "system": "dual",
            "dataset": "test",
            "example": str(number),
            "context": ["Hi."],
            "gold": "right",
            "response": None,
            "candidates": ["right", "wrong", "worse"],
            "scores": [score, *wrong[2 * number : 2 * number + 2]],
            "log_probs": None,
        }
        for number, score in enumerate(right)
    ]
    file = shell.written("asapp_scores.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    table = printed_tables(shell.analysis(file, "--report", "asapp_auc"))[0]
    return {row["metric"]: float(row["test"]) for row in table}


def _rescaled(area: float, p: float) -> float:
    """Return what libraries call AUC up to p (McClish 1989), of an area divided by p."""
    least = p / 2
    return 0.5 * (1 + (area - least) / (1 - least))
