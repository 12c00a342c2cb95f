"""Updates of conversations for participants: entries and status, blinded (S11).

Nothing here names a system, tells a program from a person, or carries a row's number. Requests that
arrive at the same moment are answered with the same few queries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.utils.translation import get_language

from webapp import notices
from webapp.models import Campaign, Conversation, Event, Participation, ReplyJob, Seat
from webapp.services.rating import labels
from webapp.services.rules import access, events, protocols, tally, uptime

Kind = Event.Kind
SLOW = timedelta(seconds=20)  # then "still thinking" (R13)
AWAY = timedelta(seconds=30)  # without a sign of life (R9)
Frame = dict[str, Any]


@dataclass(frozen=True)
class UpdateRequest:
    """A browser's request for what came after `after`, as the tab that it is.

    `conversation_id` is the one that its page was drawn for; by default the active one.
    """

    slug: str
    secret: str
    after: int
    tab: str
    conversation_id: int = 0
    language: str = ""  # of notices; the active one where it is empty


def conversation_updates_all(
    requests: Sequence[UpdateRequest], *, now: datetime
) -> list[list[Frame] | access.NotFound]:
    """Answer several browsers at once; a participation without a conversation gets `NotFound`."""
    people = access.participations((one.slug, one.secret) for one in requests)
    known = [people.get((one.slug, one.secret)) for one in requests]
    after: dict[access.SeatKey, int] = {}
    for request, person in zip(requests, known, strict=True):
        if person is not None:  # of two tabs that ask, the one that has less decides
            key = person.pk, request.conversation_id
            after[key] = min(request.after, after.get(key, request.after))
    campaigns = {one.pk: one.campaign for one in people.values()}
    state = ConversationState.gather(after, campaigns, now)
    return [
        access.NotFound(f"participation in {request.slug}")
        if person is None
        else state.updates(person, request)
        for request, person in zip(requests, known, strict=True)
    ]


def conversation_updates(
    *, person: Participation, after: int, now: datetime, tab: str = "", conversation_id: int = 0
) -> list[Frame]:
    """Return the entries later than `after`, in order and without gaps, and then the status.

    Raises `access.NotFound` where there is no such conversation of the person's.
    """
    request = UpdateRequest("", "", after, tab, conversation_id)
    state = ConversationState.gather(
        {(person.pk, conversation_id): after}, {person.pk: person.campaign}, now
    )
    found = state.updates(person, request)
    if isinstance(found, access.NotFound):
        raise found
    return found


def follow(*, person: Participation, after: int) -> list[Frame]:
    """Return the entries later than `after`, in order and without gaps."""
    seat = access.seat(person)
    return [event_frame(event, seat.side) for event in events.after(seat.conversation, after)]


def status(
    *, person: Participation, now: datetime, tab: str = "", conversation_id: int = 0
) -> Frame:
    """Return where the conversation stands and what the person can do, for the tab that asks."""
    last = 2**31 - 1
    found = conversation_updates(
        person=person, after=last, now=now, tab=tab, conversation_id=conversation_id
    )
    return found[-1]


class PlatformTime:
    """For how long the platform was up before a moment: one look for all who ask."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def has_passed(self, span: timedelta, since: datetime) -> bool:
        """Tell whether it was up for as long; it is looked for only where the clock says so."""
        return self.now - since >= span and self._known.since(since) >= span

    @cached_property
    def _known(self) -> uptime.Uptime:
        return uptime.known(self.now)


@dataclass(frozen=True)
class ConversationState:
    """The state of conversations, gathered for the updates of some people."""

    seats: dict[access.SeatKey, Seat]
    later: dict[int, list[Event]]  # by conversation
    partners_seen_at: dict[tuple[int, int], datetime]  # by conversation and side; bots have none
    failed: set[tuple[int, int]]  # conversation, message that got no answer
    retried: dict[int, int]  # by conversation the seq of the latest second try, where some failed
    unlabeled: dict[int, list[int]]  # by conversation, where messages are labeled
    time: PlatformTime

    @classmethod
    def gather(
        cls, after: Mapping[access.SeatKey, int], campaigns: Mapping[int, Campaign], now: datetime
    ) -> ConversationState:
        """Look up what is new for these participations after the seq that each has.

        `campaigns` are theirs, by participation.
        """
        seats = access.seats(after)
        conversations = {seat.conversation_id for seat in seats.values()}
        tally.renew(seat.conversation for seat in seats.values())
        others = Seat.objects.filter(conversation__in=conversations, participation__isnull=False)
        jobs = ReplyJob.objects.filter(conversation__in=conversations, state=ReplyJob.State.FAILED)
        failed = set(jobs.values_list("conversation_id", "in_reply_to"))
        return cls(
            seats,
            _later(seats, after),
            {
                (pk, side): at
                for pk, side, at in others.values_list(
                    "conversation_id", "side", "participation__seen_at"
                )
            },
            failed,
            _retried(failed),
            _unlabeled(seats, campaigns),
            PlatformTime(now),
        )

    def updates(
        self, person: Participation, request: UpdateRequest
    ) -> list[Frame] | access.NotFound:
        seat = self.seats.get((person.pk, request.conversation_id))
        if seat is None:
            return access.NotFound(f"conversation of participation {person.pk}")
        later = self.later.get(seat.conversation_id, ())
        return [
            *(
                event_frame(event, seat.side, request.language)
                for event in later
                if event.seq > request.after
            ),
            self._status(seat, person, request.tab),
        ]

    def _status(self, seat: Seat, person: Participation, tab: str) -> Frame:
        conversation = seat.conversation
        chat = protocols.protocol_of(person.campaign).chat
        ended = (conversation.state, person.state) != ("OPEN", "CHATTING")
        unlabeled = self.unlabeled.get(conversation.pk, [])
        known = progress(
            Standing.of(conversation),
            seat.side,
            ended=ended,
            may_end=not (unlabeled or (chat is not None and chat.endless)),
        )
        waits = known["turn"] == "partner"
        last = conversation.last_message
        failed = waits and (conversation.pk, last) in self.failed
        last_at = conversation.last_message_at or conversation.started_at
        partner = conversation.pk, 1 - seat.side
        partner_seen_at = self.partners_seen_at.get(partner, self.time.now)
        return known | {
            "free": chat is not None and chat.turns == "free",
            "unlabeled": unlabeled,
            "slow": waits and self.time.has_passed(SLOW, last_at),
            "failed": failed,
            "may_retry": failed and self.retried.get(conversation.pk, 0) <= last,
            "present": not self.time.has_passed(AWAY, partner_seen_at),
            "tab_is_newest": not person.tab or person.tab == tab,
            "ended": ended,
        }


