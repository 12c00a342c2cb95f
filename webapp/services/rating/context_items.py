"""Items of contexts: one reply, every two side by side, or all on one page.

Apart from how replies come about (`contexts`): items are made of what is there. A reply has an
opaque number, drawn anew for each context, so that no key tells systems apart.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, groupby

from django.db import transaction

from evaluation import Rate
from webapp.models import Campaign, Candidate, Context, Conversation, Event, Item
from webapp.services.rules.protocols import protocol_of

TOGETHER_LEAST = 2


def make(campaign: Campaign, *, at_launch: bool = False) -> int:
    """Make the items that the replies allow and that are not there; return how many.

    Replies that are shown together wait for the launch: only then it is known that none will come.
    """
    rate = protocol_of(campaign).after
    if rate is None or rate.over != "contexts" or (rate.show != "one" and not at_launch):
        return 0
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)  # one after another
        return sum(_store(campaign, rate, found) for found in _wanted(campaign, rate))


def answered(campaign: Campaign) -> list[tuple[Context, list[Conversation]]]:
    """Return each context that has replies, with them in the order of systems."""
    rows = campaign.conversations.filter(
        purpose=Conversation.Purpose.CONTEXT, state=Conversation.State.FINISHED, excluded=""
    ).order_by("context", "system", "pk")
    contexts = {context.key: context for context in campaign.contexts.all()}
    grouped = groupby(rows, key=lambda row: row.context)
    return [(contexts[key], list(replies)) for key, replies in grouped]


def without_items(campaign: Campaign) -> list[str]:
    """Return the keys of contexts that no item can be made of."""
    rate = protocol_of(campaign).after
    systems = list(campaign.systems.order_by("pk").values_list("pk", flat=True))
    if rate is None or not systems:
        return []
    shown = {
        context.key
        for context, replies in answered(campaign)
        if any(sets(replies, rate, systems[0], is_known=bool(context.known)))
    }
    return [each.key for each in campaign.contexts.all() if each.key not in shown]


def sets(
    replies: Sequence[Conversation], rate: Rate, first_system: int, *, is_known: bool = False
) -> Iterator[tuple[Conversation, ...]]:
    """Yield the replies to one context that are shown together."""
    if rate.show == "one":
        yield from ((reply,) for reply in replies)
    elif rate.show == "all":
        yield from (tuple(replies),) if len(replies) >= TOGETHER_LEAST else ()
    else:
        for pair in combinations(replies, 2):
            systems = {reply.system_id for reply in pair}
            is_wanted = is_known or not rate.with_first or first_system in systems
            if len(systems) == len(pair) and is_wanted:
                yield pair


def draw(campaign: Campaign, *what: str) -> random.Random:
    """Return a source of chance for one purpose, the same whenever it is asked for."""
    return random.Random(":".join((str(campaign.seed), *what)))  # noqa: S311 (to be repeated)


def digests(campaign: Campaign) -> list[dict[str, str]]:
    """Return the replies as a plan has them: whose, to what, and their words by hash."""
    rows = Event.objects.filter(
        conversation__in=[reply for _, replies in answered(campaign) for reply in replies],
        in_reply_to__isnull=False,
    )
    return [
        {
            "context": row.conversation.context,
            "system": row.conversation.system.name,
            "intended": row.conversation.intended,
            "sha256": hashlib.sha256(row.content["text"].encode()).hexdigest(),
        }
        for row in rows.select_related("conversation__system").order_by("conversation")
    ]


# --- items ------------------------------------------------------------------------------------


def _wanted(
    campaign: Campaign, rate: Rate
) -> Iterator[tuple[Context, str, list[tuple[int, Conversation]]]]:
    """Yield context, key and numbered replies of each item that is not there yet."""
    there = set(campaign.items.filter(context__isnull=False).values_list("key", flat=True))
    systems = list(campaign.systems.order_by("pk").values_list("pk", flat=True))
    for context, replies in answered(campaign):
        numbers = _numbers(campaign, context, replies, systems, by_system=rate.show == "one")
        for chosen in sets(replies, rate, systems[0], is_known=bool(context.known)):
            numbered = sorted(((numbers[reply.pk], reply) for reply in chosen), key=lambda n: n[0])
            key = _key(context, numbered, rate)
            if key not in there:
                there.add(key)
                yield context, key, numbered


def _key(context: Context, numbered: Sequence[tuple[int, Conversation]], rate: Rate) -> str:
    shown = "all" if rate.show == "all" else "-".join(str(number) for number, _ in numbered)
    return f"{context.key}:{shown}"


def _numbers(
    campaign: Campaign,
    context: Context,
    replies: Sequence[Conversation],
    systems: Iterable[int],
    *,
    by_system: bool,
) -> dict[int, int]:
    """Return the number of each reply, from 1.

    Shown alone it is that of its system, so that it holds while other replies are still to come; a
    system's further replies come after all systems.
    """
    chance = draw(campaign, context.key, "numbers")
    if not by_system:
        pks = [reply.pk for reply in replies]
        chance.shuffle(pks)
        return {pk: number for number, pk in enumerate(pks, start=1)}
    order = list(systems)
    chance.shuffle(order)
    taken: set[int] = set()
    numbers: dict[int, int] = {}
    for reply in replies:
        number = order.index(reply.system_id) + 1
        while number in taken:
            number += len(order)
        taken.add(number)
        numbers[reply.pk] = number
    return numbers


def _store(
    campaign: Campaign, rate: Rate, found: tuple[Context, str, list[tuple[int, Conversation]]]
) -> int:
    context, key, numbered = found
    item = Item.objects.create(
        campaign=campaign,
        key=key,
        context=context,
        target=0 if context.known else rate.votes,
        known=bool(context.known),
        order=draw(campaign, key, "order").getrandbits(31),
    )
    seqs = dict(
        Event.objects.filter(
            conversation__in=[reply.pk for _, reply in numbered], in_reply_to__isnull=False
        ).values_list("conversation_id", "seq")
    )
    is_alone = len(numbered) == 1
    Candidate.objects.bulk_create(
        Candidate(
            item=item,
            key=f"r{item.pk}" if is_alone else f"r{item.pk}n{number}",
            conversation=reply,
            system_id=reply.system_id,
            seq=seqs[reply.pk],
            side=1,
        )
        for number, reply in numbered
    )
    return 1
