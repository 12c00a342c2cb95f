"""Freed memory, which the allocators of C and of Arrow keep for themselves unless told.

After a large table was read they hold more than the table itself, and after a model of it so much
again.
"""

from __future__ import annotations

import ctypes
import sys

import pyarrow

# Of fewer rows it is not worth the call.
LARGE = 50_000


def give_back(rows: int = LARGE) -> None:
    """Return what is free to the system, after work on so many rows: about a millisecond.

    Of another C library than glibc only Arrow's allocator knows the way.
    """
    if rows < LARGE:
        return
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)
    pyarrow.default_memory_pool().release_unused()
