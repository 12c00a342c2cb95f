"""Servers of models and their keys, as an administrator enters them while all runs (S10).

Each change is in the audit log, with the names of servers and keys only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from bots.guards import egress
from webapp.models import ModelServer, ServerKey
from webapp.services.replies import model_keys
from webapp.services.rules import access, audit
from webapp.services.staff_forms.fields import Invalid, shown

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_NAME = 60
LONGEST_KEY = 2000


@dataclass(frozen=True)
class ShownKey:
    """A key as a page names it."""

    pk: int
    name: str
    set_by: str
    set_at: datetime
    is_readable: bool


@dataclass(frozen=True)
class ShownServer:
    """A server as a page lists it; one of the environment has no number and shows no keys."""

    pk: int | None
    server: str
    is_private: bool
    added_by: str = ""
    keys: tuple[ShownKey, ...] = ()


def listed() -> list[ShownServer]:
    """Return the servers that may be called: those entered, then those of the environment."""
    rows = ModelServer.objects.prefetch_related("keys").order_by("server")
    found = [
        ShownServer(row.pk, row.server, row.is_private, row.added_by, _keys(row)) for row in rows
    ]
    named = egress.of_environment()
    of_environment = [
        *((server, False) for server in sorted(named.public)),
        *((server, True) for server in sorted(named.private)),
    ]
    return [*found, *(ShownServer(None, *one) for one in of_environment)]


def _keys(row: ModelServer) -> tuple[ShownKey, ...]:
    keys = sorted(row.keys.all(), key=lambda key: key.name)
    return tuple(
        ShownKey(key.pk, key.name, key.set_by, key.set_at, bool(model_keys.opened(key.sealed)))
        for key in keys
    )


def add_server(*, typed: str, is_private: bool, by: Any, now: datetime) -> None:
    """Allow a server. Raises `Invalid`."""
    _only_administrators(by)
    server = _server(typed, is_private)
    try:
        with transaction.atomic():
            ModelServer.objects.create(
                server=server, is_private=is_private, added_by=by.get_username(), added_at=now
            )
            _note(by, "model server added", now, server=server, private=is_private)
    except IntegrityError:
        complaint = _("%(value)s is listed already") % {"value": shown(server)}
        raise Invalid({"server": complaint}) from None


def remove_server(*, pk: int, by: Any, now: datetime) -> None:
    """Allow a server no more, and forget its keys."""
    _only_administrators(by)
    with transaction.atomic():
        row = _one(ModelServer, pk)
        row.delete()
        _note(by, "model server removed", now, server=row.server)


def set_key(*, pk: int, name: str, key: str, by: Any, now: datetime) -> None:
    """Store a server's key under a name, in place of one of that name. Raises `Invalid`."""
    _only_administrators(by)
    row, name, key = _one(ModelServer, pk), name.strip(), key.strip()
    problems = _problems(row, name, key)
    if problems:
        raise Invalid(problems)
    with transaction.atomic():
        ServerKey.objects.update_or_create(
            name=name,
            defaults={
                "server": row,
                "sealed": model_keys.sealed(key),
                "set_by": by.get_username(),
                "set_at": now,
            },
        )
        _note(by, "model key set", now, server=row.server, key=name)


def remove_key(*, pk: int, by: Any, now: datetime) -> None:
    """Forget a key."""
    _only_administrators(by)
    with transaction.atomic():
        row = _one(ServerKey, pk)
        row.delete()
        _note(by, "model key removed", now, key=row.name)


def _one(kind: Any, pk: int) -> Any:
    row = kind.objects.filter(pk=pk).first()
    if row is None:
        raise access.NotFound(f"{kind.__name__} {pk}")
    return row


def _only_administrators(by: Any) -> None:
    if not access.is_superuser(by):
        raise access.NotFound("model servers are an administrator's")


def _server(typed: str, is_private: bool) -> str:
    """Return host:port of an address or a host. Raises `Invalid`."""
    typed = typed.strip().lower()
    right = _("%(value)s is no server; write its host, such as api.example.org, or host:port")
    problem = Invalid({"server": right % {"value": shown(typed)}})
    try:
        parts = urlsplit(typed if "://" in typed else f"//{typed}")
        port = parts.port
    except ValueError:
        raise problem from None
    usual = 443 if parts.scheme == "https" or not (is_private or parts.scheme) else 80
    host = parts.hostname or ""
    server = f"[{host}]:{port or usual}" if ":" in host else f"{host}:{port or usual}"
    if parts.username or parts.query or parts.fragment or not egress.HOST.fullmatch(server):
        raise problem
    if not is_private and (parts.scheme == "http" or egress.is_private_by_name(host)):
        ours = _(
            "%(value)s is no public address of HTTPS; if it is a server of yours, say so below"
        )
        raise Invalid({"server": ours % {"value": shown(typed)}})
    return f"{host}:{port or usual}"


def _problems(row: ModelServer, name: str, key: str) -> dict[str, str]:
    problems: dict[str, str] = {}
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        problems["name"] = _(
            "%(value)s may have only small letters, digits and hyphens, such as lab-key"
        ) % {"value": shown(name)}
    elif ServerKey.objects.filter(name=name).exclude(server=row).exists():
        problems["name"] = _("%(value)s is the key of another server; choose another name") % {
            "value": shown(name)
        }
    if not key:
        problems["key"] = _("is empty; paste the key here")
    elif len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        problems["key"] = _("is no key: it may have only visible characters of ASCII, no blanks")
    return problems


def _note(by: Any, action: str, now: datetime, **detail: Any) -> None:
    audit.append(actor=by.get_username(), action=action, campaign=None, now=now, **detail)
