"""A chat service: which updates were acted on, what is still to be sent, how far each chat is."""

from __future__ import annotations

from django.db import models

from webapp.models.conversation import Conversation
from webapp.models.participation import Participation
from webapp.models.row import Row


class ServiceUpdate(Row):
    """An update that was acted on, by the service's number; kept as long as it may come again."""

    number = models.BigIntegerField(unique=True)
    sender = models.CharField(max_length=64)  # a keyed hash
    is_message = models.BooleanField()
    taken_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=("sender", "taken_at")),)


class ServiceCall(Row):
    """Something to be sent; deleted once the service has it. `attempt` is the fence."""

    recipient = models.CharField(max_length=128)  # a chat of the service
    method = models.CharField(max_length=40)
    content = models.JSONField()
    attempt = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    failed_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=("recipient", "id")),)


class ServiceSeat(Row):
    """A participation that came by the service, and how much of it was told there."""

    participation = models.OneToOneField(Participation, models.PROTECT, related_name="service_seat")
    chosen_at = models.DateTimeField()  # the latest of a person's is the one they mean
    conversation = models.ForeignKey(Conversation, models.PROTECT, null=True, related_name="+")
    last_seq = models.PositiveIntegerField(default=0)
    shown_state_at = models.DateTimeField(null=True, blank=True)  # of the state told last
