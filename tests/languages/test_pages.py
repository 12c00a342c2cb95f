"""Participants' pages in another language: chosen, complete, and the instrument's words marked."""

from __future__ import annotations

import html
import re
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from django.utils.translation import override

from evaluation.registry import get_protocol, protocol_names
from tests.factories import make_campaign
from tests.languages.leftovers import left_over
from tests.webapp.admitted import QUIZ, campaign_with
from tests.webapp.views.visiting import Visit, campaign_of, chat_through, good_answers
from webapp import notices
from webapp.models import Campaign, Consent, Participation, Rating
from webapp.services.participation import samples
from webapp.services.rules.access import StaffCampaign
from webapp.views import rendering

pytestmark = pytest.mark.django_db
ROOT_ELEMENT = '<html lang="{}" dir="{}">'


def is_in(page: Any, code: str, direction: str) -> bool:
    return ROOT_ELEMENT.format(code, direction) in page.content.decode()


def arabic(**changes: Any) -> Visit:
    """Somebody in a campaign whose pages are Arabic, whatever their browser asks for."""
    short = {"changes": {"chat.minimum": [2]}, "languages": ["ar"], "consent": "نوافق معًا على هذا."}
    return Visit(campaign_of(**short | changes), HTTP_ACCEPT_LANGUAGE="de")


def check(page: Any) -> Any:
    """Look whether a page is Arabic from right to left, and has no English of ours."""
    assert is_in(page, "ar", "rtl")
    assert "bootstrap.rtl.min.css" in page.content.decode()
    assert left_over(page.content.decode()) == []
    return page


def test_an_arabic_campaign_is_arabic_from_consent_to_the_code() -> None:
    visit = arabic()
    check(visit.get(""))
    check(visit.join())
    assert Consent.objects.get().language == "ar"
    check(visit.post("start"))
    said = visit.send(type="finish", id=str(uuid4()))
    assert said[0]["notice"] == ("تابع من فضلك: بقيت رسالتان قبل أن تتمكن من الإنهاء.")
    refused = visit.send(type="message", id=str(uuid4()), text="word " * 16)
    assert refused[0]["notice"] == "الحد الأقصى من فضلك 15 كلمة؛ وعدد كلمات هذه الرسالة 16."
    chat_through(visit, 1)
    visit.send(type="finish", id=str(uuid4()))
    form = check(visit.get())
    missing = check(visit.post("rate", {"x.y": "z"}))
    assert missing.status_code == 422
    assert "اختر أحد الخيارات المعروضة (عددها 5)." in missing.content.decode()
    done = check(visit.post("rate", good_answers(form)))
    assert "شكرًا لك! لقد انتهيت" in done.content.decode()
    assert Rating.objects.exists()
    token = re.search(r"withdraw/([^\"]+)", done.content.decode())
    assert token is not None
    check(visit.get(f"withdraw/{token[1]}"))
    check(visit.post(f"withdraw/{token[1]}"))


def test_stopping_and_what_is_closed_are_told_in_arabic() -> None:
    visit = arabic()
    visit.join()
    visit.post("start")
    means = visit.get("stop-means").json()["text"]
    assert left_over(means) == []
    check(visit.post("stop"))
    Campaign.objects.update(state=Campaign.State.PAUSED)
    check(Visit(visit.campaign).get(""))
    check(visit.get("declined"))


@pytest.mark.parametrize("name", protocol_names())
def test_every_page_of_every_protocol_has_no_english_besides_its_marked_words(name: str) -> None:
    row = make_campaign(name, languages=["ar"], consent="نوافق معًا على هذا.")
    campaign = StaffCampaign(**Campaign.objects.filter(pk=row.pk).values().get())
    for page in samples.pages(get_protocol(name)):
        with override("ar"):
            request = RequestFactory().get("/")
            shown = rendering.render_preview(request, campaign, page)
        assert is_in(shown, "ar", "rtl")
        assert left_over(shown.content.decode()) == [], page


def test_the_words_of_the_instrument_stay_and_are_marked_as_english() -> None:
    visit = arabic()
    told = get_protocol("personachat_bot").instructions[0]
    page = visit.join().content.decode()
    assert f'<span dir="ltr" lang="en">{told}</span>' in html.unescape(page)
    plain = Visit(campaign_of())
    assert 'dir="ltr" lang="en"' not in plain.join().content.decode().partition("<body")[2]


