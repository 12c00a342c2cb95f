"""Items of whole conversations: one, or those of two systems side by side.

A speaker of each is judged: the system, or one of two people by chance. Keys tell no system.
Pairs are made at launch: each conversation stands beside one of every other system, and those of a
system that has fewer come more often. Conversations that are marked as controls stand beside each
other only, a better one and a worse one: of such a pair the answer is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from django.db import transaction
from django.db.models import Q

from evaluation import Rate
from webapp.models import Campaign, Candidate, Control, Conversation, Item
from webapp.services.rating import transcripts
from webapp.services.rating.context_items import draw
from webapp.services.rating.judged_conversations import finished
from webapp.services.rating.transcripts import HUMAN
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of


@dataclass(frozen=True)
class ComparedConversation:
    """A conversation that is judged as a whole, under a system of the campaign that judges it."""

    conversation: Conversation
    system: int
    is_of_people: bool
    control: str = ""


Shown = tuple[ComparedConversation, ...]


def make(campaign: Campaign) -> int:
    """Make the items that are not there yet; return how many."""
    rate = protocol_of(campaign).after
    if rate is None or rate.over != "speakers":
        return 0
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)  # one after another
        there = set(campaign.items.values_list("key", flat=True))
        wanted = {_key(shown): shown for shown in _sets(campaign, rate)}
        for key, shown in wanted.items():
            if key not in there:
                _store(campaign, rate, key, shown)
        return len(wanted.keys() - there)


def planned(campaign: AnyCampaign) -> int:
    """Return how many items there will be."""
    row = row_of(campaign)
    rate = protocol_of(row).after
    return 0 if rate is None else len({_key(shown) for shown in _sets(row, rate)})


def compared(campaign: Campaign) -> list[ComparedConversation]:
    """Return the conversations of a campaign, imported ones and those taken, by system.

    Of those taken whatever was withdrawn or set aside where it was held is none.
    """
    rows = transcripts.of(campaign).filter(excluded="").select_related("system", "note")
    found = [
        ComparedConversation(row, row.system_id, row.system.name == HUMAN, row.note.control)
        for row in rows.order_by("pk")
    ]
    taken = campaign.taken_conversations.filter(conversation__in=finished())
    found += [
        ComparedConversation(
            row.conversation, row.system_id, row.conversation.system.is_people, row.control
        )
        for row in taken.select_related("conversation__system").order_by("pk")
    ]
    return sorted(found, key=lambda each: each.system)


def controls(campaign: AnyCampaign) -> int:
    """Return how many pairs with a known answer there will be."""
    rate = protocol_of(campaign).after
    if rate is None or rate.show != "pairs":
        return 0
    return len({_key(pair) for pair in _control_pairs(compared(row_of(campaign)))})


def better_of(item: Item) -> int:
    """Return the candidate of a pair with a known answer that is the better one."""
    control = Q(conversation__note__control=Control.BETTER)
    control |= Q(
        conversation__taken__control=Control.BETTER, conversation__taken__campaign=item.campaign_id
    )
    return int(item.candidates.filter(control).values_list("pk", flat=True).distinct().get())


def _sets(campaign: Campaign, rate: Rate) -> Iterator[Shown]:
    """Yield the conversations that are shown together."""
    by_system: dict[int, list[ComparedConversation]] = {}
    rows = compared(campaign)
    for row in rows:
        if rate.show == "one" or not row.control:
            by_system.setdefault(row.system, []).append(row)
    for system, own in by_system.items():
        draw(campaign, str(system), "conversations").shuffle(own)
    if rate.show == "one":
        yield from ((row,) for own in by_system.values() for row in own)
        return
    yield from _control_pairs(rows)
    first = min(by_system, default=None)
    for pair in combinations(by_system, 2):
        if not rate.with_first or first in pair:
            yield from _beside(by_system[pair[0]], by_system[pair[1]])


def _control_pairs(rows: Sequence[ComparedConversation]) -> Iterator[Shown]:
    better = [row for row in rows if row.control == Control.BETTER]
    worse = [row for row in rows if row.control == Control.WORSE]
    if better and worse:
        yield from _beside(better, worse)


def _beside(
    one: Sequence[ComparedConversation], other: Sequence[ComparedConversation]
) -> Iterator[Shown]:
    for number in range(max(len(one), len(other))):
        yield one[number % len(one)], other[number % len(other)]


def _key(shown: Shown) -> str:
    return "chats:" + "-".join(str(pk) for pk in sorted(row.conversation.pk for row in shown))


def _store(campaign: Campaign, rate: Rate, key: str, shown: Shown) -> None:
    is_known = rate.show == "pairs" and any(row.control for row in shown)
    item = Item.objects.create(
        campaign=campaign,
        key=key,
        target=0 if is_known else rate.votes,
        known=is_known,
        order=draw(campaign, key, "order").getrandbits(31),
    )
    rows = list(shown)
    draw(campaign, key, "numbers").shuffle(rows)
    Candidate.objects.bulk_create(
        Candidate(
            item=item,
            key=f"r{item.pk}n{number}",
            conversation=row.conversation,
            system_id=row.system,
            side=_judged_side(campaign, row),
        )
        for number, row in enumerate(rows, start=1)
    )


def _judged_side(campaign: Campaign, row: ComparedConversation) -> int:
    if not row.is_of_people:
        return 1
    return draw(campaign, str(row.conversation.pk), "side").randrange(2)
