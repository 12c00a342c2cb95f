"""What the racing processes do with rows, and what is there after the race."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Count, Sum
from django.utils import timezone

from tests.webapp.services import people
from webapp.models import (
    AuditEntry,
    Campaign,
    CompletionCode,
    Contribution,
    Conversation,
    Item,
    Participation,
    PayLedger,
    Persona,
    QuotaCell,
    Rating,
    Seat,
)
from webapp.services.conversation import chat
from webapp.services.participation import stopping
from webapp.services.rating import items, submission
from webapp.services.rules import audit
from webapp.services.writing import offering


def make_rater(campaign: Campaign) -> int:
    """Return the number of a participation that has finished chatting."""
    now = timezone.now()
    system = campaign.systems.all()[0]
    QuotaCell.objects.filter(system=system).update(reserved=1)
    person = Participation.objects.create(
        campaign=campaign,
        pseudonym="rater",
        pay=campaign.pay,
        waiting_pay=campaign.waiting_pay,
        currency=campaign.currency,
        quit_rule=campaign.quit_rule,
        least_work=campaign.least_work,
        secret_hash="rater",
        state="RATING",
        system=system,
        holds_slot=True,
        state_at=now,
        seen_at=now,
    )
    conversation = Conversation.objects.create(
        campaign=campaign, system=system, state="FINISHED", seed=1, started_at=now
    )
    mine, theirs = Persona.objects.filter(campaign=campaign)[:2]
    Seat.objects.create(conversation=conversation, side=0, participation=person, persona=mine)
    Seat.objects.create(conversation=conversation, side=1, persona=theirs)
    items.open_after(person=person, conversation=conversation, now=now)
    return person.pk


def make_pairs(campaign: Campaign, count: int) -> None:
    """Let so many pairs finish a conversation that one of the two is to rate."""
    for _ in range(count):
        two = people.pair(campaign, now=timezone.now())
        conversation = people.conversation_of(two[0])
        order = sorted(two, key=lambda each: each.seats.get().side != conversation.first_side)
        for each in order:
            people.send_message(each, "Hello there.", timezone.now())
        chat.finish(person=two[0], client_id=uuid.uuid4(), now=timezone.now())


def end_rater(person: Participation, number: int) -> str:
    """Let somebody rate, or stop in another tab; return how they ended."""
    assignment = submission.current(person)
    if number % 2 or assignment is None:
        return str(stopping.stop(person=person, now=timezone.now()).outcome)
    shown = submission.shown_to(assignment)
    (key,) = shown.candidates
    answers = {f"{key}.{name}": "4" for name in ("fluency", "engagingness", "consistency")}
    answers[f"{key}.persona"] = shown.choices["persona"][0]
    submission.submit(person=person, answers=answers, now=timezone.now())
    return str(Participation.objects.get(pk=person.pk).outcome)


def submit_once(person_pk: int) -> str:
    """Submit the rater's or the writer's form and return the code."""
    person = Participation.objects.get(pk=person_pk)
    if (assignment := person.assignments.get()).item.conversation is None:
        texts = {f"w{assignment.item_id}.{n}": f"I wrote sentence {n}." for n in range(1, 6)}
        written = offering.submit(person=person, answers=texts, now=timezone.now())
        return written.code if written else "none"
    partner = Persona.objects.filter(campaign=person.campaign)[1]
    answers = dict.fromkeys(("p.fluency", "p.engagingness", "p.consistency"), "4")
    answers["p.persona"] = partner.key
    code = submission.submit(person=person, answers=answers, now=timezone.now())
    return code.code if code else "none"


def report(campaign_pk: int) -> dict[str, Any]:
    """Count everything that a race could have got wrong."""
    people = Participation.objects.filter(campaign=campaign_pk)
    pairs = Conversation.objects.filter(campaign=campaign_pk, system__bot="people")
    seats = Seat.objects.filter(conversation__campaign=campaign_pk, active=True)
    twice = seats.exclude(participation=None).values("participation").annotate(n=Count("pk"))
    personas = Conversation.objects.filter(campaign=campaign_pk).annotate(
        different=Count("seats__persona", distinct=True)
    )
    return {
        "people": people.count(),
        "contributions": Contribution.objects.filter(
            assignment__participation__campaign=campaign_pk
        ).count(),
        "states": dict(people.order_by().values_list("state").annotate(n=Count("pk"))),
        "cells": sorted(
            [cell.target, cell.reserved, cell.completed]
            for cell in QuotaCell.objects.filter(system__campaign=campaign_pk)
        ),
        "items": sorted(
            [item.target, item.reserved, item.completed]
            for item in Item.objects.filter(campaign=campaign_pk)
        ),
        "money": [
            sums
            for row in PayLedger.objects.filter(campaign=campaign_pk)
            for sums in (row.budget, row.reserved, row.spent)
        ],
        "holding": people.filter(holds_slot=True).count(),
        "pairs": pairs.count(),
        "full_pairs": pairs.annotate(n=Count("seats")).filter(n=2).count(),
        "seated_twice": twice.filter(n__gt=1).count(),
        "same_personas": personas.filter(different__lt=2).count(),
        "personas_taken": Persona.objects.filter(campaign=campaign_pk).aggregate(n=Sum("taken"))[
            "n"
        ],
        "personas_had": seats.filter(persona_counted=True).count()
        + people.filter(persona__isnull=False, persona_counted=True).count(),
        "codes": CompletionCode.objects.filter(participation__campaign=campaign_pk).count(),
        "ratings": Rating.objects.filter(assignment__participation__campaign=campaign_pk).count(),
        "whole_pairs": pairs.filter(items__assignments__state="DONE")
        .annotate(n=Count("items__assignments"))
        .filter(n=2)
        .count(),
        "audit": AuditEntry.objects.count(),
        "broken_audit": len(list(audit.broken_links())),
    }
