"""Models of one's own: the servers that may be called, their sealed keys, and what they may use.

Servers and keys are the installation's; an allowance is a campaign's, or of one conversation.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from webapp.models.campaign import Campaign
from webapp.models.conversation import Conversation
from webapp.models.row import Row


class ModelServer(Row):
    """A server that chat servers may be called at, beside those of the environment."""

    server = models.CharField(max_length=260, unique=True)  # host:port
    is_private = models.BooleanField(default=False)  # may have a private address, and no TLS
    added_by = models.CharField(max_length=150)
    added_at = models.DateTimeField()


class ServerKey(Row):
    """A key for one server. What is stored cannot be read without the installation's secret."""

    server = models.ForeignKey(ModelServer, models.CASCADE, related_name="keys")
    name = models.CharField(max_length=60, unique=True)
    sealed = models.TextField()
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField()


class Allowance(Row):
    """What models may use: a call reserves before it begins, so that calls together stay within.

    Cost is in millionths of the campaign's currency. `conversation` null: the whole campaign's.
    """

    class Unit(models.TextChoices):
        TOKENS = "tokens", "tokens"
        COST = "cost", "cost"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="allowances")
    conversation = models.ForeignKey(
        Conversation, models.CASCADE, null=True, related_name="allowances"
    )
    unit = models.CharField(max_length=6, choices=Unit)
    most = models.PositiveBigIntegerField()
    reserved = models.PositiveBigIntegerField(default=0)  # by calls under way
    used = models.PositiveBigIntegerField(default=0)
    beyond = models.PositiveBigIntegerField(default=0)  # used by calls that took more than reserved

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(most__gte=F("reserved") + F("used")), name="never_over_allowance"
            ),
            models.UniqueConstraint(
                fields=("conversation", "unit"), name="one_allowance_a_conversation"
            ),
            models.UniqueConstraint(
                fields=("campaign", "unit"),
                condition=Q(conversation=None),
                name="one_allowance_a_campaign",
            ),
        )
