"""Notes of imported conversations: all that is known of one beside its messages."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from webapp.models.conversation import Conversation
from webapp.models.row import Row


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

    class Meta:
        ordering: ClassVar[tuple[str, ...]] = ("conversation_id",)
