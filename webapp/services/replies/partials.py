"""Partial replies: what a reply has grown to, shown while it is written and stored nowhere.

The database is the truth: a partial reply is no message, counts for nothing and is lost without
harm. Where a rule may yet decide that a reply, or a part of it, is not shown, or where its time
tells something, none of it is shown before it is whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from evaluation import Chat
from webapp import realtime
from webapp.models import Conversation, ReplyJob
from webapp.services.replies import pace, texts
from webapp.services.rules.protocols import protocol_of

PAUSE = 0.1  # seconds at least between two of one reply


def is_streamed(options: Mapping[str, Any]) -> bool:
    """Tell whether a system with these options streams its replies."""
    return bool(options.get("stream"))


def are_shown(conversation: Conversation, options: Mapping[str, Any]) -> bool:
    """Tell whether a system's replies are shown in a conversation as they grow."""
    if not is_streamed(options) or conversation.purpose != Conversation.Purpose.STUDY:
        return False
    chat: Chat | None = protocol_of(conversation.campaign).chat
    if chat is None or not chat.streams or chat.streaming_problem() is not None:
        return False
    return not pace.is_mixed(conversation.campaign)


class PartialReply:
    """Tells who follows a conversation what the reply to one of its jobs has grown to.

    It is called on the event loop of the calls, and waits for nobody: what grows faster than it may
    tell is told together.
    """

    def __init__(self, job: ReplyJob) -> None:
        self._conversation, self._after = job.conversation_id, job.in_reply_to
        self._text = self._sent = ""
        self._sent_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def grow(self, text: str) -> None:
        """Note what the reply has grown to; "" where it begins anew."""
        self._text = text
        loop = asyncio.get_running_loop()
        wait = self._sent_at + PAUSE - loop.time()
        if self._timer is None and wait > 0:
            self._timer = loop.call_later(wait, self._tell)
        elif self._timer is None:
            self._tell()

    def end(self, *, is_whole: bool) -> None:
        """Tell no more; what does not become a message vanishes."""
        if self._timer is not None:
            self._timer.cancel()
        if not is_whole:
            self._text = ""
            self._tell()

    def _tell(self) -> None:
        self._timer = None
        text = texts.shown(self._text)
        text = text if text.strip() else ""
        if text != self._sent:
            self._sent, self._sent_at = text, asyncio.get_running_loop().time()
            realtime.tell([realtime.Partial(self._conversation, self._after, text)])
