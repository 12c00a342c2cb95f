"""Payments."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from webapp import clock
from webapp.models.participation import Participation
from webapp.models.row import Row


class CompletionCode(Row):
    """The proof that a participation is to be paid; one per participation, for ever."""

    class Kind(models.TextChoices):
        FULL = "FULL", "full pay"
        PART = "PART", "part of the pay"
        WAITING = "WAITING", "waiting pay"
        SCREENED = "SCREENED", "pay of a check that was not passed"

    participation = models.OneToOneField(Participation, models.PROTECT, related_name="code")
    code = models.CharField(max_length=24, unique=True)
    kind = models.CharField(max_length=8, choices=Kind)
    amount = models.DecimalField(max_digits=7, decimal_places=2)
    made_at = models.DateTimeField(default=clock.now)


class Bonus(Row):
    """Extra pay given by a requester, for a stated reason."""

    participation = models.ForeignKey(Participation, models.PROTECT, related_name="bonuses")
    amount = models.DecimalField(max_digits=7, decimal_places=2)
    reason = models.CharField(max_length=200)
    given_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    given_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(amount__gt=0), name="a_bonus_is_positive"),
        )
