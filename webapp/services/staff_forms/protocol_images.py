"""Images of protocols as rows: put there, found by digest, gone when nobody has them.

Their bytes are read and checked in `image_bytes`, which needs no database.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from evaluation import Protocol
from webapp.models import ProtocolImage
from webapp.services.rules import access
from webapp.services.staff_forms import image_bytes
from webapp.services.staff_forms.fields import BadField, Invalid
from webapp.services.staff_forms.image_bytes import StoredBytes

UNSAVED = timedelta(days=1)  # for which an image waits for its form to be saved


def put(found: StoredBytes, now: datetime) -> str:
    """Store an image that may be there already, and return its digest."""
    tidy(now)
    values = {"content": found.content, "width": found.width, "height": found.height}
    ProtocolImage.objects.update_or_create(
        sha256=found.sha256, defaults={"made_at": now}, create_defaults=values | {"made_at": now}
    )
    return found.sha256


def tidy(now: datetime) -> None:
    """Delete the images of forms that nobody saved, and of protocols that were deleted."""
    ProtocolImage.objects.filter(versions=None, made_at__lt=now - UNSAVED).delete()


def sizes(digests: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return width and height, in pixels, of those images that are there."""
    if not digests:
        return {}
    rows = ProtocolImage.objects.filter(sha256__in=digests)
    return {row[0]: row[1:] for row in rows.values_list("sha256", "width", "height")}


def rows_of(protocol: Protocol) -> list[ProtocolImage]:
    """Return the rows of a protocol's images, without their bytes. Raises `Invalid`."""
    wanted = {image.sha256 for image in protocol.every_image}
    if not wanted:
        return []
    rows = list(ProtocolImage.objects.filter(sha256__in=wanted).defer("content"))
    if len(rows) < len(wanted):
        missing = ", ".join(sorted(wanted - {row.sha256 for row in rows}))
        raise Invalid({"text": _("has no bytes for the image %(sha256)s") % {"sha256": missing}})
    sizes = {row.sha256: (row.width, row.height) for row in rows}
    for image in protocol.every_image:
        if (image.width, image.height) != sizes[image.sha256]:
            width, height = sizes[image.sha256]
            complaint = _("says another size than the image %(sha256)s has, %(width)d × %(height)d")
            about = {"sha256": image.sha256, "width": width, "height": height}
            raise Invalid({"text": complaint % about})
    return rows


def content(sha256: str) -> bytes:
    """Return an image's bytes. Raises `access.NotFound`."""
    row = ProtocolImage.objects.filter(sha256=sha256).first()
    if row is None:
        raise access.NotFound(f"image {sha256}")
    return bytes(row.content)


def as_text(protocol: Protocol) -> dict[str, str]:
    """Return the bytes of a protocol's images by digest, in base64, as its file has them."""
    wanted = {image.sha256 for image in protocol.every_image}
    if not wanted:
        return {}
    rows = ProtocolImage.objects.filter(sha256__in=wanted)
    return {row.sha256: base64.b64encode(bytes(row.content)).decode() for row in rows}


def put_text(files: Any, protocol: Protocol, now: datetime) -> None:
    """Store what a protocol's file brings of its images. Raises `Invalid`."""
    if not isinstance(files, Mapping):
        raise Invalid({"text": _("image_files must be an object: SHA-256 to base64")})
    wanted = {image.sha256 for image in protocol.every_image}
    for sha256, text in files.items():
        if sha256 not in wanted:
            complaint = _("image_files has %(sha256)s, no image of this protocol")
            raise Invalid({"text": complaint % {"sha256": sha256[:80]}})
        put(_of_text(sha256, text), now)


def _of_text(sha256: str, text: Any) -> StoredBytes:
    try:
        found = image_bytes.of_file(base64.b64decode(str(text), validate=True))
    except binascii.Error:
        raise Invalid({"text": _("image %(sha256)s is no base64") % {"sha256": sha256}}) from None
    except BadField as problem:
        about = _("image %(sha256)s") % {"sha256": sha256}
        raise Invalid({"text": f"{about} {problem}"}) from None
    if found.sha256 != sha256:
        complaint = _("image %(sha256)s has other bytes: their SHA-256 is %(found)s")
        raise Invalid({"text": complaint % {"sha256": sha256, "found": found.sha256}})
    return found
