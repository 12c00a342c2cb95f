"""Pages of a conversation that send frames: whose, in which tab, drawn for which conversation.

Apart because it is what sockets and HTTP hold in place of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from webapp.models import Participation
from webapp.services.conversation import chat, updates
from webapp.services.conversation.handed import View
from webapp.services.rules import access, protocols


@dataclass(frozen=True)
class PageSession:
    """One page. Its conversation may be over while its person is in the next one.

    Entries of the next one are not for this page.
    """

    person: Participation
    conversation_id: int = 0
    tab: str = ""
    side: int = 0

    @property
    def view(self) -> View:
        """What decides how committed messages are shown to the page."""
        protocol = protocols.protocol_of(self.person.campaign)
        chat = protocol.chat
        return View(self.side, chat is not None and chat.endless, protocol.live is not None)

    @property
    def person_pk(self) -> int:
        return self.person.pk

    @property
    def languages(self) -> list[str]:
        """The languages of its campaign, of which the page has one."""
        return list(self.person.campaign.languages)

    @property
    def is_new(self) -> bool:
        """Tell whether no tab of the person controls yet."""
        return not self.person.tab

    def by(self, item: UUID) -> dict[str, Any]:
        """Return whose action an item is, as the functions of `chat` take it."""
        return {
            "person": self.person,
            "conversation_id": self.conversation_id,
            "client_id": item,
        }

    def note_sign_of_life(self, now: datetime) -> None:
        """Keep its person present."""
        chat.note_sign_of_life(person=self.person, now=now)

    def take_over(self, tab: str, now: datetime) -> PageSession:
        """Let this tab control; return the page as that tab."""
        chat.take_over(person=self.person, conversation_id=self.conversation_id, tab=tab, now=now)
        self.person.tab = tab
        return replace(self, tab=tab)

    def updates(self, after: int, now: datetime) -> list[dict[str, Any]]:
        """Return the status, and the entries after this seq."""
        return updates.conversation_updates(
            person=self.person,
            after=after,
            now=now,
            tab=self.tab,
            conversation_id=self.conversation_id,
        )

    def status(self, now: datetime) -> dict[str, Any]:
        """Return the status alone."""
        return updates.status(
            person=self.person, now=now, tab=self.tab, conversation_id=self.conversation_id
        )


def page_session(slug: str, secret: str, *, key: str, tab: str) -> PageSession:
    """Return the page of a cookie and of a conversation's key; raises `access.NotFound`."""
    person = access.participation(slug, secret)
    seat = access.seat_by_key(person, key)
    return PageSession(person, seat.conversation_id, tab, seat.side)


def page_session_in(slug: str, secret: str, conversation: int, tab: str) -> PageSession:
    """Return the page of a cookie in a conversation found before; raises `access.NotFound`."""
    return PageSession(access.participation(slug, secret), conversation, tab)
