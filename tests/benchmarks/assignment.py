"""Assignment of items: 5,000 raters, of whom a fifth vanish, and 10,000 items of five votes each.

    python -m tests.benchmarks.assignment [--items 10000] [--raters 5000] [--batch 13] [--seed 0]

A real PostgreSQL, and the services that pages call; one rater after another is given a batch, 50
work at a time, and who vanishes is let go after as many others came. Printed: the time of one
assignment of a whole batch, on the clock and of this process's CPU (which tells a busy machine from
slow code), how far items are filled, how evenly on the way, and every rule broken: a vote too many,
an item twice for one rater, an order that is not drawn. Asked: all filled, balance within one vote,
no rule broken, 95 % of assignments within 50 ms.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers import postgresql

if TYPE_CHECKING:
    from webapp.models import Campaign, Participation

SYSTEMS, VOTES, AT_WORK, VANISH, LOOK = 5, 5, 50, 0.2, 100


def main() -> None:
    """Fill a campaign and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("items", 10_000), ("raters", 5_000), ("batch", 13), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    with postgresql() as url:
        os.environ |= {"DATABASE_URL": url, "DEBUG": "1"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0, skip_checks=True)
        _measure(_campaign(given.items, given.batch), given.raters, given.seed)


def _campaign(count: int, batch: int) -> Campaign:
    """Return an open campaign with `count` replies to judge."""
    from tests.factories import NOW, make_campaign
    from webapp.models import Candidate, Context, Conversation, Item

    changes = {"rate.votes": VOTES, "rate.batch": batch}
    names = {f"system{n}": "parrot" for n in range(SYSTEMS)}
    campaign = make_campaign("answer_plausibility", systems=names, personas=0, changes=changes)
    contexts = Context.objects.bulk_create(
        Context(campaign=campaign, key=f"k{n}", messages=[f"Question {n}?"])
        for n in range(-(-count // SYSTEMS))
    )
    chance = random.Random(1)
    pairs = [(context, system) for context in contexts for system in campaign.systems.all()]
    held = Conversation.objects.bulk_create(
        Conversation(
            campaign=campaign,
            system=system,
            purpose="CONTEXT",
            context=context.key,
            state="FINISHED",
            seed=1,
            started_at=NOW,
        )
        for context, system in pairs[:count]
    )
    items = Item.objects.bulk_create(
        Item(
            campaign=campaign,
            key=f"{context.key}:{system.pk}",
            context=context,
            target=VOTES,
            order=chance.getrandbits(31),
        )
        for context, system in pairs[:count]
    )
    Candidate.objects.bulk_create(
        Candidate(
            item=item,
            key=f"r{item.pk}",
            conversation=talk,
            system_id=talk.system_id,
            seq=2,
            side=1,
        )
        for item, talk in zip(items, held, strict=True)
    )
    return campaign


def _measure(campaign: Campaign, raters: int, seed: int) -> None:
    """Let so many raters come, and then one after another until nothing is left to be judged."""
    from webapp.services.rating import items

    chance, found = random.Random(seed), Measured()
    _rate(campaign, raters, chance, found)
    while items.open_items(campaign).exists():  # what the last of those who vanished had
        _rate(campaign, 1, chance, found)
    _print(campaign, found)


@dataclass
class Measured:
    """Seconds of each assignment, and by how many votes items differed on the way."""

    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    spread: list[int] = field(default_factory=list)


def _rate(campaign: Campaign, raters: int, chance: random.Random, found: Measured) -> None:
    from tests.factories import NOW, make_participation
    from webapp.services.rating import items

    working: deque[tuple[Participation, bool]] = deque()
    for _ in range(raters):
        person = make_participation(campaign, state="RATING")
        begin, worked = time.perf_counter(), time.process_time()
        items.assign(person=person, now=NOW)
        found.clock.append(time.perf_counter() - begin)
        found.cpu.append(time.process_time() - worked)
        working.append((person, chance.random() < VANISH))
        if len(working) > AT_WORK:
            _end(*working.popleft())
        if len(found.clock) % LOOK == 1:
            found.spread.append(_spread(campaign))
    while working:
        _end(*working.popleft())


def _end(person: Participation, vanished: bool) -> None:
    """Let somebody judge the whole batch, or never be seen again."""
    from django.db import transaction

    from webapp.services.rules import payment

    if vanished:
        payment.settle(person=person, outcome="LEFT", now=person.state_at)
        return
    with transaction.atomic():  # only assignments are timed
        _judge_all(person)


def _judge_all(person: Participation) -> None:
    from webapp.models import Assignment
    from webapp.services.rules import quota, states

    for one in Assignment.objects.filter(participation=person, state="RESERVED"):
        if states.try_move(Assignment.objects.filter(pk=one.pk), "judge", done_at=person.state_at):
            quota.complete(one.item)


def _spread(campaign: Campaign) -> int:
    """Return by how many votes, given or promised, the items differ at most."""
    from django.db.models import F, Max, Min

    found = campaign.items.aggregate(
        most=Max(F("reserved") + F("completed")), least=Min(F("reserved") + F("completed"))
    )
    return int(found["most"] - found["least"])


def _broken(campaign: Campaign) -> Iterator[tuple[str, Any]]:
    """Yield each rule with how often it is broken."""
    from django.db.models import Count, F

    from webapp.models import Assignment

    done = Assignment.objects.filter(item__campaign=campaign, state="DONE")
    votes = campaign.items.annotate(votes=Count("assignments__participation", distinct=True))
    yield "more votes than wanted", campaign.items.filter(completed__gt=F("target")).count()
    yield "votes counted and not given", votes.exclude(votes__gte=F("completed")).count()
    yield (
        "an item twice for one rater",
        sum(row["n"] - 1 for row in done.values("item", "participation").annotate(n=Count("pk"))),
    )
    pairs = done.values("participation", "item__context").annotate(n=Count("pk"))
    yield "a context twice for one rater", pairs.filter(n__gt=1).count()


def _print(campaign: Campaign, found: Measured) -> None:
    from django.db.models import F

    filled = campaign.items.filter(completed=F("target"), reserved=0).count()
    print(f"raters: {len(found.clock)}; items filled: {filled} of {campaign.items.count()}")
    for what, seconds in (("on the clock", found.clock), ("of CPU", found.cpu)):
        cuts = statistics.quantiles(seconds, n=100)
        print(
            f"one assignment, {what}: median {1000 * statistics.median(seconds):.1f} ms, "
            f"p95 {1000 * cuts[94]:.1f} ms, p99 {1000 * cuts[98]:.1f} ms"
        )
    print(
        f"votes differ by at most {max(found.spread)} (looked every {LOOK} raters: {found.spread})"
    )
    for rule, times in _broken(campaign):
        print(f"broken: {rule}: {times}")


if __name__ == "__main__":
    main()
