"""The steps: who acts next, in which way, and whether their process survives it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.trust.simulation import comparing, people, workers
from tests.trust.simulation.dying import Killed, killed_after, refusals
from tests.trust.simulation.model import BUDGET, Action, Soul, World

CRASHES = 0.06  # share of actions in which the process dies
LIFE = 250  # steps of a campaign, then everybody goes home
AT_ONCE = 9
KINDS = {
    "bots": "personachat_bot",
    "labeled": "meena_interactive",
    "pairs": "personachat_human",
}


def run(
    seed: int,
    steps: int,
    *,
    first: int = 1,
    clear: Callable[[], None] | None = None,
    counts: Counter[str] | None = None,
) -> Counter[str]:
    """Take steps, one campaign after another; return how often each thing was done.

    `clear` empties the database between two campaigns, so that no step is slower than the first.
    """
    counts = Counter() if counts is None else counts
    for number in range(first, first + -(-steps // LIFE)):
        if clear:
            clear()
        world = open_campaign(seed, number, counts)
        for step in range(min(LIFE, steps)):
            counts["steps"] += 1
            take_step(world)
            comparing.sums(world)
            if step % 20 == 0:
                comparing.values(world)
        comparing.go_home(world)
        steps -= LIFE
    return counts


def open_campaign(seed: int, number: int, counts: Counter[str]) -> World:
    from tests.factories import NOW, make_campaign
    from webapp.services.rules import ledger

    kind = [*KINDS][number % len(KINDS)]
    options: dict[str, Any] = {"personas": 40, "pay": "2.00", "budget": str(BUDGET)}
    options["target"] = 4 if number % 2 else 8  # the smaller one is full now and then
    changes: dict[str, Any] = {"chat.minimum": [4]}
    if kind == "pairs":
        options |= {"systems": {"humans": "people"}, "wait_seconds": 120, "waiting_pay": "0.50"}
        changes["rate.sides"] = "both"
    else:
        changes["chat.pace"] = 0
    world = World(seed, number, NOW + timedelta(days=number), counts)
    world.campaign = make_campaign(KINDS[kind], changes=changes, **options)
    ledger.begin(world.campaign)
    return world


def take_step(world: World) -> None:
    from webapp.services.participation import limits

    limits.own.clear()  # per minute of this machine's clock, not of the drawn one
    chance = world.chance
    world.now += timedelta(seconds=chance.choice((0, 0, 1, 1, 1, 2, 2, 5, 20, 90)))
    here = [soul for soul in world.souls if not soul.is_gone]
    if len(here) < AT_ONCE and chance.random() < 0.1:
        name, is_invited = f"soul-{world.number}-{len(world.souls)}", chance.random() < 0.3
        here.append(Soul(name, is_invited=is_invited))
        world.souls.append(here[-1])
    if not here or chance.random() < 0.3:
        act(world, chance.choice(workers.PLATFORM), Soul("platform"))
        return
    soul = chance.choice(here)
    if chance.random() < 0.02:
        soul.is_gone = True
    act(world, choose(world, soul), soul)


def choose(world: World, soul: Soul) -> Action:
    """Return what the person's page offers, at times something else, or once more the last."""
    if soul.again is not None and world.chance.random() < 0.7:
        again = soul.again
        return lambda world, one: again()
    if not soul.pk:
        return people.join
    state = world.person(soul).state
    if world.chance.random() < 0.1:
        return world.chance.choice(people.ANYTHING)
    return world.chance.choice(people.BY_STATE[state])


def act(world: World, action: Action, soul: Soul) -> None:
    """Act, at times in a process that dies on the way; the person then does not know."""
    name = getattr(action, "__name__", "again").replace("<lambda>", "again")
    world.trace.append(f"{world.now:%H:%M:%S} {soul.name} {name}")
    left = world.chance.randrange(1, 40) if world.chance.random() < CRASHES else 0
    try:
        with killed_after(left):
            action(world, soul)
        world.counts[name] += 1
    except Killed:
        world.trace[-1] += " (killed)"
        world.counts["killed"] += 1
    except refusals():
        world.trace[-1] += " (refused)"
        world.counts["refused"] += 1
        soul.again = None
