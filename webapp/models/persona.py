"""Personas of a campaign, a shuffled stack."""

from __future__ import annotations

from django.db import models

from webapp.models.campaign import Campaign


class Persona(models.Model):
    """A character; `taken` counts who waits with it, and the sides that hold or completed it."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="personas")
    key = models.CharField(max_length=40)
    split = models.CharField(max_length=10, blank=True)
    sentences = models.JSONField()
    revised = models.JSONField(default=list, blank=True)
    # Who wrote these, where participants of another campaign did: a withdrawal empties them.
    written = models.ForeignKey(
        "Contribution", models.SET_NULL, null=True, blank=True, related_name="personas"
    )
    reworded = models.ForeignKey(
        "Contribution", models.SET_NULL, null=True, blank=True, related_name="reworded_personas"
    )
    # Of a sheet, where a protocol has briefs: whose it is, what its partner is told, and the group
    # that both are of.
    name = models.CharField(max_length=80, blank=True)
    group = models.CharField(max_length=40, blank=True)
    shared = models.JSONField(default=list, blank=True)
    order = models.PositiveIntegerField()  # drawn from the campaign's seed
    taken = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "key"), name="one_persona_of_a_key"),
        )
        indexes = (models.Index(fields=("campaign", "taken", "order")),)

    def __str__(self) -> str:
        return self.key

    def sentences_in(self, form: str) -> tuple[str, ...]:
        """Return the sentences of a form: original, or revised."""
        return tuple(self.revised if form == "revised" else self.sentences)
