"""Participations, their consents, and their ids outside."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from webapp import clock
from webapp.models.campaign import Campaign, System
from webapp.models.persona import Persona
from webapp.models.row import Row


class Participation(models.Model):
    """One person in one campaign; secrets of cookies are kept as hashes only."""

    class State(models.TextChoices):
        ADMISSION = "ADMISSION", "answering questions before the work"
        READY = "READY", "reading the instructions"
        WAITING = "WAITING", "waiting for a partner"
        MATCHED = "MATCHED", "asked whether still there"
        CHATTING = "CHATTING", "chatting"
        RATING = "RATING", "rating"
        WRITING = "WRITING", "writing"
        ENDED = "ENDED", "ended"

    class Outcome(models.TextChoices):
        COMPLETED = "COMPLETED", "completed"
        PARTNER_LEFT = "PARTNER_LEFT", "partner left"
        FAILED = "FAILED", "we failed"
        STOPPED = "STOPPED", "campaign stopped"
        NOBODY = "NOBODY", "waited, nobody came"
        LEFT = "LEFT", "left and did not return"
        FULL = "FULL", "full before any work"
        DECLINED = "DECLINED", "declined before any work"
        QUIT = "QUIT", "stopped of their own accord"
        SCREENED_OUT = "SCREENED_OUT", "screened out before any work"
        CHECK_FAILED = "CHECK_FAILED", "failed an announced check"
        ONBOARDING = "ONBOARDING", "below the share of known answers"

    campaign = models.ForeignKey(
        Campaign, models.PROTECT, related_name="participations", db_index=False
    )
    system = models.ForeignKey(System, models.PROTECT, null=True, related_name="participations")
    planned = models.JSONField(default=list)  # numbers of systems, in the order drawn for them
    pseudonym = models.CharField(max_length=64)
    # a signature said who they are: a place of theirs goes to nobody who waits (R40)
    is_proven = models.BooleanField(default=False, db_default=False)
    secret_hash = models.CharField(max_length=64, unique=True)  # of the browser that joined
    state = models.CharField(max_length=10, choices=State, default=State.READY)
    outcome = models.CharField(max_length=14, choices=Outcome, blank=True)
    notice = models.CharField(max_length=40, blank=True)  # why they are here, until they go on
    tab = models.CharField(max_length=36, blank=True)  # the newest tab controls (R10)
    holds_slot = models.BooleanField(default=False)  # a reservation of a cell that is not settled
    # That of a partner who is not asked to rate. A program that knows it not can insert a row.
    holds_partners_slot = models.BooleanField(default=False, db_default=False)
    # What was shown at consent, which binds (R21). No defaults: nobody joins without a promise.
    pay = models.DecimalField(max_digits=7, decimal_places=2)
    waiting_pay = models.DecimalField(max_digits=7, decimal_places=2)
    # of who is screened out, or fails an announced check; promised nothing before there was any
    screening_pay = models.DecimalField(max_digits=7, decimal_places=2, default=0)
    # of the campaign's budget, held for this person until the end
    reserved_pay = models.DecimalField(max_digits=9, decimal_places=2, default=0)
    currency = models.CharField(max_length=3)
    quit_rule = models.CharField(max_length=8, choices=Campaign.QuitRule)
    least_work = models.PositiveSmallIntegerField()
    joined_at = models.DateTimeField(default=clock.now)
    state_at = models.DateTimeField()  # when the present state began
    seen_at = models.DateTimeField()  # last sign of life
    # when a draft last changed; messages, answers and states have times of their own
    drafted_at = models.DateTimeField(null=True, blank=True)
    waiting_at = models.DateTimeField(null=True, blank=True)  # place in the queue
    # Of the next conversation, held until it begins; counted: whether its `taken` says so.
    persona = models.ForeignKey(Persona, models.PROTECT, null=True, blank=True, related_name="+")
    persona_counted = models.BooleanField(default=False)
    partner_at = models.DateTimeField(null=True, blank=True)  # when a bot ends the wait
    ended_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    excluded = models.CharField(max_length=200, blank=True)  # a reviewer's reason

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("campaign", "pseudonym"), name="one_participation_a_person"
            ),
            models.CheckConstraint(
                condition=Q(state="ENDED") ^ Q(outcome=""),
                name="an_outcome_exactly_when_ended",
            ),
        )
        indexes = (
            models.Index(fields=("campaign", "state", "waiting_at")),
            models.Index(fields=("state", "seen_at")),
        )

    def __str__(self) -> str:
        return self.pseudonym[:8]


class Browser(Row):
    """A further browser of a person, which proved that it is theirs; none shuts another out."""

    participation = models.ForeignKey(Participation, models.PROTECT, related_name="browsers")
    secret_hash = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()


class AdmissionTry(Row):
    """Answers of a person to what is to be answered before the work; a quiz may be tried again."""

    participation = models.ForeignKey(Participation, models.PROTECT, related_name="admissions")
    step = models.CharField(max_length=10)  # screening or quiz
    number = models.PositiveSmallIntegerField()  # of the try, from 1
    answers = models.JSONField()  # question to value
    wrong = models.JSONField(default=list)  # the questions whose answers did not pass
    passed = models.BooleanField()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("participation", "step", "number"), name="one_try_of_a_number"
            ),
        )


class Consent(Row):
    """The consent of a person: the text itself, by hash, in its version."""

    participation = models.OneToOneField(Participation, models.PROTECT, related_name="consent")
    text_hash = models.CharField(max_length=64)
    language = models.CharField(max_length=10)
    given_at = models.DateTimeField(default=clock.now)


class ExternalId(Row):
    """The only place where an outside id is stored; purged after payment closes."""

    participation = models.OneToOneField(Participation, models.PROTECT, related_name="external")
    platform = models.CharField(max_length=20)
    value = models.CharField(max_length=128)
