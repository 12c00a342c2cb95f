"""Items, assignments and ratings."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from webapp import clock
from webapp.models.campaign import Campaign, System
from webapp.models.conversation import Conversation, Seat
from webapp.models.counted import Counted
from webapp.models.participation import Participation
from webapp.models.persona import Persona
from webapp.models.row import Row

WITHDRAWN = "withdrawn"  # why a reply that people wrote is set aside


class Context(Row):
    """A fixed beginning of a conversation that systems continue; the speakers alternate.

    It has no message where texts are judged by themselves. `group` is the data set or list that it
    belongs to; `about` names what its texts are judged by, such as a character.
    """

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="contexts")
    key = models.CharField(max_length=40)
    messages = models.JSONField()
    group = models.CharField(max_length=40, blank=True)
    about = models.CharField(max_length=200, blank=True)
    # question to the right answer, of an item of an onboarding: the system of the best reply, or
    # by system the values that are right
    known = models.JSONField(default=dict)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "key"), name="one_context_of_a_key"),
        )


class ItemQuery(models.QuerySet["Item"]):
    """Items, narrowed in ways that several services need."""

    def shared(self) -> ItemQuery:
        """Return those that are shared out among raters: none is of a rater's own conversation."""
        own = Q(conversation__campaign=F("campaign"))
        own &= ~Q(conversation__purpose=Conversation.Purpose.IMPORTED)
        return self.filter(Q(conversation__isnull=True) | ~own)

    def kept(self) -> ItemQuery:
        """Return those of conversations, and of replies, that nobody has withdrawn from."""
        withdrawn = Seat.objects.filter(participation__withdrawn_at__isnull=False)
        emptied = Candidate.objects.filter(conversation__excluded=WITHDRAWN)
        rows = self.exclude(pk__in=emptied.values("item"))  # found once, not for every item
        beside = Candidate.objects.filter(
            item__conversation=None, conversation__in=withdrawn.values("conversation")
        )
        rows = rows.exclude(pk__in=beside.values("item"))
        rows = rows.exclude(conversation__in=withdrawn.values("conversation"))
        return rows.exclude(persona__sentences=[])  # whose author has withdrawn


class Item(Counted):
    """The content of one form: a partner, a message of others, or several candidates together.

    Of something to be written it is the context to reply to, the persona to revise, or nothing:
    then `split` is that of the persona to be written.

    `target` is the number of raters wanted; a participant's own conversation has one. Messages that
    third parties judge are of a conversation of another campaign, or of an imported one. Items of a
    context, and of conversations side by side, have no conversation: each of their candidates has
    its own.
    """

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="items")
    key = models.CharField(max_length=80)
    conversation = models.ForeignKey(Conversation, models.PROTECT, null=True, related_name="items")
    context = models.ForeignKey(Context, models.PROTECT, null=True, related_name="items")
    persona = models.ForeignKey(Persona, models.PROTECT, null=True, related_name="items")
    split = models.CharField(max_length=10, blank=True)
    order = models.PositiveIntegerField(default=0)  # drawn from the campaign's seed
    # Whether its answers are known, for an onboarding: such an item wants no raters, so its target
    # is 0, and any number may be tried on it.
    known = models.BooleanField(default=False)
    objects = ItemQuery.as_manager()

    class Meta(Counted.Meta):
        ordering = ("id",)
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *Counted.Meta.constraints,
            models.UniqueConstraint(fields=("campaign", "key"), name="one_item_of_a_key"),
            models.CheckConstraint(
                condition=Q(conversation__isnull=True, context__isnull=True)
                | Q(conversation__isnull=True, persona__isnull=True)
                | Q(context__isnull=True, persona__isnull=True),
                name="item_of_one_thing_at_most",
            ),
        )
        # Whoever is given items wants those with the fewest votes: read in order, no more of them
        # than are looked at.
        indexes = (
            models.Index(
                F("campaign"),
                F("reserved") + F("completed"),
                F("order"),
                condition=Q(target__gt=F("reserved") + F("completed")),
                name="open_items_by_votes",
            ),
        )


class Candidate(Row):
    """A reply, or a speaker, that is judged, and where it stands; its system is hidden."""

    item = models.ForeignKey(Item, models.PROTECT, related_name="candidates")
    key = models.CharField(max_length=20)  # opaque: p for the partner, m7 for a message
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="candidates")
    system = models.ForeignKey(System, models.PROTECT, related_name="candidates")
    seq = models.PositiveIntegerField(null=True)  # of the message judged; null for the speaker
    side = models.PositiveSmallIntegerField()  # who is judged

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("item", "key"), name="one_candidate_of_a_key"),
        )


class Assignment(Row):
    """An item assigned to a rater, with the order drawn for them."""

    class State(models.TextChoices):
        RESERVED = "RESERVED", "to be judged"
        DONE = "DONE", "judged"
        RELEASED = "RELEASED", "given back"

    item = models.ForeignKey(Item, models.PROTECT, related_name="assignments")
    participation = models.ForeignKey(Participation, models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=8, choices=State, default=State.RESERVED)
    place = models.PositiveSmallIntegerField()  # from 0, in the participation's order
    choices = models.JSONField(default=dict)  # question to the options in the order shown
    shown = models.JSONField(default=list)  # keys of candidates in the order drawn, if several
    draft = models.JSONField(default=dict)  # autosaved answers, not yet submitted
    made_at = models.DateTimeField(default=clock.now)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("participation_id", "place")
        constraints = (
            models.UniqueConstraint(
                fields=("item", "participation"), name="one_rater_once_on_an_item"
            ),
        )


class Rating(Row):
    """One answer. Superseded by a higher revision, never edited (S15, R20)."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="ratings")
    candidate = models.ForeignKey(Candidate, models.PROTECT, related_name="ratings")
    question = models.CharField(max_length=40)
    value = models.JSONField()
    revision = models.PositiveBigIntegerField(default=0)  # the rater's own count
    follows = models.BooleanField(default=False)  # not asked: it follows from another answer
    made_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("assignment", "candidate", "question", "revision"),
                name="one_rating_a_revision",
            ),
        )
