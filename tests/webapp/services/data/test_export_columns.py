"""Columns of an export: each holds its own value and is explained in the codebook."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import pandas as pd
import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services import rated
from tests.webapp.services.data.test_exports import KINDS
from webapp.models import (
    Campaign,
    CompletionCode,
    Consent,
    Conversation,
    Event,
    Flag,
    Participation,
    Rating,
    Seat,
)
from webapp.services.data import codebook, exports, tables
from webapp.services.data.query_rows import From

pytestmark = pytest.mark.django_db
Table = list[dict[str, str]]


def files(campaign: Campaign, folder: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(exports.write_to(campaign=campaign, path=folder / "e.zip")) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def table(content: bytes) -> Table:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def columns_of(name: str, content: bytes) -> list[str]:
    if name.endswith(".parquet"):
        return list(pd.read_parquet(io.BytesIO(content)).columns)
    return next(csv.reader(io.StringIO(content.decode(), newline="")))


def explained(text: str) -> dict[str, list[str]]:
    """Return the columns that the codebook for readers explains, by file."""
    parts = [part for part in text.split("\n## ") if "| column | means |" in part]
    return {
        part.partition("\n")[0]: re.findall(r"^\| (\w+) \|", part, re.MULTILINE)[1:]
        for part in parts
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_has_the_columns_of_the_codebook_in_its_order(kind: str, tmp_path: Path) -> None:
    found = files(KINDS[kind](), tmp_path)
    columns = {
        name: columns_of(name, content)
        for name, content in found.items()
        if name.endswith((".csv", ".parquet"))
    }
    assert explained(found["codebook.md"].decode()) == columns
    book = json.loads(found["codebook.json"])["files"]
    assert {name: set(each) for name, each in columns.items()} == {
        name: set(each) for name, each in book.items()
    }


def assert_no_two_could_be_swapped(rows: Sequence[Mapping[str, Any]]) -> None:
    """Any two columns differ in some row, so that a swap of them differs from what is expected."""
    for one, other in itertools.combinations(rows[0], 2):
        assert any(row[one] != row[other] for row in rows), (one, other)


def expected_of(rating: Rating, **changes: Any) -> dict[str, str]:
    """Return what the export says of an answer, gathered from the stored rows one by one."""
    assignment, candidate = rating.assignment, rating.candidate
    talk = candidate.conversation
    row = {
        "answer": rating.pk,
        "campaign": f"campaign-{assignment.item.campaign.pk}",
        "protocol": assignment.item.campaign.protocol,
        "question": rating.question,
        "system": candidate.system.name,
        "rater": assignment.participation.pseudonym,
        "value": rating.value,
        "place": assignment.place,
        "votes": assignment.item.target,
        "better": "high",
        "conversation": talk.pk,
        "outcome": talk.seats.get(participation=assignment.participation).outcome,
        "excluded": f"reviewer: {talk.excluded}",
        "flags": "quick;seen",
        "chosen": "",
        "context": "",
        "dataset": "",
        "character": "",
        "intended": "",
        "follows": int(rating.follows),
        "given_at": rating.made_at.isoformat(),
        **changes,
    }
    return {name: str(value) for name, value in row.items()}


def unlike(campaign: Campaign) -> Conversation:
    """Give the campaign's only conversation values that are all different; return it."""
    talk = campaign.conversations.get()
    talk.excluded = "spam"
    talk.save()
    for kind in ("seen", "quick"):
        Flag.objects.create(campaign=campaign, conversation=talk, kind=kind)
    Participation.objects.update(outcome="STOPPED")
    Seat.objects.exclude(participation=None).update(outcome="QUIT")
    item = campaign.items.get()
    item.target = 7
    item.save()
    item.assignments.update(place=3)
    for number, rating in enumerate(Rating.objects.order_by("pk")):
        Rating.objects.filter(pk=rating.pk).update(made_at=NOW + timedelta(hours=1 + number))
    return talk


def test_every_column_of_the_ratings_holds_its_own_value(tmp_path: Path) -> None:
    chat = make_campaign(systems={"alpha": "parrot"})
    rated.rate(chat, chat.systems.get())
    labels = rated.meena(each=1, systems={"good": 1.0})
    Rating.objects.filter(question="fluency").update(value=4)
    last = Rating.objects.latest("pk")
    Rating.objects.filter(pk=last.pk).update(follows=True)
    about: dict[int, tuple[Conversation, Table]] = {}
    for campaign in (chat, labels):
        talk = unlike(campaign)
        found = files(campaign, tmp_path)
        about[campaign.pk] = talk, table(found["ratings_all.csv"])
        parquet = pd.read_parquet(io.BytesIO(found["ratings.parquet"]))
        assert list(parquet.columns) == list(about[campaign.pk][1][0])

    talk, rows = about[chat.pk]
    stored = {rating.question: rating for rating in Rating.objects.filter(candidate__seq=None)}
    scale = {"level": "ordinal", "scale_low": 1, "scale_high": 5, "message_seq": ""}
    fluency = expected_of(stored["fluency"], item=talk.pk, **scale)
    persona = expected_of(
        stored["persona"],
        **{"item": talk.pk, "level": "nominal", "scale_low": 0, "scale_high": 1},
        **{"value": int(stored["persona"].value == "p1"), "chosen": stored["persona"].value},
        message_seq="",
    )
    by_question = {row["question"]: row for row in rows}
    assert by_question["fluency"] == fluency
    assert by_question["persona"] == persona

    talk, rows = about[labels.pk]
    last = Rating.objects.get(pk=last.pk)
    seq = last.candidate.seq
    changes = {"item": f"{talk.pk}:{seq}", "level": "nominal", "message_seq": seq}
    label = expected_of(last, scale_low=0, scale_high=1, **changes)
    assert rows[-1] == label
    of_texts = {"context", "dataset", "character", "intended"}
    rows = [
        {k: v for k, v in row.items() if k not in of_texts} for row in (fluency, persona, label)
    ]
    assert_no_two_could_be_swapped(rows)


