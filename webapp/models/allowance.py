"""Allowances of tokens and of their cost: a campaign's, and each conversation's."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from webapp.models.campaign import Campaign
from webapp.models.conversation import Conversation
from webapp.models.row import Row


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
