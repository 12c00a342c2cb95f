"""Images of own protocols: uploaded, kept, shown to participants, in files and exports (G15)."""

from __future__ import annotations

import json
import zipfile
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.serialized import digest, from_json
from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.campaign.test_image_bytes import drawn
from tests.webapp.views.staff.test_own_protocols import NEW, Builder
from tests.webapp.views.visiting import Visit
from webapp.models import OwnProtocol, ProtocolImage
from webapp.services.campaign import launch
from webapp.services.data import codebook, exports
from webapp.services.staff_forms import protocol_images
from webapp.services.writing import writing_items

pytestmark = pytest.mark.django_db
SHOWS = "A scale from cold to warm"


def press(builder: Builder, action: str, content: bytes, name: str = "scale.png") -> Any:
    """Press a button of the builder with a file chosen, and keep what the form holds then."""
    raw = builder.raw | {"do": action, "image_file": SimpleUploadedFile(name, content)}
    builder.page = builder.client.post(builder.address, raw)
    if builder.page.status_code != 302:
        builder.raw = dict(builder.form.typed()) | dict(builder.form.hidden())
    return builder.page


def illustrated(ann: Client) -> Builder:
    """Return a builder with a question, an image with it and another with the instructions."""
    builder = Builder(ann)
    builder.raw |= {"title": "Warmth", "chat.minimum": "2"}
    builder.add("likert", name="warm", text="How warm was it?", points="cold\nwarm")
    for number, size in enumerate(((40, 20), (30, 30)), start=1):
        assert press(builder, "image", drawn(size=size)).status_code == 200
        builder.raw |= {f"i{number}.alt": f"{SHOWS} {number}"}
    builder.raw |= {"i2.about": "q1"}
    return builder


def test_images_are_part_of_the_version_and_of_its_hash(ann: Client) -> None:
    builder = illustrated(ann)
    builder.press("show")
    assert builder.text.count('class="protocol-image"') == 2, "in the sample"
    row = builder.save()
    protocol = from_json(row.content)
    assert [(one.alt, one.width, one.height) for one in protocol.images] == [(f"{SHOWS} 1", 40, 20)]
    assert protocol.after is not None
    assert [one.alt for one in protocol.after.question("warm").images] == [f"{SHOWS} 2"]
    stored = {each.sha256 for each in row.images.all()}
    assert stored == {one.sha256 for one in protocol.every_image}
    again = Builder(ann, reverse("own-protocol", args=[row.pk]))
    again.press("drop 2")
    less = again.save()
    assert (less.version, less.images.count()) == (2, 1)
    assert less.sha256 != row.sha256
    other = Builder(ann, reverse("own-protocol", args=[less.pk]))
    other.raw |= {"i1.alt": "Something else"}
    assert digest(from_json(other.save().content)) not in (row.sha256, less.sha256)


def test_an_image_is_served_by_its_digest_to_anybody_and_nothing_runs_in_it(ann: Client) -> None:
    sha256 = next(iter(illustrated(ann).save().images.all())).sha256
    answer = Client().get(reverse("protocol-image", args=[sha256]))
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/webp")
    assert answer["Content-Security-Policy"] == "default-src 'none'"
    assert (answer["X-Content-Type-Options"], answer.cookies) == ("nosniff", {})
    assert "immutable" in answer["Cache-Control"]
    assert Client().get(reverse("protocol-image", args=["0" * 64])).status_code == 404
    assert Client().get("/images/../secret.webp").status_code == 404


def test_a_participant_is_shown_them_with_their_words(ann: Client) -> None:
    row = illustrated(ann).save()
    campaign = make_campaign(row.name, own_protocol=row)
    visit = Visit(campaign)
    visit.join()
    page = unescape(visit.get().content.decode())
    first = from_json(row.content).images[0]
    address = reverse("protocol-image", args=[first.sha256])
    assert f'src="{address}" width="40" height="20" alt="{SHOWS} 1"' in page
    assert visit.client.get(address).status_code == 200


def test_a_refused_file_says_why_and_nothing_typed_is_lost(ann: Client) -> None:
    builder = illustrated(ann)
    typed = dict(builder.raw) | {"title": "Typed just now"}
    for action in ("image", "save", "show"):
        builder.raw = dict(typed)
        page = press(builder, action, b"<svg/>", "scale.svg")
        assert page.status_code == 422
        assert "is no PNG, JPEG or WebP image that can be read" in builder.text
        assert {name: builder.raw[name] for name in typed} == typed
    assert OwnProtocol.objects.count() == 0
    page = ann.post(NEW, typed | {"do": "image"})
    assert (page.status_code, "is empty; choose a file" in page.content.decode()) == (422, True)


