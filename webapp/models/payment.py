"""Payments, and the budget that they come from."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from webapp import clock
from webapp.models.campaign import Campaign
from webapp.models.participation import Participation
from webapp.models.row import Row


class PayLedger(Row):
    """The money of a campaign since its launch: never more is promised and paid than there is.

    In cents: SQLite adds decimals as binary fractions, and a budget would be a cent too small.
    """

    campaign = models.OneToOneField(Campaign, models.PROTECT, related_name="ledger")
    budget = models.PositiveBigIntegerField()
    reserved = models.PositiveBigIntegerField(default=0)  # for those who are at work
    spent = models.PositiveBigIntegerField(default=0)  # on codes and bonuses
    held_at = models.DateTimeField(null=True, blank=True)  # since when nobody new gets a place
    held_because = models.CharField(max_length=10, blank=True)  # a kind of unusual endings
    looked_at = models.DateTimeField(null=True, blank=True)  # when a person last let people in

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(budget__gte=F("reserved") + F("spent")), name="never_over_budget"
            ),
            models.CheckConstraint(
                condition=Q(reserved__gte=0, spent__gte=0), name="no_negative_pay"
            ),
        )


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


class PayHold(Row):
    """A code whose payment a person looks at first; undecided until `decided_at`.

    `until` is when the payment is let go by itself. Nothing but a person refuses it.
    """

    code = models.OneToOneField(CompletionCode, models.PROTECT, related_name="hold")
    because = models.CharField(max_length=10)  # a kind of unusual endings, or "flags"
    held_at = models.DateTimeField()
    until = models.DateTimeField(db_index=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )  # nobody where its time ran out
    refused = models.BooleanField(default=False)
    reason = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(refused=False)
                | Q(decided_at__isnull=False, decided_by__isnull=False) & ~Q(reason=""),
                name="a_person_refuses_with_a_reason",
            ),
        )


class Receipt(Row):
    """What an end of a participation was confirmed by: a salted hash of what was stored then.

    A chain per participation; without its salt, after a withdrawal, the hash tells nothing.
    """

    participation = models.ForeignKey(
        Participation, models.PROTECT, related_name="receipts", db_index=False
    )
    public_id = models.CharField(max_length=32, db_index=True)  # of the participation, drawn
    number = models.PositiveSmallIntegerField()  # from 1
    salt = models.CharField(max_length=32, blank=True)
    has_code = models.BooleanField()
    pay = models.DecimalField(max_digits=7, decimal_places=2)
    messages = models.PositiveIntegerField()
    answers = models.PositiveIntegerField()
    texts = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    previous = models.CharField(max_length=64, blank=True)  # the digest of the one before
    made_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("participation", "number"), name="one_receipt_of_a_number"
            ),
        )


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
