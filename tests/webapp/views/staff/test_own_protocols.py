"""Protocols that requesters build: pages, versions, files, and a study with each sort (G15)."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.registry import get_protocol, protocol_names
from evaluation.serialized import digest, from_json
from tests.factories import NOW, make_own_protocol, make_project, make_staff
from tests.webapp.views.visiting import Visit, chat_through, good_answers
from webapp.models import (
    AuditEntry,
    Campaign,
    Event,
    Heartbeat,
    OwnProtocol,
    ReplyJob,
    System,
)
from webapp.services.data import codebook, exports
from webapp.services.rules.protocols import original_of, protocol_of

pytestmark = pytest.mark.django_db
NEW = "/protocols/new/"


class Builder:
    """Somebody at the builder's page, who presses its buttons and keeps what the form holds."""

    def __init__(self, client: Client, address: str = NEW) -> None:
        self.client, self.address = client, address
        self.page = client.get(address)
        self.raw = dict(self.form.typed()) | dict(self.form.hidden())

    @property
    def form(self) -> Any:
        return self.page.context["form"]

    @property
    def text(self) -> str:
        return unescape(self.page.content.decode())

    def press(self, action: str, **more: str) -> None:
        """Press a button that stores nothing."""
        self.page = self.client.post(self.address, self.raw | more | {"do": action})
        assert self.page.status_code == 200
        self.raw = dict(self.form.typed()) | dict(self.form.hidden())

    def add(self, kind: str, **fields: str) -> None:
        self.press("add", add_kind=kind)
        card = self.form.cards()[-1]
        self.raw |= {f"q{card.key}.{name}": value for name, value in fields.items()}

    def save(self) -> OwnProtocol:
        answer = self.client.post(self.address, self.raw | {"do": "save"})
        assert answer.status_code == 302, unescape(answer.content.decode())
        return OwnProtocol.objects.get(pk=answer["Location"].strip("/").rpartition("/")[2])

    def refused(self) -> str:
        self.page = self.client.post(self.address, self.raw | {"do": "save"})
        assert self.page.status_code == 422
        kept = dict(self.form.typed()) | dict(self.form.hidden())
        assert {n: self.raw[n] for n in kept if n in self.raw} == {
            n: v for n, v in kept.items() if n in self.raw
        }
        return self.text


def tone(ann: Client) -> Builder:
    """Return a builder with a scale and a choice whose bad answer asks for a reason."""
    builder = Builder(ann)
    builder.raw |= {"title": "Tone of voice", "chat.minimum": "2", "chat.maximum": "20"}
    builder.add("likert", name="warm", text="How warm was your partner?", points="cold\n-\nwarm")
    options = "again | Yes, again\nnever | No | You would rather not."
    builder.add("choice", name="repeat", text="Would you chat again?", options=options)
    builder.add("free_text", name="reason", text="Why not?", least_words="2")
    key = builder.form.cards()[-1].key
    builder.raw |= {f"q{key}.only_if": "repeat", f"q{key}.only_if.values": "never"}
    return builder


# --- building ---------------------------------------------------------------------------------


def test_a_protocol_is_built_from_blank_and_changed_by_a_new_version(ann: Client) -> None:
    first = tone(ann).save()
    protocol = from_json(first.content)
    assert (first.name, first.version, first.title) == ("tone_of_voice", 1, "Tone of voice")
    assert first.sha256 == digest(protocol)
    assert protocol.after is not None
    assert [q.name for q in protocol.after.each] == ["warm", "repeat", "reason"]
    assert protocol.after.question("reason").only_if is not None
    builder = Builder(ann, reverse("own-protocol", args=[first.pk]))
    builder.press("up 2")
    builder.press("delete 3")
    second = builder.save()
    assert (second.name, second.version) == ("tone_of_voice", 2)
    after = from_json(second.content).after
    assert after is not None
    assert [q.name for q in after.each] == ["repeat", "warm"]
    assert OwnProtocol.objects.get(pk=first.pk).sha256 == first.sha256
    assert "Version 1" in ann.get(reverse("own-protocol", args=[second.pk])).content.decode()
    same = Builder(ann, reverse("own-protocol", args=[second.pk])).save()
    assert same.pk == second.pk, "without a change there is no new version"


