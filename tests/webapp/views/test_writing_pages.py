"""PC-P1, PC-P2, ME-P5 on pages: people write, nothing typed is lost, staff decide and use it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import NOW
from tests.webapp.services.written import (
    REVISED,
    SENTENCES,
    accepted,
    came,
    draft_of,
    of_personas,
    of_replies,
    opened,
    used,
    write,
)
from tests.webapp.views.visiting import Visit
from webapp.models import Campaign, Contribution
from webapp.services.data import exports
from webapp.services.participation import privacy

pytestmark = pytest.mark.django_db


def began(campaign: Campaign) -> Visit:
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    return visit


def typed(visit: Visit, *texts: str) -> dict[str, str]:
    names = [field.name for field in visit.get().context["fields"]]
    return dict(zip(names, texts, strict=True))


def exported(campaign: Campaign, folder: Path) -> list[dict[str, str]]:
    path = exports.write(campaign=campaign, folder=folder, now=NOW)
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        text = archive.read("contributions.csv").decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert manifest["files"]["contributions.csv"]["rows"] == len(rows)
    return rows


def test_from_consent_to_the_code() -> None:
    visit = Visit(of_personas())
    entry = visit.get("").content.decode()
    assert "Write short texts, for research" in entry
    assert "each task that you are assigned" in entry
    ready = visit.join().content.decode()
    assert "I am a vegetarian. I like swimming." in ready
    assert "do not use your own details" in ready
    page = visit.post("start")
    assert page.context["screen"].name == "write"
    assert len(page.context["fields"]) == 5
    done = visit.post("write", typed(visit, *SENTENCES))
    end = done.context["screen"].end
    assert end.code in done.content.decode()
    again = visit.post("write", {"w1.1": "Late."})
    assert again.context["screen"].end.code == end.code
    assert Contribution.objects.get().texts == list(SENTENCES)


def test_refused_input_keeps_all_that_was_typed_and_names_sentence_and_reason() -> None:
    visit = began(of_personas())
    texts = ["Too short.", *SENTENCES[1:]]
    page = visit.post("write", typed(visit, *texts))
    assert page.status_code == 422
    shown = page.content.decode()
    assert all(text in shown for text in texts)
    assert "Sentence 1:" in shown
    assert shown.count("Write 3 to 15 words; this sentence has 2 words.") == 2
    assert not Contribution.objects.exists()


def test_a_draft_survives_a_reload() -> None:
    visit = began(of_personas())
    answers = typed(visit, "I am", "I like <b>x</b>", "", "", "")
    kept = visit.post("draft", json.dumps({"answers": answers}), content_type="application/json")
    assert kept.json() == {"saved": True}
    shown = visit.get().content.decode()
    assert "I like &lt;b&gt;x&lt;/b&gt;" in shown
    lost = json.dumps({"answers": {"w0.1": "x"}})
    refused = visit.post("draft", lost, content_type="application/json")
    assert refused.json() == {"saved": False}


def test_a_persona_is_revised_sentence_by_sentence() -> None:
    source = of_personas()
    accepted(source, "author", *SENTENCES)
    visit = began(opened(used(source, draft_of("personachat_revisions"))))
    page = visit.get().content.decode()
    assert all(sentence in page for sentence in SENTENCES)
    assert "4 more sentences after this one" in page
    assert "Michael Jordan" in page
    bad = visit.post("write", typed(visit, "I am no vegetarian."))
    assert bad.status_code == 422
    assert "“vegetarian”" in bad.content.decode()
    assert "I am no vegetarian." in bad.content.decode()
    for text in REVISED:
        page = visit.post("write", typed(visit, text))
    assert page.context["screen"].name == "ended"
    assert Contribution.objects.latest("pk").texts == list(REVISED)


def test_a_context_is_replied_to_one_after_another() -> None:
    visit = began(of_replies())
    for number in (1, 2):
        page = visit.get().content.decode()
        assert f"Task {number} of 2" in page
        assert "What of k" in page
        last = visit.post("write", typed(visit, f"Reply {number}."))
    assert last.context["screen"].name == "ended"


# --- staff ------------------------------------------------------------------------------------


def test_staff_accept_and_refuse_with_a_reason(ann: Client) -> None:
    campaign = of_personas()
    rows = [write(came(campaign, name), *SENTENCES) for name in ("a", "b", "c")]
    address = reverse("contributions", args=[campaign.pk])
    assert "3 offered, 0 accepted, 0 refused" in ann.get(address).content.decode()
    one, two, three = (str(row.pk) for row in rows)
    missing = ann.post(address, {"action": "refuse", "contribution": one, "reason": " "})
    assert missing.status_code == 422
    refused = {"action": "refuse", "contribution": one, "reason": "Copied."}
    assert "1 was refused." in ann.post(address, refused, follow=True).content.decode()
    both = {"action": "accept", "contribution": [two, three]}
    assert "2 were accepted." in ann.post(address, both, follow=True).content.decode()
    shown = ann.get(f"{address}?state=REFUSED").content.decode()
    assert "Copied." in shown
    assert SENTENCES[0] in shown
    other = reverse("contributions", args=[of_personas().pk])
    assert ann.post(other, both).status_code == 404


def test_staff_use_personas_and_replies_in_a_draft(ann: Client) -> None:
    personas, replies = of_personas(), of_replies(**{"write.batch": 1})
    accepted(personas, "a", *SENTENCES)
    accepted(replies, "b", "It is well.")
    cases = {
        "personachat_bot": (personas, "personas", "Use 1 as personas"),
        "personachat_revisions": (personas, "personas", "Use 1 as personas"),
        "meena_static": (replies, "contexts", "Use 1 as replies"),
    }
    for protocol, (source, kind, words) in cases.items():
        draft = draft_of(protocol)
        assert words in ann.get(reverse(kind, args=[draft.pk])).content.decode()
        data = {"source": str(source.pk)}
        use = reverse("use-contributions", args=[draft.pk])
        taken = ann.post(use, data, follow=True).content.decode()
        assert "1 was taken." in taken
        assert words not in ann.get(reverse(kind, args=[draft.pk])).content.decode()
        refused = ann.post(use, {"source": "0"}, follow=True).content.decode()
        assert "“0” is not one of the campaigns listed" in refused
    assert ann.post(reverse("use-contributions", args=[personas.pk]), data).status_code == 409


def test_every_page_of_a_writing_campaign_shows(ann: Client) -> None:
    campaign = of_personas()
    write(came(campaign, "a"), *SENTENCES)
    live = ann.get(reverse("live", args=[campaign.pk])).content.decode()
    assert "1 of 3 done" in live
    assert "Writing" in live
    for name in ("campaign", "people", "results", "conversations"):
        assert ann.get(reverse(name, args=[campaign.pk])).status_code == 200
    for protocol in ("personachat_personas", "personachat_revisions", "meena_replies"):
        draft = draft_of(protocol)
        assert ann.get(reverse("preview-page", args=[draft.pk, "write"])).status_code == 200


# --- export -----------------------------------------------------------------------------------


def test_pairs_of_sentences_are_exported_and_accepted_ones_share_no_word(tmp_path: Path) -> None:
    source = of_personas()
    accepted(source, "author", *SENTENCES)
    revising = opened(used(source, draft_of("personachat_revisions")))
    row = accepted(revising, "ben", *REVISED)
    rows = exported(revising, tmp_path)
    assert [(each["original"], each["text"]) for each in rows] == list(
        zip(SENTENCES, REVISED, strict=True)
    )
    assert {each["state"] for each in rows} == {"ACCEPTED"}
    assert {each["about"] for each in rows} == {revising.personas.get().key}
    assert [each["number"] for each in rows] == ["1", "2", "3", "4", "5"]
    privacy.withdraw(token=privacy.withdraw_token(row.assignment.participation), now=timezone.now())
    assert exported(revising, tmp_path / "later") == []
