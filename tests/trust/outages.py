"""Outages begun at every step, on real servers: who is parted, unpaid or accused by them (G26).

    python -m tests.trust.outages --backend postgresql --seconds 10 98 1860 86400

People stand at each step. The server is killed, all stored times are moved back by the length of
the outage, as if it had lasted, and the server is started again: nothing waits. Prints what was
found after the sweeper's first turns, for each outage; exits 1 unless all harm is zero.

    python -m tests.trust.outages --backend postgresql --clocks -3600 -1860 1860 3600

Sweeps by a host's clock that is so many seconds off, in place of outages (G27); needs faketime.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests import live, servers

PATIENCE = 90.0
ACCUSING = ("away", "missed", "left", "partner_missed", "partner_left")


@dataclass
class Stage:
    """The people of each step, by the secrets of their cookies."""

    slugs: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, list[str]] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    stored: Counter[str] = field(default_factory=Counter)  # what was said, and codes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--seconds", type=int, nargs="+", default=[10, 98, 1860, 86400])
    parser.add_argument("--clocks", type=int, nargs="*", default=[])
    parser.add_argument("--bug", default="", help="a fault of tests.trust.faults")
    wanted = parser.parse_args()
    with contextlib.ExitStack() as stack:
        changes = {"PARTNER_GRACE": "90", "LOG_LEVEL": "ERROR"}
        if wanted.backend == "postgresql":
            changes["DATABASE_URL"] = stack.enter_context(servers.postgresql())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        env = live.environment(folder, **changes)
        connect(env)
        if wanted.clocks:
            stage = seed_stage()
            found = [_off_clock(seconds, stage, env) for seconds in wanted.clocks]
        else:
            found = _outages(wanted.seconds, live.Server(env, faults=wanted.bug))
    print(json.dumps(found))
    return 1 if any(sum(each["harm"].values()) for each in found) else 0


def _outages(lengths: list[int], server: live.Server) -> list[dict[str, Any]]:
    with _served(server):
        wait_for_a_turn()
    stage = seed_stage()
    return [_outage(seconds, stage, server) for seconds in lengths]


def _off_clock(seconds: int, stage: Stage, env: dict[str, str]) -> dict[str, Any]:
    """Sweep once on a host whose clock is off, while people and pages are there."""
    now = all_are_there()
    script = (
        "import time, django; django.setup()\n"
        "from django.core.management import call_command\n"
        "from webapp import clock\n"
        "print(clock.read().timestamp(), clock.now().timestamp(), time.time())\n"
        "call_command('sweep', '--once')"
    )
    command = ["faketime", "-f", f"{seconds:+d}s", sys.executable, "-c", script]
    settings = {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    done = subprocess.run(
        command, cwd=live.ROOT, env={**env, **settings}, check=True, capture_output=True, text=True
    )
    read, carried, own = (float(word) - now.timestamp() for word in done.stdout.split()[:3])
    off = {"read": round(read), "carried": round(carried), "host": round(own)}
    return {"clock": seconds, "harm": harm_of(stage), "seconds off": off}


def all_are_there() -> datetime:
    """Let people and pages have given a sign of life now, however slow this machine is."""
    from webapp import clock
    from webapp.models import Conversation, Heartbeat, Participation

    now = clock.read()
    Participation.objects.update(seen_at=now)
    Conversation.objects.filter(state="CHECKING").update(deadline_at=now + timedelta(seconds=15))
    Heartbeat.objects.update_or_create(
        name="platform web", defaults={"kind": "platform", "seen_at": now}
    )
    return now


def connect(env: dict[str, str]) -> None:
    import django

    from tests.databases import migrate

    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ.update(env)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    migrate()


@contextlib.contextmanager
def _served(server: live.Server) -> Iterator[None]:
    server.start()
    try:
        yield
    finally:
        server.kill()


def seed_stage() -> Stage:
    from tests.factories import make_campaign
    from webapp import clock
    from webapp.services.conversation import opening
    from webapp.services.replies import delivery

    stage, now = Stage(), clock.read()
    people = make_campaign("personachat_bot", systems={"alpha": "people"}, personas=20)
    bots = make_campaign("personachat_bot", systems={"alpha": "parrot"}, personas=20)
    labels = make_campaign("meena_interactive", systems={"alpha": "parrot"}, personas=0)
    _join(stage, "join", bots, "READY", 1)
    _join(stage, "wait", people, "WAITING", 1, waiting_at=now, system=people.systems.get())
    for step, is_met in (("ready check", False), ("chat", True)):
        first, second = _join(stage, step, people, "MATCHED", 2)
        opening.open_with_person(first=first, second=second, system=people.systems.get(), now=now)
        if is_met:
            for person in (first, second):
                opening.meet(person=person, now=now)
    for step, campaign in (("typing bot", bots), ("label", labels), ("rating", bots)):
        (person,) = _join(stage, step, campaign, "READY", 1)
        system = campaign.systems.get()
        conversation = opening.open_with_bot(person=person, system=system, now=now)
        if step == "typing bot":
            delivery.show_later(conversation, "I type.", in_reply_to=0, seconds=20)
        elif step == "rating":
            person.state = "RATING"
            person.save()
            conversation.state = "FINISHED"
            conversation.save()
    _join(stage, "screening", bots, "ADMISSION", 1)
    _write_something(stage, now)
    stage.states = _states(stage)
    stage.stored = all_stored()
    return stage


def _write_something(stage: Stage, now: datetime) -> None:
    """Let one of the pair write, and somebody be done, who has a code."""
    from tests.factories import make_campaign
    from webapp.services.conversation import chat
    from webapp.services.rules import payment

    for number, person in enumerate(people_at(stage, "chat")):
        text = f"I am number {number}."
        chat.send_message(person=person, client_id=uuid.uuid4(), text=text, now=now)
    done = make_campaign("personachat_bot", systems={"alpha": "parrot"}, personas=20)
    (person,) = _join(stage, "done", done, "CHATTING", 1)
    payment.settle(person=person, outcome="STOPPED", now=now)


def all_stored() -> Counter[str]:
    """Return all that was said, and every code, each with how often it is there."""
    from webapp.models import CompletionCode, Event

    said = Event.objects.filter(kind="message")
    found = said.values_list("conversation", "side", "content")
    rows = [f"{number} {side} {content}" for number, side, content in found]
    return Counter([*rows, *CompletionCode.objects.values_list("code", flat=True)])


def _join(stage: Stage, step: str, campaign: Any, state: str, count: int, **changes: Any) -> Any:
    from tests.factories import make_participation
    from webapp import clock
    from webapp.services.rules import access

    now = clock.read()
    stage.slugs[step] = campaign.slug
    stage.secrets[step] = [access.new_secret() for _ in range(count)]
    return [
        make_participation(
            campaign,
            secret_hash=access.secret_hash(secret),
            state=state,
            state_at=now,
            seen_at=now,
            **changes,
        )
        for secret in stage.secrets[step]
    ]


def _outage(seconds: int, stage: Stage, server: live.Server) -> dict[str, Any]:
    from webapp.models import Outage

    all_are_there()
    move_back(timedelta(seconds=seconds))
    before = Outage.objects.filter(part="web").count()
    with _served(server):
        wait_for_a_turn()
        harm = harm_of(stage)
        told = sum(
            b"We were away for a while" in _page(server, stage, step)
            for step in ("join", "wait", "ready check", "rating")
        )
    stored = Outage.objects.filter(part="web").count() - before
    kept = {"stored": sum(stage.stored.values()), "outages": stored}
    return {"seconds": seconds, "harm": harm, **kept, "told": told, **notices()}


def move_back(
    span: timedelta, *, only: Sequence[type[Any]] = (), besides: Sequence[type[Any]] = ()
) -> None:
    """Make all that was stored older, as if the time had passed without a server."""
    from django.apps import apps
    from django.db.models import DateTimeField, F

    for model in only or apps.get_app_config("webapp").get_models():
        if model in besides:
            continue
        names = [one.name for one in model._meta.fields if isinstance(one, DateTimeField)]
        if names:
            model._base_manager.update(**{name: F(name) - span for name in names})


def wait_for_a_turn() -> None:
    """Wait until the sweeper has been through once, and begun again."""
    from webapp import clock
    from webapp.models import Heartbeat

    turns, since = 0, clock.read()
    end = time.monotonic() + PATIENCE
    while turns < 2:
        later = Heartbeat.objects.filter(name="platform sweeper", seen_at__gt=since)
        if later.exists():
            turns, since = turns + 1, clock.read()
        assert time.monotonic() < end, "the sweeper takes no turn"
        time.sleep(0.1)


def people_at(stage: Stage, step: str) -> Any:
    from webapp.models import Participation
    from webapp.services.rules import access

    hashes = [access.secret_hash(secret) for secret in stage.secrets[step]]
    return Participation.objects.filter(secret_hash__in=hashes).order_by("pk")


def _states(stage: Stage) -> dict[str, str]:
    return {step: " ".join(one.state for one in people_at(stage, step)) for step in stage.secrets}


def harm_of(stage: Stage) -> dict[str, int]:
    """Count what is lost, double or in disorder, and the parted, unpaid, accused and moved."""
    from webapp.models import Conversation, Participation

    found = all_stored()
    harm = {
        "lost": sum((stage.stored - found).values()),
        "doubled": sum(count - 1 for count in found.values()),
        "disorder": _disorder(),
    }
    harm["parted"] = Conversation.objects.filter(state="ABANDONED").count()
    ended = Participation.objects.filter(state="ENDED")
    harm["unpaid"] = ended.filter(code=None).count()
    accused = Participation.objects.filter(notice__in=ACCUSING) | ended.filter(outcome="LEFT")
    harm["accused"] = accused.count()
    now = _states(stage)
    harm["moved"] = sum(now[step] != was for step, was in stage.states.items())
    return harm


def _disorder() -> int:
    """Count what the ledger's checker says of the order of what is stored."""
    from tests.trust import checks, snapshot
    from webapp.models import Campaign

    cases = [checks.Case({}, snapshot.of_events(each), None) for each in Campaign.objects.all()]
    return sum(len(list(checks.mis_ordered(case))) for case in cases)


def notices() -> dict[str, int]:
    from webapp.models import Event

    told = Event.objects.filter(kind="notice", content__notice="we_were_away")
    return {"told in chats": told.values("conversation").distinct().count()}


def _page(server: live.Server, stage: Stage, step: str) -> bytes:
    from django.conf import settings

    slug, secret = stage.slugs[step], stage.secrets[step][0]
    request = urllib.request.Request(
        f"http://{server.host}/c/{slug}/now",
        headers={"Cookie": f"{settings.PARTICIPANT_COOKIE}-{slug}={secret}"},
    )
    page: bytes = urllib.request.urlopen(request, timeout=PATIENCE).read()  # noqa: S310
    return page


if __name__ == "__main__":
    sys.exit(main())
