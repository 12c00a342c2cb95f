"""Many processes at once on one database.

`python -m tests.webapp.services.racing` reads commands, a line of JSON each, and answers each with
a line of JSON. Who races is forked from it, so that Django is loaded once; every one of them has a
connection of its own to the database.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Any

import django
from django.db import connection
from django.utils import timezone

from tests.databases import migrate

PATIENCE = 240.0  # seconds of a race
_together: Barrier  # set in each racing process


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
    changes = {
        "people": {"rate.sides": "both"},
        "pairs": {"chat.minimum": [2]},
        "pairs who both rate": {"chat.minimum": [2], "rate.sides": "both"},
    }
    owner = factories.make_staff(uuid.uuid4().hex)  # races share a database
    people = kind.startswith(("people", "pairs"))
    campaign = factories.make_campaign(
        "personachat_human" if people else "personachat_bot",
        systems={"humans": "people"} if people else {"alpha": "parrot", "beta": "parrot"},
        target=target,
        personas=20,
        owner=owner,
        changes=changes.get(kind, {}),
        budget="5.40" if kind == "budget" else None,
        pay="0.90",
    )
    if kind.startswith("pairs"):
        from tests.webapp.services.racers import make_pairs

        make_pairs(campaign, target // 2)
    if kind == "rater":
        from tests.webapp.services.racers import make_rater

        return {"campaign": campaign.pk, "person": make_rater(campaign)}
    return {"campaign": campaign.pk}


def join(campaign_pk: int, number: int, count: int) -> dict[str, int]:
    """Let people come, start and be placed; count their outcomes."""
    from webapp.models import Campaign
    from webapp.services.participation import consents, enrolment

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
        except consents.Closed as refusal:
            came[refusal.notice] += 1
    return dict(came)


def same(campaign_pk: int, number: int, count: int) -> dict[str, int]:
    """Let one and the same person come again and again, in two browsers; no cookie may be dead."""
    from webapp.models import Campaign
    from webapp.services.participation import enrolment
    from webapp.services.rules import access

    campaign = Campaign.objects.get(pk=campaign_pk)
    came = [
        enrolment.join(
            campaign=campaign,
            platform="prolific",
            external_id="the same",
            language="en",
            now=timezone.now(),
            secret="" if one % 2 else "b" * 43,  # of another browser, or of one that asks again
            is_proven=bool(one % 2),
        )
        for one in range(count)
    ]
    for person, secret in came:  # also those that others' consents came after
        assert access.participation(campaign.slug, secret) == person
    return {str(person.pk): 1 for person, _ in came}


def judge(campaign_pk: int, number: int, count: int) -> dict[str, int]:
    """Let people come who chatted nowhere and judge what they are given; count their outcomes."""
    from tests.webapp.services import third
    from webapp.models import Campaign
    from webapp.services.participation import consents

    came: Counter[str] = Counter()
    for one in range(count):
        campaign = Campaign.objects.get(pk=campaign_pk)
        try:
            came[third.judge_all(campaign, f"{number}-{one}").outcome] += 1
        except consents.Closed as refusal:
            came[refusal.notice] += 1
    return dict(came)


def end(campaign_pk: int, number: int, count: int) -> dict[str, int]:
    """Let all who are to rate do so, or stop in another tab; count how they ended.

    Half begin with the last, so that two of a pair rate at the same time.
    """
    from tests.webapp.services.racers import end_rater
    from webapp.models import Participation

    raters = Participation.objects.filter(campaign=campaign_pk, seats__rates=True)
    return dict(
        Counter(end_rater(each, number) for each in raters.order_by("pk" if number < 2 else "-pk"))
    )


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


RACES: dict[str, Callable[[int, int, int], dict[str, int]]] = {
    "join": join,
    "end": end,
    "judge": judge,
    "same": same,
    "submit": submit,
}


def race(name: str, row: int, processes: int, count: int) -> dict[str, int]:
    """Let forked processes begin at once, and return the sum of what they count."""
    connection.close()  # nobody inherits it
    fork = multiprocessing.get_context("fork")
    together = fork.Barrier(processes)
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(processes, fork, _line_up, (together,)) as pool:
        running = [pool.submit(_run, name, row, number, count) for number in range(processes)]
        for one in running:
            total.update(one.result(timeout=PATIENCE))
    return dict(total)


def _line_up(together: Barrier) -> None:
    global _together
    _together = together


def _run(name: str, row: int, number: int, count: int) -> dict[str, int]:
    """Wait for the others, so that nobody runs twice, then do one part of a race."""
    _together.wait(PATIENCE)
    return RACES[name](row, number, count)


def answer(command: str, *arguments: Any) -> dict[str, Any]:
    """Do what one line asks for."""
    from tests.webapp.services.racers import report

    commands: dict[str, Callable[..., dict[str, Any]]] = {
        "setup": setup,
        "race": race,
        "pair": pair,
        "report": report,
    }
    return commands[command](*arguments)


if __name__ == "__main__":
    django.setup()
    migrate()
    for line in sys.stdin:
        print(json.dumps(answer(*json.loads(line))), flush=True)