def test_the_sample_shows_what_is_whole_and_escapes_what_was_typed(ann: Client) -> None:
    builder = Builder(ann)
    builder.raw["instructions"] = "<script>alert(1)</script>"
    builder.add("yes_no", name="kind", text="Was it <b>kind</b>?")
    builder.add("yes_no", name="good", text="")
    builder.press("show")
    page = builder.page.content.decode()
    sample = page.partition('<fieldset class="sample"')[2]
    assert "Was it &lt;b&gt;kind&lt;/b&gt;?" in sample
    assert sample.count("data-kind=") == 1
    assert "<script>alert" not in page
    assert OwnProtocol.objects.count() == 0


WRONG = [
    ("title", "", "title", "is empty"),
    ("title", "x" * 121, "title", "1 to 120 characters"),
    ("minutes", "many", "minutes", "“many” is not a whole number"),
    ("minutes", "0", "minutes", "0 is not from 1 to 240"),
    ("minutes", "241", "minutes", "241 is not from 1 to 240"),
    ("instructions", " ", "instructions", "is empty"),
    ("chat.told", "", "chat.told", "is empty"),
    ("chat.minimum", "1", "chat.minimum", "from 2 to 1000"),
    ("chat.minimum", "30", "chat.maximum", "30"),
    ("chat.partner", "cat", "chat.partner", "is not a choice"),
    ("activity", "dance", "activity", "is not a choice"),
    ("q1.name", "Warm?", "q1.name", "a to z"),
    ("q1.name", "a" * 41, "q1.name", "1 to 40"),
    ("q1.name", "repeat", "q1.name", "give each its own"),
    ("q1.text", "", "q1.text", "is empty"),
    ("q1.asked", "together", "q1.asked", "is not a choice"),
    ("q2.options", "one", "q2.options", "two options or more"),
    ("q2.options", "a | b | c | d", "q2.options", "more than 3 parts"),
    ("q3.least_words", "0", "q3.least_words", "write a number from 1"),
    ("q3.only_if", "nothing", "q3.only_if", "no earlier question"),
    ("q3.only_if.values", "maybe", "q3.only_if", "no answer to repeat"),
    ("q1.text", "a\x00b", "q1.text", "cannot be stored"),
]


@pytest.mark.parametrize(("name", "value", "field", "complaint"), WRONG)
def test_what_is_refused_stays_in_the_form_and_names_the_field(
    ann: Client, name: str, value: str, field: str, complaint: str
) -> None:
    builder = tone(ann)
    builder.raw[name] = value
    text = builder.refused()
    assert complaint in str(builder.form.errors[field]), builder.form.errors
    assert 'role="alert"' in text
    assert OwnProtocol.objects.count() == 0


@pytest.mark.parametrize("name", protocol_names())
def test_a_copy_of_a_shipped_one_says_from_which_and_is_the_same_but_for_its_name(
    ann: Client, name: str
) -> None:
    builder = Builder(ann, f"/protocols/copy/{name}/")
    assert digest(get_protocol(name)) in builder.text
    made = builder.save()
    assert (made.copied_name, made.copied_sha256) == (name, digest(get_protocol(name)))
    assert made.name not in protocol_names()
    assert digest(from_json(made.content | {"name": name})) == digest(get_protocol(name))


def test_a_changed_text_is_the_requester_s_and_the_others_keep_their_source(ann: Client) -> None:
    builder = Builder(ann, "/protocols/copy/personachat_bot/")
    builder.raw["q1.text"] = "Was it fun?"
    builder.raw["chat.minimum"] = "4"
    made = from_json(builder.save().content)
    source = get_protocol("personachat_bot")
    assert made.after is not None and source.after is not None  # noqa: PT018 (for mypy)
    assert made.after.each[0].text.tag == "D"  # type: ignore[attr-defined]
    assert made.after.each[1:] == source.after.each[1:]
    assert set(source.sources) - set(made.sources) == {"chat.minimum"}


# --- whose ------------------------------------------------------------------------------------


def test_staff_see_their_own_and_superusers_all(ann: Client) -> None:
    row = make_own_protocol(make_staff("bob"))
    assert row.title not in ann.get("/protocols/").content.decode()
    for route in ("own-protocol", "copy-own-protocol", "own-protocol-file", "create-own-campaign"):
        assert ann.get(reverse(route, args=[row.pk])).status_code == 404
    root = Client()
    root.force_login(get_user_model().objects.create_superuser("root", password="root"))
    page = root.get("/protocols/").content.decode()
    assert row.title in page
    assert "bob" in page
    assert root.get(reverse("own-protocol", args=[row.pk])).status_code == 200