def test_every_column_of_the_messages_holds_its_own_value(tmp_path: Path) -> None:
    rated.rate(other := make_campaign(), other.systems.get())  # so that numbers differ
    campaign = make_campaign(systems={"alpha": "parrot"})
    rated.rate(campaign, campaign.systems.get())
    talk = unlike(campaign)
    Event.objects.filter(seq=2).update(made_at=NOW + timedelta(hours=2))
    talk.seats.filter(side=1).update(persona_form="revised")
    pseudonym = Participation.objects.get(seats__conversation=talk, seats__side=0).pseudonym
    expected = [
        {
            "message": str(event.pk),
            "conversation": str(talk.pk),
            "seq": str(event.seq),
            "side": str(event.side),
            "system": "alpha" if event.side else "human",
            "user": "" if event.side else pseudonym,
            "persona": f"p{event.side}",
            "persona_form": "revised" if event.side else "original",
            "text": event.content["text"],
            "sent_at": event.made_at.isoformat(),
            "partner_of": "alpha",
            "excluded": "spam",
        }
        for event in talk.events.order_by("seq")
    ]
    assert table(files(campaign, tmp_path)["messages.csv"]) == expected
    assert_no_two_could_be_swapped([*expected])
    frame = tables.messages(campaign).astype("str")
    assert frame.to_dict("records") == expected


def test_every_column_of_the_participants_holds_its_own_value(tmp_path: Path) -> None:
    campaign = make_campaign(systems={"alpha": "parrot"}, currency="EUR")
    person, _ = rated.rate(campaign, campaign.systems.get(), outcome="LEFT")
    person.excluded = "spam"
    person.joined_at, person.ended_at = NOW, NOW + timedelta(hours=1)
    person.least_work = 6
    person.save()
    Consent.objects.create(participation=person, text_hash="f" * 64, language="nl")
    CompletionCode.objects.create(participation=person, code="A", kind="PART", amount="0.75")
    Flag.objects.create(campaign=campaign, participation=person, kind="quick")
    (row,) = table(files(campaign, tmp_path)["participants.csv"])
    expected = {
        "participant": person.pseudonym,
        "panel": "worker",
        "system": "alpha",
        "arm": "",
        "conversations": "0",
        "state": "ENDED",
        "outcome": "LEFT",
        "joined_at": NOW.isoformat(),
        "ended_at": (NOW + timedelta(hours=1)).isoformat(),
        "consent_sha256": "f" * 64,
        "language": "nl",
        "pay": "0.75",
        "promised": "2.00",
        "currency": "EUR",
        "quit_rule": "SHARE",
        "least_work": "6",
        "excluded": "spam",
        "flags": "quick",
    }
    assert row == expected
    assert_no_two_could_be_swapped([expected])


def with_more(kind: type, **further: Any) -> type:
    """Return a named tuple of the same fields and properties, and further fields."""
    known = get_type_hints(kind, include_extras=True)
    fields = NamedTuple(kind.__name__, [*known.items(), *further.items()])  # type: ignore[misc]
    about = {name: each for name, each in vars(kind).items() if isinstance(each, property)}
    return type(kind.__name__, (fields,), about)


def test_a_further_column_is_a_field_of_the_query_and_its_text_in_the_codebook(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A field that the codebook does not name is read, and is no column."""
    campaign = rated.meena(each=1, systems={"good": 1.0})
    seed = Annotated[int | None, From("conversation__seed")]
    message = with_more(tables.MessageRow, context_seed=seed, unseen=seed)
    monkeypatch.setattr(tables, "MessageRow", message)
    monkeypatch.setitem(codebook.MESSAGES, "context_seed", "seed of the conversation")
    found = files(campaign, tmp_path)
    rows = table(found["messages.csv"])
    assert {row["context_seed"] for row in rows} == {"5"}
    assert "unseen" not in rows[0]
    assert "| context_seed | seed of the conversation |" in found["codebook.md"].decode()
    assert set(tables.messages(campaign)["context_seed"]) == {5.0}


def test_a_column_that_nobody_fills_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = rated.meena(each=1, systems={"good": 1.0})
    monkeypatch.setitem(codebook.RATINGS, "weather", "outside")
    with pytest.raises(KeyError, match="weather"):
        tables.ratings(campaign)
