"""Stored results: what was computed of a campaign's or a study's data, for its pages."""

from __future__ import annotations

from django.db import models

from webapp.models.row import Row


class StoredResult(Row):
    """One result, in its newest computation; it can be emptied at any time and computed again."""

    subject = models.CharField(max_length=30)  # campaign-3, study-2
    name = models.CharField(max_length=80)  # page, scores, report/NAME, document/NAME
    choice = models.CharField(max_length=10)  # which answers it rests on
    wanted_at = models.DateTimeField(null=True)  # since when a newer one is waited for
    problem = models.CharField(max_length=200, blank=True)  # why the last computation gave none
    content = models.BinaryField(null=True)  # compressed JSON
    marks = models.CharField(max_length=64, blank=True)  # digest of what changes with the data
    last_rating = models.PositiveBigIntegerField(default=0)  # number of the last one that is in it
    made_at = models.DateTimeField(null=True)  # the time of its data
    answers = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)  # that it took
    # How often it was emptied: what was begun before is not stored after.
    erasures = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("subject", "name", "choice"), name="one_result_of_a_name"
            ),
        )