def test_a_file_chosen_and_saved_at_once_waits_for_its_words(ann: Client) -> None:
    builder = illustrated(ann)
    page = press(builder, "save", drawn(size=(50, 50)))
    assert page.status_code == 422
    assert "is empty; write what the image shows" in builder.text
    builder.raw |= {"i3.alt": "A third"}
    assert builder.save().images.count() == 3


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"i1.alt": " "}, "is empty; write what the image shows"),
        ({"i1.alt": "x" * 501}, "alt must have 1 to 500 characters"),
        ({"i1.about": "q9"}, "what the image stood with was changed; choose where it stands now"),
        ({"i1.sha256": "f" * 64}, "the image is not there any more"),
    ],
)
def test_an_image_without_words_or_bytes_is_not_saved(
    ann: Client, changes: dict[str, str], complaint: str
) -> None:
    builder = illustrated(ann)
    builder.raw |= changes
    assert complaint in builder.refused()


WARM, COLD = "Hello, friend! | warm | It greets.", "Go away. | cold"


def with_examples(ann: Client) -> Builder:
    """Return a builder with two examples, the second image within the second of them."""
    builder = illustrated(ann)
    builder.raw |= {"q1.examples": f"{WARM}\n{COLD}"}
    builder.press("show")
    builder.raw |= {"i2.about": chosen(builder, "“Go away. | cold” of question 1")}
    return builder


def chosen(builder: Builder, words: str) -> str:
    """Return the value of the one place for image 2 that a list calls so."""
    choices = builder.form["i2.about"].field.choices
    (found,) = (value for value, label in choices if label == f"within the example {words}")
    return str(found)


def examples_of(row: OwnProtocol) -> list[tuple[str, list[str]]]:
    after = from_json(row.content).after
    assert after is not None
    found = after.question("warm").examples
    return [(each.text, [image.alt for image in each.images]) for each in found]


def test_an_image_stands_within_an_example_and_follows_it(ann: Client) -> None:
    builder = with_examples(ann)
    row = builder.save()
    assert examples_of(row) == [("Hello, friend!", []), ("Go away.", [f"{SHOWS} 2"])]
    assert row.images.count() == 2
    again = Builder(ann, reverse("own-protocol", args=[row.pk]))
    assert again.save().pk == row.pk, "the same protocol, by its hash"
    again.raw |= {"q1.examples": f"Well | warm\r\n  Go away. |cold |\r\n{WARM}"}
    moved = again.save()
    assert examples_of(moved)[1] == ("Go away.", [f"{SHOWS} 2"])
    assert moved.sha256 != row.sha256


def test_an_image_of_an_example_that_was_changed_asks_where_it_stands(ann: Client) -> None:
    builder = with_examples(ann)
    builder.raw |= {"q1.examples": f"{WARM}\nGo! | cold"}
    for _again in range(2):  # the list that is shown then chooses nothing else by itself
        assert "choose where it stands now" in builder.refused()
        assert '" selected>choose again' in builder.text
    builder.raw |= {"i2.about": chosen(builder, "“Go! | cold” of question 1")}
    assert examples_of(builder.save())[1] == ("Go!", [f"{SHOWS} 2"])


def test_of_two_examples_alike_each_keeps_its_image(ann: Client) -> None:
    builder = illustrated(ann)
    builder.raw |= {"q1.examples": f"{COLD}\n{COLD}", "i1.about": f"q1.examples 1 {COLD}"}
    builder.raw |= {"i2.about": f"q1.examples 2 {COLD}"}
    row = builder.save()
    assert [images for _text, images in examples_of(row)] == [[f"{SHOWS} 1"], [f"{SHOWS} 2"]]
    assert Builder(ann, reverse("own-protocol", args=[row.pk])).save().pk == row.pk


