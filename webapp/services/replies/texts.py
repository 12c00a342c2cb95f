"""Texts of bots as a database holds them and as people get them, whole or as far as they go.

Apart because the record of a call, the message and what grows towards it must agree.
"""

from __future__ import annotations

from django.conf import settings


def storable(text: str) -> str:
    """Return the text without what no database or page can hold."""
    return text.encode("utf-8", "ignore").decode().replace("\0", "")


def shown(text: str) -> str:
    """Return a reply's text as people get it."""
    return storable(text)[: settings.MAX_MESSAGE_CHARACTERS]
