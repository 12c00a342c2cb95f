"""python -m tests.acceptance.outside_model OWN OTHER: one recipe, two corpora, two systems.

B-OUTSIDE: weights of the task's corpus and of another one answer people in one campaign; the other
one has a persona on file and does not see it. People chat through the services that pages call,
reply workers answer, and the tables come from the export's file. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from bots import Turn
    from webapp.inference import Answers
    from webapp.models import Campaign, Participation

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
BOT, PEOPLE = "tfidf", 4
NAMES = ("own", "outside")
SAID = "Hello! Any pets and number {}?"
MESSAGES = 8  # of each person, as many as anybody is asked for
given: dict[str, set[tuple[str, ...]]] = {}  # what bots were shown as their persona, by weights


def main(arguments: list[str]) -> int:
    """Let people chat with both systems and rate them; print what the export says of it."""
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    campaign = _campaign(dict(zip(NAMES, arguments, strict=True)))
    for system in campaign.systems.all():
        _rehearsed(system.pk)
        for number in range(PEOPLE):
            _chatted(campaign, system, 3 + number % 2)
    print(json.dumps(_exported(campaign, Path(os.environ["DATA_DIR"]) / "outside.zip")))
    return 0


def _campaign(weights: dict[str, str]) -> Campaign:
    from tests.factories import make_campaign

    campaign = make_campaign(
        "personachat_bot", systems=dict.fromkeys(NAMES, BOT), changes={"chat.pace": 0.0}
    )
    for system in campaign.systems.all():
        system.options = {"weights": weights[system.name]}
        system.sees_persona = system.name == "own"
        system.rehearsal = "UNTESTED"
        system.save()
    return campaign


def _serve() -> None:
    from tests import serving
    from webapp import inference
    from webapp.models import ReplyJob

    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        given.setdefault(str(options["weights"]), set()).update(tuple(who) for who, _ in turns)
        return inference.respond_here(bot, options, turns)

    ReplyJob.objects.update(lease_until=None)
    serving.serve(bot=BOT, owner="acceptance", respond=respond)


def _rehearsed(pk: int) -> None:
    from tests.factories import NOW
    from webapp.models import System
    from webapp.services.replies import rehearsal

    rehearsal.start(system=System.objects.get(pk=pk), by="staff", now=NOW)
    for _ in range(8):
        _serve()


def _chatted(campaign: Campaign, system: Any, score: int) -> None:
    """Let somebody chat with a system and answer the questions about it."""
    from tests.factories import NOW, make_participation
    from tests.webapp.services.people import conversation_of, send_message
    from webapp.services.conversation import chat, opening
    from webapp.services.rating import submission

    person: Participation = make_participation(campaign)
    opening.open_with_bot(person=person, system=system, now=NOW)
    for number in range(MESSAGES):
        send_message(person, SAID.format(number))
        _serve()
    chat.finish(person=person, client_id=uuid.uuid4(), now=NOW)
    person.refresh_from_db()
    theirs = conversation_of(person).seats.get(side=1).persona
    assert theirs is not None
    answers = {f"p.{name}": f"{score}" for name in ("fluency", "engagingness", "consistency")}
    submission.submit(person=person, answers=answers | {"p.persona": theirs.key}, now=NOW)


def _exported(campaign: Campaign, path: Path) -> dict[str, object]:
    """Return what the export's files tell: plan, prompts, personas on file, and the table."""
    from analysis import get_report, read_all
    from webapp.models import Campaign
    from webapp.services.campaign import launch
    from webapp.services.data import exports

    row = Campaign.objects.get(pk=campaign.pk)
    row.plan = launch.plan_of(row)
    row.save()
    exports.write_to(campaign=row, path=path)
    with zipfile.ZipFile(path) as found:
        lines = found.read(
            next(name for name in found.namelist() if name.endswith("conversations.jsonl"))
        )
    talks = [json.loads(line) for line in lines.decode().splitlines()]
    table = get_report("personachat_human")(read_all([path]).ratings).sections[0].frame
    return {
        "plan": {each["name"]: each for each in row.plan["systems"]},
        "talks": [_told(talk) for talk in talks],
        "given": {name: sorted(found) for name, found in given.items()},
        "table": table[["group", "system", "profile", "n"]].to_numpy().tolist(),
    }


def _told(talk: dict[str, Any]) -> dict[str, Any]:
    """Return of a conversation's record what the system was, had on file, was given and said."""
    seat = next(each for each in talk["seats"] if each["side"] == 1)
    return {
        "system": talk["system"],
        "on_file": len(seat["persona"]["sentences"]),
        "sees_persona": seat["sees_persona"],
        "said": [job["text"] for job in talk["replies"]],
        "corpora": sorted({job["details"].get("corpus", "") for job in talk["replies"]}),
        "events": [e for job in talk["replies"] for each in job["calls"] for e in each["events"]],
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
