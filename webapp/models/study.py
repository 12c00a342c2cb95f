"""A study: campaigns that are reported together, each of them a phase with a name."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from webapp.models.account import Project


class Study(models.Model):
    """Campaigns that belong together; each names its phase (`Campaign.study`, `Campaign.phase`).

    disjoint: whether who took part in one phase is refused in the others.
    """

    name = models.CharField(max_length=120)
    note = models.TextField(blank=True)
    disjoint = models.BooleanField(default=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    project = models.ForeignKey(Project, models.PROTECT, related_name="studies")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.name
