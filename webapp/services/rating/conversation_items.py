"""Items of whole conversations: one, or those of two systems side by side.

A speaker of each is judged: the system, or one of two people by chance. Keys tell no system.
Pairs are made at launch: each conversation stands beside one of every other system, and those of a
system that has fewer come more often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from django.db import transaction

from evaluation import Rate
from webapp.models import Campaign, Candidate, Conversation, Item
from webapp.services.rating import transcripts
from webapp.services.rating.context_items import draw
from webapp.services.rating.transcripts import HUMAN
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of

Shown = tuple[Conversation, ...]


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


def _sets(campaign: Campaign, rate: Rate) -> Iterator[Shown]:
    """Yield the conversations that are shown together."""
    by_system: dict[int, list[Conversation]] = {}
    rows = transcripts.of(campaign).filter(excluded="").select_related("system")
    for row in rows.order_by("system", "pk"):
        by_system.setdefault(row.system_id, []).append(row)
    for system, own in by_system.items():
        draw(campaign, str(system), "conversations").shuffle(own)
    if rate.show == "one":
        yield from ((row,) for own in by_system.values() for row in own)
        return
    first = campaign.systems.order_by("pk").values_list("pk", flat=True).first()
    for pair in combinations(by_system, 2):
        if not rate.with_first or first in pair:
            yield from _beside(by_system[pair[0]], by_system[pair[1]])


def _beside(one: Sequence[Conversation], other: Sequence[Conversation]) -> Iterator[Shown]:
    for number in range(max(len(one), len(other))):
        yield one[number % len(one)], other[number % len(other)]


def _key(shown: Shown) -> str:
    return "chats:" + "-".join(str(pk) for pk in sorted(row.pk for row in shown))


def _store(campaign: Campaign, rate: Rate, key: str, shown: Shown) -> None:
    item = Item.objects.create(
        campaign=campaign,
        key=key,
        target=rate.votes,
        order=draw(campaign, key, "order").getrandbits(31),
    )
    rows = list(shown)
    draw(campaign, key, "numbers").shuffle(rows)
    Candidate.objects.bulk_create(
        Candidate(
            item=item,
            key=f"r{item.pk}n{number}",
            conversation=row,
            system_id=row.system_id,
            side=_judged_side(campaign, row),
        )
        for number, row in enumerate(rows, start=1)
    )


def _judged_side(campaign: Campaign, row: Conversation) -> int:
    if row.system.name != HUMAN:
        return 1
    return draw(campaign, str(row.pk), "side").randrange(2)
