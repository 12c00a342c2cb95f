"""ME-P4: conversations held elsewhere come in whole or not at all, and each fault is told."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.db.models import QuerySet

from tests.factories import NOW, make_staff
from tests.webapp.services.third import came, draft_of, judge, judge_all
from webapp.models import (
    Campaign,
    Candidate,
    Conversation,
    Event,
    Item,
    QuotaCell,
    Seat,
    System,
    TranscriptNote,
)
from webapp.services.campaign import (
    duplicates,
    launch,
    message_items,
    redaction,
    removal,
    transcripts_import,
)
from webapp.services.campaign.transcripts_import import TranscriptPreview, TranscriptUpload
from webapp.services.data import exports, tables
from webapp.services.rating import third_parties, transcripts
from webapp.services.staff_forms.fields import Invalid
from webapp.services.staff_forms.transcript_files import TextFile

pytestmark = pytest.mark.django_db

CHATS = """Eliza Conversation 1
Human: Hi!
Eliza: Why do you say hi, Miss Palmer?
Human: I am Ada PALMER from Leeds.
Eliza: Tell me of [image of a bridge] Leeds.

Eliza Conversation 2
Human: Hello.
Eliza: Why?

Human Conversation 1
Human 1: Hi!
Human 2: Hi, how was your day?
"""


def upload(*texts: str, **more: Any) -> TranscriptUpload:
    files = tuple(TextFile(f"file{n}.txt", text) for n, text in enumerate(texts, start=1))
    return TranscriptUpload(files=files, **more)


def look(*texts: str, **more: Any) -> TranscriptPreview:
    return transcripts_import.preview(campaign=draft_of(), upload=upload(*texts, **more))


def faults(*texts: str, **more: Any) -> list[tuple[int, str, str, str]]:
    found = look(*texts, **more).faults
    return [(each.line, each.field, each.value, each.right) for each in found]


def imported(*texts: str, **more: Any) -> Campaign:
    draft = draft_of(**{"rate.batch": 2})
    transcripts_import.store(
        campaign=draft, upload=upload(*texts, **more), by=make_staff(), now=NOW
    )
    return draft


def opened(*texts: str, **more: Any) -> Campaign:
    draft = imported(*texts, **more)
    Campaign.objects.filter(pk=draft.pk).update(state=Campaign.State.OPEN, consent="x")
    draft.refresh_from_db()
    return draft


def record(**changes: Any) -> str:
    turns = [{"speaker": "Human", "text": "Hi!"}, {"speaker": "Eliza", "text": "Why?"}]
    return json.dumps({"id": "a", "turns": turns} | changes)


def test_a_preview_stores_nothing_and_counts_by_system() -> None:
    seen = look(CHATS)
    assert seen.good
    eliza, human = seen.counts
    assert (eliza.system, eliza.conversations, eliza.turns, eliza.judged) == ("Eliza", 2, 6, 3)
    assert (human.system, human.turns, human.judged, eliza.images) == ("human", 2, 2, 1)
    assert eliza.marks == Counter(opener=1, short=2, reset=2)
    assert human.marks == Counter(short=1)
    assert not Conversation.objects.exists()
    assert not Item.objects.exists()


def test_the_bots_messages_and_those_of_both_people_become_items() -> None:
    draft = imported(CHATS)
    judged = Counter(Candidate.objects.values_list("system__name", flat=True))
    assert judged == {"Eliza": 3, "human": 2}
    assert set(QuotaCell.objects.values_list("target", flat=True)) == {0}  # nobody talks to them
    assert message_items.counts(draft) == {"messages": 5, "conversations": 3}
    assert set(Event.objects.values_list("conversation__state", flat=True)) == {"FINISHED"}
    said = {(row["system"], row["text"]) for row in tables.message_rows(draft)}
    assert ("human", "Hi!") in said
    assert ("Eliza", "Why?") in said
    assert len(launch.plan_of(draft)["messages"]) == 5


def test_items_of_other_things_stay_when_an_import_is_removed() -> None:
    draft, other = imported(CHATS), imported(CHATS)
    Item.objects.create(campaign=draft, key="of something else", target=1)
    theirs = {
        "conversation__campaign": other,
        "conversation__purpose": Conversation.Purpose.IMPORTED,
    }
    kinds = (Candidate, Event, Seat, TranscriptNote)
    before = [kind._default_manager.filter(**theirs).count() for kind in kinds]
    assert all(before)
    assert transcripts.remove(draft) == 3
    assert list(draft.items.values_list("key", flat=True)) == ["of something else"]
    assert [kind._default_manager.filter(**theirs).count() for kind in kinds] == before
    assert [kind._default_manager.count() for kind in kinds] == before


BAD_TEXT = "Human: Hi!\nno colon\nEliza: [image]\n\nHuman: Hi!\n\nA: 1\nB: 2\n"


def test_every_fault_names_line_field_value_and_what_would_be_right() -> None:
    assert faults(BAD_TEXT) == [
        (2, "line", "no colon", "must be a name, a colon and a message"),
        (3, "text", "[image]", "must say what the image shows, as in [image: a cat on a sofa]"),
        (5, "speaker", "Human", "a conversation has two speakers"),
        (7, "speaker", "A, B", "one of them must be called Human, or both Human 1 and Human 2"),
    ]
    assert [str(each).partition(":")[0] for each in look(BAD_TEXT).faults] == [
        f"file1.txt, line {number}" for number in (2, 3, 5, 7)
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"system": "no name"}, "system"),
        ({"began_at": "yesterday"}, "began_at"),
        ({"began_at": "2026-05-01 10:00", "ended_at": "2026-05-01 09:59"}, "ended_at"),
        ({"account": "shared"}, "account"),
        ({"reset": "perhaps"}, "reset"),
        ({"id": "x" * 81}, "id"),
        ({"color": "red"}, "field"),
        ({"turns": [3]}, "turns"),
        ({"turns": "Hi"}, "turns"),
        *(({name: "\ud800"}, "line") for name in ("id", "volunteer", "system", "account")),
        ({"turns": [{"speaker": "Human", "text": "\udfff"}]}, "line"),
    ],
)
def test_every_bad_value_of_a_record_is_refused(changes: dict[str, Any], field: str) -> None:
    good, bad = record(id="good"), record(**changes)
    seen = look(f"{good}\n{bad}")
    assert {(each.line, each.field) for each in seen.faults} >= {(2, field)}
    assert not seen.good


def test_nothing_comes_in_while_one_file_has_a_fault() -> None:
    draft = draft_of()
    with pytest.raises(Invalid, match="has faults"):
        transcripts_import.store(
            campaign=draft, upload=upload(CHATS, "no colon"), by=make_staff(), now=NOW
        )
    assert not Conversation.objects.exists()
    assert not draft.systems.exists()


def test_an_id_comes_once_over_files_and_imports() -> None:
    assert [each.field for each in look(record(), record()).faults] == ["id"]
    draft = imported(record())
    again = transcripts_import.preview(campaign=draft, upload=upload(record()))
    assert [each.right for each in again.faults] == ["is in this campaign already"]


def test_lines_of_csv_and_images_in_a_field() -> None:
    rows = [
        "conversation,speaker,text,image,reset,account,volunteer,began_at",
        "c1,Human,Hi!,,yes,shared,v1,2026-05-01 10:00",
        "c1,Mitsuku,Look:,a red kite,,,,",
        'c2,Human,"Hi, you!",,no,,,',
        "c2,Mitsuku,,,,,,",
        "c1,Human,Nice.,,no,,,",
    ]
    seen = look("\n".join(rows))
    assert [(each.line, each.field) for each in seen.faults] == [(6, "reset"), (5, "text")]
    seen = look("\n".join(rows[:3]))
    (found,) = seen.found
    assert [turn.text for turn in found.chat.turns] == ["Hi!", "Look: [image: a red kite]"]
    assert (found.chat.reset, found.chat.account, found.chat.images) == (True, "shared", 1)
    assert found.chat.marks == ("short",)


def visit(minute: int, volunteer: str, account: str = "shared") -> str:
    began = f"2026-05-01 {10 + minute // 60}:{minute % 60:02}"
    return record(id=f"{volunteer}{minute}", account=account, volunteer=volunteer, began_at=began)


@pytest.mark.parametrize(("minutes", "refused"), [(59, True), (60, False), (61, False)])
def test_an_hour_lies_between_two_volunteers_of_an_account(minutes: int, refused: bool) -> None:
    both = f"{visit(0, 'one')}\n{visit(minutes, 'two')}"
    assert [each.field for each in look(both).faults] == ["began_at"] * refused
    kept = look(both, keep_hour=True)
    assert kept.good
    assert ["hour" in each.chat.marks for each in kept.found] == [False, refused]


def test_the_hour_counts_from_the_end_and_between_different_people_only() -> None:
    assert look(f"{visit(0, 'one')}\n{visit(5, 'one')}\n{visit(5, 'two', 'other')}").good
    ended = json.dumps(json.loads(visit(0, "one")) | {"ended_at": "2026-05-01 10:30"})
    assert not look(f"{ended}\n{visit(89, 'two')}").good
    assert look(f"{ended}\n{visit(90, 'two')}").good
    draft = imported(visit(0, "one"))
    late = transcripts_import.preview(campaign=draft, upload=upload(visit(59, "two")))
    assert [each.field for each in late.faults] == ["began_at"]


def test_nobody_waits_for_who_is_not_known_to_have_had_the_account() -> None:
    unknown = [json.dumps(json.loads(visit(at, "one")) | {"account": ""}) for at in (0, 5)]
    unknown[1] = unknown[1].replace('"one"', '"two"')
    assert look("\n".join(unknown)).good


def test_the_lines_of_a_conversation_count_from_one() -> None:
    (talk,) = Conversation.objects.filter(campaign=imported(record(id="a")))
    seqs = list(talk.events.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, talk.last_seq + 1))
    assert len(seqs) > 1
    sides = list(talk.events.order_by("seq").values_list("side", flat=True))
    assert talk.first_side == sides[0] != sides[-1]


def test_a_volunteer_is_kept_as_a_keyed_code_and_may_not_judge() -> None:
    campaign = opened(visit(0, "worker-7"))
    (note,) = TranscriptNote.objects.all()
    assert "worker" not in note.volunteer
    for name, notice in (("worker-7", "took_part"), ("worker-8", "")):
        found = third_parties.refusal(campaign=campaign, platform="panel", external_id=name)
        assert found == notice


# --- redaction --------------------------------------------------------------------------------


def everything(campaign: Campaign, folder: Path) -> str:
    """Return all that an export holds, and all rows of words, as one text."""
    path = exports.write_to(campaign=campaign, path=folder / "export.zip")
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        files = [archive.read(n).decode("utf-8", "replace") for n in archive.namelist()]
    rows = [json.dumps(row) for row in Event.objects.values_list("content", flat=True)]
    rows += [json.dumps(row) for row in TranscriptNote.objects.values_list("name", flat=True)]
    return "\n".join([*files, *rows]).casefold()


def test_what_is_redacted_before_the_import_is_nowhere(tmp_path: Path) -> None:
    draft = imported(CHATS, redact="palmer\nLeeds\n")
    texts = [row["text"] for row in tables.message_rows(draft)]
    assert texts[1:3] == ["Why do you say hi, Miss REDACTED?", "I am Ada REDACTED from REDACTED."]
    assert not {"palmer", "leeds"} & {*everything(draft, tmp_path).split()}
    assert "palmer" not in everything(draft, tmp_path)
    assert transcripts.counts(transcripts.stored(draft))[0].redacted == 4


def test_what_is_redacted_after_raters_began_is_nowhere(tmp_path: Path) -> None:
    campaign = opened(CHATS)
    judge(came(campaign, "r1"))
    assert "palmer" in everything(campaign, tmp_path)
    staff = make_staff()
    assert redaction.redact(campaign=campaign, raw="Palmer\nleeds", by=staff, now=NOW) == 4
    told = everything(campaign, tmp_path)
    assert "palmer" not in told
    assert "leeds" not in told
    assert "redacted" in told
    assert campaign.amendments.get().text == "4 stretches of imported conversations were redacted."


@pytest.mark.parametrize("raw", ["", " \n", "x", "Redact", "nowhere to be found"])
def test_a_redaction_that_would_do_nothing_is_refused(raw: str) -> None:
    with pytest.raises(Invalid):
        redaction.redact(campaign=imported(CHATS), raw=raw, by=make_staff(), now=NOW)


# --- what becomes of it -------------------------------------------------------------------------


def test_labels_of_imported_messages_count_once_five_have_given_them() -> None:
    campaign = opened(CHATS)
    for number in range(13):
        judge_all(campaign, f"r{number}", sensible=1, specific=number % 2)
    ratings = tables.ratings(campaign)
    assert set(ratings["system"]) == {"Eliza", "human"}
    votes = ratings.groupby(["item", "question"]).size()
    assert set(votes) == {5}
    assert len(votes) == 2 * 5
    assert set(ratings["excluded"]) == {""}


def test_duplicates_have_the_conversations_and_drafts_lose_them() -> None:
    staff, draft = make_staff(), imported(CHATS)
    copy = duplicates.duplicate(campaign=draft, name="Again", seed=3, by=staff, now=NOW)
    assert message_items.counts(copy) == message_items.counts(draft)
    assert transcripts.stored(copy) == transcripts.stored(draft)
    assert transcripts_import.clear(campaign=copy, by=staff, now=NOW) == 3
    assert (copy.items.count(), copy.systems.count(), copy.conversations.count()) == (0, 0, 0)
    removal.delete(campaign=draft, by=staff, now=NOW)
    assert not TranscriptNote.objects.exists()


@pytest.mark.parametrize("stage", [Conversation, Event, TranscriptNote, Item, Candidate])
def test_an_import_that_ends_in_the_middle_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, stage: type[Any]
) -> None:
    store = QuerySet.bulk_create

    def half(self: Any, rows: list[Any], *args: Any, **kwargs: Any) -> Any:
        ends = self.model is stage
        made = store(self, rows[: len(rows) // 2] if ends else rows, *args, **kwargs)
        assert not ends, "the process ends here"
        return made

    monkeypatch.setattr(QuerySet, "bulk_create", half)
    draft = draft_of()
    with pytest.raises(AssertionError, match="ends here"):
        transcripts_import.store(campaign=draft, upload=upload(CHATS), by=make_staff(), now=NOW)
    for kind in (Conversation, Event, TranscriptNote, Item, Candidate, System):
        assert not kind._default_manager.exists()


def test_the_released_conversations_come_in_as_they_are(shared_data: Path) -> None:
    folder = shared_data / "meena_conversations"
    files = tuple(TextFile(p.name, p.read_text("utf-8")) for p in sorted(folder.glob("*.txt")))
    draft = draft_of()
    transcripts_import.store(
        campaign=draft, upload=TranscriptUpload(files=files), by=make_staff(), now=NOW
    )
    found = {one.system: one for one in transcripts.counts(transcripts.stored(draft))}
    told = {name: (one.conversations, one.turns, one.judged) for name, one in found.items()}
    assert told == {
        "human": (95, 1483, 1483),
        "Meena": (93, 1818, 909),
        "Mitsuku": (100, 1857, 924),
        "XiaoIce": (114, 2272, 1128),
    }
    assert found["human"].marks == Counter(opener=6, short=42)
    assert {name: one.marks.get("reset", 0) for name, one in found.items()} == {
        "human": 0,
        "Meena": 93,
        "Mitsuku": 100,
        "XiaoIce": 114,
    }


def test_what_is_judged_of_an_import_is_what_the_bot_said_and_both_of_two_people() -> None:
    first, second = imported(CHATS), imported(CHATS)
    talk = transcripts.of(first).earliest("pk")
    for number, (kind, side) in enumerate((("state", 1), ("message", 0)), start=90):
        Event.objects.create(
            conversation=talk, seq=number, kind=kind, side=side, content={"text": "."}
        )
    judged = transcripts.judged_messages(first)
    assert sorted(event.content["text"] for event in judged) == [
        "Hi!",
        "Hi, how was your day?",
        "Tell me of [image of a bridge] Leeds.",
        "Why do you say hi, Miss Palmer?",
        "Why?",
    ]
    assert not judged.filter(conversation__campaign=second).exists()
    assert transcripts.of(first).count() == transcripts.of(second).count() == 3
