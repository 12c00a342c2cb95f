"""Hints to the browsers: numbers only, never text; losing them all costs seconds (R8)."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

log = logging.getLogger(__name__)
lost_hints = 0  # counted, never raised: the database is the only truth


def group(conversation_id: int) -> str:
    """Return the name of a conversation's group in the channel layer."""
    return f"conversation.{conversation_id}"


def hint(conversation_id: int, seq: int) -> None:
    """Tell who follows a conversation that it has grown to `seq`."""
    global lost_hints
    message: dict[str, Any] = {
        "type": "hint",
        "conversation": conversation_id,
        "seq": seq,
    }
    try:
        async_to_sync(get_channel_layer().group_send)(group(conversation_id), message)
    except Exception as problem:  # the layer may fail in any way; readers poll as well
        lost_hints += 1
        log.warning("hint lost: %s", type(problem).__name__)


def hint_on_commit(conversation_id: int, seq: int) -> None:
    """Hint once the transaction that wrote the entry has committed."""
    transaction.on_commit(partial(hint, conversation_id, seq), robust=True)