def test_a_version_and_what_a_campaign_was_made_from_cannot_go(ann: Client) -> None:
    owner = make_staff()
    row = make_own_protocol(owner)
    with pytest.raises(IntegrityError), transaction.atomic():
        OwnProtocol.objects.create(
            owner=owner, name=row.name, version=1, title="x", content={}, sha256="x", made_at=NOW
        )
    Campaign.objects.create(
        owner=owner, project=make_project(), protocol=row.name, own_protocol=row, name="One"
    )
    with pytest.raises(ProtectedError):
        row.delete()


# --- two tabs, and deletion -------------------------------------------------------------------


def test_a_second_tab_makes_no_silent_version_and_keeps_what_was_typed(ann: Client) -> None:
    first = tone(ann).save()
    address = reverse("own-protocol", args=[first.pk])
    one, two = (Builder(ann, address) for _ in range(2))
    one.raw |= {"title": "Tone, one", "seen": str(one.page.context["seen"])}
    two.raw |= {"title": "Tone, two", "seen": str(two.page.context["seen"])}
    assert one.save().version == 2
    answer = ann.post(address, two.raw | {"do": "save"})
    page = unescape(answer.content.decode())
    assert answer.status_code == 409
    assert "version 2 was saved meanwhile" in page
    assert dict(answer.context["form"].typed())["title"] == "Tone, two"
    assert OwnProtocol.objects.count() == 2
    two.raw["seen"] = str(answer.context["seen"])
    assert two.save().version == 3, "who has read that saves again"


def test_what_is_sent_twice_is_one_version(ann: Client) -> None:
    first = tone(ann).save()
    builder = Builder(ann, reverse("own-protocol", args=[first.pk]))
    builder.raw |= {"title": "Another", "seen": "1"}
    assert builder.save() == builder.save()
    assert OwnProtocol.objects.count() == 2


@pytest.mark.parametrize("seen", ["", "x", "9" * 40, "-1", "²"])
def test_a_form_that_does_not_say_what_it_saw_is_of_its_own_version(ann: Client, seen: str) -> None:
    first = tone(ann).save()
    builder = Builder(ann, reverse("own-protocol", args=[first.pk]))
    builder.raw |= {"title": "Another", "seen": seen}
    assert builder.save().version == 2
    builder.raw["title"] = "A third"
    assert ann.post(builder.address, builder.raw | {"do": "save"}).status_code == 409


def test_labels_of_an_older_version_are_no_silent_version(ann: Client) -> None:
    first = tone(ann).save()
    builder = Builder(ann, reverse("own-protocol", args=[first.pk]))
    builder.raw |= {"title": "Another", "seen": "1"}
    builder.save()
    address = f"{reverse('own-protocol-words', args=[first.pk])}?language=de"
    name = next(iter(ann.get(address).context["form"].fields))
    answer = ann.post(address, {name: "Wie warm?"})
    assert answer.status_code == 409
    assert "version 2 was saved meanwhile" in answer.content.decode()
    assert "Wie warm?" in answer.content.decode()
    assert OwnProtocol.objects.count() == 2


def test_a_protocol_that_no_campaign_is_of_is_deleted_with_all_versions(ann: Client) -> None:
    first = tone(ann).save()
    builder = Builder(ann, reverse("own-protocol", args=[first.pk]))
    builder.raw |= {"title": "Another", "seen": "1"}
    builder.save()
    address = reverse("delete-own-protocol", args=[first.pk])
    assert "cannot be brought back" in ann.get(address).content.decode()
    assert OwnProtocol.objects.count() == 2, "asked first"
    answer = ann.post(address, follow=True)
    assert "“Tone of voice” is deleted." in unescape(answer.content.decode())
    assert not OwnProtocol.objects.exists()
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.detail["versions"]) == ("protocol deleted", 2)
    assert ann.post(address).status_code == 404


def test_a_protocol_stays_while_a_campaign_is_of_any_version(ann: Client) -> None:
    first = tone(ann).save()
    builder = Builder(ann, reverse("own-protocol", args=[first.pk]))
    builder.raw |= {"title": "Another", "seen": "1"}
    second = builder.save()
    campaign = Campaign.objects.create(
        owner=first.owner,
        project=make_project(),
        protocol=first.name,
        own_protocol=first,
        name="One",
    )
    address = reverse("delete-own-protocol", args=[second.pk])
    answer = ann.post(address)
    assert answer.status_code == 409
    assert "A campaign is of this protocol." in answer.content.decode()
    assert OwnProtocol.objects.count() == 2
    campaign.delete()
    assert ann.post(address).status_code == 302


