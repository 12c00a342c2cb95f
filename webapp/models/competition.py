"""Competitions: the rules by which a study's systems are chosen, and what teams submitted."""

from __future__ import annotations

from django.db import models

from webapp.models.row import Row
from webapp.models.study import Study


class Competition(Row):
    """A competition, whose human round is a phase of its study.

    automatic_winner and human_winner are teams, "" until it is closed; they may differ.
    """

    study = models.OneToOneField(Study, models.PROTECT, related_name="competition")
    rules = models.JSONField()
    human_round = models.ForeignKey(
        "webapp.Campaign", models.PROTECT, null=True, related_name="competitions"
    )
    automatic_winner = models.CharField(max_length=60, blank=True)
    human_winner = models.CharField(max_length=60, blank=True)
    closed_at = models.DateTimeField(null=True)


class Entry(Row):
    """A submission of a team. scores: by metric, once it ran. failure: a kind of error, or ""."""

    competition = models.ForeignKey(Competition, models.PROTECT, related_name="entries")
    team = models.SlugField(max_length=60)
    content = models.JSONField()
    submitted_at = models.DateTimeField()
    scores = models.JSONField(null=True)
    failure = models.CharField(max_length=60, blank=True)
    ran_at = models.DateTimeField(null=True)
    declined = models.BooleanField(default=False)  # the human round
    training_code_sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("id",)
