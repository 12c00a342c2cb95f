"""Unusual rates of endings: most people stop early, or write single words (R37).

A rate is a reason to look, never to refuse pay: a payment may wait for a person, for a time that is
stated. Apart because pay, flags and the live page ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import F

from webapp.models import CompletionCode, Event, Participation, PayHold

LATEST = 20  # endings that are looked at
LEAST = 10  # fewer say little about a rate
SHARE = 0.5  # of them, from which a rate is unusual
MOST = 0.9  # of them who were paid without work: a screening may well turn most people away
HOLD = timedelta(days=3)  # that a payment may wait for a person; panels pay by themselves in weeks
Outcome = Participation.Outcome
# Ends that cost nobody anything without a code; who has them between others would else hide a rate.
FOR_NOTHING = (Outcome.DECLINED, Outcome.FULL, Outcome.LEFT)
STOPPED_EARLY = (Outcome.QUIT, Outcome.LEFT)  # who left and came back is paid as who stopped
# Ends that are paid without any work, where the campaign pays for them.
WITHOUT_WORK = (Outcome.SCREENED_OUT, Outcome.CHECK_FAILED, Outcome.NOBODY)
FLAGS = "flags"  # of a payment that waits because of what the end of a participation showed


def unusual(campaign_pk: int, since: datetime | None) -> str:
    """Return what most of the latest people did, a kind of `monitor.UNUSUAL`; "" where none is.

    Only endings after `since` count, when a person last looked, and none that costs nothing.
    """
    people = _latest(campaign_pk, since)
    if len(people) < LEAST:
        return ""
    quits = sum(outcome in STOPPED_EARLY for _pk, outcome in people)
    if quits >= SHARE * len(people):
        return "quit"
    idle = [pk for pk, outcome in people if outcome in WITHOUT_WORK]
    if len(idle) >= MOST * len(people) and _are_paid(idle):
        return "idle"
    return "one_word" if _terse([pk for pk, _outcome in people]) >= SHARE * len(people) else ""


def is_one(person: Participation, kind: str) -> bool:
    """Tell whether a person's own ending is of an unusual kind."""
    if kind == "one_word":
        return _terse([person.pk]) == 1
    if kind == "idle":
        return person.outcome in WITHOUT_WORK
    return person.outcome in STOPPED_EARLY


def hold(code: CompletionCode, because: str, now: datetime) -> bool:
    """Let a payment wait for a person to look; False where it does already, or is of nothing."""
    if not code.amount:
        return False
    about = {"because": because, "held_at": now, "until": now + HOLD}
    return PayHold.objects.get_or_create(code=code, defaults=about)[1]  # one hold a code


def _latest(campaign_pk: int, since: datetime | None) -> list[tuple[int, str]]:
    rows = Participation.objects.filter(campaign=campaign_pk, state=Participation.State.ENDED)
    rows = rows.exclude(outcome__in=FOR_NOTHING, code=None)
    if since is not None:
        rows = rows.filter(ended_at__gt=since)
    return list(rows.order_by("-ended_at", "-pk").values_list("pk", "outcome")[:LATEST])


def _are_paid(people: Sequence[int]) -> bool:
    return CompletionCode.objects.filter(participation__in=people, amount__gt=0).exists()


def _terse(people: Sequence[int]) -> int:
    """Count those who wrote, and never more than a word at a time."""
    rows = Event.objects.filter(
        kind=Event.Kind.MESSAGE,
        conversation__seats__participation__in=people,
        side=F("conversation__seats__side"),
    )
    longest: dict[int, int] = {}
    for person, content in rows.values_list("conversation__seats__participation", "content"):
        words = len(str(content.get("text", "")).split())
        longest[person] = max(longest.get(person, 0), words)
    return sum(most == 1 for most in longest.values())
