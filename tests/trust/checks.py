"""The ledger checker: ledger = database = what each client displayed = export (docs/promises.md).

Each check yields a sentence for each thing that is wrong. What the clients wrote down themselves is
taken for the truth about what they were told. Long because every promise has its check here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from tests.trust import values
from tests.trust.snapshot import Chat, Exported, Snapshot, Someone
from tests.trust.stories import Client, Record, Story
from webapp.models import Event

FULL, PART, WAITING, SCREENED = "FULL", "PART", "WAITING", "SCREENED"
PAYS = {  # a part: by what was promised for stopping of one's own accord (R21)
    "COMPLETED": FULL,
    "PARTNER_LEFT": FULL,
    "FAILED": FULL,
    "STOPPED": FULL,
    "QUIT": PART,
    "NOBODY": WAITING,
    "FULL": "",
    "SCREENED_OUT": SCREENED,
    "CHECK_FAILED": SCREENED,
    "ONBOARDING": FULL,
    "DECLINED": "",
    "LEFT": "",  # unless they come back and find no place: see `without_data`
}


@dataclass(frozen=True)
class Case:
    """All that is compared."""

    stories: Mapping[str, Story]
    base: Snapshot
    export: Exported | None

    def pairs(self) -> Iterator[tuple[str, int, Client, Chat | None]]:
        """Yield each conversation that a client saw, beside the one of the database."""
        for name, story in self.stories.items():
            someone = self.base.people.get(name)
            chats = someone.chats if someone else ()
            for number, client in sorted(story.chats.items()):
                yield name, number, client, chats[number] if number < len(chats) else None


def missing(case: Case) -> Iterator[str]:
    """Acknowledged and not stored; stored and not displayed; stored and not exported."""
    for name, number, client, chat in case.pairs():
        if chat is None:
            yield f"{name}: conversation {number} is not in the database"
            continue
        stored = {str(event.client_id): event for event in chat.events if event.client_id}
        for key, answers in client.settled.items():
            acked = any(answer["what"] == "ok" for answer in answers)
            if acked and not _is_stored(client.invoked[key], stored.get(key)):
                yield f"{name}: {key} was acknowledged and is not stored"
        if not case.stories[name].trouble and len(client.shown) < len(chat.events):
            yield f"{name}: saw {len(client.shown)} of {len(chat.events)} entries"
    for name, story in case.stories.items():
        taken = not any(end["state"] == "refused" for end in story.ends)
        if taken and "ok" in story.forms["consent"] and name not in case.base.people:
            yield f"{name}: consented and is not in the database"
    yield from _not_exported(case)


def _is_stored(invoked: Record, event: Event | None) -> bool:
    if event is None:
        return False
    frame = invoked["frame"]
    text: str = frame["text"].strip() if frame["type"] == "message" else ""
    return not text or event.content.get("text") == text


def _not_exported(case: Case) -> Iterator[str]:
    if case.export is None:
        return
    study = {pk: e for pk, e in case.base.events.items() if case.base.purposes[pk] == "STUDY"}
    for pk, events in study.items():
        exported = case.export.events.get(pk)
        if exported is None or [e["seq"] for e in exported] != [e.seq for e in events]:
            yield f"conversation {pk} is not exported as it is"


def doubled(case: Case) -> Iterator[str]:
    """Stored, shown or answered twice."""
    for pk, events in case.base.events.items():
        ids = Counter((event.side, str(event.client_id)) for event in events if event.client_id)
        replies = Counter(e.in_reply_to for e in events if e.in_reply_to is not None)
        yield from (
            f"conversation {pk}: {key} is stored {n} times" for key, n in ids.items() if n > 1
        )
        yield from (f"conversation {pk}: {n} replies to {s}" for s, n in replies.items() if n > 1)
    for name, number, client, _ in case.pairs():
        ids = Counter(entry["id"] for entry in client.shown if "id" in entry)
        yield from (f"{name}: {key} was shown {n} times" for key, n in ids.items() if n > 1)
        yield from (f"{name}: entry {r['seq']} of {number} changed" for r in client.changed)
        yield from (
            f"{name}: {r['id']} was answered twice, differently" for r in client.contradicted
        )


def mis_ordered(case: Case) -> Iterator[str]:
    """Seqs with gaps, answers before questions, or an order that differs from the one displayed."""
    for pk, events in case.base.events.items():
        if [event.seq for event in events] != list(range(1, len(events) + 1)):
            yield f"conversation {pk}: seqs are {[event.seq for event in events]}"
        if any(e.in_reply_to is not None and e.in_reply_to >= e.seq for e in events):
            yield f"conversation {pk}: an answer stands before its question"
    for name, number, client, chat in case.pairs():
        if chat is None:
            continue
        for entry, event in zip(client.shown, chat.events, strict=False):
            if not _same(entry, event, chat.side):
                yield f"{name}: entry {event.seq} of {number} differs from the one displayed"
        places = {str(event.client_id): event.seq for event in chat.events if event.client_id}
        order = [places[key] for key in client.invoked if key in places]
        if order != sorted(order):
            yield f"{name}: own writes of {number} are stored in another order"


def _same(entry: Record, event: Event, side: int) -> bool:
    shown = entry["seq"], entry["kind"], entry["side"], entry.get("text")
    if event.kind != "message":
        return bool(shown[0] == event.seq and shown[1] != "message")
    speaker = "you" if event.side == side else "partner"
    return bool(shown == (event.seq, "message", speaker, event.content["text"]))


def turns(case: Case) -> Iterator[str]:
    """Messages to a bot that did not have exactly one outcome: an answer, a failure, or the end."""
    for name, someone in case.base.people.items():
        for chat in someone.chats:
            if chat.with_person:
                continue
            yield from (f"{name}: {what}" for what in _turns(chat, case.base))
    for pk, count in case.base.owed.items():
        if case.base.states[pk] != "OPEN":
            yield f"conversation {pk} is over and {count} answers are still owed"


def _turns(chat: Chat, base: Snapshot) -> Iterator[str]:
    messages = [event for event in chat.events if event.kind == "message"]
    answered = Counter(event.in_reply_to for event in messages)
    for place, event in enumerate(messages):
        if event.side != chat.side or answered[event.seq] == 1:
            continue
        is_last = place == len(messages) - 1
        ended = chat.state != "OPEN" or (chat.number, event.seq) in base.failed
        if not (is_last and ended):
            yield f"message {event.seq} of conversation {chat.number} has no outcome"


def ends(case: Case) -> Iterator[str]:
    """Participations without exactly one end, and people who were left standing."""
    for name, someone in case.base.people.items():
        if someone.state != "ENDED":
            yield f"{name}: is {someone.state}"
    for name, story in case.stories.items():
        codes = {end.get("code", "") for end in story.ends if end["state"] == "ENDED"}
        if len(codes) > 1 or (not story.ends and not story.walked_off):
            yield f"{name}: ended {len(story.ends)} times: {story.trouble}"


def unpaid(case: Case) -> Iterator[str]:
    """Entitled to pay and without a code, or without being shown it."""
    for name, someone in case.base.people.items():
        due, found = _due(someone), (someone.code_kind, someone.code_amount)
        if someone.state == "ENDED" and due[0] and found != due:
            yield f"{name}: {someone.outcome} pays {due}, the code is {found}"
        story = case.stories.get(name)
        shown = [end["code"] for end in story.ends if end["state"] == "ENDED"] if story else []
        if any(code != someone.code for code in shown):
            yield f"{name}: was shown {shown}, the code is {someone.code or 'none'}"


def _due(someone: Someone) -> tuple[str, Decimal]:
    """Return the kind and amount of the code that is due; computed here anew, from the rows."""
    promised, kind = someone.promised, PAYS.get(someone.outcome, "")
    if kind == SCREENED:
        amount = max(promised.screening_pay, _part(someone)[1])
        return (SCREENED, amount) if amount else ("", amount)
    if kind != PART:
        return kind, {FULL: promised.pay, WAITING: promised.waiting_pay}.get(kind, Decimal(0))
    return _part(someone)


def _part(someone: Someone) -> tuple[str, Decimal]:
    """Return what is due for stopping, by what was promised for it."""
    promised = someone.promised
    done, share = _work(someone)
    enough = promised.quit_rule != "MINIMUM" and done >= promised.least_work
    if not done or not (enough or share >= 1):
        return "", Decimal(0)
    if share >= 1 or promised.quit_rule == FULL:
        return FULL, promised.pay
    cents = math.ceil(share * int(promised.pay * 100))
    return FULL if cents == promised.pay * 100 else PART, Decimal(cents) / 100


def _work(someone: Someone) -> tuple[int, Fraction]:
    if not someone.has_chat:
        return someone.judged, Fraction(someone.judged, max(1, someone.given))
    said = {
        chat.number: [event.side for event in chat.events if event.kind == "message"]
        for chat in someone.chats
    }
    wrote = [chat for chat in someone.chats if chat.side in said[chat.number]]
    shares = (Fraction(len(said[chat.number]), max(1, chat.minimum)) for chat in wrote)
    return sum(len(said[chat.number]) for chat in wrote), sum(shares, Fraction(0))


def without_data(case: Case) -> Iterator[str]:
    """Codes for completed work of which there are no ratings, and codes that exist nowhere."""
    codes = {someone.code for someone in case.base.people.values() if someone.code}
    for name, someone in case.base.people.items():
        completed = someone.outcome == "COMPLETED"
        if someone.code and completed and _is_to_rate(someone) and not someone.ratings:
            yield f"{name}: was paid as completed, and there is no rating"
        came_back = someone.outcome == "LEFT"
        due, paid = (
            (_part if came_back else _due)(someone),
            (someone.code_kind, someone.code_amount),
        )
        if someone.code and not due[0]:
            yield f"{name}: {someone.outcome or 'not ended'} is paid nothing, and has a code"
        elif someone.code and came_back and paid != due:
            yield f"{name}: came back to {due}, the code is {paid}"
    for name, story in case.stories.items():
        for end in story.ends:
            if end.get("code") and end["code"] not in codes:
                yield f"{name}: was shown a code that is not in the database"


def _is_to_rate(someone: Someone) -> bool:
    """Tell whether completed work has ratings: a conversation that came to nothing asks for none.

    Who was parted before any work may have been the one to rate there, and not with the partner of
    the conversation that was finished.
    """
    finished = [chat for chat in someone.chats if chat.state == "FINISHED"]
    return not finished or any(chat.rates for chat in finished)


def overshoot(case: Case) -> Iterator[str]:
    """More than wanted, or counted otherwise than the rows are."""
    for count in case.base.counts:
        if max(count.found, count.completed + count.reserved) > count.target:
            yield f"{count.name}: {count.found} of {count.target}"
        if count.found != count.completed:
            yield f"{count.name}: counts {count.completed}, there are {count.found}"


def leaked(case: Case) -> Iterator[str]:
    """What is still reserved when nobody is left."""
    for count in case.base.counts:
        if count.reserved:
            yield f"{count.name}: {count.reserved} reserved"
    for name, someone in case.base.people.items():
        if someone.holds_slot or someone.open_seats or someone.open_assignments:
            yield f"{name}: still holds a place, a seat or an item"


def unknown(case: Case) -> Iterator[str]:
    """Writes of which the writer never learned what became of them."""
    for name, story in case.stories.items():
        yield from (f"{name}: {key}" for key in story.unknown())


def changed(case: Case) -> Iterator[str]:
    """Labels and ratings whose value is another one than what was acknowledged (G29)."""
    labels = {(a.person, a.conversation, a.seq, a.question): a for a in case.base.answers}
    for name, _, client, chat in case.pairs():
        if chat is not None:
            yield from values.labels(name, client, chat.number, labels)
    for name, story in case.stories.items():
        someone = case.base.people.get(name)
        if someone and someone.outcome == "COMPLETED":
            yield from values.forms(name, story, case.base.answers)
    if case.export is not None:
        yield from values.exported(case.base.answers, case.export.values)


CHECKS: dict[str, Callable[[Case], Iterator[str]]] = {
    "missing": missing,
    "doubled": doubled,
    "mis-ordered": mis_ordered,
    "turns without exactly one outcome": turns,
    "participations without exactly one end": ends,
    "unpaid entitled": unpaid,
    "codes without data": without_data,
    "overshoot": overshoot,
    "leaked reservations": leaked,
    "unresolved unknowns": unknown,
    "changed values": changed,
}


def check(case: Case) -> dict[str, list[str]]:
    """Run every check."""
    return {name: list(find(case)) for name, find in CHECKS.items()}


def people_paid(case: Case) -> Counter[str]:
    """Return how participations ended."""
    return Counter(each.outcome or each.state for each in case.base.people.values())