def test_nobody_deletes_what_is_somebody_elses(ann: Client) -> None:
    row = make_own_protocol(make_staff("bob"))
    assert ann.post(reverse("delete-own-protocol", args=[row.pk])).status_code == 404
    assert OwnProtocol.objects.filter(pk=row.pk).exists()


def test_two_of_one_title_and_one_of_a_shipped_name_get_names_of_their_own(ann: Client) -> None:
    names = []
    for title in ("Tone", "Tone", "Meena static", "!!!", "2 tones"):
        builder = tone(ann)
        builder.raw["title"] = title
        names.append(builder.save().name)
    assert names == ["tone", "tone_2", "meena_static_2", "protocol", "tones"]


# --- files ------------------------------------------------------------------------------------


def test_a_file_comes_back_with_its_hash_also_to_somebody_else(ann: Client) -> None:
    row = tone(ann).save()
    text = ann.get(reverse("own-protocol-file", args=[row.pk])).content.decode()
    again = ann.post("/protocols/", {"text": text})
    assert again["Location"] == reverse("own-protocol", args=[row.pk])
    bob = Client()
    bob.force_login(make_staff("bob"))
    upload = SimpleUploadedFile("tone.json", text.encode())
    assert bob.post("/protocols/", {"file": upload}).status_code == 302
    other = OwnProtocol.objects.exclude(pk=row.pk).get()
    assert (other.owner.get_username(), other.name, other.version) == ("bob", row.name, 1)
    assert other.sha256 == row.sha256
    changed = json.loads(text) | {"minutes": 11}
    assert ann.post("/protocols/", {"text": json.dumps(changed)}).status_code == 302
    assert OwnProtocol.objects.get(owner=row.owner, version=2).name == row.name


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"schema": 2}, "schema is 2; this version of Parley reads 1"),
        ({"name": "meena_static"}, "a protocol that comes with Parley"),
        ({"name": "My study"}, "“My study” is no name"),
        ({"minutes": 0, "title": ""}, "title: must have 1 to 120 characters; minutes: 0 is not"),
        ({"color": 1}, "color is no field here"),
        ({"steps": []}, "nobody has anything to do"),
        ({"title": "\0"}, "cannot be stored"),
    ],
)
def test_a_bad_file_is_refused_with_all_that_is_wrong(
    ann: Client, change: dict[str, Any], complaint: str
) -> None:
    row = make_own_protocol()
    text = json.dumps(row.content | change)
    page = ann.post("/protocols/", {"text": text})
    assert page.status_code == 422
    assert complaint in unescape(page.content.decode())
    assert page.context["raw"]["text"] == text
    assert OwnProtocol.objects.count() == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "\ud800", "[" * 100_000])
def test_what_is_no_file_is_refused(ann: Client, text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    page = ann.post("/protocols/", {"file": SimpleUploadedFile("x.json", raw)})
    assert page.status_code == 422


# --- a study ----------------------------------------------------------------------------------


def launched(ann: Client, row: OwnProtocol, contexts: str = "") -> Campaign:
    """Take a protocol through the pages of staff until its campaign is open."""
    page = ann.get("/campaigns/new/").content.decode()
    address = reverse("create-own-campaign", args=[row.pk])
    assert page.index(address) < page.index("/campaigns/new/meena_static/")
    raw = ann.get(address).context["form"].typed()
    ann.post(address, raw | {"name": row.title, "pay": "1.50", "contact": "me"})
    draft = Campaign.objects.get(own_protocol=row)
    if contexts:
        store = {"action": "store", "text": contexts}
        assert ann.post(reverse("contexts", args=[draft.pk]), store).status_code == 302
    else:
        add = {"name": "echo", "target": "5"}
        assert ann.post(reverse("add-system", args=[draft.pk, "parrot"]), add).status_code == 302
    System.objects.update(rehearsal=System.Rehearsal.PASSED)
    Heartbeat.objects.create(name="w", kind="replies", bots=["*"], seen_at=timezone.now())
    assert ann.get(reverse("preview", args=[draft.pk])).status_code == 200
    opened = ann.post(reverse("launch", args=[draft.pk]))
    assert opened.status_code == 302, unescape(opened.content.decode())
    draft.refresh_from_db()
    assert draft.state == "OPEN"
    return draft


def exported(campaign: Campaign, row: OwnProtocol, tmp_path: Path) -> str:
    """Return what the command line of the analysis says of the export, which names the version."""
    path = exports.write(campaign=campaign, folder=tmp_path, now=NOW)
    with zipfile.ZipFile(path) as archive:
        names = ("plan.json", "codebook.json", "manifest.json")
        plan, book, manifest = (json.loads(archive.read(name)) for name in names)
    known = {"version": row.version, "sha256": row.sha256}
    assert known.items() <= plan["protocol"].items()
    assert known.items() <= book["protocol"].items()
    assert (manifest["protocol_version"], manifest["protocol_sha256"]) == (1, row.sha256)
    command = [sys.executable, "-m", "analysis", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout))


