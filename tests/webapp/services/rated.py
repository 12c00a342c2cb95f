"""Campaigns with finished conversations and their ratings, made as rows."""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tests.factories import NOW, make_campaign, make_context, make_participation
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Conversation,
    Event,
    Item,
    Participation,
    Persona,
    Rating,
    Seat,
    System,
)

QUALITY = {"good": 1.2, "fair": 0.2, "poor": -1.0}
SCALES = ("fluency", "engagingness", "consistency")
_count = itertools.count(1)


def chatted(
    campaign: Campaign,
    system: System,
    *,
    outcome: str = "COMPLETED",
    state: str = "FINISHED",
    messages: int = 4,
    said: str = "",
) -> tuple[Participation, Conversation]:
    """Return somebody who has chatted with a system's bot, and their conversation."""
    person = make_participation(
        campaign,
        system=system,
        state="ENDED" if outcome else "CHATTING",
        outcome=outcome,
        ended_at=NOW if outcome else None,
    )
    talk = Conversation.objects.create(
        campaign=campaign, system=system, seed=5, started_at=NOW, state=state, last_seq=messages
    )
    mine, partners = [*Persona.objects.filter(campaign=campaign)[:2], None, None][:2]
    Seat.objects.create(
        conversation=talk,
        side=0,
        participation=person,
        persona=mine,
        outcome=outcome,
        active=False,
    )
    Seat.objects.create(conversation=talk, side=1, persona=partners)
    Event.objects.bulk_create(
        Event(
            conversation=talk,
            seq=seq,
            kind=Event.Kind.MESSAGE,
            side=1 - seq % 2,
            client_id=uuid.UUID(int=next(_count)) if seq % 2 else None,
            in_reply_to=None if seq % 2 else seq - 1,
            content={"text": said or f"line {seq} of {talk.pk}"},
            made_at=NOW + timedelta(milliseconds=seq),
        )
        for seq in range(1, messages + 1)
    )
    return person, talk


def judged(
    person: Participation, talk: Conversation, answers: Mapping[str, Any], *, when: str = "after"
) -> Assignment:
    """Store answers about the partner; those about a message are named `seq.question`."""
    item = Item.objects.create(
        campaign=talk.campaign,
        key=f"c{talk.pk}:1:{when}",
        conversation=talk,
        target=1,
        completed=1,
    )
    done = Assignment.objects.create(
        item=item, participation=person, place=0, state="DONE", made_at=NOW, done_at=NOW
    )
    asked = [(*name.rpartition(".")[::2], value) for name, value in answers.items()]
    about = {
        seq: Candidate.objects.create(
            item=item,
            key=f"m{seq}" if seq else "p",
            conversation=talk,
            system=talk.system,
            seq=int(seq) if seq else None,
            side=1,
        )
        for seq in dict.fromkeys(seq for seq, _, _ in asked)
    }
    Rating.objects.bulk_create(
        Rating(assignment=done, candidate=about[seq], question=question, value=value, made_at=NOW)
        for seq, question, value in asked
    )
    return done


def personachat(each: int = 12, systems: Mapping[str, float] = QUALITY, **changes: Any) -> Campaign:
    """Return a campaign in which `each` people rated every system, the better the higher."""
    campaign = make_campaign(systems=dict.fromkeys(systems, "parrot"), **changes)
    draw = random.Random(1)
    for system in campaign.systems.all():
        for _ in range(each):
            rate(campaign, system, quality=systems[system.name], draw=draw)
    return campaign


def rate(
    campaign: Campaign,
    system: System,
    *,
    quality: float = 0.0,
    draw: random.Random | None = None,
    **ending: Any,
) -> tuple[Participation, Conversation]:
    """Let somebody chat and rate."""
    draw = draw or random.Random(1)
    person, talk = chatted(campaign, system, **ending)
    scores = {q: min(5, max(1, round(3 + quality + draw.gauss(0, 0.8)))) for q in SCALES}
    true, other = "p1", "p5"
    chosen = true if draw.random() < 0.6 + quality / 4 else other
    judged(person, talk, scores | {"persona": chosen})
    return person, talk


def meena(each: int = 10, systems: Mapping[str, float] = QUALITY) -> Campaign:
    """Return a campaign in which `each` people labeled every message of every system."""
    campaign = make_campaign(
        "meena_interactive", systems=dict.fromkeys(systems, "parrot"), personas=0
    )
    draw = random.Random(2)
    for system in campaign.systems.all():
        for _ in range(each):
            person, talk = chatted(campaign, system, messages=8)
            answers = {}
            for seq in (2, 4, 6, 8):
                sensible = int(draw.random() < 0.6 + systems[system.name] / 4)
                answers[f"{seq}.sensible"] = sensible
                answers[f"{seq}.specific"] = sensible and int(draw.random() < 0.6)
            judged(person, talk, answers, when="live")
    return campaign


def static(contexts: int = 6, raters: int = 5) -> Campaign:
    """Return a static campaign: each system's reply to each context, judged by all raters."""
    campaign = make_campaign("meena_static", systems={"good": "parrot", "poor": "parrot"})
    people = [
        make_participation(campaign, state="ENDED", outcome="COMPLETED") for _ in range(raters)
    ]
    draw = random.Random(3)
    for number, system in itertools.product(range(contexts), campaign.systems.all()):
        talk = Conversation.objects.create(
            campaign=campaign,
            system=system,
            purpose="CONTEXT",
            context=f"k{number}",
            seed=1,
            started_at=NOW,
            state="FINISHED",
        )
        sides = ((1, 0), (2, 1))
        Seat.objects.bulk_create(
            Seat(conversation=talk, side=side, active=False) for _, side in sides
        )
        Event.objects.bulk_create(
            Event(
                conversation=talk,
                seq=seq,
                kind="message",
                side=side,
                content={"text": f"message {seq}"},
                made_at=NOW + timedelta(milliseconds=seq),
                in_reply_to=1 if seq == 2 else None,
            )
            for seq, side in sides
        )
        item = Item.objects.create(
            campaign=campaign,
            key=f"k{number}:{system.pk}",
            context=make_context(campaign, f"k{number}"),
            target=raters,
        )
        reply = Candidate.objects.create(
            item=item, key=f"r{item.pk}", conversation=talk, system=system, seq=2, side=1
        )
        for place, person in enumerate(people):
            done = Assignment.objects.create(
                item=item, participation=person, place=place, state="DONE", done_at=NOW
            )
            sensible = int(draw.random() < (0.9 if system.name == "good" else 0.4))
            values = {"sensible": sensible, "specific": sensible and place % 2}
            Rating.objects.bulk_create(
                Rating(
                    assignment=done,
                    candidate=reply,
                    question=question,
                    value=value,
                    made_at=NOW + timedelta(seconds=place),
                )
                for question, value in values.items()
            )
    return campaign
