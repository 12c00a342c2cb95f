"""Whitelists under review: the replies that a ranker may give, and the decision on each."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from webapp.models.account import Project
from webapp.models.row import Row


class Whitelist(Row):
    """A file that was put up for review."""

    name = models.CharField(max_length=120, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    project = models.ForeignKey(Project, models.PROTECT, related_name="whitelists")
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)


class ListedReply(Row):
    """One reply of a whitelist; `decided_at` is empty as long as nobody looked at it."""

    class Decision(models.TextChoices):
        KEEP = "keep", "keep"
        EDIT = "edit", "edit"
        DROP = "drop", "drop"

    whitelist = models.ForeignKey(Whitelist, models.PROTECT, related_name="replies")
    place = models.PositiveIntegerField()
    text = models.TextField()
    count = models.PositiveIntegerField()
    decision = models.CharField(max_length=4, choices=Decision, default=Decision.KEEP)
    edited = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("place",)
        constraints = (
            models.UniqueConstraint(
                fields=("whitelist", "place"), name="one_reply_at_a_place_of_a_whitelist"
            ),
            models.CheckConstraint(
                condition=~Q(decision="edit", edited=""), name="an_edited_reply_has_words"
            ),
        )
