"""ME-P4 on pages: imported by form, an image as text, what is redacted is shown to nobody."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.webapp.services.third import draft_of
from tests.webapp.views.visiting import Visit
from webapp.models import Campaign, Conversation
from webapp.services.data import exports

pytestmark = pytest.mark.django_db
IMAGE = "[image of a bridge]"
CHAT = f"""Eliza Conversation 1
Human: Hi!
Eliza: Why do you say hi, Miss Palmer?
Human: I am Ada PALMER.
Eliza: Tell me of {IMAGE} Leeds.
"""
WITHOUT = CHAT.replace("[image of a bridge]", "[image]")


def post(ann: Client, draft: Campaign, action: str, text: str, redact: str = "") -> str:
    """Send a file to the form of the import, and what was looked at again to store it."""
    data: dict[str, object] = {"action": action, "redact": redact}
    if action == "preview":
        data["file"] = [SimpleUploadedFile("chat.txt", text.encode())]
    else:
        data |= {"kept_name": ["chat.txt"], "kept_text": [text]}
    page = reverse("transcripts", args=[draft.pk])
    return str(ann.post(page, data, follow=True).content.decode())


@pytest.mark.parametrize(("redact", "shown"), [("Palmer", False), ("", True)])
def test_raters_read_what_an_image_shows_and_nothing_redacted(
    ann: Client, tmp_path: Path, redact: str, shown: bool
) -> None:
    draft = draft_of()
    seen = post(ann, draft, "preview", CHAT, redact)
    assert 'value="store"' in seen
    post(ann, draft, "store", CHAT, redact)
    Campaign.objects.filter(pk=draft.pk).update(state=Campaign.State.OPEN)
    visit = Visit(Campaign.objects.get(pk=draft.pk))
    visit.join()
    page, count = visit.post("start"), 0
    while page.context.get("fields"):
        names = [field.name for field in page.context["fields"]]
        page = visit.post("rate", dict(zip(names, ("1", "0"), strict=True)))
        count += 1
    told = "".join(visit.told)
    assert count == 2
    assert IMAGE in told
    assert ("palmer" in told.casefold(), "REDACTED" in told) == (shown, not shown)
    file = exports.write_to(campaign=visit.campaign, path=tmp_path / "export.zip")
    with zipfile.ZipFile(file) as archive:
        text = "".join(archive.read(name).decode("utf-8", "ignore") for name in archive.namelist())
    assert IMAGE in text
    assert ("palmer" in text.casefold()) == shown


def test_an_image_without_a_description_is_refused_with_its_line(ann: Client) -> None:
    draft = draft_of()
    seen = post(ann, draft, "preview", WITHOUT)
    assert "must say what the image shows" in seen
    assert 'value="store"' not in seen
    assert not Conversation.objects.exists()
