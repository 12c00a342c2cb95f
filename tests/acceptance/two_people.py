"""python -m tests.acceptance.two_people: two people chat and rate each other; what came of it.

B-HUMAN: the partner is a person behind the same interface. The services are called as browsers
call them; the database is a new one in DATA_DIR. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from importlib import import_module

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")


def main() -> int:
    """Let two people complete PC-P5; look whether other people could label their messages."""
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    print(json.dumps(_chat() | _third_party()))
    return 0


def _chat() -> dict[str, object]:
    from tests.webapp.services.people import after, conversation_of, pair, people_campaign, say
    from webapp.models import Participation
    from webapp.services import chat, rating, tables

    campaign = people_campaign()
    first, second = pair(campaign)
    for turn in range(8):
        say(first, f"I saw {turn} owls, and you?", after(20 * turn))
        say(second, f"Only {turn} geese this week.", after(20 * turn + 10))
    chat.finish(person=first, client_id=uuid.uuid4(), now=after(300))
    for person in (first, second):
        person.refresh_from_db()
        other = conversation_of(person).seats.exclude(participation=person).get()
        assert other.persona is not None
        answers = {f"p.{name}": "4" for name in ("fluency", "engagingness", "consistency")}
        told = answers | {"p.persona": other.persona.key}
        rating.submit(person=person, answers=told, now=after(400))
    found = tables.ratings(campaign)
    return {
        "completed": Participation.objects.filter(outcome="COMPLETED").count(),
        "messages": conversation_of(first).last_seq,
        "answers": len(found),
        "systems": sorted(set(found["system"])),
    }


def _third_party() -> dict[str, object]:
    """ME-P3: chats of two people, every message labeled by five who took no part."""
    from evaluation.registry import protocol_names

    about = {
        name: import_module(f"evaluation.protocols.{name}").__doc__ for name in protocol_names()
    }
    there = [name for name, text in about.items() if "ME-P3" in (text or "")]
    named = ", ".join(there) or f"none of the protocols {', '.join(protocol_names())} is it"
    return {"third_party": named, "third_party_runs": bool(there)}


if __name__ == "__main__":
    sys.exit(main())
