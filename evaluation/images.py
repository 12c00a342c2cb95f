"""Images beside a protocol's words: each known by the SHA-256 of its bytes, which are elsewhere.

So the hash of a protocol covers its images, and a plan, a file and a codebook can name them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Image:
    """A still image. alt: what it shows, for who does not see it. width, height: in pixels."""

    sha256: str
    alt: str
    width: int
    height: int

    def __post_init__(self) -> None:
        """Refuse what names no image. Raises `ValueError`."""
        if not SHA256.fullmatch(self.sha256):
            raise ValueError(f"sha256 is “{self.sha256[:80]}”; it must be 64 of 0 to 9 and a to f")
        if self.width < 1 or self.height < 1:
            raise ValueError(f"width is {self.width} and height {self.height}; both must be 1 up")
