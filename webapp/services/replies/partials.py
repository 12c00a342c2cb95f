"""Partial replies: what a reply has grown to, shown while it is written and stored nowhere.

The database is the truth: a partial reply is no message, counts for nothing and is lost without
harm. Where a rule may yet decide that a reply, or a part of it, is not shown, or where its time
tells something, none of it is shown before it is whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation import Chat
from webapp import realtime
from webapp.models import Conversation, ReplyJob
from webapp.services.replies import pace, texts
from webapp.services.rules.protocols import protocol_of


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
    """Tells who follows a conversation what the reply to one of its jobs has grown to."""

    def __init__(self, job: ReplyJob) -> None:
        self._conversation, self._after = job.conversation_id, job.in_reply_to
        self._sent = ""

    def show(self, text: str) -> None:
        """Tell what the reply has grown to; "" where it begins anew."""
        text = texts.shown(text)
        text = text if text.strip() else ""
        if text != self._sent:
            self._sent = text
            realtime.tell([realtime.Partial(self._conversation, self._after, text)])

    def end(self, *, is_whole: bool) -> None:
        """Let what does not become a message vanish."""
        if not is_whole:
            self.show("")
