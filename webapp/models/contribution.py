"""Contributions: what participants write for a protocol to use, and what came of it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from webapp import clock
from webapp.models.rating import Assignment
from webapp.models.row import Row


class Contribution(Row):
    """The texts of one assignment, in order: offered, then accepted or refused.

    Its author is the assignment's participation; what it was written about is of the item.
    """

    class State(models.TextChoices):
        OFFERED = "OFFERED", "offered"
        ACCEPTED = "ACCEPTED", "accepted"
        REFUSED = "REFUSED", "refused"

    # One each: a form that is sent twice is stored once (R19).
    assignment = models.OneToOneField(Assignment, models.PROTECT, related_name="contribution")
    texts = models.JSONField()
    state = models.CharField(max_length=8, choices=State, default=State.OFFERED)
    reason = models.CharField(max_length=200, blank=True)  # of a refusal
    made_at = models.DateTimeField(default=clock.now)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=Q(state="OFFERED") ^ Q(decided_at__isnull=False),
                name="decided_when_accepted_or_refused",
            ),
        )
