"""Servers of models that an administrator allowed in the browser, and their keys, sealed."""

from __future__ import annotations

from django.db import models

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
