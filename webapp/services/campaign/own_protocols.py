"""Protocols that requesters built: new ones, new versions, copies, files."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Count, Max
from django.utils.translation import gettext as _

from evaluation import Chat, Draw, Protocol, ours
from evaluation.registry import protocol_names
from evaluation.serialized import InvalidProtocol, digest, from_json, to_json
from evaluation.soundness import LONGEST_NAME, complaints
from webapp.models import OwnProtocol
from webapp.services.rules import access, audit
from webapp.services.rules.access import StaffProtocol
from webapp.services.staff_forms import protocol_images
from webapp.services.staff_forms.fields import Invalid, shown, storable

NO_NAME = "protocol"  # of a title without letters


class Newer(Exception):
    """A version that its author has not seen: storing another would pass over it in silence."""

    def __init__(self, version: int) -> None:
        super().__init__(f"there is a version {version}")
        self.version = version


class InUse(Exception):
    """A protocol that a campaign is of stays."""


@dataclass(frozen=True, kw_only=True)
class ListedProtocol:
    """The latest version of a protocol, as the list shows it."""

    pk: uuid.UUID
    name: str
    title: str
    version: int
    made_at: datetime
    owner: str
    campaigns: int


@dataclass(frozen=True)
class CopySource:
    """The protocol that another one was copied from, by name and hash; "" for none."""

    name: str = ""
    sha256: str = ""


def blank() -> Protocol:
    """Return what a protocol begins from: a short conversation with a bot, and no question yet."""
    intro = ours("You may be talking to a computer program.")
    chat = Chat(partner="bot", told=intro, minimum=Draw((10,)))
    return Protocol(
        name=NO_NAME,
        title="",
        source="this study",
        minutes=10,
        instructions=(ours("Chat about anything you like, then answer the questions."),),
        steps=(chat,),
    )


def origin(protocol: Protocol) -> CopySource:
    """Return by what a copy says where it is from."""
    return CopySource(protocol.name, digest(protocol))


def protocol_of(own: StaffProtocol) -> Protocol:
    """Return the protocol of a version."""
    return from_json(own.content)


def listed(user: access.User) -> list[ListedProtocol]:
    """Return the latest versions that the user may see, by title."""
    rows = access.own_protocols(user)
    newest = rows.values("owner", "name").annotate(newest=Max("version"))
    latest = {(row["owner"], row["name"]): row["newest"] for row in newest}
    counted = rows.select_related("owner").annotate(used=Count("campaigns"))
    used: dict[tuple[int, str], int] = {}
    for row in counted:
        key = (row.owner_id, row.name)
        used[key] = used.get(key, 0) + row.used
    found = [row for row in counted if latest[row.owner_id, row.name] == row.version]
    return sorted(
        (_listed(row, used[row.owner_id, row.name]) for row in found),
        key=lambda row: row.title.casefold(),
    )


def _listed(row: OwnProtocol, campaigns: int) -> ListedProtocol:
    return ListedProtocol(
        pk=row.pk,
        name=row.name,
        title=row.title,
        version=row.version,
        made_at=row.made_at,
        owner=row.owner.get_username(),
        campaigns=campaigns,
    )


def versions(own: StaffProtocol) -> list[tuple[uuid.UUID, int, datetime]]:
    """Return all versions of the same protocol, the latest first."""
    rows = OwnProtocol.objects.filter(owner=own.owner_id, name=own.name).order_by("-version")
    return list(rows.values_list("pk", "version", "made_at"))


def add(*, protocol: Protocol, origin: CopySource, by: Any, now: datetime) -> OwnProtocol:
    """Store a new protocol, named after its title. Raises `Invalid`."""
    with transaction.atomic():
        _lock(by.pk)
        named = replace(protocol, name=_free_name(protocol.title, by.pk))
        return _store(named, owner=by.pk, origin=origin, by=by, now=now)


def latest(own: StaffProtocol) -> int:
    """Return the number of the latest version of the same protocol; 0 where it is deleted."""
    rows = OwnProtocol.objects.filter(owner=own.owner_id, name=own.name)
    return rows.aggregate(latest=Max("version"))["latest"] or 0


def change(
    *, own: StaffProtocol, protocol: Protocol, latest_known: int, by: Any, now: datetime
) -> OwnProtocol:
    """Store the next version of a protocol; one without a change is not stored again.

    Raises `Newer` where the latest version is not `latest_known`.
    """
    origin = CopySource(own.copied_name, own.copied_sha256)
    with transaction.atomic():
        _lock(own.owner_id)
        newest = OwnProtocol.objects.filter(owner=own.owner_id, name=own.name).first()
        if newest is None:
            raise access.NotFound(f"own protocol {own.pk}")
        is_same = newest.sha256 == digest(replace(protocol, name=own.name))
        if newest.version != latest_known and not is_same:
            raise Newer(newest.version)
        named = replace(protocol, name=own.name)
        return _store(named, owner=own.owner_id, origin=origin, by=by, now=now)


def delete(*, own: StaffProtocol, by: Any, now: datetime) -> None:
    """Delete all versions of a protocol that no campaign is of. Raises `InUse`."""
    with transaction.atomic():
        _lock(own.owner_id)
        rows = OwnProtocol.objects.filter(owner=own.owner_id, name=own.name)
        if rows.filter(campaigns__isnull=False).exists():
            raise InUse
        about = {"protocol": own.name, "versions": rows.count()}
        rows.delete()
        protocol_images.tidy(now)
        name = by.get_username()
        audit.append(actor=name, action="protocol deleted", campaign=None, now=now, **about)


def as_file(own: StaffProtocol) -> str:
    """Return a version as the file that `add_file` takes, its images in it."""
    files = protocol_images.as_text(protocol_of(own))
    value = own.content | ({"image_files": files} if files else {})
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def add_file(*, text: str, by: Any, now: datetime) -> OwnProtocol:
    """Store a file's protocol under its name: the next version where there is one of that name.

    Raises `Invalid`.
    """
    protocol, files = _of_file(text)
    if protocol.name in protocol_names():
        complaint = _("name is %(name)s, a protocol that comes with Parley; write another name")
        raise Invalid({"text": complaint % {"name": shown(protocol.name)}})
    with transaction.atomic():
        _lock(by.pk)
        protocol_images.put_text(files, protocol, now)
        return _store(protocol, owner=by.pk, origin=CopySource(), by=by, now=now)


def _of_file(text: str) -> tuple[Protocol, Any]:
    """Return the protocol of a file, and the files of its images as they stand there.

    Raises `Invalid` with everything that is wrong.
    """
    try:
        value = json.loads(text)
        if not storable(value):
            raise Invalid({"text": _("has characters that cannot be stored")})
        files = value.pop("image_files", {}) if isinstance(value, dict) else {}
        protocol = from_json(value)
    except InvalidProtocol as problem:
        raise Invalid({"text": str(problem)}) from None
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, Invalid):
            raise
        complaint = _("is no JSON; take a file that this page exported")
        raise Invalid({"text": complaint}) from None
    if wrong := [f"{about}: {what}" for about, what in complaints(protocol)]:
        raise Invalid({"text": "; ".join(wrong)})
    return protocol, files


def _store(
    protocol: Protocol, *, owner: int, origin: CopySource, by: Any, now: datetime
) -> OwnProtocol:
    """Store a version, or return the latest where it is the same. The owner has to be locked.

    Raises `Invalid` where an image is not there.
    """
    sha256, images = digest(protocol), protocol_images.rows_of(protocol)
    rows = OwnProtocol.objects.filter(owner=owner, name=protocol.name)
    latest = rows.order_by("-version").first()
    if latest is not None and latest.sha256 == sha256:
        return latest
    row = OwnProtocol.objects.create(
        owner_id=owner,
        name=protocol.name,
        version=1 if latest is None else latest.version + 1,
        title=protocol.title,
        content=to_json(protocol),
        sha256=sha256,
        copied_name=origin.name,
        copied_sha256=origin.sha256,
        made_at=now,
    )
    row.images.set(images)
    about = {"protocol": row.name, "version": row.version, "sha256": sha256}
    audit.append(actor=by.get_username(), action="protocol saved", campaign=None, now=now, **about)
    return row


def _lock(owner: int) -> None:
    """Let one request at a time add versions of an owner."""
    get_user_model().objects.select_for_update().get(pk=owner)


def _free_name(title: str, owner: int) -> str:
    """Return a name from a title that neither a shipped nor another own protocol has."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "_", plain).strip("_").lstrip("0123456789_") or NO_NAME
    taken = {*protocol_names()}
    taken |= {*OwnProtocol.objects.filter(owner=owner).values_list("name", flat=True)}
    most = LONGEST_NAME["protocol"] - 5
    names = (base[:most] + end for end in ("", *(f"_{n}" for n in range(2, 10_000))))
    return next(itertools.filterfalse(taken.__contains__, names))
