"""NL-P11, second step: messages of finished conversations in other words, linked to these."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.db.models import QuerySet

from bots.datasets import dstc7
from evaluation import InvalidAnswers
from tests.factories import NOW, make_staff
from tests.webapp.services.third import MESSAGES, chatted
from tests.webapp.services.written import accepted, came, draft_of, filled, opened, write
from webapp.models import Campaign, Contribution, Event, ExternalId, Item, Participation
from webapp.services.campaign import checklist, message_items
from webapp.services.data import assignment_rules, candidate_sets, contribution_rows, exports
from webapp.services.monitoring import monitor
from webapp.services.participation import consents, privacy
from webapp.services.rating import items
from webapp.services.rules.protocols import protocol_of
from webapp.services.writing import decisions, form, offering

pytestmark = pytest.mark.django_db
PROTOCOL = "student_advisor_paraphrases"


def paraphrasing(source: Campaign, **changes: Any) -> Campaign:
    """Return an open campaign in which messages of an ended one are paraphrased."""
    draft = draft_of(PROTOCOL, **changes)
    message_items.take(campaign=draft, source=str(source.pk), by=make_staff(), now=NOW)
    return opened(draft)


def exported(campaign: Campaign, folder: Path) -> tuple[Path, list[dict[str, str]]]:
    path = exports.write_to(campaign=campaign, path=folder / "export.zip")
    with zipfile.ZipFile(path) as archive:
        text = archive.read("contributions.csv").decode()
    return path, list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(("cuts", "each"), [(1, 1), (MESSAGES - 1, 3), (5, 3), (None, MESSAGES)])
def test_each_conversation_is_cut_so_often_and_never_before_its_first_message(
    cuts: int | None, each: int
) -> None:
    source = chatted(2)
    changes: dict[str, Any] = {"write.cuts": cuts}
    draft = draft_of(PROTOCOL, **changes)
    (known,) = message_items.sources(campaign=draft, user=make_staff())
    count = message_items.take(campaign=draft, source=str(source.pk), by=make_staff(), now=NOW)
    assert count == known.items == 2 * each
    assert message_items.take(campaign=draft, source=str(source.pk), by=make_staff(), now=NOW) == 0
    seqs = [int(key.partition(":")[2]) for key in Item.objects.values_list("key", flat=True)]
    assert (1 in seqs) == (cuts is None)


def test_a_writer_sees_the_message_and_what_was_said_before_and_it_is_linked(
    tmp_path: Path,
) -> None:
    campaign = paraphrasing(chatted(1), **{"write.cuts": 2, "write.before": 1})
    person = came(campaign, "writer")
    page = form.of(person)
    assert page is not None
    (field,) = page.fields
    item = offering.current(person).item  # type: ignore[union-attr]
    seq = item.candidates.get().seq or 0
    said = Event.objects.get(conversation=item.conversation, seq=seq)
    before = Event.objects.get(conversation=item.conversation, seq=said.seq - 1)
    assert field.original == said.content["text"]
    assert [line.text for line in page.lines] == [before.content["text"]]
    for same in (field.original, field.original.upper().replace(".", "")):
        with pytest.raises(InvalidAnswers, match="the message itself"):
            offering.submit(person=person, answers=filled(person, same), now=NOW)
    row = write(person, "It goes otherwise.")
    write(person, "So it does.")
    person.refresh_from_db()
    assert person.outcome == "COMPLETED"
    decisions.accept(campaign=campaign, pks=[row.pk], by=make_staff(), now=NOW)
    path, rows = exported(campaign, tmp_path)
    linked = {(each["conversation"], each["message_seq"]): each["original"] for each in rows}
    assert linked[str(said.conversation_id), str(said.seq)] == said.content["text"]
    assert len(linked) == 2
    found = assignment_rules.of_export(path)
    assert (found.broken, found.answers, found.items) == ([], 2, 2)
    assert assignment_rules.of_campaign(campaign).broken == []


def test_the_live_page_counts_paraphrases_by_whose_messages_they_are_of() -> None:
    campaign = paraphrasing(chatted(2), **{"write.cuts": 3})
    write(came(campaign, "writer"), "It goes otherwise.")
    rows = monitor.live(campaign, NOW).progress
    assert [(row.name, row.completed, row.target) for row in rows] == [("human", 1, 6)]
    assert [(row.page, row.query) for row in rows] == [("contributions", "state=")]


def test_accepted_paraphrases_are_right_candidates_of_the_dstc7_file(tmp_path: Path) -> None:
    """What is written is read back: a reply, its paraphrases, and what others said."""
    campaign = paraphrasing(chatted(2), **{"write.cuts": 1, "write.writers": 2})
    assert "dstc7.json" not in zipfile.ZipFile(exported(campaign, tmp_path)[0]).namelist()
    row = accepted(campaign, "ann", "As ann has it.")
    refused = accepted(campaign, "bob", "As bob has it.")
    Participation.objects.filter(pk=refused.assignment.participation_id).update(excluded="spam")
    with zipfile.ZipFile(exported(campaign, tmp_path)[0]) as archive:
        archive.extract("dstc7.json", tmp_path)
        assert "dstc7.json" in json.loads(archive.read("manifest.json"))["files"]
    found = dstc7.read_sets(str(tmp_path / "dstc7.json"))
    assert len(found) == 2
    for each in found:
        talk, _, seq = each.id.partition(":")
        texts = {
            event.seq: event.content["text"] for event in said().filter(conversation=int(talk))
        }
        before = [text for number, text in texts.items() if number < int(seq)]
        ways = row.texts if int(talk) == row.assignment.item.conversation_id else []
        assert [turn.text for turn in each.messages] == before
        assert each.right == (texts[int(seq)], *ways)
        elsewhere = {event.content["text"] for event in said().exclude(conversation=int(talk))}
        assert set(each.candidates) == {*each.right, *elsewhere}


def test_what_is_withdrawn_is_in_no_set(tmp_path: Path) -> None:
    source = chatted(3)
    campaign = paraphrasing(source, **{"write.cuts": 1})
    accepted(campaign, "ann", "As ann has it.")
    author = Participation.objects.filter(campaign=source).latest("pk")
    talk = author.seats.get().conversation_id
    before = candidate_sets.text_of(campaign)
    privacy.withdraw(token=privacy.withdraw_token(author), now=NOW)
    after = candidate_sets.text_of(campaign)
    names = [{each["example-id"] for each in json.loads(text)} for text in (before, after)]
    assert names[1] == {each for each in names[0] if not each.startswith(f"{talk}:")} != names[0]
    assert ("p4" in before, "p4" in after) == (True, False)


def said() -> QuerySet[Event]:
    return Event.objects.filter(kind=Event.Kind.MESSAGE).order_by("seq")


def test_who_took_part_is_refused_and_the_checker_finds_who_was_let_in(tmp_path: Path) -> None:
    campaign = paraphrasing(chatted(1))
    with pytest.raises(consents.Closed) as refused:
        came(campaign, "p1")
    assert refused.value.notice == "took_part"
    row = accepted(campaign, "other", "It goes otherwise.")
    person = row.assignment.participation
    ExternalId.objects.filter(participation=person).update(value="p1")
    for found in (
        assignment_rules.of_campaign(campaign),
        assignment_rules.of_export(exported(campaign, tmp_path)[0]),
    ):
        assert [(each.rule, each.rater) for each in found.broken] == [
            ("own conversation", person.pseudonym)
        ]


def test_more_writers_than_wanted_or_one_twice_are_told() -> None:
    campaign = paraphrasing(chatted(1), **{"write.cuts": 1, "write.writers": 2})
    for name in ("ann", "bob"):
        accepted(campaign, name, f"As {name} has it.")
    assert assignment_rules.of_campaign(campaign).broken == []
    texts = list(contribution_rows.contribution_rows(campaign))
    one = protocol_of(campaign).change({"write.writers": 1})
    assert [each.rule for each in assignment_rules.of_texts(one, texts)] == ["writers"]
    row = {"participant": "ann", "about": "1:2", "number": 1, "state": "REFUSED"}
    found = list(assignment_rules.of_texts(one, [row, row]))
    assert [(each.rule, each.rater, each.item) for each in found] == [("twice", "ann", "1:2")]


def test_what_is_withdrawn_is_paraphrased_no_more() -> None:
    source = chatted(1)
    campaign = paraphrasing(source)
    person = came(campaign, "writer")
    author = Participation.objects.filter(campaign=source)[0]
    privacy.withdraw(token=privacy.withdraw_token(author), now=NOW)
    person.refresh_from_db()
    assert (person.outcome, offering.current(person)) == ("COMPLETED", None)
    assert not items.open_items(campaign).exists()
    assert not Contribution.objects.exists()


def test_a_launch_needs_messages() -> None:
    red = [each.name for each in checklist.checklist(draft_of(PROTOCOL), NOW) if not each.ok]
    assert red == ["Messages to paraphrase"]
