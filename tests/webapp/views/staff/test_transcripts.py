"""The page of imported conversations: looked at, imported, redacted."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.factories import make_campaign
from tests.webapp.services.campaign.test_transcripts_import import BAD_TEXT, CHATS, opened
from tests.webapp.services.third import draft_of
from webapp.models import Campaign, Conversation

pytestmark = pytest.mark.django_db


def page_of(campaign: Campaign) -> str:
    return reverse("transcripts", args=[campaign.pk])


def chats(text: str = CHATS, name: str = "chats.txt") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def test_files_are_looked_at_and_then_imported(ann: Client) -> None:
    draft = draft_of()
    seen = ann.post(page_of(draft), {"action": "preview", "file": [chats()], "redact": "Palmer"})
    html = seen.content.decode()
    assert "2 stretches redacted" in html
    assert "does not begin with “Hi!”" in html
    assert not Conversation.objects.exists()
    kept = {"kept_name": ["chats.txt"], "kept_text": [CHATS], "redact": "Palmer"}
    ann.post(page_of(draft), kept | {"action": "store"})
    assert Conversation.objects.count() == 3
    shown = ann.get(page_of(draft)).content.decode()
    assert "Eliza" in shown
    overview = ann.get(reverse("campaign", args=[draft.pk])).content.decode()
    assert page_of(draft) in overview


def test_faults_are_listed_and_nothing_can_be_imported(ann: Client) -> None:
    files = [chats(BAD_TEXT, "bad.txt"), chats()]
    seen = ann.post(page_of(draft_of()), {"action": "preview", "file": files})
    html = seen.content.decode()
    for told in ("bad.txt", "no colon", "must be a name, a colon and a message"):
        assert told in html
    assert 'value="store"' not in html
    assert [file.name for file in seen.context["kept"]] == ["chats.txt"]


def test_a_corrected_file_takes_the_place_of_the_one_before(ann: Client) -> None:
    again = {"kept_name": ["a.txt"], "kept_text": [BAD_TEXT], "file": [chats(name="a.txt")]}
    seen = ann.post(page_of(draft_of()), again | {"action": "preview"})
    assert seen.context["preview"].good
    assert [file.name for file in seen.context["files"]] == ["a.txt"]


def test_what_was_typed_stays_where_it_is_wrong(ann: Client) -> None:
    wrong = {"action": "preview", "text": CHATS, "redact": "x", "keep_hour": "on"}
    seen = ann.post(page_of(draft_of()), wrong)
    assert seen.status_code == 422
    html = seen.content.decode()
    assert "“x” is one character; write two or more" in html
    assert "Miss Palmer?" in html
    chosen: dict[str, Any] = {"action": "preview", "file": [chats()], "redact": "x"}
    seen = ann.post(page_of(draft_of()), chosen)
    assert [file.name for file in seen.context["kept"]] == ["chats.txt"]
    bad = SimpleUploadedFile("b.txt", b"\xff\xfe")
    seen = ann.post(page_of(draft_of()), {"action": "preview", "file": [bad]})
    assert "b.txt is not UTF-8 text" in seen.content.decode()
    assert ann.post(page_of(draft_of()), {"action": "preview"}).status_code == 422


def test_a_launched_campaign_is_redacted_and_else_left_alone(ann: Client) -> None:
    campaign = opened(CHATS)
    done = ann.post(page_of(campaign), {"action": "redact", "stretches": "Palmer"}, follow=True)
    assert "2 stretches were redacted." in done.content.decode()
    again = ann.post(page_of(campaign), {"action": "redact", "stretches": "Palmer"})
    assert "occurs in no imported conversation" in again.content.decode()
    assert ann.post(page_of(campaign), {"action": "clear"}).status_code == 409


def test_all_can_be_removed_from_a_draft(ann: Client) -> None:
    draft = draft_of()
    ann.post(page_of(draft), {"action": "store", "text": CHATS})
    ann.post(page_of(draft), {"action": "clear"})
    assert not Conversation.objects.exists()


def test_a_protocol_that_judges_nothing_imported_says_so(ann: Client) -> None:
    campaign = make_campaign("meena_static", personas=0, state="DRAFT")
    assert "judges nothing that is imported" in ann.get(page_of(campaign)).content.decode()
