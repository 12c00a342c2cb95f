"""Many processes at once on one database; each command is a process of its own.

`python -m tests.webapp.services.racing COMMAND CAMPAIGN NUMBER COUNT`: waits for a line on its
input, so that all begin together, does its part and prints what came of it as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import django
from django.db import connection
from django.utils import timezone


def setup(kind: str, target: int) -> dict[str, Any]:
    """Make a campaign of people, of two bots, of messages to judge, or somebody with a form."""
    from tests import factories
    from tests.webapp.services import third, written

    if kind == "third parties":
        return {"campaign": third.labeling(third.chatted(messages=target)).pk}
    if kind == "writers":
        sizes = {"write.count": target, "write.valid": 0, "write.test": 0}
        campaign = written.of_personas(**sizes)
        return {"campaign": campaign.pk, "person": written.came(campaign, "first").pk}
    owner = factories.make_staff(uuid.uuid4().hex)  # races share a database
    people = kind == "people"
    campaign = factories.make_campaign(
        "personachat_human" if people else "personachat_bot",
        systems={"humans": "people"} if people else {"alpha": "parrot", "beta": "parrot"},
        target=target,
        personas=20,
        owner=owner,
        changes={"rate.sides": "both"} if people else {},
    )
    if kind == "rater":
        from tests.webapp.services.racers import make_rater

        return {"campaign": campaign.pk, "person": make_rater(campaign)}
    return {"campaign": campaign.pk}


def join(campaign_pk: int, number: int, count: int) -> dict[str, int]:
    """Let people come, start and be placed; count their outcomes."""
    from webapp.models import Campaign
    from webapp.services.participation import enrolment

    came: Counter[str] = Counter()
    for one in range(count):
        campaign = Campaign.objects.get(pk=campaign_pk)
        try:
            person, _ = enrolment.join(
                campaign=campaign,
                platform="prolific",
                external_id=f"{number}-{one}",
                language="en",
                now=timezone.now(),
            )
            person = enrolment.start(person=person, now=timezone.now())
            came[str(person.outcome or person.state)] += 1
        except enrolment.Closed as refusal:
            came[refusal.notice] += 1
    return dict(came)


def same(campaign_pk: int, number: int, count: int) -> dict[str, int]:
    """Let one and the same person come again and again."""
    from webapp.models import Campaign
    from webapp.services.participation import enrolment

    campaign = Campaign.objects.get(pk=campaign_pk)
    people = {
        enrolment.join(
            campaign=campaign,
            platform="prolific",
            external_id="the same",
            language="en",
            now=timezone.now(),
        )[0].pk
        for _ in range(count)
    }
    return {str(pk): 1 for pk in people}


def judge(campaign_pk: int, number: int, count: int) -> dict[str, int]:
    """Let people come who chatted nowhere and judge what they are given; count their outcomes."""
    from tests.webapp.services import third
    from webapp.models import Campaign
    from webapp.services.participation import enrolment

    came: Counter[str] = Counter()
    for one in range(count):
        campaign = Campaign.objects.get(pk=campaign_pk)
        try:
            came[third.judge_all(campaign, f"{number}-{one}").outcome] += 1
        except enrolment.Closed as refusal:
            came[refusal.notice] += 1
    return dict(came)


def submit(person_pk: int, number: int, count: int) -> dict[str, int]:
    """Submit one person's form in as many threads at once; count the codes."""
    from tests.webapp.services.racers import submit_once

    codes: Counter[str] = Counter()
    lock = threading.Lock()

    def one() -> None:
        code = submit_once(person_pk)
        connection.close()
        with lock:
            codes[code] += 1

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return dict(codes)


def pair(campaign_pk: int) -> dict[str, int]:
    """Match who was left over when everybody matched at once, as the sweeper does."""
    from webapp.models import Campaign, Participation
    from webapp.services.conversation import matching

    now = timezone.now()
    Participation.objects.filter(campaign=campaign_pk, state="WAITING").update(seen_at=now)
    made = matching.match(campaign=Campaign.objects.get(pk=campaign_pk), now=now)
    return {"pairs": len(made)}


COMMANDS: dict[str, Callable[[int, int, int], dict[str, int]]] = {
    "join": join,
    "judge": judge,
    "same": same,
    "submit": submit,
}

if __name__ == "__main__":
    django.setup()
    command, *arguments = sys.argv[1:]
    if command == "setup":
        result: dict[str, Any] = setup(arguments[0], int(arguments[1]))
    elif command == "report":
        from tests.webapp.services.racers import report

        result = report(int(arguments[0]))
    elif command == "pair":
        result = pair(int(arguments[0]))
    else:
        print("ready", flush=True)
        sys.stdin.readline()
        result = COMMANDS[command](*(int(argument) for argument in arguments))
    print(json.dumps(result))
