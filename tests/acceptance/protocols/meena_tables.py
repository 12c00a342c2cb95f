"""Tables for rows of MEENA: what a report printed, and the same figures by hand from answers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from tests.acceptance.shell import Shell
from tests.acceptance.through_pages import LONGEST, SEED, Simulated
from tests.live import ROOT, environment

Row = Mapping[str, str]
LABELS = ("sensible", "specific")
VOTES = 5
SYSTEMS = ("alpha", "beta", "gamma")  # as planted, the best first
PAGES = "tests/webapp/views/refused/test_meena.py::"


def phases(shell: Shell) -> Simulated:
    """Let people reply to contexts, and others judge all replies, once for the shell's folder."""
    folder = shell.folder / "simulated" / "static_phases"
    shell.commands.append(f"python -m tests.simulate.static_phases FOLDER {SEED}")
    if not (folder / "evaluations.zip").exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", "tests.simulate.static_phases", str(folder), SEED],
            cwd=ROOT,
            env=environment(folder),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{shell.commands[-1]}: {done.stderr.strip()[-800:]}")
    return Simulated(folder, "replies of people and of three bots")


def printed(text: str, *columns: str) -> list[dict[str, str]]:
    """Return the rows of the first printed table that has these columns."""
    lines = text.splitlines()
    for number, rule in enumerate(lines[1:], start=1):
        heads = re.split(r"\s{2,}", lines[number - 1].strip())
        if re.fullmatch(r"-{5,}", rule) and set(columns) <= set(heads):
            return list(_rows(heads, lines[number + 1 :]))
    raise RuntimeError(f"no table has the columns {', '.join(columns)}")


def _rows(heads: Sequence[str], lines: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the lines that have a cell for each head, up to the first that has not."""
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) != len(heads):
            return
        yield dict(zip(heads, cells, strict=True))


def is_near(cell: str, value: float) -> bool:
    """Tell whether a printed number is this value, rounded."""
    decimals = len(cell.partition(".")[2])
    return cell != "-" and abs(float(cell) - value) <= 0.5 * 10**-decimals + 1e-9


def votes_of(rows: Sequence[Row], question: str) -> dict[tuple[str, str], list[int]]:
    """Return all answers to a question by system and item; nobody may answer twice."""
    found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for row in rows:
        if row["question"] == question:
            if row["rater"] in found[row["system"], row["item"]]:
                raise RuntimeError(f"{row['rater']} judged {row['item']} twice")
            found[row["system"], row["item"]][row["rater"]] = int(row["value"])
    return {key: list(given.values()) for key, given in found.items()}


def share(rows: Sequence[Row], question: str, system: str) -> float:
    """Return for how many percent of a system's items most people say yes; all have to vote."""
    votes = [given for (name, _), given in votes_of(rows, question).items() if name == system]
    if not votes or any(len(given) != VOTES for given in votes):
        raise RuntimeError(f"{system}: not every item has {VOTES} votes on {question}")
    return 100 * fmean(2 * sum(given) > len(given) for given in votes)


def ssa(rows: Sequence[Row], system: str) -> tuple[float, float, float]:
    """Return sensibleness, specificity and their mean, of majorities, in percent."""
    sensible, specific = (share(rows, question, system) for question in LABELS)
    return sensible, specific, (sensible + specific) / 2


def is_ssa(row: Row, values: Sequence[float]) -> bool:
    """Tell whether a printed row has these figures."""
    names = ("sensibleness", "specificity", "ssa")
    return all(is_near(row[name], value) for name, value in zip(names, values, strict=True))


def is_locked(rows: Sequence[Row]) -> bool:
    """Tell whether each label of sense has one of specificity, which is no where that is no."""
    pairs: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    for row in rows:
        key = ("campaign", "system", "item", "rater")
        pairs[tuple(row[name] for name in key)][row["question"]] = int(row["value"])
    whole = [pair for pair in pairs.values() if set(pair) == set(LABELS)]
    is_no = [pair["specific"] <= pair["sensible"] for pair in whole]
    return len(whole) == len(pairs) > 0 and all(is_no)


def agreement(votes: Sequence[Sequence[int]]) -> float:
    """Return how often two who judged the same agree, in percent, over items."""
    return 100 * fmean(
        sum(n * (n - 1) for n in Counter(given).values()) / (len(given) * (len(given) - 1))
        for given in votes
    )


def alpha(votes: Sequence[Sequence[int]]) -> float:
    """Return Krippendorff's alpha of yes and no."""
    total = Counter(value for given in votes for value in given)
    count = sum(total.values())
    differ = sum(2 * given.count(0) * given.count(1) / (len(given) - 1) for given in votes)
    return 1 - (count - 1) * differ / (2 * total[0] * total[1])