def test_what_a_quiz_explains_is_of_the_instrument_and_our_complaint_is_not() -> None:
    visit = Visit(campaign_with(QUIZ, languages=["ar"], consent="نوافق معًا على هذا."))
    visit.join()
    quiz = visit.post("start").context["screen"].admission
    wrong = {"quiz.partner_is": "pet", "quiz.length": "1", "try": quiz.try_name}
    page = html.unescape(visit.post("answer", wrong).content.decode())
    assert '<span dir="ltr" lang="en">You need ten messages.</span>' in page
    with override("ar"):
        ours = notices.text("wrong_answer")
    assert f'-error">{ours}</p>' in page


def test_translated_words_are_shown_unmarked_and_answers_mean_the_same() -> None:
    words = {"instructions.1": "تحدث عما تشاء.", "rate.fluency.text": "ما مدى الطلاقة؟"}
    visit = arabic(translations={"ar": words})
    page = visit.join().content.decode()
    assert "<span>تحدث عما تشاء.</span>" in page
    visit.post("start")
    chat_through(visit, 1)
    visit.send(type="finish", id=str(uuid4()))
    form = visit.get()
    assert 'text">ما مدى الطلاقة؟</span>' in form.content.decode()
    visit.post("rate", good_answers(form))
    fluency = Rating.objects.get(question="fluency")
    assert fluency.value == 1


@pytest.mark.parametrize(
    ("languages", "accepted", "shown"),
    [
        (["en"], "ar", ("en", "ltr")),
        (["en", "ar"], "ar-EG,en;q=0.5", ("ar", "rtl")),
        (["en", "ar"], "fr", ("en", "ltr")),
        (["fr", "ar"], "", ("fr", "ltr")),
    ],
)
def test_the_browsers_language_is_taken_where_the_campaign_has_it(
    languages: list[str], accepted: str, shown: tuple[str, str]
) -> None:
    visit = Visit(campaign_of(languages=languages), HTTP_ACCEPT_LANGUAGE=accepted)
    assert is_in(visit.get(""), *shown)


def test_a_participant_chooses_among_the_campaigns_languages() -> None:
    visit = Visit(campaign_of(languages=["en", "ar", "de"]), HTTP_ACCEPT_LANGUAGE="de")
    entry = visit.get("?PROLIFIC_PID=p1")
    assert is_in(entry, "de", "ltr")
    assert [
        code for code in ("en", "ar", "de", "fr") if f'value="{code}"' in str(entry.content)
    ] == [
        "en",
        "ar",
        "de",
    ]
    back = f"{visit.base}?PROLIFIC_PID=p1"
    chosen = visit.post("language", {"language": "ar", "next": back})
    assert chosen.redirect_chain == [(back, 302)]
    assert is_in(chosen, "ar", "rtl")
    assert is_in(visit.join(), "ar", "rtl")
    assert is_in(visit.post("language", {"language": "fr", "next": back}), "ar", "rtl")
    assert is_in(visit.get("nowhere/at/all", follow=True), "ar", "rtl")


@pytest.mark.parametrize("back", ["https://example.org/", "//example.org", "/", "/campaigns/"])
def test_choosing_leads_to_no_other_site(back: str) -> None:
    visit = Visit(campaign_of(languages=["en", "ar"]))
    visit.join()
    answer = visit.post("language", {"language": "ar", "next": back})
    assert answer.redirect_chain == [(f"{visit.base}now", 302)]


def test_one_language_leaves_nothing_to_choose() -> None:
    assert "languages" not in Visit(campaign_of()).get("").content.decode()


def test_a_link_that_leads_nowhere_is_told_in_the_browsers_language() -> None:
    assert is_in(Client(HTTP_ACCEPT_LANGUAGE="ar").get("/c/nobody/"), "ar", "rtl")
    assert is_in(Client(HTTP_ACCEPT_LANGUAGE="xx").get("/c/nobody/"), "en", "ltr")


def test_staff_read_english_whatever_their_browser_asks_for() -> None:
    client = Client(HTTP_ACCEPT_LANGUAGE="ar")
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "ar"
    assert is_in(client.get("/login/", follow=True), "en", "ltr")


def test_amounts_are_written_as_the_language_writes_them() -> None:
    german = Visit(campaign_of(languages=["de"])).get("").content.decode()
    assert "2,00 USD" in german
    assert Participation.objects.count() == 0
