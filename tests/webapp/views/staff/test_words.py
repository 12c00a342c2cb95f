"""Words in another language: entered by a requester, recorded as a departure, shown unmarked."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from analysis import evaluate
from analysis.output.methods import methods
from analysis.tables.campaign_record import CampaignRecord
from evaluation.registry import get_protocol
from evaluation.serialized import digest, from_json, to_json
from evaluation.soundness import LONGEST_TEXT, complaints
from evaluation.words import Translated, texts, translated
from tests.analysis.examples import simulated
from tests.analysis.planned import study
from tests.factories import make_campaign, make_own_protocol
from tests.webapp.views.staff.test_own_protocols import Builder
from tests.webapp.views.visiting import Visit
from webapp.models import Campaign, OwnProtocol
from webapp.services.campaign import launch
from webapp.services.data import codebook

pytestmark = pytest.mark.django_db
QUESTION = "rate.fluency.text"
GERMAN = {QUESTION: "Wie flüssig war es?", "chat.told": "Sie unterhalten sich mit jemandem."}


def address(campaign: Campaign, code: str = "de") -> str:
    return f"{reverse('campaign-words', args=[campaign.pk])}?language={code}"


def make_draft(**changes: Any) -> Campaign:
    return make_campaign(state="DRAFT", opened_at=None, languages=["en", "de"], **changes)


def plan_of(campaign: Campaign) -> dict[str, Any]:
    campaign.refresh_from_db()
    return launch.plan_of(campaign)


def test_every_text_is_listed_beside_the_sources_words(ann: Client) -> None:
    campaign = make_draft()
    page = unescape(ann.get(address(campaign)).content.decode())
    for field, text in texts(get_protocol("personachat_bot")):
        assert f'name="{field}"' in page
        assert text in page
    assert campaign.consent in page


def test_translations_are_stored_and_what_is_empty_stays_the_sources(ann: Client) -> None:
    campaign = make_draft()
    answer = ann.post(address(campaign), {**GERMAN, "consent": "Ich stimme zu.", "x": "y"})
    assert answer.headers["Location"] == address(campaign)
    campaign.refresh_from_db()
    assert campaign.translations == {"de": {**GERMAN, "consent": "Ich stimme zu."}}
    ann.post(address(campaign), {QUESTION: "Flüssig?"})
    campaign.refresh_from_db()
    assert campaign.translations == {"de": {QUESTION: "Flüssig?"}}
    ann.post(address(campaign), {})
    campaign.refresh_from_db()
    assert campaign.translations == {}


@pytest.mark.parametrize(("length", "status"), [(LONGEST_TEXT, 302), (LONGEST_TEXT + 1, 422)])
def test_too_long_a_translation_is_refused_and_nothing_typed_is_lost(
    ann: Client, length: int, status: int
) -> None:
    campaign = make_draft()
    answer = ann.post(address(campaign), {QUESTION: "x" * length, "chat.told": "Kurz."})
    assert answer.status_code == status
    if status == 422:
        page = answer.content.decode()
        assert f"has {length} characters; write at most {LONGEST_TEXT}" in page
        assert "x" * length in page
        assert "Kurz." in page
        campaign.refresh_from_db()
        assert campaign.translations == {}


def test_a_campaign_in_english_has_nothing_to_translate_into(ann: Client) -> None:
    campaign = make_campaign(state="DRAFT", opened_at=None)
    assert "Add a language in its settings first" in ann.get(address(campaign)).content.decode()
    assert ann.post(address(campaign), GERMAN).status_code == 200
    campaign.refresh_from_db()
    assert campaign.translations == {}


def test_what_was_launched_is_frozen(ann: Client) -> None:
    campaign = make_campaign(languages=["de"])
    assert "frozen with the plan" in ann.get(address(campaign)).content.decode()
    assert ann.post(address(campaign), GERMAN).status_code == 409


def test_a_translation_is_a_departure_in_plan_codebook_pages_and_methods(ann: Client) -> None:
    campaign = make_draft(translations={"de": {**GERMAN, "consent": "Ich stimme zu."}})
    plan = plan_of(campaign)
    count = len(dict(texts(get_protocol("personachat_bot"))))
    value = f"2 of {count} texts translated by the requester"
    row = {each["setting"]: each for each in plan["protocol"]["settings"]}["words.de"]
    assert (row["value"], row["source_value"]) == (value, "the source's words")
    assert row["departure"]
    assert plan["languages"] == ["en", "de"]
    assert plan["protocol"]["translations"] == campaign.translations
    text = codebook.as_markdown(codebook.codebook(campaign))
    assert f"| words.de | {value} | changed by the requester from the source's words" in text
    assert "| de | rate.fluency.text | Wie flüssig war es? |" in text
    page = unescape(ann.get(reverse("campaign", args=[campaign.pk])).content.decode())
    assert f"Words in German: <strong>{value}</strong>" in page
    record = CampaignRecord(plan=plan)
    assert [each["setting"] for each in record.departures] == ["words.de"]
    text = "\n".join(methods(simulated(), evaluate(simulated()), study(plan=record.plan)))
    assert f"words in German: {value} in place of the source's words" in text


def test_only_the_consent_translated_departs_from_nothing() -> None:
    campaign = make_draft(translations={"de": {"consent": "Ich stimme zu."}})
    rows = plan_of(campaign)["protocol"]["settings"]
    assert not any(row["departure"] for row in rows)


def test_who_reads_another_language_agrees_to_the_text_in_it() -> None:
    campaign = make_campaign(
        languages=["en", "de"], translations={"de": {"consent": "Ich stimme **zu**."}}
    )
    assert (
        "Ich stimme <strong>zu</strong>"
        in Visit(campaign, HTTP_ACCEPT_LANGUAGE="de").get("").content.decode()
    )
    german, english = (Visit(campaign, HTTP_ACCEPT_LANGUAGE=code) for code in ("de", "en"))
    for visit in (german, english):
        visit.join()
    consents = [visit.person.consent for visit in (german, english)]
    assert [each.language for each in consents] == ["de", "en"]
    assert consents[0].text_hash != consents[1].text_hash


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("", ["en"]),
        ("de", ["de"]),
        (" AR , en, ar", ["ar", "en"]),
        ("en, xx", None),
        ("de en", None),
    ],
)
def test_the_settings_take_codes_of_languages(
    ann: Client, typed: str, stored: list[str] | None
) -> None:
    campaign = make_draft()
    settings = reverse("settings", args=[campaign.pk])
    raw = dict(ann.get(settings).context["form"].typed())
    answer = ann.post(settings, raw | {"languages": typed, "consent": "Please agree. " * 5})
    campaign.refresh_from_db()
    if stored is None:
        assert answer.status_code == 422
        assert "is not one of the languages; write some of en, de" in answer.content.decode()
        assert campaign.languages == ["en", "de"]
    else:
        assert campaign.languages == stored


# --- labels of own protocols ------------------------------------------------------------------


def test_an_own_protocol_has_labels_which_its_participants_see(ann: Client) -> None:
    first = make_own_protocol(get_user_model().objects.get(username="ann"))
    words = f"{reverse('own-protocol-words', args=[first.pk])}?language=de"
    field, text = next(
        (field, text)
        for field, text in texts(from_json(first.content))
        if field.startswith("instructions")
    )
    assert text in unescape(ann.get(words).content.decode())
    answer = ann.post(words, {field: "Plaudern Sie."})
    second = OwnProtocol.objects.get(version=2)
    assert str(second.pk) in answer.headers["Location"]
    protocol = from_json(second.content)
    assert protocol.translations == {"de": {field: "Plaudern Sie."}}
    campaign = make_campaign(second.name, own_protocol=second, languages=["de"])
    page = Visit(campaign).join().content.decode()
    assert "<span>Plaudern Sie.</span>" in page
    plan = plan_of(campaign)
    assert not [row for row in plan["protocol"]["settings"] if row["setting"] == "words.de"]


def test_an_own_protocol_says_its_language_and_is_marked_with_it(ann: Client) -> None:
    builder = Builder(ann)
    builder.raw |= {"title": "Ton", "language": "ar", "instructions": "تحدث عما تشاء."}
    builder.add("yes_no", name="kind", text="هل كان لطيفًا؟")
    own = builder.save()
    assert from_json(own.content).language == "ar"
    page = {
        code: Visit(make_campaign(own.name, own_protocol=own, languages=[code])).join()
        for code in ("ar", "fr", "en")
    }
    text = {code: found.content.decode() for code, found in page.items()}
    assert "<span>تحدث عما تشاء.</span>" in text["ar"]
    for code in ("fr", "en"):
        assert '<span dir="rtl" lang="ar">تحدث عما تشاء.</span>' in text[code]
    choices = ann.get(reverse("own-protocol-words", args=[own.pk])).context["choices"]
    assert [code for code, _, _ in choices] == ["en", "de", "fr", "es"]


def test_quotation_marks_of_a_language_are_kept_as_they_were_typed(ann: Client) -> None:
    builder = Builder(ann)
    builder.raw |= {"title": "Ton", "language": "fr", "instructions": "Dites « bonjour »."}
    builder.add("yes_no", name="kind", text="Était-ce « poli » ?")
    own = builder.save()
    protocol = from_json(own.content)
    assert protocol.instructions == ("Dites « bonjour ».",)
    assert to_json(protocol) == own.content
    campaign = make_campaign(own.name, own_protocol=own, languages=["fr"])
    assert "Dites « bonjour »." in Visit(campaign).join().content.decode()
    assert plan_of(campaign)["protocol"]["words"][0]["text"] == "Dites « bonjour »."


def test_a_language_that_is_no_code_is_refused(ann: Client) -> None:
    builder = Builder(ann)
    builder.raw |= {"title": "Ton", "language": "German!"}
    builder.add("yes_no", name="kind", text="Was it kind?")
    assert "“German!” is no code of a language, such as de" in builder.refused()


def test_building_on_keeps_the_labels_whose_text_is_as_it_was(ann: Client) -> None:
    own = make_own_protocol(get_user_model().objects.get(username="ann"))
    ann.post(
        f"{reverse('own-protocol-words', args=[own.pk])}?language=fr",
        {"instructions.1": "Bavardez.", "chat.told": "Avec un programme."},
    )
    labeled = OwnProtocol.objects.get(version=2)
    builder = Builder(ann, reverse("own-protocol", args=[labeled.pk]))
    builder.raw["chat.told"] = "Another text."
    third = builder.save()
    assert from_json(third.content).translations == {"fr": {"instructions.1": "Bavardez."}}


def test_labels_go_into_a_file_and_back_and_wrong_ones_are_named() -> None:
    protocol = from_json(
        to_json(get_protocol("personachat_bot"))
        | {"translations": {"de": {QUESTION: "Wie « flüssig »?"}, "D E": {"nothing": " "}}}
    )
    assert from_json(json.loads(json.dumps(to_json(protocol)))) == protocol
    assert digest(protocol) != digest(get_protocol("personachat_bot"))
    wrong = [what for about, what in complaints(protocol) if about.startswith("translations")]
    assert [each.partition(";")[0] for each in wrong] == [
        "“D E” is no code of a language, such as de",
        "nothing is no text here",
        f"nothing: must have 1 to {LONGEST_TEXT} characters",
    ]


def test_a_translated_protocol_differs_in_its_texts_alone() -> None:
    protocol = get_protocol("meena_interactive")
    to = {field: Translated(f"{text}!", "xx") for field, text in texts(protocol)}
    found = translated(protocol, to)
    assert dict(texts(found)) == to
    assert all(isinstance(text, Translated) for _, text in texts(found))
    assert translated(protocol, {}) == protocol
    assert [q.name for r in found.rates for q in r.questions] == [
        q.name for r in protocol.rates for q in r.questions
    ]
