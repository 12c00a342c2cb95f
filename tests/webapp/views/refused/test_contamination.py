"""Rules against contamination (MEENA) on pages: the hour, the groups, the dates, the reset."""

from __future__ import annotations

import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import make_campaign
from tests.webapp.services.campaign.test_transcripts_import import record
from tests.webapp.services.campaign.test_transcripts_import import visit as volunteer
from tests.webapp.services.people import bot_says
from tests.webapp.services.studies import make_study
from tests.webapp.services.third import draft_of
from tests.webapp.views.refused.test_meena_transcripts import post
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.models import AuditEntry, Campaign, Conversation
from webapp.services.data import exports, tables

pytestmark = pytest.mark.django_db
NO_RESET = "no reset of the bot&#x27;s state is noted"
CLOSED = "Nobody can begin here with this link."
CONTEXT = '{"id": "c1", "messages": ["Do you like tea?"]}'


@pytest.mark.parametrize(("minutes", "refused"), [(59, True), (60, False), (61, False)])
def test_another_volunteer_comes_to_an_account_after_an_hour(
    ann: Client, minutes: int, refused: bool
) -> None:
    draft, both = draft_of(), f"{volunteer(0, 'one')}\n{volunteer(minutes, 'two')}"
    page = post(ann, draft, "preview", both)
    assert ("an hour must lie between" in page) == refused
    assert ('value="store"' in page) == (not refused)
    post(ann, draft, "store", both)
    assert Conversation.objects.count() == (0 if refused else 2)


@pytest.mark.parametrize(("reset", "marked"), [("yes", False), ("no", True), ("", True)])
def test_a_transcript_without_a_noted_reset_is_marked(
    ann: Client, tmp_path: Path, reset: str, marked: bool
) -> None:
    draft, text = draft_of(), record(reset=reset)
    assert (NO_RESET in post(ann, draft, "preview", text)) == marked
    assert (NO_RESET in post(ann, draft, "store", text)) == marked
    with zipfile.ZipFile(exports.write_to(campaign=draft, path=tmp_path / "export.zip")) as archive:
        line = archive.read("conversations.jsonl").decode()
    assert ('"reset"' in line.partition('"marks":')[2].partition("]")[0]) == marked


@pytest.mark.parametrize("disjoint", [True, False])
def test_a_member_of_one_group_is_refused_in_the_other_where_groups_are_disjoint(
    ann: Client, disjoint: bool
) -> None:
    first, second = campaign_of(), campaign_of(name="Another")
    study = make_study(first, second)
    form = {"action": "change", "name": "S", "note": "", "disjoint": "true" if disjoint else ""}
    ann.post(reverse("study", args=[study.pk]), form)
    member, again, other = Visit(first), Visit(second), Visit(second)
    again.name = member.name
    member.join()
    assert (CLOSED in again.join().content.decode()) == disjoint
    assert second.participations.count() == (not disjoint)
    other.join()
    assert second.participations.count() == 1 + (not disjoint)


def test_contexts_are_dated_before_the_first_reply_and_stay(ann: Client) -> None:
    draft = make_campaign("meena_static", state=Campaign.State.DRAFT, opened_at=None, personas=0)
    page = reverse("contexts", args=[draft.pk])
    ann.post(page, {"text": CONTEXT, "action": "store"})
    assert draft.contexts.count() == 1
    ann.post(reverse("collect", args=[draft.pk]))
    bot_says(draft.conversations.get(), "I do.")
    assert "imported 1 contexts" in ann.get(reverse("audit")).content.decode()
    dated = AuditEntry.objects.get(action="contexts imported").made_at
    context, reply = (str(row["sent_at"]) for row in tables.message_rows(draft))
    assert dated <= datetime.fromisoformat(context) < datetime.fromisoformat(reply)
    assert datetime.fromisoformat(reply) < timezone.now()
    assert ann.post(page, {"action": "clear", "text": "x"}).status_code == 422
    assert draft.contexts.count() == 1
