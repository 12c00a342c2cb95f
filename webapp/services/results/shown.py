"""Results as pages show them, read from what was stored: plain values, no tables that compute.

Apart because a process that serves pages reads this, and never what made it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, Generic, TypeVar

from django.utils.formats import number_format

from analysis.stats.rounding import beyond, is_share

CHOICES = {
    "counted": "What counts",
    "unflagged": "Without flagged",
    "careful": "Without flagged raters",
    "all": "With what was set aside",
}
EXPLAINED = {
    "counted": "answers that are not set aside",
    "unflagged": "answers that are neither set aside nor flagged",
    "careful": "answers that are not set aside, of raters whom rater_quality does not flag",
    "all": "all answers, those set aside too",
}
ENOUGH = 10  # rated items below which a chart would say more than the data
ENOUGH_RATINGS = 10  # ratings below which an interval says little
Cell = str | int | float | None
P = TypeVar("P")


@dataclass(frozen=True, kw_only=True)
class ShownPart:
    """One finding: a table, the chart of it where one helps, and how it was computed.

    columns: each with whether it holds numbers; decimals: of each column.
    """

    key: str
    title: str
    note: str
    spec: Mapping[str, Any] | None
    is_printed: bool  # the numbers of a paper
    is_long: bool  # the table would bury what follows
    columns: list[tuple[str, bool]]
    cells: list[list[Cell]]
    decimals: list[int]
    csv: str

    @property
    def length(self) -> int:
        return len(self.cells)

    @property
    def rows(self) -> list[list[tuple[str, bool]]]:
        """The table's cells as text, and whether each is a number."""
        shares = [is_share(column) for column in zip(*self.cells, strict=True)]
        kinds = list(zip(self.decimals, shares, strict=True)) if self.cells else []
        return [
            [written(value, *kind) for value, kind in zip(row, kinds, strict=True)]
            for row in self.cells
        ]


@dataclass(frozen=True)
class Named:
    """A report of the folder, and its description."""

    name: str
    description: str


@dataclass(frozen=True, kw_only=True)
class ResultsPage(Generic[P]):
    """Content of the results page; its parts are tables where it is made, and shown ones here."""

    campaign: str
    title: str
    choice: str
    answers: int
    raters: int
    items: int
    findings: tuple[str, ...]
    parts: tuple[P, ...]
    cautions: tuple[str, ...]
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    reports: tuple[Named, ...]

    @property
    def leads(self) -> list[tuple[str, str]]:
        """The findings, each with the key of its part; the first stands above them."""
        keys = {f"{part.title}.": part.key for part in self.parts}  # type: ignore[attr-defined]
        return [(each, keys.get(each, "")) for each in self.findings[1:]]

    @property
    def has_enough(self) -> bool:
        return self.items >= ENOUGH

    @property
    def rests_on(self) -> str:
        return EXPLAINED[self.choice]


@dataclass(frozen=True, kw_only=True)
class ShownReport:
    """A named report, without its tables."""

    name: str
    title: str
    findings: tuple[str, ...]
    cautions: tuple[str, ...]
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """One estimate with its 95 % interval, where there is one."""

    question: str
    system: str
    estimate: float
    low: float | None
    high: float | None
    n: int

    @property
    def enough(self) -> bool:
        return self.n >= ENOUGH_RATINGS and self.low is not None


@dataclass(frozen=True, kw_only=True)
class ShownPair:
    """Two systems at one look by the stop rule: how much higher the first is, and the verdict.

    reason: why it is decided, or why there is nothing yet. chance: of a decision in the budget.
    """

    one: str = field(kw_only=False)
    other: str = field(kw_only=False)
    estimate: float | None
    low: float | None
    high: float | None
    verdict: str
    reason: str
    chance: float | None
    items: int
    raters: int


def page(content: Mapping[str, Any]) -> ResultsPage[ShownPart]:
    """Return the page as it was stored."""
    values = {each.name: content[each.name] for each in fields(ResultsPage)}
    reports = tuple(Named(*each) for each in content["reports"])
    return ResultsPage(**values | {"parts": parts(content["parts"]), "reports": reports})


def parts(stored: list[dict[str, Any]]) -> tuple[ShownPart, ...]:
    """Return parts of a page as they were stored."""
    return tuple(ShownPart(**each) for each in stored)


def report(content: Mapping[str, Any]) -> tuple[ShownReport, tuple[ShownPart, ...]]:
    """Return a report as it was stored, and its parts."""
    values = {each.name: content[each.name] for each in fields(ShownReport)}
    return ShownReport(**values), parts(content["parts"])


def with_tokenizer(report: str, tokenizer: str) -> str:
    """Return the name of a report whose words are counted otherwise than its paper does."""
    return f"{report}@{tokenizer}" if tokenizer else report


def without_tokenizer(name: str) -> tuple[str, str]:
    """Return a report's name, and the tokenizer that was chosen for it, if one was."""
    report, _, tokenizer = name.partition("@")
    return report, tokenizer


def plain(value: object) -> Cell:
    """Return a cell of a table as it is stored: what is missing or no finite number is None."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Integral):
        return int(value)
    return None if value is None or str(value) == "<NA>" else str(value)


def written(value: Cell, decimals: int, share: bool = False) -> tuple[str, bool]:
    """Return a cell as text in the reader's language, and whether it is a number."""
    if value is None:
        return "–", True
    if isinstance(value, float):
        sign, figure = (beyond(value, decimals) if share else None) or ("", value)
        return sign + str(number_format(round(figure, decimals), decimals)), True  # else it cuts
    if isinstance(value, int):
        return str(number_format(value)), True
    return value, False
