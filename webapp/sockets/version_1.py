"""Version 1 of the wire: the words of pages that were drawn before there was version 2.

Apart because it goes as a whole with the next release, when no such page is open any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONVERSATION = "talk"  # the parameter that names a page's conversation
TYPES = {"say": "message"}
FIELDS = {"last_seen": "last_seq"}
ANSWER_FIELDS = {"last_seq": "last_seen", "unlabeled": "unlabelled"}
WAITING_FIELDS = {"position": "place", "seconds_waiting": "waited"}


def renewed(frame: Mapping[str, Any]) -> dict[str, Any]:
    """Return a client's frame in the words of version 2."""
    kind = frame.get("type")
    renamed = {FIELDS.get(name, name): value for name, value in frame.items()}
    return renamed | ({"type": TYPES[kind]} if isinstance(kind, str) and kind in TYPES else {})


def answer(frame: Mapping[str, Any]) -> dict[str, Any]:
    """Return a frame of the server's in the words of version 1."""
    return {ANSWER_FIELDS.get(name, name): value for name, value in frame.items()}


def waiting(status: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status of a waiting page in the words of version 1."""
    return {WAITING_FIELDS.get(name, name): value for name, value in status.items()}
