"""Conversations that stand in another campaign: notes of imported ones, and those taken."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from webapp.models.campaign import Campaign, System
from webapp.models.conversation import Conversation
from webapp.models.row import Row


class Control(models.TextChoices):
    """Which of two conversations with a known answer it is: the better one, or the worse."""

    BETTER = "better", "the better one of a control"
    WORSE = "worse", "the worse one of a control"


class TranscriptNote(Row):
    """Where an imported conversation comes from, and in what it departs from the source's rules.

    volunteer: the name that the requester's list has for who chatted, keyed as outside ids are;
    the list's own name is nowhere. marks: names of departures (`transcript_rules`). reset: whether
    the bot's state was reset before, null where nobody noted it.
    """

    conversation = models.OneToOneField(Conversation, models.PROTECT, related_name="note")
    name = models.CharField(max_length=80)
    account = models.CharField(max_length=40, blank=True)
    volunteer = models.CharField(max_length=64, blank=True)
    began_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    reset = models.BooleanField(null=True, blank=True)
    marks = models.JSONField(default=list)
    control = models.CharField(max_length=6, choices=Control, blank=True)

    class Meta:
        ordering: ClassVar[tuple[str, ...]] = ("conversation_id",)


class TakenConversation(Row):
    """A conversation of one campaign that another compares as a whole, under a system of its own.

    It stays where it was held, so that what is withdrawn there is shown nowhere.
    """

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="taken_conversations")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="taken")
    system = models.ForeignKey(System, models.PROTECT, related_name="taken_conversations")
    control = models.CharField(max_length=6, choices=Control, blank=True)

    class Meta:
        ordering: ClassVar[tuple[str, ...]] = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("campaign", "conversation"), name="one_conversation_taken_once"
            ),
        )
