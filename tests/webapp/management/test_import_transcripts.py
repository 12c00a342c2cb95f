"""`manage.py import_transcripts`: looks first, and stores when it is told to."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_campaign
from tests.webapp.services.campaign.test_transcripts_import import CHATS
from tests.webapp.services.third import draft_of
from webapp.models import Conversation, Event

pytestmark = pytest.mark.django_db


def said(*words: str) -> str:
    out = io.StringIO()
    call_command("import_transcripts", *words, stdout=out)
    return out.getvalue()


def test_it_tells_what_files_hold_and_stores_on_demand(tmp_path: Path) -> None:
    (tmp_path / "chats.txt").write_text(CHATS, encoding="utf-8")
    (tmp_path / "names").write_text("Palmer\n", encoding="utf-8")
    draft = draft_of()
    words = [str(draft.pk), str(tmp_path / "chats.txt"), "--redact", str(tmp_path / "names")]
    told = said(*words)
    assert "Eliza: 2 conversations, 6 turns, 3 to judge, 2 redacted, 1 images in words" in told
    assert "  1: does not begin with “Hi!”" in told
    assert told.endswith("3 conversations right; --store imports them\n")
    assert not Conversation.objects.exists()
    assert said(*words, "--store").endswith("3 conversations imported\n")
    texts = Event.objects.values_list("content__text", flat=True)
    assert sum("REDACTED" in text for text in texts) == 2


def test_faults_are_printed_and_nothing_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("Human: Hi!\nno colon\n", encoding="utf-8")
    with pytest.raises(CommandError, match="2 faults; nothing was imported"):
        said(str(draft_of().pk), str(path), "--store")
    with pytest.raises(CommandError, match="cannot be read"):
        said(str(draft_of().pk), str(tmp_path / "absent"))
    with pytest.raises(CommandError, match="judges nothing that is imported"):
        said(str(make_campaign("meena_static", personas=0).pk), str(path))
    assert not Conversation.objects.exists()