@dataclass(frozen=True)
class Standing:
    """The messages of a conversation and whose was the last: what decides who may do what."""

    messages: int
    minimum: int
    maximum: int | None
    last_side: int | None

    @classmethod
    def of(cls, conversation: Conversation) -> Standing:
        nobody = 1 - conversation.first_side
        last = conversation.last_side if conversation.last_message else nobody
        count = tally.count(conversation)
        return cls(count, conversation.minimum, conversation.maximum, last)


def progress(standing: Standing, side: int, *, ended: bool, may_end: bool) -> Frame:
    """Return the part of a side's status that each message changes."""
    full = standing.maximum is not None and standing.messages >= standing.maximum
    turn = None if ended or full else "partner" if standing.last_side == side else "you"
    return {
        "type": "status",
        "turn": turn,
        "messages": standing.messages,
        "minimum": standing.minimum,
        "maximum": standing.maximum,
        "may_finish": may_end and not ended and standing.messages >= standing.minimum,
        "must_finish": full and not ended,
    }


def _later(
    seats: Mapping[access.SeatKey, Seat], after: Mapping[access.SeatKey, int]
) -> dict[int, list[Event]]:
    """Return the entries that somebody does not have yet, with one query for all.

    What was appended since the rows were read is left to the next look: the status is of the rows,
    and a page that had the entry and not its turn would not look again.
    """
    behind: dict[int, int] = {}
    known = {seat.conversation_id: seat.conversation.last_seq for seat in seats.values()}
    for key, seat in seats.items():
        conversation = seat.conversation
        if conversation.last_seq > after[key]:  # of two people in it, one may have more
            behind[conversation.pk] = min(after[key], behind.get(conversation.pk, after[key]))
    later: dict[int, list[Event]] = defaultdict(list)
    if behind:
        rows = Event.objects.filter(conversation__in=behind, seq__gt=min(behind.values()))
        for event in rows.order_by("conversation_id", "seq"):
            if event.seq <= known[event.conversation_id]:
                later[event.conversation_id].append(event)
    return later


def event_frame(event: Event, side: int, language: str = "") -> Frame:
    """Return an entry as the participant of a side is shown it."""
    mine = event.side == side
    shown: Frame = {
        "type": "event",
        "seq": event.seq,
        "kind": str(event.kind),
        "side": None if event.side is None else "you" if mine else "partner",
        "at": event.made_at.isoformat(timespec="milliseconds"),
    }
    if event.client_id is not None and mine:
        shown["id"] = str(event.client_id)
    return shown | _content(event, mine, language)


def _content(event: Event, mine: bool, language: str) -> Frame:
    content = event.content
    if event.kind == Kind.MESSAGE:
        return {"text": content["text"]}
    if event.kind == Kind.LABEL and mine:
        return {name: content[name] for name in ("of", "question", "value", "revision")}
    if event.kind == Kind.STATE and "state" in content:
        return {"state": content["state"]}
    if event.kind == Kind.NOTICE and (mine or event.side is None) and "notice" in content:
        return {"code": content["notice"], "notice": _notice(content, language)}
    # a refused draft, or the partner's label or care: its place in the order is all there is to see
    return {"kind": str(Kind.STATE), "side": None}


def _notice(content: Mapping[str, Any], language: str) -> str:
    """Return a notice in a language: its own words, where it has some, else ours."""
    spoken = language or get_language() or ""
    own: Mapping[str, str] = content.get("words") or {}
    words = own.get("") or own.get(spoken.split("-")[0])
    return words or notices.text_in(spoken, content["notice"])


def _unlabeled(
    seats: Mapping[access.SeatKey, Seat], campaigns: Mapping[int, Campaign]
) -> dict[int, list[int]]:
    """Return the seqs that still want a label in those conversations where messages are labeled."""
    rates = {
        seat.conversation_id: rate
        for (person, _), seat in seats.items()
        if (rate := protocols.protocol_of(campaigns[person]).live) is not None
    }
    return labels.unlabeled_of_all(rates)


def _retried(failed: Collection[tuple[int, int]]) -> dict[int, int]:
    """Return where the answer to a message was asked for again already."""
    rows = Event.objects.filter(conversation__in={pk for pk, _ in failed}, kind=Kind.STATE)
    again = rows.filter(content__state="retried").order_by("seq")
    return dict(again.values_list("conversation_id", "seq"))
