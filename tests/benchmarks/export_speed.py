"""Speed and memory of exports: Parley, bare COPY and an ORM loop, in turn in one run.

    python -m tests.benchmarks.export_speed [--conversations 10000] [--rounds 3] [--sqlite]

Each way runs in a process of its own, on the same rows of a PostgreSQL of its own (or of an SQLite
file): 16 messages and 4 ratings per conversation. COPY writes the same columns of the same rows,
without the guard against formulas. Rows are medians of the rounds; `MB` is what the process grew by
at its peak since it was ready to begin.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from tests.live import ROOT

MESSAGES = 16  # of a conversation
SCALES = ("fluency", "engagingness", "consistency")
CHUNK = 500  # conversations made at once
TEXT = 'I have been to the seaside, "number" {}, and then came home again.'
BARE = """
    COPY (
        SELECT e.id, e.conversation_id, e.seq, e.side, y.name, p.pseudonym, a.key, s.persona_form,
               e.content->>'text', e.made_at, y.name, c.excluded
        FROM webapp_event e
        JOIN webapp_conversation c ON c.id = e.conversation_id
        JOIN webapp_system y ON y.id = c.system_id
        JOIN webapp_seat s ON s.conversation_id = c.id AND s.side = e.side
        LEFT JOIN webapp_participation p ON p.id = s.participation_id
        LEFT JOIN webapp_persona a ON a.id = s.persona_id
        WHERE e.kind = 'message'
        ORDER BY e.conversation_id, e.seq
    ) TO STDOUT (FORMAT CSV, HEADER)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sqlite", action="store_true", help="on an SQLite file")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.way:
        measure(chosen.way)
        return
    with database(sqlite=chosen.sqlite):
        fill(chosen.conversations)
        ways = [way for way in WAYS if not (chosen.sqlite and way.startswith("COPY"))]
        found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
        for way in ways * chosen.rounds:
            found[way].append(run(way))
    show(found, chosen.conversations)


def show(found: dict[str, list[dict[str, float]]], conversations: int) -> None:
    count, bare = conversations * MESSAGES, found.get("COPY", [])
    print(f"{count:,} messages, {conversations * 4:,} ratings; load {os.getloadavg()[0]:.1f}")
    print(f"{'':>28} {'s':>8} {'MB':>8} {'messages/s':>12} {'of COPY':>8}")
    for way, rounds in found.items():
        seconds = statistics.median(each["seconds"] for each in rounds)
        grown = statistics.median(each["grown"] for each in rounds)
        share = statistics.median(each["seconds"] for each in bare) / seconds if bare else 0.0
        print(f"{way:>28} {seconds:>8.2f} {grown:>8.0f} {count / seconds:>12,.0f} {share:>8.2f}")


@contextmanager
def database(*, sqlite: bool) -> Iterator[None]:
    """Set up Django on an empty, migrated database."""
    from tests.servers import postgresql

    os.environ.update(DEBUG="1", DJANGO_SETTINGS_MODULE="webapp.settings")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATA_DIR"] = folder
        if sqlite:
            os.environ.pop("DATABASE_URL", None)
            _set_up()
            yield
            return
        with postgresql() as url:
            os.environ["DATABASE_URL"] = url
            _set_up()
            yield


def _set_up() -> None:
    import django

    from tests.databases import migrate

    django.setup()
    migrate()


def fill(conversations: int) -> None:
    """Make finished conversations with their ratings, a person each."""
    from tests.factories import make_campaign
    from webapp.models import Campaign

    campaign: Campaign = make_campaign(systems={"alpha": "parrot", "beta": "parrot"})
    for first in range(0, conversations, CHUNK):
        _some(campaign, range(first, min(first + CHUNK, conversations)))
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET statement_timeout = 0")  # a page's patience is less
        cursor.execute("ANALYZE")


def _some(campaign: Any, numbers: Sequence[int]) -> None:
    from tests.factories import NOW
    from webapp import models as m

    systems, personas = list(campaign.systems.all()), list(campaign.personas.all())
    make = m.Participation.objects.bulk_create
    people = make(
        m.Participation(
            campaign=campaign,
            pseudonym=f"p{number:07}",
            secret_hash=f"{number:064}",
            state="ENDED",
            outcome="COMPLETED",
            joined_at=NOW,
            ended_at=NOW,
            system=systems[number % 2],
            pay="2.00",
            waiting_pay="0.50",
            currency="GBP",
            quit_rule="NOTHING",
            least_work=0,
            state_at=NOW,
            seen_at=NOW,
        )
        for number in numbers
    )
    talks = m.Conversation.objects.bulk_create(
        m.Conversation(
            campaign=campaign,
            system=person.system,
            state="FINISHED",
            seed=1,
            started_at=NOW,
            last_seq=MESSAGES,
        )
        for person in people
    )
    pairs = list(zip(people, talks, strict=True))
    m.Seat.objects.bulk_create(
        m.Seat(
            conversation=talk,
            side=side,
            participation=None if side else person,
            persona=personas[side],
            outcome="" if side else "COMPLETED",
            active=False,
        )
        for person, talk in pairs
        for side in (0, 1)
    )
    m.Event.objects.bulk_create(
        m.Event(
            conversation=talk,
            seq=seq,
            kind="message",
            side=(seq + 1) % 2,
            client_id=UUID(int=talk.pk * 100 + seq) if seq % 2 else None,
            in_reply_to=None if seq % 2 else seq - 1,
            content={"text": TEXT.format(talk.pk * seq)},
        )
        for _, talk in pairs
        for seq in range(1, MESSAGES + 1)
    )
    _rate(campaign, pairs)


