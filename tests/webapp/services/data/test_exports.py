"""Exports: complete, the same bytes for the same data, no formulas or secrets (R31-R33, G19).

It is long because each promise of an export is tested on campaigns of every kind.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from analysis import evaluate, read, records
from analysis.__main__ import main as analysis_main
from analysis.self_test.measured import FEWEST
from analysis.tables import cell_values
from tests.factories import NOW, make_campaign
from tests.webapp.services import rated, third
from webapp.models import AuditEntry, Campaign, Conversation, Event, ExternalId, Rating
from webapp.services.campaign import launch
from webapp.services.data import csv_format, exports, tables
from webapp.services.data.snapshots import snapshot
from webapp.services.participation import privacy

ROOT = Path(__file__).parents[4]


@pytest.fixture
def campaign(db: None) -> Campaign:
    made = rated.personachat(each=3, systems={"good": 1.0, "poor": -1.0})
    rated.rate(made, made.systems.get(name="poor"), outcome="PARTNER_LEFT", state="ABANDONED")
    return made


def parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(campaign: Campaign, folder: Path) -> Path:
    return exports.write(campaign=campaign, folder=folder, now=NOW)


def table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_the_manifest_tells_every_file_with_its_rows_and_checksum(
    campaign: Campaign, tmp_path: Path
) -> None:
    found = parts(write(campaign, tmp_path))
    manifest = json.loads(found.pop("manifest.json"))
    assert set(manifest["files"]) == set(found)
    for name, content in found.items():
        told = manifest["files"][name]
        assert told["sha256"] == hashlib.sha256(content).hexdigest()
        assert told["bytes"] == len(content)
    rows = {name: told.get("rows") for name, told in manifest["files"].items()}
    assert rows["ratings.csv"] == rows["ratings.parquet"] == len(table(found["ratings.csv"])) == 24
    assert rows["ratings_all.csv"] == len(table(found["ratings_all.csv"])) == 28
    assert rows["conversations.jsonl"] == len(found["conversations.jsonl"].splitlines()) == 7
    assert rows["messages.csv"] == len(table(found["messages.csv"])) == 28
    assert rows["participants.csv"] == 7
    assert [path.name for path in tmp_path.iterdir()] == [
        f"campaign-{campaign.pk}-20260105T120000000000Z.zip"
    ]


def test_the_same_data_gives_the_same_bytes_and_other_data_others(
    campaign: Campaign, tmp_path: Path
) -> None:
    first = write(campaign, tmp_path / "a").read_bytes()
    later = NOW + timedelta(days=1)
    again = exports.write(campaign=campaign, folder=tmp_path / "b", now=later).read_bytes()
    assert again == first
    Rating.objects.filter(pk=Rating.objects.earliest("pk").pk).update(value=1, revision=2)
    Event.objects.filter(seq=1).update(content={"text": "other"})
    assert write(campaign, tmp_path / "c").read_bytes() != first


def third_parties() -> Campaign:
    """Return a campaign of two raters who judged the messages of another campaign."""
    made = third.labeling(third.chatted(2))
    for name, sensible in (("ann", 1), ("bob", 0)):
        third.judge_all(made, name, sensible)
    return made


KINDS: dict[str, Callable[[], Campaign]] = {
    "personachat": rated.personachat,
    "meena": rated.meena,
    "static": rated.static,
    "third parties": third_parties,
}


# Campaigns to simulate: of one kind, for the others say no more about exports.
SIMULATED = {"personachat": FEWEST}


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_finds_the_numbers_of_the_page(db: None, kind: str, tmp_path: Path) -> None:
    made: Campaign = KINDS[kind]()
    path = write(made, tmp_path)
    simulate = SIMULATED.get(kind, 0)
    tell = _as_a_process if kind == "personachat" else _in_this_process
    told = tell([str(path), "--json", "--simulate", str(simulate)])
    messages = tables.described_messages(made)
    expected = records(evaluate(tables.ratings(made), messages=messages, simulate=simulate))
    assert len(expected) > 5
    assert json.loads(told) == json.loads(json.dumps(expected))


def _as_a_process(words: list[str]) -> str:
    command = [sys.executable, "-m", "analysis", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _in_this_process(words: list[str]) -> str:
    with redirect_stdout(io.StringIO()) as out:
        assert analysis_main(words) == 0
    return out.getvalue()


def test_what_was_changed_since_is_told_by_every_report(campaign: Campaign, tmp_path: Path) -> None:
    plan = launch.plan_of(campaign)
    Campaign.objects.update(plan=plan, plan_hash=launch.plan_hash(plan))
    path = write(campaign, tmp_path)
    assert read(path).notes == ()
    found = parts(path)
    found["participants.csv"] = b"".join(found["participants.csv"].splitlines(keepends=True)[:-1])
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in found.items():
            archive.writestr(name, content)
    with redirect_stdout(io.StringIO()) as said:
        assert analysis_main([str(changed), "--simulate", "0"]) == 0
    told = " ".join(said.getvalue().split())
    assert "Caution: changed.zip: participants.csv is not as exported" in told
    found["plan.json"] = found["plan.json"].replace(b"good", b"best")
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in found.items():
            archive.writestr(name, content)
    assert analysis_main([str(changed), "--simulate", "0"]) == 2


def test_csv_and_parquet_say_the_same(campaign: Campaign, tmp_path: Path) -> None:
    for name, content in parts(write(campaign, tmp_path)).items():
        if name.startswith("ratings."):
            (tmp_path / name).write_bytes(content)
    first, second = (
        read(tmp_path / "ratings.csv").ratings,
        read(tmp_path / "ratings.parquet").ratings,
    )
    assert first is not None
    assert second is not None
    columns = ["answer", "item", "rater", "place", "value", "scale_low", "votes", "excluded"]
    columns += ["chosen"]
    pd.testing.assert_frame_equal(
        first[columns].fillna("").astype(str), second[columns].fillna("").astype(str)
    )


def test_conversations_are_lossless(campaign: Campaign, tmp_path: Path) -> None:
    lines = parts(write(campaign, tmp_path))["conversations.jsonl"].decode().splitlines()
    found = {each["conversation"]: each for each in map(json.loads, lines)}
    for talk in Conversation.objects.filter(campaign=campaign):
        told = found[talk.pk]
        assert told["state"] == talk.state
        assert [
            (e["seq"], e["kind"], e["side"], e["content"], e["in_reply_to"]) for e in told["events"]
        ] == [(e.seq, e.kind, e.side, e.content, e.in_reply_to) for e in talk.events.all()]
        answers = {
            a["question"]: a["value"]
            for i in told["judged"]
            for g in i["assignments"]
            for a in g["answers"]
        }
        stored = Rating.objects.filter(assignment__item__conversation=talk)
        assert answers == {row.question: row.value for row in stored}
        assert [seat["persona"]["key"] for seat in told["seats"]] == ["p0", "p1"]


def test_nothing_outside_or_secret_is_exported(campaign: Campaign, tmp_path: Path) -> None:
    person = campaign.participations.earliest("pk")
    ExternalId.objects.create(participation=person, platform="prolific", value="outside-id-4711")
    everything = b"".join(parts(write(campaign, tmp_path)).values())
    assert person.pseudonym.encode() in everything
    for secret in ("outside-id-4711", person.secret_hash, campaign.slug):
        assert secret.encode() not in everything


def test_what_was_withdrawn_is_in_no_file(db: None, tmp_path: Path) -> None:
    made = make_campaign()
    person, _ = rated.rate(made, made.systems.get(), said="canary-text")
    privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)
    everything = b"".join(parts(write(made, tmp_path)).values())
    assert b"canary-text" not in everything
    assert person.pseudonym.encode() not in everything


def test_the_codebook_explains_every_question(campaign: Campaign, tmp_path: Path) -> None:
    found = parts(write(campaign, tmp_path))
    book = json.loads(found["codebook.json"])
    wording = {each["name"]: each["wording"] for each in book["questions"]}
    assert wording["engagingness"].startswith("Engagingness: judge the engagingness of the other")
    text = found["codebook.md"].decode()
    assert all(each in text for each in wording.values())
    assert "section 3.3: at most 15 words per message" in text


@given(st.text(st.characters(codec="utf-8")))
def test_removing_the_guard_restores_every_text(text: str) -> None:
    stream = io.StringIO(newline="")
    csv_format.write(stream, ["text", "other"], [[text, "x"]])
    stream.seek(0)
    (_, (written, _)) = list(csv.reader(stream, strict=True))
    assert cell_values.unguarded(written) == text
    assert not written.startswith(tuple("=+-@\t\r＝＋－＠"))


@pytest.mark.parametrize("text", ["=1+1", "'quoted", "''", "@x", "-1", 'a,"b"\r\nc', "＝A1", "\tx"])
def test_texts_that_a_spreadsheet_would_run_are_guarded(text: str) -> None:
    stream = io.StringIO(newline="")
    csv_format.write(stream, ["text", "number"], [[text, -1.5]])
    assert stream.getvalue().endswith(",-1.5\r\n")
    stream.seek(0)
    (_, (written, _)) = list(csv.reader(stream, strict=True))
    assert cell_values.unguarded(written) == text
    assert (written != text) == (text[0] in "='@-＝\t")


def test_an_export_of_nothing_can_be_read(db: None, tmp_path: Path) -> None:
    path = write(make_campaign(), tmp_path)
    found = read(path)
    assert found.ratings is not None
    assert found.ratings.empty


def test_no_half_file_is_left_when_writing_fails(campaign: Campaign, tmp_path: Path) -> None:
    Rating.objects.filter(question="fluency").update(question="nobody asked")
    with pytest.raises(KeyError):
        write(campaign, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_taking_an_export_is_logged(campaign: Campaign, tmp_path: Path) -> None:
    with exports.download(campaign=campaign, by="ada", now=NOW) as file:
        content = file.read()
    entry = AuditEntry.objects.latest("number")
    assert (entry.actor, entry.action, entry.campaign) == ("ada", "exported", campaign)
    assert entry.detail["sha256"] == hashlib.sha256(content).hexdigest()


def test_the_command_writes_the_file_named(campaign: Campaign, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "data.zip"
    call_command("export", str(campaign.pk), "--out", str(out))
    assert parts(out)["ratings.csv"]
    assert "bytes" in capsys.readouterr().out
    assert AuditEntry.objects.latest("number").actor == "command line"
    with pytest.raises(CommandError, match="campaign: no '999'"):
        call_command("export", "999", "--out", str(out))


def test_a_hundred_conversations_need_no_more_queries(campaign: Campaign, tmp_path: Path) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            write(campaign, tmp_path)
        return len(queries)

    few = count()
    for _ in range(93):
        rated.rate(campaign, campaign.systems.earliest("pk"))
    assert count() == few
    assert few < 46  # of these are some for the plan that this draft would freeze


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_sees_one_moment_and_keeps_nobody_from_writing() -> None:
    made = rated.personachat(each=1, systems={"good": 1.0})
    other = connections.create_connection("default")
    try:
        with snapshot():
            before = Rating.objects.count()
            with other.cursor() as cursor:
                cursor.execute("UPDATE webapp_campaign SET name = 'renamed'")
                cursor.execute("DELETE FROM webapp_rating")
            assert Rating.objects.count() == before == 4
            assert Campaign.objects.get().name == made.name
        assert Rating.objects.count() == 0
    finally:
        other.close()
