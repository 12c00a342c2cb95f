"""Foreign and forged requests, headers, withdrawal, blinding (S1, S3, S6, S7, S8, S11, S14)."""

from __future__ import annotations

import json
import re
from uuid import uuid4

import pytest
from django.conf import settings

from tests.webapp.views.visiting import (
    Visit,
    campaign_of,
    chat_through,
    good_answers,
    rating_visit,
    rows,
)
from webapp import notices
from webapp.models import Event, Participation
from webapp.services.participation import screens, study_info

pytestmark = pytest.mark.django_db
State = Participation.State
SECRET = re.compile(r"alphasystem|betasystem|parrot|Secret name|personachat|meena", re.I)


PLACES = ("now", "status", "frames", "stop-means")
STEPS = ("start", "meet", "bot", "give-up", "stop", "rate", "draft")


@pytest.mark.parametrize("rest", PLACES + STEPS)
def test_the_cookie_of_another_campaign_is_not_found(rest: str) -> None:
    mine, other = Visit(campaign_of()), Visit(campaign_of())
    mine.join()
    name = f"{settings.PARTICIPANT_COOKIE}-"
    secret = mine.client.cookies[name + mine.campaign.slug].value
    other.client.cookies[name + other.campaign.slug] = secret
    before = rows()
    if rest in PLACES:
        answer = other.get(rest)
    else:
        answer = other.post(rest, "{}", content_type="application/json")
    assert answer.status_code == 404
    assert rows() == before


@pytest.mark.parametrize("rest", [*STEPS, "consent", "frames"])
def test_a_post_without_the_token_is_refused(rest: str) -> None:
    visit = Visit(campaign_of())
    visit.join()
    visit.client.handler.enforce_csrf_checks = True
    before = rows()
    answer = visit.client.post(visit.base + rest, {"platform": "panel", "external_id": "new"})
    assert answer.status_code == 403
    assert "reload the page" in answer.content.decode()
    assert rows() == before


@pytest.mark.parametrize("rest", [*STEPS, "some/thing"])
def test_opening_an_address_of_a_step_only_leads_to_the_page(rest: str) -> None:
    visit = Visit(campaign_of())
    visit.join()
    if rest == "draft":
        assert visit.get(rest).status_code == 405
        return
    answer = visit.get(rest)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{visit.base}now")
    assert visit.person.state == State.READY


def test_a_personal_page_is_not_stored_and_runs_no_foreign_script() -> None:
    visit = Visit(campaign_of())
    answer = visit.join()
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["Cache-Control"] == "no-store"
    assert not re.search(r"\sstyle=|\son\w+=|javascript:", answer.content.decode())


def test_consent_is_text_whatever_a_requester_writes() -> None:
    html = study_info.sanitized(
        "# One\n\n### Two\n\n![x](https://e.org/x.png) [y](javascript:alert(1)) <img src=x> "
        "<script>alert(1)</script> **bold** <https://e.org>"
    )
    assert "<h3>One</h3>" in html
    assert "<h5>Two</h5>" in html
    assert "<strong>bold</strong>" in html
    assert not re.search(r"<(img|script|a)\b", html)


def test_withdrawing_by_the_private_link_needs_no_cookie_and_keeps_the_pay() -> None:
    visit = rating_visit()
    code = visit.post("rate", good_answers(visit.get())).context["screen"].end
    link, before = f"withdraw/{code.withdraw}", rows()
    stranger = Visit(visit.campaign)
    assert "Delete what I wrote" in stranger.get(link).content.decode()
    assert rows() == before
    page = stranger.post(link)
    assert notices.text("withdrawn") in page.content.decode()
    assert code.code in page.content.decode()
    assert "Hello number" not in json.dumps(list(Event.objects.values_list("content", flat=True)))


def test_a_withdrawal_link_of_another_campaign_is_not_found() -> None:
    visit, other = rating_visit(), Visit(campaign_of())
    token = visit.post("stop").context["screen"].end.withdraw
    assert other.get(f"withdraw/{token}").status_code == 404
    assert other.get("withdraw/forged").status_code == 404


@pytest.mark.parametrize("protocol", ["personachat_bot", "meena_interactive"])
def test_nothing_that_a_participant_is_sent_names_a_system(protocol: str) -> None:
    visit = Visit(campaign_of(protocol, changes={"chat.minimum": [4]}))
    visit.get("?PROLIFIC_PID=abc")
    visit.join()
    visit.get("status")
    visit.post("start")
    visit.send(type="hello", last_seq=0, tab="t")
    chat_through(visit, 3)
    visit.get("frames?version=2&after=0")
    visit.get("status")
    visit.send(type="finish", id=str(uuid4()))
    visit.post("rate", {"p.fluency": "9"})
    visit.post("stop")
    visit.get("nothing/here")
    found = [match.group() for text in visit.told if (match := SECRET.search(text))]
    assert found == []


def test_the_screens_of_two_systems_differ_in_nothing_but_what_is_drawn() -> None:
    campaign = campaign_of(systems={"alphasystem": "parrot", "betasystem": "generic"}, target=1)
    pages = []
    for _ in range(2):
        visit = Visit(campaign)
        visit.join()
        text = visit.post("start").content.decode()
        text = re.sub(r'\w{64}|nonce="[^"]+"|"key": "\w+"|conversation=\w+', "", text)
        pages.append(re.sub(r"boat number \d+", "boat", text))
    assert Participation.objects.values("system").distinct().count() == 2
    assert pages[0] == pages[1]


def test_a_panels_address_takes_the_code() -> None:
    assert screens.return_address("", "A") == ""
    assert screens.return_address("https://e.org/a?x={code}", "A-B") == "https://e.org/a?x=A-B"
    assert screens.return_address("https://e.org/a", "A-B") == "https://e.org/a?cc=A-B"
    assert screens.return_address("https://e.org/a?b=1", "A-B") == "https://e.org/a?b=1&cc=A-B"
