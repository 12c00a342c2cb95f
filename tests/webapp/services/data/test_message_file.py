"""The file of messages: on either database, byte for byte the rows of the message table."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from tests.factories import NOW, make_campaign
from tests.webapp.services import rated
from tests.webapp.services.studies import make_study
from webapp.models import Campaign, Conversation, Event, Persona, Seat, System
from webapp.services.campaign import studies
from webapp.services.data import codebook, csv_format, message_file, phases, tables

ROOT = Path(__file__).parents[4]
ODD = (
    'she said "no", twice',
    "two\nlines\r\nand a third\rone",
    "back\\slash \\. \\n \\N",
    "\\.",
    "tab\there",
    "\ttab first",
    "\rreturn first",
    "😀 👩‍👩‍👧 🇩🇪",
    "مرحبا بالعالم، كيف حالك؟",
    "‏mark of direction",
    "=1+1",
    "＝1",
    "'quoted'",
    "''",
    "-1",
    "@x",
    " ",
    "  blanks around  ",
    "",
    "NULL",
    "100%s %(name)s %",
    ",",
    '"',
    "\u2028\x1f\x7f\x85",
    "İ ẞ ﬀ e\u0301",
)


@pytest.fixture
def campaign(db: None) -> Campaign:
    made = make_campaign(systems={"=alpha": "parrot", 'be"ta, γ': "parrot"})
    for number, system in enumerate(made.systems.all()):
        for text in ODD:
            rated.chatted(made, system, messages=2, said=text or "x")
        Event.objects.filter(content__text="x").update(content={"text": ""})
        _, talk = rated.chatted(made, system, messages=3)
        gone = {"text": "", "withdrawn": True}
        Event.objects.filter(conversation=talk, seq=1).update(content=gone)
        Event.objects.filter(conversation=talk, seq=2).update(made_at=NOW)
        late = NOW + timedelta(microseconds=10 * number + 120)
        Event.objects.filter(conversation=talk, seq=3).update(made_at=late)
        talk.excluded = 'the "bot", broke\ndown'
        talk.save()
    _of_every_purpose(made, made.systems.earliest("pk"))
    return made


def _of_every_purpose(made: Campaign, system: System) -> None:
    Persona.objects.filter(key="p1").update(key="+plus")
    Seat.objects.filter(side=1).update(persona_form="revised")
    for purpose in Conversation.Purpose.values:
        _, talk = rated.chatted(made, system)
        talk.purpose, talk.context = purpose, "-key" if purpose == "CONTEXT" else ""
        talk.save()
        Seat.objects.filter(conversation=talk).update(participation=None, persona=None)
    _, label = rated.chatted(made, system)
    Event.objects.filter(conversation=label, seq=1).update(kind="label", content={})


def table_of(campaign: Campaign, columns: list[str], shared: dict[str, str]) -> tuple[str, int]:
    stream = io.StringIO(newline="")
    rows = ({**row, **shared} for row in tables.message_rows(campaign))
    count = csv_format.write(stream, columns, ([row[name] for name in columns] for row in rows))
    return stream.getvalue(), count


def test_the_file_has_the_rows_of_the_table(campaign: Campaign) -> None:
    stream = io.BytesIO()
    count = message_file.write(stream, [campaign])
    text, rows = table_of(campaign, list(codebook.MESSAGES), {})
    assert stream.getvalue().decode() == text
    assert count == rows == 2 * (2 * len(ODD) + 2) + 3 * 4 + 3


def test_a_study_has_campaign_and_phase_beside_them(campaign: Campaign) -> None:
    other = make_campaign()
    study = make_study(campaign, other)
    Campaign.objects.filter(pk=other.pk).update(phase='=2, "again"')
    campaign, other = studies.phases(study)
    rated.chatted(other, other.systems.get())
    stream = io.BytesIO()
    count = message_file.write(stream, [campaign, other], tuple(codebook.OF_STUDY))
    columns = list(dict.fromkeys((*codebook.OF_STUDY, *codebook.MESSAGES)))
    texts = [table_of(each, columns, phases.of_study(each)) for each in (campaign, other)]
    header, _, rest = texts[1][0].partition("\r\n")
    assert stream.getvalue().decode() == texts[0][0] + rest
    assert header == ",".join(columns)
    assert count == sum(number for _, number in texts)


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "postgresql", reason="these tests run on one already")
def test_the_same_holds_on_a_real_postgresql(postgresql_url: str) -> None:
    tests = [f"{Path(__file__).relative_to(ROOT)}::{test.__name__}" for test in OF_EITHER]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    env = {**os.environ, "DATABASE_URL": postgresql_url}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


OF_EITHER = (
    test_the_file_has_the_rows_of_the_table,
    test_a_study_has_campaign_and_phase_beside_them,
)
