"""Accounts of staff: projects and who is in them, sessions, passwords, second factors."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q

from webapp import clock
from webapp.models.row import Row


class Project(Row):
    """A group's campaigns, studies and whitelists, which only its members see."""

    name = models.CharField(max_length=120, unique=True)
    made_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Member(Row):
    """An account in a project. Everybody in it may look; an administrator may do everything."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="members")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    is_runner = models.BooleanField(default=False)
    is_exporter = models.BooleanField(default=False)
    is_payer = models.BooleanField(default=False)
    is_administrator = models.BooleanField(default=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "account"), name="one_row_of_a_member"),
        )


class StaffSession(AbstractBaseSession):
    """A session of the requester's pages, with what its owner tells it by; no address (S14)."""

    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+"
    )
    device = models.CharField(max_length=60, blank=True)  # such as "Firefox on Linux"
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta(AbstractBaseSession.Meta):
        abstract = False
        indexes = (models.Index(fields=("account", "seen_at")),)

    @classmethod
    def get_session_store_class(cls) -> Any:
        return import_module(settings.SESSION_ENGINE).SessionStore


class FirstPassword(Row):
    """That an account's password was drawn for it, and when; another password deletes the row."""

    account = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    made_at = models.DateTimeField()


class SecondFactor(Row):
    """The secret that an account's codes come from, encrypted by the server's key.

    One that is not confirmed yet asks for nothing. step: the last one whose code was used.
    """

    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    secret = models.CharField(max_length=255)
    step = models.BigIntegerField(default=0)
    made_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("account",),
                condition=Q(confirmed_at__isnull=False),
                name="one_second_factor_of_an_account",
            ),
            models.UniqueConstraint(
                fields=("account",),
                condition=Q(confirmed_at__isnull=True),
                name="one_unconfirmed_factor_of_an_account",
            ),
        )


class RecoveryCode(Row):
    """A code that stands in for a lost phone, once; only its hash is stored."""

    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    hash = models.CharField(max_length=64)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("account", "hash"), name="one_row_of_a_recovery_code"),
        )
