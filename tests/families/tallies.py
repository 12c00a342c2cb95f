"""Rows of the table: how often each kind of interval and claim of a family held, and a verdict.

A 95 % interval is to hold the truth in .93 to .97 of what is printed; equal systems are to be
called different, or one of them first or surely above another, in .06 at most. What is outside by
no more than two Monte Carlo errors is `near`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.families.catalog import FAMILIES, Family
from tests.families.printed import Counts
from tests.families.ratings import Ratings

LEAST, MOST, WRONG = 0.93, 0.97, 0.06
ERRORS = 2.0
TOO_WIDE = "too wide"
INTERVALS = ("score", "difference", "win rate", "ability", "worth", "alpha", "percent")
CLAIMS = ("different", "sure", "first", "rank")
OTHERS = ("cautioned",)
HEAD = {
    "score": "score",
    "difference": "difference",
    "win rate": "win rate",
    "ability": "ability",
    "worth": "worth",
    "alpha": "alpha",
    "percent": "percent agreement",
    "different": "called different",
    "sure": "P ≥ .975",
    "first": "first",
    "rank": "P(rank) ≥ .975",
    "cautioned": "cautioned",
}
ABSTAINS = 0.99


@dataclass(frozen=True)
class Share:
    """A share of what was printed, its Monte Carlo error, and how much of all was printed."""

    value: float
    error: float
    printed: float


@dataclass(frozen=True)
class Row:
    """A family with the shares of each kind, over so many campaigns."""

    family: Family
    campaigns: int
    shares: Mapping[str, Share]

    @property
    def withheld(self) -> float:
        """The share of intervals that could have been printed and were not."""
        kinds = [self.shares[kind].printed for kind in INTERVALS if kind in self.shares]
        return 1 - float(np.mean(kinds))

    @property
    def faults(self) -> tuple[str, ...]:
        """What does not hold, beyond Monte Carlo error, and is not known to be biased."""
        return tuple(self._told("fails"))

    @property
    def verdict(self) -> str:
        """Say in a few words whether the family holds."""
        if self.faults:
            return f"fails: {', '.join(self.faults)}"
        if self.withheld >= ABSTAINS:
            return "abstains"
        near = ", ".join(self._told("near"))
        known = [f"{kind} biased" for kind in self.family.biased]
        known += ["wide for what was lost"] * _allows(self.family)
        return "; ".join([f"near: {near}" if near else "holds", *known])

    def _told(self, wanted: str) -> Iterator[str]:
        if self.family.abstains and self.withheld < ABSTAINS:
            if wanted == "fails":
                yield "should abstain"
            return
        for kind, share in self.shares.items():
            if share.printed and kind not in self.family.biased and kind not in OTHERS:
                state, word = _state(kind, share)
                if state == wanted and not (word == TOO_WIDE and _allows(self.family)):
                    yield f"{HEAD[kind]} {word}"


def _allows(family: Family) -> bool:
    """Say whether intervals are wider than chance asks, for what no rating can tell."""
    return isinstance(family, Ratings) and family.allows


def _state(kind: str, share: Share) -> tuple[str, str]:
    """Return `holds`, `near` or `fails`, and the word for it."""
    low, high = (LEAST, MOST) if kind in INTERVALS else (0.0, WRONG)
    words = ("too narrow", TOO_WIDE) if kind in INTERVALS else ("", "too often")
    for gap, word in ((low - share.value, words[0]), (share.value - high, words[1])):
        if gap > 0:
            return ("fails" if gap > ERRORS * share.error else "near"), word
    return "holds", ""


def row(family: Family, counted: Sequence[Counts]) -> Row:
    """Return the row of a family from what its campaigns counted."""
    kinds = dict.fromkeys(kind for each in counted for kind in each)
    return Row(family, len(counted), {kind: _share(kind, counted) for kind in kinds})


def _share(kind: str, counted: Sequence[Counts]) -> Share:
    """Return a share over all, with the error of a ratio of sums over campaigns."""
    true, printed, possible = np.array([each[kind] for each in counted], dtype=float).T
    if not printed.sum():
        return Share(float("nan"), float("nan"), 0.0)
    value = float(true.sum() / printed.sum())
    spread = float(np.sqrt(((true - value * printed) ** 2).sum()) / printed.sum())
    # Of a few campaigns that all agree half a campaign is added.
    count = len(counted)
    near = (value * count + 0.5) / (count + 1)
    return Share(value, max(spread, float(np.sqrt(near * (1 - near) / count)) / 2),
                 float(printed.sum() / possible.sum()))  # fmt: skip


COLUMNS = ["family", "campaigns", *HEAD.values(), "withheld", "verdict"]
OPEN, CLOSE = "<!-- families -->\n", "<!-- /families -->"


def table(rows: Sequence[Row]) -> str:
    """Return all rows as a table of Markdown."""
    return _drawn([COLUMNS, ["---"] * len(COLUMNS), *map(_cells, rows)])


def has_table(page: Path) -> bool:
    """Say whether there is a page with a table of families."""
    return page.is_file() and OPEN in page.read_text(encoding="utf-8")


def fill(page: Path, rows: Sequence[Row]) -> None:
    """Put rows into the table of a page, in the order of the catalog; others stay there."""
    before, rest = page.read_text(encoding="utf-8").split(OPEN)
    old, after = rest.split(CLOSE)
    known = {line.split(" | ")[0].removeprefix("| "): line for line in old.splitlines()[2:]}
    known |= {row.family.name: _drawn([_cells(row)]) for row in rows}
    lines = [table([]), *(known[one.name] for one in FAMILIES if one.name in known)]
    text = f"{before}{OPEN}" + "\n".join(lines) + f"\n{CLOSE}{after}"
    page.write_text(text, encoding="utf-8")


def _drawn(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: Row) -> list[str]:
    shares = [_cell(row.shares.get(kind)) for kind in HEAD]
    return [row.family.name, f"{row.campaigns}", *shares, _figure(row.withheld), row.verdict]


def _cell(share: Share | None) -> str:
    if share is None:
        return ""
    return _figure(share.value) if share.printed else "–"


def _figure(share: float) -> str:
    return f"{share:.3f}".removeprefix("0") if share < 0.9995 else "1"
