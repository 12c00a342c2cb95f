"""Rules for conversations with bots elsewhere, and in what a conversation departs from them.

MEENA (Adiwardana et al. 2020), section 2.6 and appendix A: the person begins with "Hi!", 16 to 32
turns, the bot's state reset before, an hour between two people on one account. The published
conversations break all of them, so a departure is a mark; the hour alone is refused unless wanted.

Apart because the rules know nothing of files or rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy

from evaluation.registry import get_protocol
from webapp.services.rating.transcripts import HUMAN, ImportedChat

OPENER = "Hi!"
SOURCE = "meena_human"  # the protocol that states the lengths
BETWEEN = timedelta(hours=1)
OPENS_OTHERWISE, SHORT, LONG, NOT_RESET, TOO_SOON = "opener", "short", "long", "reset", "hour"
WORDS: Mapping[str, object] = {
    OPENS_OTHERWISE: gettext_lazy("does not begin with “Hi!”"),
    SHORT: gettext_lazy("has fewer than 16 turns"),
    LONG: gettext_lazy("has more than 32 turns"),
    NOT_RESET: gettext_lazy("no reset of the bot's state is noted"),
    TOO_SOON: gettext_lazy("another volunteer was on the account less than an hour before"),
}


def marked(chats: Sequence[ImportedChat], known: Iterable[ImportedChat]) -> list[ImportedChat]:
    """Return new conversations with their marks, beside those that are known already."""
    everything = [*known, *chats]
    return [replace(chat, marks=tuple(_marks(chat, everything))) for chat in chats]


def _marks(chat: ImportedChat, everything: Sequence[ImportedChat]) -> Iterator[str]:
    rules = get_protocol(SOURCE).chat
    if chat.turns[0].text != OPENER:
        yield OPENS_OTHERWISE
    if rules is not None and len(chat.turns) < min(rules.minimum.options):
        yield SHORT
    if rules is not None and rules.maximum is not None and len(chat.turns) > rules.maximum:
        yield LONG
    if chat.system != HUMAN and chat.reset is not True:
        yield NOT_RESET
    if too_soon(chat, everything) is not None:
        yield TOO_SOON


def too_soon(chat: ImportedChat, everything: Iterable[ImportedChat]) -> datetime | None:
    """Return until when another volunteer had the account, where that is less than an hour ago."""
    if not chat.account or chat.began_at is None:
        return None
    began = chat.began_at
    others = [
        other.ended_at or other.began_at
        for other in everything
        if (other.account, other.began_at is None) == (chat.account, False)
        and other.volunteer != chat.volunteer
        and (other.began_at or began) <= began
    ]
    last = max((until for until in others if until is not None), default=None)
    return last if last is not None and began - last < BETWEEN else None
