"""Base of every row: a name for logs and the admin."""

from __future__ import annotations

from django.db import models


class Row(models.Model):
    """A row without a name of its own is called by its kind and number."""

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.pk}"
