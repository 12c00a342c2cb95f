"""python -m tests.acceptance.two_people: people chat with each other; what came of it.

B-HUMAN: the partner is a person behind the same interface. PC-P5: two chat and rate each other.
ME-P3: two chat, then five who took no part judge each message, and those who chatted are refused.
The services are called as browsers call them; the database is a new one in DATA_DIR. Prints one
JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from webapp.models import Campaign

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
RATERS, MESSAGES = 5, 14  # as MEENA has them


def main() -> int:
    """Let people complete PC-P5 and ME-P3."""
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    print(json.dumps(_each_other() | _third_parties()))
    return 0


def _each_other() -> dict[str, object]:
    from tests.webapp.services.people import (
        after,
        conversation_of,
        pair,
        people_campaign,
        send_message,
    )
    from webapp.models import Participation
    from webapp.services.conversation import chat
    from webapp.services.data import tables
    from webapp.services.rating import submission

    campaign = people_campaign()
    first, second = pair(campaign)
    for turn in range(8):
        send_message(first, f"I saw {turn} owls, and you?", after(20 * turn))
        send_message(second, f"Only {turn} geese this week.", after(20 * turn + 10))
    chat.finish(person=first, client_id=uuid.uuid4(), now=after(300))
    for person in (first, second):
        person.refresh_from_db()
        other = conversation_of(person).seats.exclude(participation=person).get()
        assert other.persona is not None
        answers = {f"p.{name}": "4" for name in ("fluency", "engagingness", "consistency")}
        told = answers | {"p.persona": other.persona.key}
        submission.submit(person=person, answers=told, now=after(400))
    found = tables.ratings(campaign)
    return {
        "completed": Participation.objects.filter(outcome="COMPLETED").count(),
        "messages": conversation_of(first).last_seq,
        "answers": len(found),
        "systems": sorted(set(found["system"])),
    }


def _third_parties() -> dict[str, object]:
    """Return the votes, who was refused, and the human row of the majorities.

    Three of five find each message sensible and two of them specific, so the majority says
    sensible, not specific: SSA is a half.
    """
    from analysis.metrics.ssa import ssa
    from tests.webapp.services.third import chatted, judge_all, labeling
    from webapp.services.data import tables

    campaign = labeling(chatted(1, messages=MESSAGES))
    refused = [name for name in ("p0", "p1") if _is_refused(campaign, name)]
    before = []  # open messages before each rater
    for number in range(RATERS):
        before.append(campaign.items.filter(completed__lt=RATERS).count())
        judge_all(campaign, f"rater{number}", int(number < 3), int(number < 2))
    rows = ssa(tables.ratings(campaign))
    return {
        "refused": refused,
        "open": [*before, campaign.items.filter(completed__lt=RATERS).count()],
        "human": dict(zip(rows["metric"], rows["estimate"], strict=True)),
        "judged": sorted(set(rows["system"])),
        "n": sorted({int(n) for n in rows["n"]}),
    }


def _is_refused(campaign: Campaign, name: str) -> bool:
    from tests.webapp.services.people import join
    from webapp.services.participation import consents

    try:
        join(campaign, name)
    except consents.Closed as refusal:
        return refusal.notice == "took_part"
    return False


if __name__ == "__main__":
    sys.exit(main())