def test_instructions_and_card_show_the_image_within_its_example(ann: Client) -> None:
    builder = with_examples(ann)
    builder.raw |= {"q1.asked": "live"}
    builder.add("yes_no", name="nice", text="Nice?")
    row = builder.save()
    visit = Visit(make_campaign(row.name, own_protocol=row))
    ready = visit.join().content.decode()
    chat = visit.post("start").content.decode()
    address = reverse("protocol-image", args=[from_json(row.content).every_image[1].sha256])
    for page in (builder.text.partition('id="sample-title"')[2], ready, chat):
        before, _src, after = unescape(page).partition(f'src="{address}"')
        assert f'alt="{SHOWS} 2"' in after.partition(">")[0]
        assert "Go away." in before.rpartition("<li>")[2]
        assert after.partition("</li>")[0].count("<img") == 0


def test_an_example_of_writing_holds_an_image(ann: Client) -> None:
    builder = Builder(ann)
    builder.raw |= {"title": "Portraits", "activity": "write", "write.asks.text": "A sentence"}
    builder.raw |= {"write.examples": "I sail.", "do": "show"}
    assert press(builder, "image", drawn(size=(40, 20))).status_code == 200
    builder.raw |= {"i1.alt": SHOWS, "i1.about": "write.examples 1 I sail."}
    builder.press("show")
    assert builder.text.count(f'alt="{SHOWS}"') == 1, "in the sample"
    row = builder.save()
    write = from_json(row.content).write
    assert write is not None
    (example,) = write.examples
    assert (example.text, example.original) == ("I sail.", ""), "it revises nothing"
    assert [image.alt for image in example.images] == [SHOWS]
    assert Builder(ann, reverse("own-protocol", args=[row.pk])).save().pk == row.pk
    campaign = make_campaign(row.name, own_protocol=row, systems={})
    assert writing_items.make(campaign) > 0
    visit = Visit(campaign)
    assert f'alt="{SHOWS}"' in visit.join().content.decode()
    book = codebook.codebook(campaign)
    assert [each["example"] for each in book["protocol"]["images"]] == [1]


def test_a_file_plan_and_codebook_have_the_image_of_an_example(
    ann: Client, client: Client, tmp_path: Path
) -> None:
    row = with_examples(ann).save()
    campaign = make_campaign(row.name, own_protocol=row)
    second = from_json(row.content).every_image[1].sha256
    asked = launch.plan_of(campaign)["protocol"]["steps"][1]["each"][0]
    assert asked["examples"][1]["images"][0]["sha256"] == second
    book = codebook.codebook(campaign)
    shows = {"sha256": second, "shows": f"{SHOWS} 2", "example": 2}
    assert book["questions"][0]["images"] == [shows]
    assert f"Image {second} within example 2: {SHOWS} 2" in codebook.as_markdown(book)
    path = exports.write(campaign=campaign, folder=tmp_path, now=NOW)
    text = zipfile.ZipFile(path).read("protocol.json").decode()
    assert second in json.loads(text)["image_files"]
    client.force_login(make_staff("ben"))
    for refused in (text.replace(f'"{SHOWS} 2"', '""'), text.replace(f'"alt": "{SHOWS} 2",', "")):
        assert client.post(reverse("own-protocols"), {"text": refused}).status_code == 422
    assert client.post(reverse("own-protocols"), {"text": text}).status_code == 302
    made = OwnProtocol.objects.latest("made_at")
    assert (made.sha256, made.images.count()) == (row.sha256, 2)


def test_what_names_no_image_is_none(ann: Client) -> None:
    builder = illustrated(ann)
    builder.raw |= {"i1.sha256": "../x"}
    assert len(from_json(builder.save().content).every_image) == 1


def test_an_image_of_a_question_that_was_deleted_asks_where_it_stands(ann: Client) -> None:
    builder = illustrated(ann)
    builder.press("delete 1")
    assert "Where image 2 stands" in builder.refused()
    builder.raw |= {"i2.about": ""}
    assert len(from_json(builder.save().content).images) == 2


def test_there_are_ten_images_at_most(ann: Client) -> None:
    builder = illustrated(ann)
    sha256 = builder.raw["i1.sha256"]
    for number in range(3, 11):
        builder.raw |= {f"i{number}.sha256": sha256, f"i{number}.alt": "More"}
        builder.raw |= {"images": f"{builder.raw['images']} {number}"}
    assert len(from_json(builder.save().content).every_image) == 10
    builder.raw |= {"i11.sha256": sha256, "i11.alt": "More"}
    builder.raw |= {"images": f"{builder.raw['images']} 11"}
    assert "there are 11; there can be 10" in builder.refused()


