"""Who comes in by a link, who is refused and why, and who goes on (R1, R3, S5)."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.conf import settings
from django.test import Client

from tests.factories import NOW
from tests.webapp.views.visiting import Visit, campaign_of, rows
from webapp import notices
from webapp.models import Campaign, Participation
from webapp.services.participation import privacy

pytestmark = pytest.mark.django_db


def test_looking_at_a_link_changes_nothing() -> None:
    visit = Visit(campaign_of())
    before = rows()
    page = visit.get("?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=t")
    assert page.status_code == 200
    assert "12.00 USD per hour" in page.content.decode()
    assert 'value="abc"' in page.content.decode()
    assert rows() == before
    assert not visit.client.cookies.keys() & {f"{settings.PARTICIPANT_COOKIE}-{visit.base}"}


@pytest.mark.parametrize(
    ("query", "platform"),
    [("?PROLIFIC_PID=x1", "prolific"), ("?workerId=x1", "mturk"), ("?id=x1", "panel")],
)
def test_every_panel_names_its_people_in_its_own_way(query: str, platform: str) -> None:
    page = Visit(campaign_of()).get(query).content.decode()
    assert f'name="platform" value="{platform}"' in page
    assert 'name="external_id" value="x1"' in page


@pytest.mark.parametrize(
    "value",
    ["{{%PROLIFIC_PID%}}", "${workerId}", "<your id>", "...", "\N{HORIZONTAL ELLIPSIS}", "a}"],
)
def test_a_placeholder_is_no_id(value: str) -> None:
    """Everybody who comes by such a link would be the same person."""
    visit = Visit(campaign_of())
    page = visit.get(f"?PROLIFIC_PID={quote(value)}")
    assert page.status_code == 409
    assert "has a placeholder where your id should be" in page.content.decode()
    assert "I agree and take part" not in page.content.decode()
    posted = visit.post("consent", {"platform": "panel", "external_id": value, "pay": "2.00"})
    assert posted.status_code == 409
    assert not Participation.objects.exists()
    assert visit.get("?id=" + quote("a.b-c_d[1]$%")).status_code == 200, "no placeholder"


def test_a_preview_on_the_marketplace_cannot_begin() -> None:
    page = Visit(campaign_of()).get("?workerId=x&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    assert "This is a preview" in page.content.decode()
    assert "I agree and take part" not in page.content.decode()


def test_a_volunteer_who_clicks_twice_is_one_person() -> None:
    visit = Visit(campaign_of())
    form = visit.get("").context["who"]
    for _ in range(2):
        visit.post("consent", form)
    assert Participation.objects.count() == 1


def test_the_same_link_resumes_and_another_id_is_another_person() -> None:
    visit = Visit(campaign_of())
    visit.join()
    assert visit.get(f"?PROLIFIC_PID={visit.name}").status_code == 302
    assert visit.get("").status_code == 302
    assert visit.get("?PROLIFIC_PID=other").status_code == 200


def test_a_cookie_that_is_nobodys_is_told_so() -> None:
    visit = Visit(campaign_of())
    visit.join()
    privacy.withdraw(token=privacy.withdraw_token(visit.person), now=NOW)
    out = visit.get()
    assert out.status_code == 404
    assert "This browser no longer takes part" in out.content.decode()
    assert "There is nothing here" in visit.get("withdraw/forged").content.decode()


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED", "CLOSED"])
def test_a_campaign_that_takes_nobody_says_why(state: str) -> None:
    visit = Visit(campaign_of(state=state))
    why = notices.text("paused" if state == "PAUSED" else "over")
    assert why in visit.get("").content.decode()
    answer = visit.join()
    assert answer.status_code == 409
    assert why in answer.content.decode()
    assert Participation.objects.count() == 0


def test_a_full_campaign_says_so_before_any_work() -> None:
    visit = Visit(campaign_of(target=0))
    assert notices.text("full") in visit.get("").content.decode()
    assert visit.join().status_code == 409


@pytest.mark.parametrize("rest", ["", "now", "elsewhere/at/all"])
def test_a_wrong_link_is_a_friendly_404(rest: str) -> None:
    answer = Client().get(f"/c/nosuchthing/{rest}")
    assert answer.status_code == 404
    assert "open the task again" in answer.content.decode()


def test_a_draft_campaign_has_no_link() -> None:
    assert Visit(campaign_of(state=Campaign.State.DRAFT)).get("").status_code == 404


def test_declining_stores_nothing() -> None:
    visit = Visit(campaign_of())
    before = rows()
    assert "No pay is due" in visit.get("declined").content.decode()
    assert rows() == before


def test_who_has_no_cookie_is_led_to_the_entry() -> None:
    visit = Visit(campaign_of())
    assert visit.get("now").headers["Location"] == visit.base
