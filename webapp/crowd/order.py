"""Orders to a process of the crowd, as they cross the pipe."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from webapp.crowd.participant import Visit
from webapp.crowd.people import Mix, Person, Quality, draw_people


@dataclass(frozen=True, kw_only=True)
class Order:
    """People number `first` to `first` + `count` visit a campaign, `at_once` at a time.

    The first of them come `apart` seconds after each other.
    """

    bases: tuple[str, ...]
    slug: str
    count: int
    first: int = 0
    seed: int = 0
    at_once: int = 10
    apart: float = 0.0
    seconds: float = 300.0
    patience: float = 90.0
    prefix: str = "sim"
    oracle: bool = False
    browsers: str = ""
    mix: Mix = field(default_factory=Mix)
    planted: Mapping[str, Quality] = field(default_factory=dict)

    def people(self) -> list[Person]:
        drawn = draw_people(
            self.first + self.count, seed=self.seed, mix=self.mix, prefix=self.prefix
        )
        return drawn[self.first :]

    def visit(self) -> Visit:
        return Visit(
            self.bases, self.slug, self.planted, self.seconds, self.patience, self.browsers
        )

    def line(self) -> str:
        return json.dumps(dataclasses.asdict(self))


def parse(line: str) -> Order:
    """Return the order that `Order.line` wrote."""
    values = json.loads(line)
    return Order(**{**values, "bases": tuple(values["bases"]), "mix": Mix(**values["mix"])})
