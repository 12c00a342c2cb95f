"""Protocols that requesters built: a row is a version, and a change is another row."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from webapp.models.row import Row


class ProtocolImage(Row):
    """An image that versions of protocols show, known by the SHA-256 of its bytes; never edited.

    content: WebP as `services.staff_forms.image_bytes` writes it, without metadata. One that no
    version has is of a form that nobody saved, and goes after a day.
    """

    sha256 = models.CharField(max_length=64, unique=True)
    content = models.BinaryField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("sha256",)


class OwnProtocol(Row):
    """A version of a protocol, never edited. Versions have owner and name in common.

    content: the protocol as `evaluation.serialized` writes it. copied_name and copied_sha256: the
    protocol that the first version was a copy of, "" for none.
    """

    # Never given twice, not after a restore either: protocols are cached by it.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    name = models.SlugField(max_length=60)
    version = models.PositiveIntegerField(default=1)
    title = models.CharField(max_length=120)
    content = models.JSONField()
    sha256 = models.CharField(max_length=64)
    copied_name = models.CharField(max_length=60, blank=True)
    copied_sha256 = models.CharField(max_length=64, blank=True)
    made_at = models.DateTimeField()
    images = models.ManyToManyField(ProtocolImage, related_name="versions")

    class Meta:
        ordering = ("name", "-version")
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "name", "version"), name="one_row_of_a_version"
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="versions_begin_at_one"),
        )
