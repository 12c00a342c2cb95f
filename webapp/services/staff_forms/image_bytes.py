"""Bytes of images: an upload as the WebP that is stored, and what such a file may hold.

An upload is decoded and written anew, so nothing comes along but its pixels: no place, camera or
owner, and nothing behind the end of the file. What a protocol's file brings is taken as it is, as
its hash is known, and is therefore checked to be of that form.
"""

from __future__ import annotations

import hashlib
import io
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from PIL import Image, ImageOps

from webapp.services.staff_forms.fields import BadField

KINDS = ("PNG", "JPEG", "WEBP")
LARGEST_UPLOAD = 8_000_000  # bytes
LARGEST_STORED = 400_000  # bytes
MOST_PIXELS = 40_000_000  # of an upload, which is decoded in memory
LONGEST_SIDE = 1_600  # pixels; a page is never wider
QUALITIES = (90, 75, 60)  # of what is not small enough without loss
CHUNKS = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH"})  # pixels, and nothing about them


@dataclass(frozen=True)
class StoredBytes:
    """An image as it is stored; width and height in pixels."""

    sha256: str
    content: bytes
    width: int
    height: int


def uploaded(content: bytes) -> StoredBytes:
    """Return an upload as it is stored. Raises `BadField`, which says what would be right."""
    if not content:
        raise BadField(_("is empty; choose a file"))
    if len(content) > LARGEST_UPLOAD:
        raise BadField(_("has more than 8 MB; make it smaller"))
    image = _decoded(content, KINDS)
    kind, image = image.format, ImageOps.exif_transpose(image)
    is_clear = image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info
    image = image.convert("RGBA" if is_clear else "RGB")
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    for written in _written(image, lossless=kind != "JPEG"):
        if len(written) <= LARGEST_STORED:
            return _stored(written, image.size)
    raise BadField(_("is too rich in detail to be stored in 400 kB; make it smaller"))


def of_file(content: bytes) -> StoredBytes:
    """Return an image that another Parley stored. Raises `BadField`."""
    if len(content) > LARGEST_STORED:
        raise BadField(_("has more than 400 kB; upload it in the builder, which makes it smaller"))
    image = _decoded(content, ("WEBP",))
    if max(image.size) > LONGEST_SIDE or not _is_bare(content):
        raise BadField(_("is not as Parley stores it; upload it in the builder"))
    return _stored(content, image.size)


def _decoded(content: bytes, kinds: tuple[str, ...]) -> Image.Image:
    """Return a still image with all its pixels, whatever its name says that it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd metadata, which goes, and of large images
            image = Image.open(io.BytesIO(content), formats=kinds)
            if image.width * image.height > MOST_PIXELS:
                raise BadField(_("has more than 40 million pixels; make it smaller"))
            if getattr(image, "n_frames", 1) > 1:
                raise BadField(_("moves; take a still image"))
            image.load()
    except (OSError, ValueError, SyntaxError, struct.error, Image.DecompressionBombError) as wrong:
        if isinstance(wrong, BadField):
            raise
        raise BadField(_("is no PNG, JPEG or WebP image that can be read")) from None
    return image


def _written(image: Image.Image, *, lossless: bool) -> Iterator[bytes]:
    """Yield the image as WebP, each time smaller than before."""
    ways: list[dict[str, Any]] = [{"lossless": True}] if lossless else []
    ways += [{"quality": each} for each in QUALITIES]
    for way in ways:
        stream = io.BytesIO()
        image.save(stream, "WEBP", exif=b"", icc_profile=b"", xmp=b"", **way)
        yield stream.getvalue()


def _is_bare(content: bytes) -> bool:
    """Tell whether a WebP file ends where it says, and holds pixels only."""
    if len(content) < 12 or struct.unpack("<I", content[4:8])[0] != len(content) - 8:
        return False
    offset = 12
    while offset + 8 <= len(content):
        kind, size = struct.unpack("<4sI", content[offset : offset + 8])
        if kind not in CHUNKS:
            return False
        offset += 8 + size + size % 2
    return offset == len(content)


def _stored(content: bytes, size: tuple[int, int]) -> StoredBytes:
    return StoredBytes(hashlib.sha256(content).hexdigest(), content, *size)
