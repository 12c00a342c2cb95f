"""A panel's study: what it is to do, what it says it did, and which payments are on their way."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from webapp.models.campaign import Campaign
from webapp.models.participation import Participation
from webapp.models.row import Row


class PanelStudy(Row):
    """A campaign's study at the panel; amounts are whole cents, codes fixed before it exists."""

    campaign = models.OneToOneField(Campaign, models.PROTECT, related_name="panel_study")
    key = models.CharField(max_length=32, unique=True)  # finds it there where the answer was lost
    study_id = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001 - none yet, and "" would not be unique
    title = models.CharField(max_length=120)
    description = models.TextField()
    address = models.URLField(max_length=400)  # of the start link, with the panel's placeholders
    openings = models.PositiveIntegerField()
    minutes = models.PositiveSmallIntegerField()
    reward = models.PositiveIntegerField()
    screening_reward = models.PositiveIntegerField()  # 0: who is screened out is paid by a bonus
    screening_openings = models.PositiveIntegerField()
    codes = models.JSONField()  # group of outcomes: code
    pays_parts = models.BooleanField(default=False)  # a part of the pay is one of the reward
    status = models.CharField(max_length=30, blank=True)  # in the panel's words
    hourly = models.PositiveIntegerField(null=True)
    is_underpaying = models.BooleanField(null=True)
    total_cost = models.PositiveIntegerField(null=True)
    openings_taken = models.PositiveIntegerField(default=0)
    read_at = models.DateTimeField(null=True)  # None: it is to be read at once
    error = models.CharField(max_length=200, blank=True)  # of the last reading
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")


class PanelSubmission(Row):
    """A submission as the panel last told of it; the participant's id is not stored here."""

    study = models.ForeignKey(PanelStudy, models.PROTECT, related_name="submissions")
    submission_id = models.CharField(max_length=64, unique=True)
    participation = models.OneToOneField(
        Participation, models.PROTECT, null=True, related_name="panel_submission"
    )
    status = models.CharField(max_length=30)
    entered_code = models.CharField(max_length=40, blank=True)
    bonus_seen = models.PositiveIntegerField(default=0)  # cents, the sum that the panel has paid
    return_requested = models.BooleanField(default=False)
    look = models.BooleanField(default=False)  # an event came: read it again
    read_at = models.DateTimeField()


class PanelCall(Row):
    """One thing to be done at the panel, at most once by its key."""

    class Stage(models.TextChoices):
        DUE = "DUE", "to be sent"
        SENT = "SENT", "sent, not seen to have happened yet"
        DONE = "DONE", "done"
        FAILED = "FAILED", "failed"

    study = models.ForeignKey(PanelStudy, models.PROTECT, related_name="calls")
    submission = models.ForeignKey(PanelSubmission, models.PROTECT, null=True, related_name="calls")
    key = models.CharField(max_length=120, unique=True)
    action = models.CharField(max_length=10)
    content = models.JSONField(default=dict)
    stage = models.CharField(max_length=6, choices=Stage, default=Stage.DUE)
    attempt = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    error = models.CharField(max_length=200, blank=True)
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=("stage", "due_at")),)


class PanelBatch(Row):
    """Bonuses that the panel has set up as one, and whether it was told to pay them."""

    class Stage(models.TextChoices):
        READY = "READY", "set up, not told to pay"
        SENDING = "SENDING", "being told, or the answer was lost"
        ACCEPTED = "ACCEPTED", "accepted, or some of it was seen"
        PAID = "PAID", "all of it was seen"

    study = models.ForeignKey(PanelStudy, models.PROTECT, related_name="batches")
    bulk_id = models.CharField(max_length=64, unique=True)
    stage = models.CharField(max_length=8, choices=Stage, default=Stage.READY)
    due_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=200, blank=True)


class PanelPayment(Row):
    """A bonus that is owed; `start` is the sum intended before it, so no cent is intended twice."""

    submission = models.ForeignKey(PanelSubmission, models.PROTECT, related_name="payments")
    start = models.PositiveIntegerField()
    amount = models.PositiveIntegerField()
    batch = models.ForeignKey(PanelBatch, models.PROTECT, null=True, related_name="payments")
    due_at = models.DateTimeField()
    error = models.CharField(max_length=200, blank=True)
    paid_at = models.DateTimeField(null=True)  # when it was first seen in the panel's books
    made_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("submission", "start"), name="no_cent_intended_twice"),
            models.UniqueConstraint(
                fields=("submission",),
                condition=Q(paid_at__isnull=True),
                name="one_open_bonus_a_submission",
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="an_intended_bonus_is_positive"),
        )


class PanelHook(Row):
    """A workspace of the panel whose events come here, and the secret that signs them, sealed."""

    workspace = models.CharField(max_length=64, unique=True)
    sealed = models.TextField()
    made_at = models.DateTimeField()


class PanelEvent(Row):
    """An event that the panel told of; its id is the same whenever it is told again."""

    event_id = models.CharField(max_length=100, unique=True)
    taken_at = models.DateTimeField()