def _rate(campaign: Any, pairs: Sequence[tuple[Any, Any]]) -> None:
    from webapp import models as m

    items = m.Item.objects.bulk_create(
        m.Item(
            campaign=campaign,
            key=f"c{talk.pk}:1:after",
            conversation=talk,
            target=1,
            completed=1,
        )
        for _, talk in pairs
    )
    judged = m.Candidate.objects.bulk_create(
        m.Candidate(item=item, key="p", conversation=talk, system_id=talk.system_id, side=1)
        for item, (_, talk) in zip(items, pairs, strict=True)
    )
    done = m.Assignment.objects.bulk_create(
        m.Assignment(item=item, participation=person, place=0, state="DONE")
        for item, (person, _) in zip(items, pairs, strict=True)
    )
    answers = [*((name, 1 + len(done) % 5) for name in SCALES), ("persona", "p1")]
    m.Rating.objects.bulk_create(
        m.Rating(assignment=one, candidate=candidate, question=question, value=value)
        for one, candidate in zip(done, judged, strict=True)
        for question, value in answers
    )


def run(way: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.export_speed", "--way", way]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(way: str) -> None:
    """Print seconds and megabytes of one way; imports come before either is counted."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.settings"
    import django

    django.setup()
    from django.db import connection

    from webapp.models import Campaign

    campaign = Campaign.objects.get()
    prepare, work = WAYS[way]
    prepare()
    with tempfile.TemporaryDirectory() as folder:
        connection.ensure_connection()
        before, begun = _peak(), time.perf_counter()
        work(campaign, Path(folder) / "made")
        taken = time.perf_counter() - begun
    print(json.dumps({"seconds": taken, "grown": _peak() - before}))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _load() -> None:
    import_module("webapp.services.data.exports")


def bare_copy(campaign: Any, path: Path) -> None:
    with path.open("wb") as file:
        _copy_to(file)


def bare_copy_zipped(campaign: Any, path: Path) -> None:
    archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("messages.csv", "w") as file:
        _copy_to(file)


def _copy_to(file: IO[bytes]) -> None:
    from django.db import connection

    with connection.cursor() as cursor, cursor.copy(BARE) as copy:
        for block in copy:
            file.write(block)


def orm_loop(campaign: Any, path: Path) -> None:
    from webapp.models import Event

    seats = "conversation__seats__participation", "conversation__seats__persona"
    rows = Event.objects.filter(conversation__campaign=campaign, kind="message")
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        for each in (
            rows.select_related("conversation__system")
            .prefetch_related(*seats)
            .iterator(chunk_size=2_000)
        ):
            talk = each.conversation
            seat = next(seat for seat in talk.seats.all() if seat.side == each.side)
            person, persona = seat.participation, seat.persona
            out.writerow(
                [
                    each.pk,
                    talk.pk,
                    each.seq,
                    each.side,
                    talk.system.name,
                    person and person.pseudonym,
                    persona and persona.key,
                    seat.persona_form,
                    each.content["text"],
                    each.made_at.isoformat(),
                    talk.system.name,
                    talk.excluded,
                ]
            )


def parley_messages(campaign: Any, path: Path) -> None:
    from webapp.services.data import message_file

    with path.open("wb") as file:
        message_file.write(file, [campaign])


def parley_messages_zipped(campaign: Any, path: Path) -> None:
    from webapp.services.data import message_file
    from webapp.services.data.exports import Archive

    archive = Archive(path)
    with archive.zip:
        archive.add("messages.csv", lambda stream: message_file.write(stream, [campaign]))


def parley_zip(campaign: Any, path: Path) -> None:
    from webapp.services.data import exports

    exports.write_to(campaign=campaign, path=path)


Work = Callable[[Any, Path], None]
WAYS: dict[str, tuple[Callable[[], None], Work]] = {
    "COPY": (lambda: None, bare_copy),
    "COPY, zipped": (lambda: None, bare_copy_zipped),
    "ORM loop": (lambda: None, orm_loop),
    "Parley, messages.csv": (_load, parley_messages),
    "Parley, the same zipped": (_load, parley_messages_zipped),
    "Parley, whole export": (_load, parley_zip),
}


if __name__ == "__main__":
    main()
