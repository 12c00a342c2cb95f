"""Bytes of images: known by what they are, written anew without what they brought, or refused."""

from __future__ import annotations

import io
import random
import struct
import zlib
from typing import Any

import pytest
from PIL import Image, PngImagePlugin

from webapp.services.staff_forms import image_bytes
from webapp.services.staff_forms.fields import BadField


def drawn(kind: str = "PNG", size: tuple[int, int] = (40, 20), **more: Any) -> bytes:
    """Return a small image, red at the left and blue at the right."""
    image = Image.new("RGB", size, "red")
    image.paste("blue", (size[0] // 2, 0, *size))
    stream = io.BytesIO()
    image.save(stream, kind, **more)
    return stream.getvalue()


def with_place(kind: str) -> bytes:
    """Return an image that says where it was taken, turned by a quarter."""
    exif = Image.Exif()
    exif[0x0112] = 6  # turn to the right to look at it
    exif[0x010E] = "at home"
    exif.get_ifd(0x8825)[1] = "N"
    return drawn(kind, exif=exif)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_an_upload_is_stored_upright_and_without_what_the_camera_added(kind: str) -> None:
    found = image_bytes.uploaded(with_place(kind))
    assert (found.width, found.height) == (20, 40)
    stored = Image.open(io.BytesIO(found.content))
    assert (stored.format, stored.size, dict(stored.getexif())) == ("WEBP", (20, 40), {})
    assert b"at home" not in found.content
    red, _green, blue = stored.convert("RGB").getpixel((10, 5))  # type: ignore[misc]
    assert red > 200 > 60 > blue
    assert image_bytes.of_file(found.content) == found


def test_words_in_a_png_go_and_what_can_be_seen_through_stays() -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", "somebody")
    stream = io.BytesIO()
    Image.new("RGBA", (4, 4), (255, 0, 0, 128)).save(stream, "PNG", pnginfo=info)
    found = image_bytes.uploaded(stream.getvalue())
    assert b"somebody" not in found.content
    assert Image.open(io.BytesIO(found.content)).getpixel((0, 0)) == (255, 0, 0, 128)


@pytest.mark.parametrize(("longest", "stored"), [(1599, 1599), (1600, 1600), (1601, 1600)])
def test_the_longest_side_is_1600_pixels(longest: int, stored: int) -> None:
    assert image_bytes.uploaded(drawn(size=(longest, 10))).width == stored


def huge(width: int, height: int) -> bytes:
    """Return the head of a PNG of that size, without its pixels."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    head = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    return b"\x89PNG\r\n\x1a\n" + head + struct.pack(">I", 0) + b"IDAT" + b"\x35\xaf\x06\x1e"


def moving(kind: str) -> bytes:
    stream = io.BytesIO()
    frames = [Image.new("RGB", (4, 4), color) for color in ("red", "blue")]
    frames[0].save(stream, kind, save_all=True, append_images=frames[1:])
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"hello", "is no PNG, JPEG or WebP image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "is no PNG, JPEG or WebP"),
        (drawn("GIF"), "is no PNG, JPEG or WebP"),
        (drawn("BMP"), "is no PNG, JPEG or WebP"),
        (drawn()[:60], "is no PNG, JPEG or WebP"),
        (drawn("JPEG")[:200], "is no PNG, JPEG or WebP"),
        (moving("WEBP"), "moves"),
        (moving("PNG"), "moves"),
        (huge(8000, 5001), "40 million pixels"),
        (huge(100_000, 100_000), "is no PNG, JPEG or WebP|40 million pixels"),
        (drawn() + b"\0" * image_bytes.LARGEST_UPLOAD, "more than 8 MB"),
    ],
)
def test_what_is_no_still_image_is_refused(content: bytes, complaint: str) -> None:
    with pytest.raises(BadField, match=complaint):
        image_bytes.uploaded(content)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_an_upload_has_8_megabytes_at_most(more: int) -> None:
    content = drawn()
    content += b"\0" * (image_bytes.LARGEST_UPLOAD + more - len(content))
    if more > 0:
        with pytest.raises(BadField, match="more than 8 MB"):
            image_bytes.uploaded(content)
    else:
        assert len(image_bytes.uploaded(content).content) < 1000, "what hangs behind goes"


def lossy(**more: Any) -> bytes:
    return drawn("WEBP", quality=80, **more)


@pytest.mark.parametrize(
    "content",
    [
        with_place("WEBP"),
        lossy() + b"<script>",
        lossy(xmp=b"<x/>"),
        lossy(size=(1601, 4)),
        drawn(),
    ],
    ids=["exif", "behind the end", "xmp", "too wide", "png"],
)
def test_a_file_brings_images_only_as_they_are_stored(content: bytes) -> None:
    assert image_bytes.of_file(lossy()).width == 40
    with pytest.raises(BadField):
        image_bytes.of_file(content)


@pytest.mark.parametrize(("side", "fits"), [(600, True), (1600, False)])
def test_what_is_rich_in_detail_loses_some_of_it_or_is_refused(side: int, fits: bool) -> None:
    noise = random.Random(1).randbytes(side * side * 3)
    stream = io.BytesIO()
    Image.frombytes("RGB", (side, side), noise).save(stream, "PNG", compress_level=0)
    if fits:
        found = image_bytes.uploaded(stream.getvalue())
        assert 100_000 < len(found.content) <= image_bytes.LARGEST_STORED < side * side * 3
    else:
        with pytest.raises(BadField, match="too rich in detail"):
            image_bytes.uploaded(stream.getvalue())
