"""Records: the audit log, oddities for people to review, and the processes that live."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from webapp import clock
from webapp.models.campaign import Campaign
from webapp.models.conversation import Conversation, ReplyJob
from webapp.models.participation import Participation
from webapp.models.row import Row


class AuditEntry(Row):
    """One entry of the append-only, hash-chained log (S15)."""

    number = models.PositiveBigIntegerField(unique=True)
    actor = models.CharField(max_length=150)  # a staff name, or "participation 12", or "sweeper"
    action = models.CharField(max_length=60)
    # Its number stays when a draft is deleted: it is hashed, and the entries are kept.
    campaign = models.ForeignKey(
        Campaign, models.DO_NOTHING, null=True, related_name="audit", db_constraint=False
    )
    detail = models.JSONField(default=dict)
    made_at = models.DateTimeField()
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("number",)


class Flag(Row):
    """Something odd that people should look at; it decides nothing."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="flags")
    conversation = models.ForeignKey(Conversation, models.PROTECT, null=True, related_name="flags")
    participation = models.ForeignKey(
        Participation, models.PROTECT, null=True, related_name="flags"
    )
    kind = models.CharField(max_length=40)
    detail = models.TextField(blank=True)
    made_at = models.DateTimeField(default=clock.now)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)


class ProblemReport(Row):
    """A problem that a participant reported, for staff; it marks no data and is in no export.

    Or words of theirs that suggest a crisis, which nobody but staff is shown here.
    """

    class Kind(models.TextChoices):
        REPORTED = "reported", "a reported problem"
        CRISIS = "crisis", "words that suggest a crisis"

    kind = models.CharField(
        max_length=8, choices=Kind, default=Kind.REPORTED, db_default=Kind.REPORTED
    )
    participation = models.ForeignKey(Participation, models.PROTECT, related_name="reports")
    conversation = models.ForeignKey(Conversation, models.PROTECT, null=True, related_name="+")
    step = models.CharField(max_length=12, choices=Participation.State)  # they were on
    text = models.TextField()
    made_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        indexes = (
            models.Index(
                fields=("participation",),
                condition=models.Q(settled_at=None),
                name="reports_to_read",
            ),
        )


class ReviewedAnswer(Row):
    """What a person made of a bot's automatic answer, once: the intent that the question had.

    guess: the bot's intent; deferred: whether it left the question to people. `intent` is empty
    where the bot knows none that fits.
    """

    job = models.OneToOneField(ReplyJob, models.CASCADE, related_name="review")
    guess = models.CharField(max_length=200)
    deferred = models.BooleanField()
    intent = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    class Meta:
        ordering = ("id",)


class SentAlarm(Row):
    """An alarm that staff were mailed; it is forgotten when it was not raised for a while."""

    name = models.CharField(max_length=120, unique=True)  # with the campaign's number, or 0
    seen_at = models.DateTimeField()  # when it was last raised


class Heartbeat(Row):
    """A process that works for the platform, a reply worker or a sweeper; or how far a check is.

    Of the kind "platform" there is one for each part: who works as that part keeps it (R35).
    """

    name = models.CharField(max_length=80, unique=True)  # host:pid
    kind = models.CharField(max_length=20)  # replies or sweeper; platform, turn, audit
    bots = models.JSONField(default=list)
    detail = models.JSONField(default=dict)
    seen_at = models.DateTimeField()


class Outage(Row):
    """Time in which a part of the platform gave no sign of life, or the clock jumped (R35, R36)."""

    class Part(models.TextChoices):
        WEB = "web", "pages"
        SWEEPER = "sweeper", "sweeper"
        REPLIES = "replies", "reply workers"

    class Reason(models.TextChoices):
        SILENCE = "silence", "no sign of life"
        CLOCK_FORWARD = "forward", "the clock jumped forward"
        CLOCK_BACK = "back", "the clock went back"

    part = models.CharField(max_length=8, choices=Part)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    reason = models.CharField(max_length=8, choices=Reason)
    announced = models.BooleanField(default=False)  # whom it kept from their step reads of it

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=("part", "ended_at")),)


class LoginAttempt(Row):
    """An attempt to log in, by a keyed hash of the name or the address; kept for a minute."""

    bucket = models.CharField(max_length=60)
    made_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=("bucket", "made_at")),)
