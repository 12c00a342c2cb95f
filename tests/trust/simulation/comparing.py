"""What the model says, held against the database: sums at each step, values now and then."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.trust.simulation import workers
from tests.trust.simulation.model import BUDGET, Soul, World


def sums(world: World) -> None:
    """Compare quota cell, books and places, unless nothing was written since they last were."""
    from django.db import connection

    connection.ensure_connection()
    changed = connection.connection.total_changes
    if changed == world.compared:
        return
    world.compared = changed
    _compare_sums(world)


def _compare_sums(world: World) -> None:
    from webapp.models import CompletionCode, Participation, PayLedger, QuotaCell

    rows = Participation.objects.filter(campaign=world.campaign).values_list(
        "state", "holds_slot", "holds_partners_slot", "reserved_pay"
    )
    people = list(rows)
    (cell,) = QuotaCell.objects.filter(system__campaign=world.campaign)
    held = sum(one + other for _, one, other, _ in people)
    world.must(cell.reserved == held, f"{cell.reserved} reserved, {held} held")
    world.must(cell.reserved + cell.completed <= cell.target, "more than wanted")
    books = PayLedger.objects.get(campaign=world.campaign)
    codes = CompletionCode.objects.filter(participation__campaign=world.campaign)
    spent = sum(codes.values_list("amount", flat=True), Decimal(0))
    reserved = sum((pay or Decimal(0) for *_, pay in people), Decimal(0))
    world.must(books.spent == spent * 100, f"spent {books.spent}, codes {spent}")
    world.must(books.reserved == reserved * 100, f"held {books.reserved}, people {reserved}")
    world.must(books.spent + books.reserved <= BUDGET * 100, "more than the budget")
    odd = [
        (state, pay)
        for state, holds, _, pay in people
        if (state == "ENDED" and pay) or (state == "READY" and holds)
    ]
    world.must(not odd, f"somebody without a place holds one: {odd}")


def values(world: World) -> None:
    """Compare every message, label and answer that was acknowledged, by its value (G29)."""
    from webapp.models import Event, Participation, Rating

    pays = dict(Participation.objects.filter(campaign=world.campaign).values_list("pk", "pay"))
    events = Event.objects.filter(conversation__campaign=world.campaign, kind="message")
    stored = {e.client_id: (e.seq, e.content) for e in events if e.client_id}
    rows = Rating.objects.filter(assignment__participation__campaign=world.campaign)
    columns = ("assignment", "assignment__participation", "candidate", "candidate__key")
    labels: dict[Any, tuple[int, Any]] = {}
    answers: dict[int, dict[str, str]] = defaultdict(dict)
    for task, person, candidate, key, question, revision, value in rows.order_by(
        "revision"
    ).values_list(*columns, "question", "revision", "value"):
        labels[person, candidate, question] = (revision, value)
        answers[task][f"{key}.{question}"] = str(value)
    for soul in world.souls:
        if soul.pk:
            world.must(pays[soul.pk] >= soul.pay, f"{soul.name} was promised {soul.pay}")
            _values_of(world, soul, stored, labels, answers)


def _values_of(world: World, soul: Soul, stored: Any, labels: Any, answers: Any) -> None:
    for key, (seq, text) in soul.sent.items():
        world.must(key in stored, f"{soul.name}: message {key} is lost")
        world.must(stored[key] == (seq, {"text": text}), f"{key} differs: {stored[key]}")
    for (candidate, question), (revision, value) in soul.labels.items():
        number, found = labels.get((soul.pk, candidate, question), (0, None))
        # A label may have been stored by a server that died before it could say so.
        is_later = number > revision and (number, question, found) in soul.tried
        world.must(
            is_later or (number, found) == (revision, int(value)),
            f"{soul.name}: label {question} of {candidate} is {found} of revision {number}, "
            f"not {value} of {revision}",
        )
    for task, given in soul.answers:
        found = answers[task]
        world.must(found == given, f"{soul.name} answered {given}, stored is {found}")


def go_home(world: World) -> None:
    """Let hours pass, until nobody is there; then everything has to add up."""
    from tests.trust import checks, snapshot
    from webapp.models import Participation
    from webapp.services.ops import sweeper

    workers.serve(world, Soul("platform"))
    for _ in range(6):
        world.now += timedelta(minutes=40)
        sweeper.tick(world.now)
    left = Participation.objects.filter(campaign=world.campaign).exclude(state="ENDED")
    world.must(not left.exists(), f"still there: {[*left.values_list('pk', 'state')]}")
    found = checks.check(checks.Case({}, snapshot.take(world.campaign), None))
    world.must(not any(found.values()), json.dumps({k: v for k, v in found.items() if v}))
    sums(world)
    values(world)
    withdraw_some(world)


def withdraw_some(world: World) -> None:
    """Let some withdraw: nothing of theirs is left, and the sums are as before."""
    from webapp.models import Event
    from webapp.services.participation import privacy

    for soul in world.souls[::3]:
        if soul.pk:
            token = privacy.withdraw_token(world.person(soul))
            privacy.withdraw(token=token, now=world.now)
            contents = Event.objects.values_list("content", flat=True)
            words = json.dumps([*contents.filter(conversation__campaign=world.campaign)])
            world.must(f"{soul.name} says" not in words, f"{soul.name} is still read")
            sums(world)
