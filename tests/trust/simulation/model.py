"""What the simulation knows by itself: the time, the people, and all that they were told."""

from __future__ import annotations

import random
import uuid
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

BUDGET = 24


class Wrong(Exception):
    """The database does not say what somebody was told."""


@dataclass
class Soul:
    """A person, and all that the platform told them."""

    name: str
    pk: int = 0
    secret: str = ""
    pay: Decimal = Decimal(0)
    is_invited: bool = False
    sent: dict[uuid.UUID, tuple[int, str]] = field(default_factory=dict)  # acknowledged
    labels: dict[tuple[int, str], tuple[int, str]] = field(default_factory=dict)
    tried: set[tuple[int, str, int]] = field(default_factory=set)  # labels, acknowledged or not
    labeled: set[int] = field(default_factory=set)  # seqs of messages
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)  # of an assignment
    code: str = ""
    revision: int = 0
    again: Callable[[], object] | None = None  # what was not acknowledged, to be sent once more
    is_gone: bool = False


@dataclass
class World:
    """One campaign, the people in it, and the time; all that is drawn comes from its seed."""

    seed: int
    number: int  # of the campaign
    now: datetime
    counts: Counter[str]
    chance: random.Random = field(init=False)
    souls: list[Soul] = field(default_factory=list)
    claims: list[Any] = field(default_factory=list)
    trace: deque[str] = field(default_factory=lambda: deque(maxlen=25))
    campaign: Any = None
    compared: int = -1  # the rows that had been changed when sums were last compared

    def __post_init__(self) -> None:
        self.chance = random.Random(f"{self.seed} {self.number}")

    def uuid(self) -> uuid.UUID:
        return uuid.UUID(int=self.chance.getrandbits(128), version=4)

    def must(self, holds: bool, why: str) -> None:
        if not holds:
            where = f"seed {self.seed}, campaign {self.number}:"
            raise Wrong("\n".join([where, *self.trace, why]))

    def person(self, soul: Soul) -> Any:
        from webapp.models import Participation

        return Participation.objects.select_related("campaign", "system").get(pk=soul.pk)


Action = Callable[[World, Soul], object]
