"""A row that counts towards a target: how many are wanted, reserved and completed."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from webapp.models.row import Row


class Counted(Row):
    """Never over target: the database refuses it, so a race can fail but not overshoot (R16)."""

    target = models.PositiveIntegerField()
    reserved = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(target__gte=F("reserved") + F("completed")),
                name="%(class)s_never_over_target",
            ),
        )

    @property
    def free(self) -> int:
        return self.target - self.reserved - self.completed
