"""A conversation, its two sides, its log, and the replies that bots owe."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from webapp import clock
from webapp.models.campaign import Campaign, System
from webapp.models.participation import Participation
from webapp.models.persona import Persona
from webapp.models.row import Row


class Conversation(Row):
    """A dialogue for one system. Lengths are in messages of both sides.

    A CONTEXT conversation is a fixed beginning that a bot continues; an IMPORTED one was held
    elsewhere, and came with a requester's transcripts; a REHEARSAL, and a requester's test chat, is
    never part of the study's data.
    """

    class Purpose(models.TextChoices):
        STUDY = "STUDY", "study"
        CONTEXT = "CONTEXT", "static context"
        IMPORTED = "IMPORTED", "imported transcript"
        REHEARSAL = "REHEARSAL", "rehearsal"

    class State(models.TextChoices):
        CHECKING = "CHECKING", "both are asked whether they are there"
        OPEN = "OPEN", "open"
        FINISHED = "FINISHED", "finished"
        ABANDONED = "ABANDONED", "abandoned"
        FAILED = "FAILED", "a system failure"

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="conversations")
    system = models.ForeignKey(System, models.PROTECT, related_name="conversations")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    purpose = models.CharField(max_length=9, choices=Purpose, default=Purpose.STUDY)
    context = models.CharField(max_length=40, blank=True)  # key of the context continued
    intended = models.CharField(max_length=40, blank=True)  # what a reply was meant to be
    # Who wrote the reply, where a participant of another campaign did.
    written = models.ForeignKey(
        "Contribution", models.SET_NULL, null=True, blank=True, related_name="replies"
    )
    topic = models.CharField(max_length=200, blank=True)  # told to both sides, which open on it
    minimum = models.PositiveSmallIntegerField(default=0)
    maximum = models.PositiveSmallIntegerField(null=True, blank=True)
    first_side = models.PositiveSmallIntegerField(default=0)  # who writes the first message
    last_seq = models.PositiveIntegerField(default=0)
    # What the log says of messages up to `counted_seq`; `rules.tally` keeps it. A program that
    # knows none of these columns can still insert a row.
    counted_seq = models.PositiveIntegerField(default=0, db_default=0)
    messages_0 = models.PositiveIntegerField(default=0, db_default=0)  # of each side
    messages_1 = models.PositiveIntegerField(default=0, db_default=0)
    last_message = models.PositiveIntegerField(
        default=0, db_default=0
    )  # its seq, 0 before the first
    last_side = models.PositiveSmallIntegerField(null=True, blank=True)
    last_message_at = models.DateTimeField(null=True, blank=True)
    seed = models.PositiveBigIntegerField()
    started_at = models.DateTimeField()
    deadline_at = models.DateTimeField(null=True, blank=True)  # of the ready check
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_because = models.CharField(max_length=40, blank=True)
    excluded = models.CharField(max_length=200, blank=True)  # a reviewer's reason

    class Meta:
        ordering = ("id",)
        indexes = (
            models.Index(fields=("state", "deadline_at")),
            # Few are set aside; whoever shares items out asks which.
            models.Index("excluded", condition=~Q(excluded=""), name="conversations_set_aside"),
        )


class Seat(Row):
    """A side of a conversation: a participation, or the system's bot where that is null."""

    # Here and below: an index that a constraint has already is not kept a second time.
    conversation = models.ForeignKey(
        Conversation, models.PROTECT, related_name="seats", db_index=False
    )
    side = models.PositiveSmallIntegerField()
    participation = models.ForeignKey(
        Participation, models.PROTECT, null=True, related_name="seats"
    )
    persona = models.ForeignKey(Persona, models.PROTECT, null=True, related_name="+")
    persona_counted = models.BooleanField(default=True)  # in the `taken` of the persona
    persona_form = models.CharField(max_length=8, default="original")  # or revised
    sees_persona = models.BooleanField(default=True)
    rates = models.BooleanField(default=True)  # is asked about the partner, where anything is asked
    round = models.PositiveSmallIntegerField(default=0)  # of the participation, from 0
    # How the participation's part in this conversation ended.
    outcome = models.CharField(max_length=14, choices=Participation.Outcome, blank=True)
    active = models.BooleanField(default=True)  # until the participation leaves this conversation
    seconds_waiting = models.FloatField(null=True, blank=True)  # seconds, before the ready check
    checked_at = models.DateTimeField(null=True, blank=True)  # the beginning of the ready check
    answers_at = models.DateTimeField(null=True, blank=True)  # when a bot is to answer it
    ready_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("side",)
        constraints = (
            models.UniqueConstraint(fields=("conversation", "side"), name="one_seat_a_side"),
            models.UniqueConstraint(
                fields=("participation",),
                condition=Q(active=True, participation__isnull=False),
                name="one_active_conversation_a_participation",
            ),
            models.CheckConstraint(condition=Q(side__in=(0, 1)), name="two_sides"),
        )
        indexes = (
            models.Index(
                fields=("answers_at",),
                condition=Q(answers_at__isnull=False, ready_at__isnull=True),
                name="checks_to_answer",
            ),
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The persona in the form that this side has it; empty for none."""
        return self.persona.sentences_in(self.persona_form) if self.persona else ()


class Event(Row):
    """One entry of a conversation's log; `side` is null where the platform speaks."""

    class Kind(models.TextChoices):
        MESSAGE = "message"
        LABEL = "label"
        STATE = "state"
        NOTICE = "notice"

    conversation = models.ForeignKey(
        Conversation, models.PROTECT, related_name="events", db_index=False
    )
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind)
    side = models.PositiveSmallIntegerField(null=True)
    client_id = models.UUIDField(null=True)
    in_reply_to = models.PositiveIntegerField(null=True)  # the seq a bot answers; 0 the opening
    content = models.JSONField()
    made_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ("conversation_id", "seq")
        constraints = (
            models.UniqueConstraint(fields=("conversation", "seq"), name="one_event_a_seq"),
            models.UniqueConstraint(
                fields=("conversation", "side", "client_id"),
                condition=Q(client_id__isnull=False),
                name="one_event_a_client_id",
            ),
            models.UniqueConstraint(
                fields=("conversation", "in_reply_to"),
                condition=Q(in_reply_to__isnull=False),
                name="one_reply_a_message",
            ),
        )


