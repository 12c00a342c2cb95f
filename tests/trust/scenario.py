"""The campaigns of a ledger run, and the crowds that visit them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tests.factories import make_campaign
from tests.trust.drills import Drill
from tests.trust.runs import Run
from webapp.crowd.order import Order
from webapp.crowd.people import Mix
from webapp.crowd.process import Crowd
from webapp.models import Campaign, Context
from webapp.services.rating import contexts

SHORT = {"chat.minimum": [6, 8]}
MIX = Mix(pause=0.2, slow_pause=1.0, slow=0.2, dropout=0.1, plain=0.15, twice=0.15)
BOTS = ("generic", "parrot")


@dataclass(frozen=True)
class Part:
    """A campaign and the share of all people who come to it."""

    campaign: Campaign
    people: int


def parts(people: int) -> list[Part]:
    """Make a campaign with bots and people, one with labels while chatting, and a static one.

    Each has room for fewer than will come.
    """
    mixed, labeled = round(people * 0.55), round(people * 0.3)
    static = people - mixed - labeled
    return [
        Part(_mixed(mixed), mixed),
        Part(_labeled(labeled), labeled),
        Part(_static(static), static),
    ]


def parts_of_drill(drill: Drill) -> list[Part]:
    """Make the one campaign of a drill."""
    make = {"bots": _bots, "labeled": _labeled}[drill.kind]
    return [Part(make(drill.people), drill.people)]


def _bots(people: int) -> Campaign:
    return make_campaign(
        "personachat_bot",
        systems={"alpha": "generic", "beta": "parrot"},
        target=max(2, people // 3),
        personas=3 * people,
        changes={"chat.minimum": [4], "chat.pace": 0},
        name="bots",
    )


def _mixed(people: int) -> Campaign:
    return make_campaign(
        "personachat_bot",
        systems={"alpha": "generic", "beta": "parrot", "gamma": "people"},
        target=max(2, people * 3 // 10 // 2 * 2),
        personas=3 * people,
        changes={**SHORT, "chat.pace": 0.02},
        wait_seconds=20,
        name="mixed",
    )


def _labeled(people: int) -> Campaign:
    return make_campaign(
        "meena_interactive",
        systems={"alpha": "generic", "beta": "parrot"},
        target=max(2, people * 2 // 5),
        personas=0,
        changes={**SHORT, "chat.maximum": 10},
        name="labeled",
    )


def _static(people: int) -> Campaign:
    campaign = make_campaign(
        "meena_static",
        systems={"alpha": "generic", "beta": "parrot"},
        personas=0,
        changes={"rate.votes": 2, "rate.batch": 4},
        name="static",
    )
    for number in range(max(2, people)):
        text = f"Have you ever seen lake number {number}?"
        Context.objects.create(campaign=campaign, key=f"x{number}", messages=[text])
    return campaign


def begin_static(found: list[Part], now: datetime) -> None:
    """Let the bots answer the contexts; the servers must run."""
    for part in found:
        if part.campaign.protocol == "meena_static":
            contexts.build(campaign=part.campaign, now=now)


def crowds(found: list[Part], bases: tuple[str, ...], folder: Path, run: Run) -> list[Crowd]:
    """Send each campaign its people, each crowd a process."""
    drill = run.drill
    total = sum(part.people for part in found)
    return [
        Crowd(
            Order(
                bases=bases,
                slug=part.campaign.slug,
                count=part.people,
                seed=run.seed,
                at_once=part.people if drill else max(4, part.people * 40 // total),
                seconds=drill.patience(with_bug=run.with_bug) if drill else 400,
                mix=drill.mix if drill else MIX,
                prefix=part.campaign.name,
            ),
            folder / f"{part.campaign.name}.jsonl",
        )
        for part in found
    ]
