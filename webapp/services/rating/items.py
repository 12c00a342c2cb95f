"""Items and their assignment to raters: partners, messages, and replies to contexts.

Replies to contexts, and messages of other campaigns' conversations (`message_items`), are shared
out among raters.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import F

from evaluation import Rate
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Conversation,
    Event,
    Item,
    Participation,
    Seat,
)
from webapp.models.rating import ItemQuery
from webapp.services.rating import onboarding, one_kind, third_parties
from webapp.services.rules import persona_stack, quota, states
from webapp.services.rules.protocols import protocol_of

LOOKED_AT, LOOKED_AT_EACH = 100, 5  # open items: at least, and per item to be chosen
FEWEST_VOTES = (F("reserved") + F("completed"), "order")  # the index open_items_by_votes has them
State = Assignment.State
Made = TypeVar("Made", Item, Assignment, Candidate)
PARTNER = "p"  # the key of a candidate that is the partner as a whole, in the first round


# --- a participant's own conversation ---------------------------------------------------------


def open_after(*, person: Participation, conversation: Conversation, now: datetime) -> Assignment:
    """Let a person judge the partner of their conversation; a repeat returns the first.

    The personas beside the partner's own are drawn here and the order shown is stored.
    """
    rate = protocol_of(conversation.campaign).after
    if rate is None:
        raise LookupError(f"protocol {conversation.campaign.protocol} asks nothing afterwards")
    seats = {seat.participation_id == person.pk: seat for seat in conversation.seats.all()}
    choices = _draw_choices(rate, conversation, mine=seats[True], partner=seats[False])
    assignment = _open(seats[True], conversation, seats[False].side, "after", choices, now)
    _made(
        Candidate,  # names of fields tell the rounds' forms apart
        {"item": assignment.item, "key": f"{PARTNER}{assignment.place or ''}"},
        conversation=conversation,
        system_id=conversation.system_id,
        side=seats[False].side,
    )
    return assignment


def open_live(*, person: Participation, conversation: Conversation, now: datetime) -> Assignment:
    """Let a person label their partner's messages while chatting; a repeat returns the first."""
    seats = {seat.participation_id == person.pk: seat for seat in conversation.seats.all()}
    return _open(seats[True], conversation, seats[False].side, "live", {}, now)


def candidate_for(event: Event, item: Item | None = None) -> Candidate:
    """Return the candidate that stands for a message of the partner; made when first needed.

    item: what is labeled in its conversation, where that was looked up.
    """
    key = _key(event.conversation, event.side, "live")
    item = item or Item.objects.get(campaign=event.conversation.campaign_id, key=key)
    candidate, _ = Candidate.objects.get_or_create(  # one_candidate_of_a_key decides
        item=item,
        key=f"m{event.seq}",
        defaults={
            "conversation": event.conversation,
            "system_id": event.conversation.system_id,
            "seq": event.seq,
            "side": event.side or 0,
        },
    )
    return candidate


def _key(conversation: Conversation, side: int | None, when: str) -> str:
    return f"c{conversation.pk}:{side}:{when}"


def _open(
    rater: Seat,
    conversation: Conversation,
    side: int,
    when: str,
    choices: dict[str, list[str]],
    now: datetime,
) -> Assignment:
    with transaction.atomic():
        about = {"campaign_id": conversation.campaign_id, "key": _key(conversation, side, when)}
        item = _made(Item, about, conversation=conversation, target=1, reserved=1)
        who = {"item": item, "participation_id": rater.participation_id}
        return _made(Assignment, who, place=rater.round, choices=choices, made_at=now)


def _made(kind: type[Made], keys: Mapping[str, Any], **rest: Any) -> Made:
    """Return the row of these keys, made here as a rule; a constraint decides between two at once.

    It is not looked for first: who opens a form a second time has lost a reply, which is rare.
    """
    try:
        with transaction.atomic():
            return kind._default_manager.create(**keys, **rest)
    except IntegrityError:
        found = kind._default_manager.filter(**keys).first()
        if found is None:
            raise
        return found


def _draw_choices(
    rate: Rate, conversation: Conversation, *, mine: Seat, partner: Seat
) -> dict[str, list[str]]:
    drawn: dict[str, list[str]] = {}
    for question in rate.each:
        count = question.personas_beside()
        if count is not None and partner.persona is not None:
            seed = f"{conversation.seed}:{mine.side}:{question.name}"
            others = persona_stack.distractors(
                campaign=conversation.campaign,
                split=partner.persona.split,
                seed=seed,
                beside={s.persona_id for s in (mine, partner) if s.persona_id is not None},
                count=count,
            )
            keys = [partner.persona.key, *(persona.key for persona in others)]
            random.Random(f"{seed}:order").shuffle(keys)  # noqa: S311 (to be repeated)
            drawn[question.name] = keys
    return drawn


# --- replies to fixed contexts, and messages of others ----------------------------------------


def assign(*, person: Participation, now: datetime) -> list[Assignment]:
    """Reserve the items of a batch: fewest votes first, each context once where avoidable.

    Messages of others come in the order of their conversations, and never of a conversation that
    the person took part in. What they judged before they left and came back counts towards their
    batch. Items with known answers come first, where there is an onboarding. Empty where nothing
    else is left for them.
    """
    size = protocol_of(person.campaign).batch
    with transaction.atomic():
        rows = Assignment.objects.filter(participation=person).select_related("item")
        mine = list(rows.order_by("place"))
        held = [one for one in mine if one.state != State.RELEASED]
        released = {one.item_id: one for one in mine if one.state == State.RELEASED}
        if lacking := onboarding.missing(person, held):
            chosen = onboarding.choose(person, lacking, held)
            held += _reserve(person, chosen, released, len(held), now)
        while len(held) < size:
            chosen = _choose(person, held, size - len(held))
            if not chosen:
                break
            held += _reserve(person, chosen, released, len(held), now)
        if all(one.item.known for one in held):
            return []
        reserved = [one for one in held if one.state == State.RESERVED]
        return sorted(reserved, key=lambda one: one.place)