class ReplyJob(Row):
    """A reply that a bot owes. `owner` and `attempt` are the fence (R12)."""

    class State(models.TextChoices):
        QUEUED = "QUEUED", "waiting"
        CLAIMED = "CLAIMED", "being answered"
        ANSWERED = "ANSWERED", "answered, seems to type"
        DONE = "DONE", "delivered"
        FAILED = "FAILED", "given up"
        DROPPED = "DROPPED", "no longer wanted"

    conversation = models.ForeignKey(
        Conversation, models.PROTECT, related_name="jobs", db_index=False
    )
    in_reply_to = models.PositiveIntegerField()
    bot = models.CharField(max_length=60)  # its queue
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    owner = models.CharField(max_length=60, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    queued_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)  # when the answer is shown: the bot seems to type
    text = models.TextField(blank=True)
    details = models.JSONField(default=dict)  # model version, parameter hash, seed, latency
    error = models.TextField(blank=True)
    # What its call reserved of the allowances; a program that knows neither can insert a row.
    held_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    held_cost = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("conversation", "in_reply_to"), name="one_job_a_message"
            ),
        )
        # What runs on a timer looks at what is open, by indexes that hold nothing else; the last
        # is for counts of everything. State first, and OR, or SQLite does not take a part index.
        indexes = (
            models.Index(
                fields=("state", "bot", "lease_until"),
                condition=Q(state="QUEUED") | Q(state="CLAIMED"),
                name="jobs_to_answer",
            ),
            models.Index(
                fields=("state", "due_at"), condition=Q(state="ANSWERED"), name="jobs_to_show"
            ),
            models.Index(fields=("state", "bot"), name="jobs_by_state"),
        )


class ReplyCall(Row):
    """One call of a bot for a reply job; texts that must stay whole are JSON strings."""

    class Outcome(models.TextChoices):
        SHOWN = "SHOWN", "shown"
        REFUSED = "REFUSED", "refused by the protocol"
        FAILED = "FAILED", "failed"
        UNWANTED = "UNWANTED", "not shown: the conversation was over"

    job = models.ForeignKey(ReplyJob, models.CASCADE, related_name="calls")
    number = models.PositiveSmallIntegerField()  # of the job's calls, from 1
    attempt = models.PositiveSmallIntegerField()  # of the job
    outcome = models.CharField(max_length=8, choices=Outcome)
    events = models.CharField(max_length=200, default=" ")  # names between blanks
    error = models.TextField(blank=True)
    raw = models.TextField()  # JSON
    reasoning = models.TextField(default='""')  # JSON
    prompt = models.TextField(default="null")  # JSON; null: the persona and the messages before
    parameters = models.TextField(default="{}")  # JSON
    seed = models.BigIntegerField()
    finish_reason = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    reply_tokens = models.PositiveIntegerField(null=True)
    tries = models.PositiveSmallIntegerField(default=1)  # of a server while it was busy
    seconds = models.FloatField()  # of the whole batch
    made_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ("job_id", "number")
        constraints = (models.UniqueConstraint(fields=("job", "number"), name="one_call_a_number"),)
