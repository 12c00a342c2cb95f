"""ME-P4 in a real browser: conversations held elsewhere, from the file to the printed table."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.test_staff_pages import check, refused, sign_in
from tests.webapp.services.campaign.test_transcripts_import import BAD_TEXT, CHATS
from tests.webapp.services.computed import computed
from tests.webapp.services.third import draft_of, judge_all
from webapp.models import Campaign, Conversation

__all__ = ["refused"]  # a fixture
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def look_at(page: Page, path: Path, text: str) -> None:
    path.write_text(text.replace("Eliza", "Mitsuku"), encoding="utf-8")
    page.get_by_label("Files").set_input_files(path)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("nothing is stored yet")).to_be_visible()


def test_from_a_file_to_the_table_beside_the_papers(
    page: Page, live_server: LiveServer, refused: list[str], tmp_path: Path
) -> None:
    draft = draft_of()
    sign_in(page, live_server)
    address = f"{live_server.url}/campaigns/{draft.pk}/"
    page.goto(f"{address}transcripts/")
    check(page, "transcripts")
    look_at(page, tmp_path / "bad.txt", BAD_TEXT)
    expect(page.get_by_role("cell", name="no colon")).to_be_visible()
    check(page, "transcripts-faults")
    page.goto(f"{address}transcripts/")
    page.get_by_label("Redact", exact=True).fill("Palmer")
    look_at(page, tmp_path / "chats.txt", CHATS)
    check(page, "transcripts-preview")
    page.get_by_role("button", name="Import 3").click()
    expect(page.get_by_text("3 imported.")).to_be_visible()
    check(page, "transcripts-imported")
    chat = Conversation.objects.earliest("pk")
    page.goto(f"{address}conversations/{chat.pk}/")
    expect(page.get_by_text("no reset of the bot's state is noted")).to_be_visible()
    assert "Palmer" not in page.content()
    Campaign.objects.filter(pk=draft.pk).update(state=Campaign.State.OPEN)
    for number in range(5):
        judge_all(Campaign.objects.get(pk=draft.pk), f"rater{number}")
    computed(Campaign.objects.get(pk=draft.pk), "report/meena_ssa")
    page.goto(f"{address}results/reports/meena_ssa/")
    for words in ("human", "Mitsuku", "printed ssa", "krippendorff_alpha", "percent_agreement"):
        expect(page.get_by_text(words, exact=True).first).to_be_visible()
    check(page, "transcripts-report")