def open_items(campaign: Campaign) -> ItemQuery:
    """Return the shared items that still want votes."""
    rows = Item.objects.shared().kept()
    return rows.filter(campaign=campaign, target__gt=F("reserved") + F("completed"))


def _choose(person: Participation, held: Sequence[Assignment], count: int) -> list[Item]:
    rows = open_items(person.campaign).exclude(pk__in=[one.item_id for one in held])
    if third_parties.uses_others(person.campaign):
        return _choose_messages(third_parties.open_to(rows, person), count)
    if protocol_of(person.campaign).write:
        return list(rows.order_by(*FEWEST_VOTES)[:count])
    if third_parties.compares_own(person.campaign):
        rows = third_parties.open_to(rows, person)
    rows = one_kind.kept_to(rows, person)
    return _choose_replies(rows, [one.item for one in held], count)


def _choose_messages(rows: ItemQuery, count: int) -> list[Item]:
    """Choose those with the fewest votes, in the order of their conversations."""
    fewest = rows.order_by(*FEWEST_VOTES)[:count]
    return sorted(fewest, key=lambda item: item.order)


def _choose_replies(rows: ItemQuery, held: Sequence[Item], count: int) -> list[Item]:
    """Choose items greedily: a new context, new conversations, few votes, rare systems, the draw.

    Only those with the fewest votes are looked at, so that it takes as long for a thousand items
    as for many.
    """
    contexts = Counter(item.context_id for item in held)
    left = _fewest_votes(rows, contexts, max(LOOKED_AT, LOOKED_AT_EACH * count))
    chats_of, systems_of = _judged([*held, *left])
    chats = Counter(pk for item in held for pk in chats_of[item.pk])
    systems = Counter(pk for item in held for pk in systems_of[item.pk])

    def rank(item: Item) -> tuple[int, ...]:
        return (
            contexts[item.context_id],
            sum(chats[pk] for pk in chats_of[item.pk]),
            item.reserved + item.completed,
            sum(systems[pk] for pk in systems_of[item.pk]),
            item.order,
        )

    chosen: list[Item] = []
    waiting = [(rank(item), number, item) for number, item in enumerate(left)]
    heapq.heapify(waiting)
    while waiting and len(chosen) < count:
        before, number, best = waiting[0]
        if (after := rank(best)) > before:  # ranks only grow, so the others' are no less
            heapq.heapreplace(waiting, (after, number, best))
            continue
        heapq.heappop(waiting)
        chosen.append(best)
        contexts[best.context_id] += 1
        chats.update(chats_of[best.pk])
        systems.update(systems_of[best.pk])
    return chosen


def _fewest_votes(rows: ItemQuery, known: Collection[int | None], most: int) -> list[Item]:
    """Return items with the fewest votes: of contexts not seen, and of those seen if these lack."""
    ordered = rows.order_by(*FEWEST_VOTES)
    found = list(ordered.exclude(context__in=[pk for pk in known if pk is not None])[:most])
    if len(found) == most or not known:
        return found
    return found + list(ordered.filter(context__in=known)[:most])


def _judged(items: Sequence[Item]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return the conversations and the systems of each item's candidates, by item.

    Numbers, no rows: of all items that are looked at few are chosen.
    """
    chats: dict[int, list[int]] = defaultdict(list)
    systems: dict[int, list[int]] = defaultdict(list)
    rows = Candidate.objects.filter(item__in=[item.pk for item in items]).order_by()
    for item, chat, system in rows.values_list("item_id", "conversation_id", "system_id"):
        chats[item].append(chat)
        systems[item].append(system)
    return chats, systems


def _reserve(
    person: Participation,
    chosen: Sequence[Item],
    released: Mapping[int, Assignment],
    first: int,
    now: datetime,
) -> list[Assignment]:
    """Reserve what is still free of the items chosen, and return it; places count from `first`."""
    taken = quota.reserve_each([item for item in chosen if not item.known])
    taken |= {item.pk for item in chosen if item.known}  # they want no number of raters
    positions = {item.pk: position for position, item in enumerate(chosen, start=first)}
    again = [one for pk, one in released.items() if pk in taken]
    for one in again:
        states.move(one, "reserve", place=positions[one.item_id], made_at=now)
    new = [item for item in chosen if item.pk in taken and item.pk not in released]
    keys = _keys(new)
    made = Assignment.objects.bulk_create(
        Assignment(
            item=item,
            participation=person,
            place=positions[item.pk],
            made_at=now,
            shown=_order(person, item, keys[item.pk]),
        )
        for item in new
    )
    return again + made


def _keys(items: Sequence[Item]) -> dict[int, list[str]]:
    """Return the keys of each item's candidates, by item."""
    keys: dict[int, list[str]] = defaultdict(list)
    rows = Candidate.objects.filter(item__in=[item.pk for item in items]).order_by()
    for item, key in rows.values_list("item_id", "key"):
        keys[item].append(key)
    return keys


def _order(person: Participation, item: Item, keys: Sequence[str]) -> list[str]:
    """Draw the order in which a person sees the candidates; empty for a single one."""
    shown = sorted(keys)
    seed = f"{person.campaign.seed}:{item.pk}:{person.pk}:shown"
    random.Random(seed).shuffle(shown)  # noqa: S311 (to be repeated)
    return shown if len(shown) > 1 else []