def test_a_file_carries_the_images_to_another_server(ann: Client, client: Client) -> None:
    row = illustrated(ann).save()
    text = ann.get(reverse("own-protocol-file", args=[row.pk])).content.decode()
    OwnProtocol.objects.all().delete()
    ProtocolImage.objects.all().delete()
    client.force_login(make_staff("ben"))
    file = SimpleUploadedFile("warmth.json", text.encode())
    assert client.post(reverse("own-protocols"), {"file": file}).status_code == 302
    made = OwnProtocol.objects.get()
    assert (made.sha256, made.images.count()) == (row.sha256, 2)
    assert client.get(reverse("own-protocol-file", args=[made.pk])).content.decode() == text


def changed(text: str, **changes: Any) -> str:
    value = json.loads(text)
    first = next(iter(value["image_files"]))
    for name, new in changes.items():
        if name == "without":
            del value["image_files"][first]
        elif name == "bytes":
            value["image_files"][first] = new
        elif name == "more":
            value["image_files"][new] = "AAAA"
        else:
            value["images"][0][name] = new
    return json.dumps(value)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"without": True}, "has no bytes for the image"),
        ({"bytes": "!"}, "is no base64"),
        ({"bytes": "PHN2Zy8+"}, "is no PNG, JPEG or WebP image"),
        ({"more": "0" * 64}, "no image of this protocol"),
        ({"width": 41}, "says another size than the image"),
        ({"width": 0}, "both must be 1 up"),
        ({"sha256": "abc"}, "it must be 64 of 0 to 9 and a to f"),
        ({"alt": ""}, "alt must have 1 to 500"),
    ],
)
def test_a_file_whose_images_are_wrong_is_refused_whole(
    ann: Client, changes: dict[str, Any], complaint: str
) -> None:
    row = illustrated(ann).save()
    text = ann.get(reverse("own-protocol-file", args=[row.pk])).content.decode()
    OwnProtocol.objects.all().delete()
    ProtocolImage.objects.all().delete()
    answer = ann.post(reverse("own-protocols"), {"text": changed(text, **changes)})
    assert answer.status_code == 422
    assert complaint in unescape(answer.content.decode())
    assert (OwnProtocol.objects.count(), ProtocolImage.objects.count()) == (0, 0)


def test_other_bytes_under_the_digest_are_refused(ann: Client) -> None:
    row = illustrated(ann).save()
    text = ann.get(reverse("own-protocol-file", args=[row.pk])).content.decode()
    first, second = json.loads(text)["image_files"].items()
    wrong = text.replace(first[1], second[1])
    answer = ann.post(reverse("own-protocols"), {"text": wrong})
    assert "has other bytes" in unescape(answer.content.decode())


def test_plan_codebook_and_export_name_the_images(ann: Client, tmp_path: Path) -> None:
    row = illustrated(ann).save()
    campaign = make_campaign(row.name, own_protocol=row)
    first, second = from_json(row.content).every_image
    plan = launch.plan_of(campaign)["protocol"]
    assert plan["images"][0]["sha256"] == first.sha256
    assert plan["steps"][1]["each"][0]["images"][0]["alt"] == f"{SHOWS} 2"
    book = codebook.codebook(campaign)
    assert book["protocol"]["images"] == [{"sha256": first.sha256, "shows": f"{SHOWS} 1"}]
    assert book["questions"][0]["images"][0]["sha256"] == second.sha256
    assert f"Image {second.sha256}: {SHOWS} 2" in codebook.as_markdown(book)
    path = exports.write(campaign=campaign, folder=tmp_path, now=NOW)
    text = zipfile.ZipFile(path).read("protocol.json").decode()
    assert json.loads(text)["image_files"].keys() == {first.sha256, second.sha256}
    assert ann.post(reverse("own-protocols"), {"text": text}).status_code == 302
    assert OwnProtocol.objects.latest("made_at").sha256 == row.sha256


def test_images_that_no_version_has_go_after_a_day(ann: Client) -> None:
    row = illustrated(ann).save()
    press(Builder(ann), "image", drawn(size=(9, 9)))
    assert ProtocolImage.objects.count() == 3
    now = timezone.now()
    for later, left in ((timedelta(hours=23), 3), (timedelta(hours=25), 2)):
        protocol_images.tidy(now + later)
        assert ProtocolImage.objects.count() == left
    ProtocolImage.objects.update(made_at=now - timedelta(hours=25))
    ann.post(reverse("delete-own-protocol", args=[row.pk]))
    assert ProtocolImage.objects.count() == 0