@pytest.mark.parametrize(("opening", "begun"), [("", 1), ("Good day!", 0)])
def test_a_partner_may_begin_in_words_of_their_own(ann: Client, opening: str, begun: int) -> None:
    build = tone(ann)
    build.raw |= {"chat.first": "partner", "chat.opening": opening}
    campaign = launched(ann, build.save())
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    assert ReplyJob.objects.filter(conversation__purpose="STUDY", in_reply_to=0).count() == begun
    said = Event.objects.filter(kind="message", side=1)
    assert [each.content["text"] for each in said] == ([opening] if opening else [])


def test_a_study_of_a_conversation(ann: Client, tmp_path: Path) -> None:
    row = tone(ann).save()
    campaign = launched(ann, row)
    for number in range(2):
        visit = Visit(campaign)
        visit.join()
        visit.post("start")
        chat_through(visit, 1)
        visit.send(type="finish", id=str(uuid4()))
        said = {"warm": str(number + 2), "repeat": "never", "reason": "It repeats me."}
        fields = visit.get().context["fields"]
        visit.post("rate", {field.name: said[field.question.name] for field in fields})
        assert visit.person.outcome == "COMPLETED"
    found = exported(campaign, row, tmp_path)
    assert "warm" in found
    assert "echo" in found
    assert ann.get(reverse("results", args=[campaign.pk])).status_code == 200
    assert row.sha256 in codebook.as_markdown(codebook.codebook(campaign))
    builder = Builder(ann, reverse("own-protocol", args=[row.pk]))
    builder.raw["q1.text"] = "How cold?"
    builder.save()
    campaign.refresh_from_db()
    assert original_of(campaign).after == protocol_of(campaign).after
    assert from_json(row.content).after == protocol_of(campaign).after


def test_a_study_of_imported_replies_in_pairs(ann: Client, tmp_path: Path) -> None:
    builder = Builder(ann)
    builder.raw |= {"title": "Which is better", "activity": "contexts"}
    builder.press("show")
    builder.raw |= {"rate.show": "pairs", "rate.votes": "2", "rate.batch": "3"}
    builder.press("show")
    builder.add("preference", name="better", text="Which reply is better?")
    row = builder.save()
    replies = {"alpha": "Fine, thank you.", "beta": "No."}
    lines = [
        json.dumps({"id": f"k{n}", "messages": [f"How are you {n}?"], "replies": replies})
        for n in range(3)
    ]
    campaign = launched(ann, row, "\n".join(lines))
    for _number in range(2):
        visit = Visit(campaign)
        visit.join()
        visit.post("start")
        for _item in range(3):
            visit.post("rate", good_answers(visit.get()))
        assert visit.person.outcome == "COMPLETED"
    found = exported(campaign, row, tmp_path)
    assert "better" in found
    assert "alpha" in found


def test_a_copy_of_what_people_write_keeps_the_step_and_takes_no_questions(ann: Client) -> None:
    builder = Builder(ann, "/protocols/copy/personachat_revisions/")
    assert "They write: personas, revisions of personas" in builder.text
    builder.raw |= {"name": "my_revisions", "minutes": "9"}
    made = from_json(builder.save().content)
    shipped = get_protocol("personachat_revisions")
    assert (made.write, made.minutes, made.instructions) == (shipped.write, 9, shipped.instructions)
    asking = Builder(ann, "/protocols/copy/personachat_revisions/")
    asking.raw |= {"name": "my_other_revisions"}
    asking.add("yes_no", name="nice", text="Nice?", asked="each")
    assert "writing is a step by itself" in asking.refused()
