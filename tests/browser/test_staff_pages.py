"""Staff's pages in a real browser: a campaign from the login to the launch, each page checked.

Every page has no violation by axe, wide and narrow, light and dark, fits a phone without scrolling
sideways, and nothing is refused by the content security policy.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import ConsoleMessage, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.looks import check_axe
from tests.factories import make_campaign, make_participation, make_staff
from webapp.models import (
    Campaign,
    CompletionCode,
    Conversation,
    Event,
    Flag,
    Heartbeat,
    Persona,
    QuotaCell,
    ReplyJob,
    Seat,
    Study,
    System,
)
from webapp.services.campaign import studies
from webapp.services.rules import events

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LOOKS = ((1280, "light"), (1280, "dark"), (360, "light"), (360, "dark"))
SHOTS = os.environ.get("SHOTS")  # a folder to keep pictures of every page in


@pytest.fixture
def refused(page: Page) -> Iterator[list[str]]:
    """What the policy refused and what failed in scripts; must stay empty."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "status of 4" not in message.text:
            found.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: found.append(str(error)))
    yield found
    assert found == []


def check(page: Page, name: str) -> None:
    """Look at a page in all four looks."""
    page.emulate_media(reduced_motion="reduce")
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        expect(page.locator(f'html[data-bs-theme="{scheme}"]')).to_have_count(1)
        check_axe(page, name)
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not page.evaluate(wide), f"{name} scrolls sideways at {width}"
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/staff-{name}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})


def sign_in(page: Page, server: LiveServer) -> None:
    make_staff("ann")
    page.goto(f"{server.url}/login/")
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("ann")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/campaigns/")


def create(page: Page) -> None:
    """Create a draft, wrongly at first."""
    page.get_by_role("link", name="New campaign").click()
    check(page, "choose")
    for sample in page.get_by_text("The questions, as participants see them").all():
        sample.click()
    check(page, "choose-samples")
    page.get_by_role("link", name="Use PERSONA-CHAT evaluation of bots").click()
    page.get_by_label("Pay", exact=True).fill("1.20")
    expect(page.locator("[data-hourly]")).to_have_text("That is 9.00 USD per hour.")
    words = page.get_by_label("Maximum words per message")
    words.fill("20")
    expect(page.get_by_text("departs from the source: 15")).to_be_visible()
    page.get_by_role("button", name="Save as a draft").click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(words).to_have_value("20")
    check(page, "create-errors")
    page.get_by_label("Name").fill("Pilot")
    page.get_by_label("Contact").fill("lab@example.org")
    page.get_by_role("button", name="Save as a draft").click()
    check(page, "draft")


def prepare(page: Page) -> None:
    """Add a system and personas, and rehearse; the reply worker is not part of this test."""
    page.get_by_role("link", name="Choose a system").click()
    check(page, "doors")
    page.get_by_role("link", name="parrot").click()
    check(page, "system")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("link", name="Personas").first.click()
    page.get_by_label("Paste them here").fill("I like tea.\nNo.")
    page.get_by_role("button", name="Preview", exact=True).click()
    check(page, "import-errors")
    page.get_by_role("button", name="Preview the built-in ones").click()
    check(page, "import")
    page.get_by_role("button", name="Import 24").click()
    page.get_by_role("button", name="Rehearse parrot").click()
    check(page, "rehearsing")
    System.objects.update(rehearsal=System.Rehearsal.PASSED, rehearsal_note="answered: Hello")
    Heartbeat.objects.create(name="w", kind="replies", bots=["*"], seen_at=timezone.now())


def test_a_campaign_from_the_login_to_the_launch(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    page.goto(f"{live_server.url}/login/")
    check(page, "login")
    sign_in(page, live_server)
    check(page, "campaigns-empty")
    create(page)
    prepare(page)
    page.get_by_role("link", name="Look at the plan and launch").click()
    check(page, "launch")
    page.get_by_role("button", name="Freeze the plan and open").click()
    expect(page.get_by_role("button", name="Copy")).to_be_visible()
    check(page, "open")
    assert Campaign.objects.get().changes == {"chat.max_words.limit": 20}


def busy_campaign() -> Campaign:
    """A campaign with a conversation, people, a flag and a reply that was given up."""
    campaign = make_campaign(languages=["en", "ar"])
    system = campaign.systems.get()
    person = make_participation(campaign, state="ENDED", outcome="COMPLETED", system=system)
    CompletionCode.objects.create(participation=person, code="AB", kind="FULL", amount="2.00")
    QuotaCell.objects.update(completed=4, reserved=1)
    conversation = Conversation.objects.create(
        campaign=campaign, system=system, seed=1, started_at=timezone.now(), state="FINISHED"
    )
    Seat.objects.create(conversation=conversation, side=0, participation=person, active=False)
    persona = Persona.objects.first()
    Seat.objects.create(conversation=conversation, side=1, persona=persona)
    for number, text in enumerate(("Hello!", "Hi. I own a boat.", "שלום", "Ahoy.")):
        events.append(
            conversation=conversation,
            kind=Event.Kind.MESSAGE,
            side=number % 2,
            content={"text": text},
            in_reply_to=number if number % 2 else None,
        )
    jobs = ReplyJob.objects
    now = timezone.now()
    jobs.create(
        conversation=conversation,
        in_reply_to=1,
        bot="parrot",
        queued_at=now,
        answered_at=now,
        state="DONE",
        details={"model": "parrot", "seconds": 0.2, "bot": {"intent": "greeting"}},
        text="Hi. I own a boat.",
    )
    doubt = {"intent": "farewell", "confidence": 0.31, "deferred": True}
    jobs.create(
        conversation=conversation,
        in_reply_to=0,
        bot="parrot",
        queued_at=now,
        answered_at=now,
        state="DONE",
        details={"bot": doubt},
        text="I will ask a colleague.",
    )
    jobs.create(
        conversation=conversation, in_reply_to=3, bot="parrot", queued_at=now, state="FAILED"
    )
    Flag.objects.create(campaign=campaign, conversation=conversation, kind="quick", detail="2 s")
    return campaign


def test_the_pages_of_a_running_campaign(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    campaign = busy_campaign()
    conversation = Conversation.objects.get()
    person = campaign.participations.get()
    sign_in(page, live_server)
    check(page, "campaigns")
    pages = {
        "live": "live/",
        "words": "words/",
        "jobs": "jobs/",
        "conversations": "conversations/",
        "desk": "desk/",
        "conversation": f"conversations/{conversation.pk}/",
        "people": "people/",
        "person": f"people/{person.pk}/",
        "pause": "do/pause/",
        "extend": "extend/",
        "pay": "pay/",
        "conflict": "do/resume/",
        "missing": "people/999999/",
    }
    for name, address in pages.items():
        page.goto(f"{live_server.url}/campaigns/{campaign.pk}/{address}")
        check(page, name)


def test_answers_are_corrected_by_keyboard_and_what_was_typed_stays(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    campaign = busy_campaign()
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/campaigns/{campaign.pk}/conversations/")
    page.get_by_role("link", name="Staff desk").click()
    first = page.get_by_role("region", name="(no question)")  # it was left to people
    expect(first.get_by_role("button", name="Right")).to_have_count(0)
    first.get_by_role("button", name="Correct it").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Intent: is empty")
    expect(page.get_by_role("alert")).to_be_focused()
    check(page, "desk-errors")
    first.get_by_label("Intent").fill("greeting")
    first.get_by_label("Intent").press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="1 answer to look at")).to_be_visible()
    page.get_by_role("button", name="Right").press("Enter")
    expect(page.get_by_text("Every answer was looked at.")).to_be_visible()
    expect(page.locator("#all-days")).to_contain_text("100.0 %")
    check(page, "desk-done")


@pytest.mark.parametrize("protocol", ["personachat_bot", "meena_interactive", "meena_static"])
def test_a_preview_shows_the_pages_of_participants(
    page: Page, live_server: LiveServer, refused: list[str], protocol: str
) -> None:
    campaign = make_campaign(protocol, state=Campaign.State.DRAFT)
    sign_in(page, live_server)
    start = f"{live_server.url}/campaigns/{campaign.pk}/preview/"
    page.goto(start)
    phone, desk = (
        page.frame_locator(f'[title="The page on a {name}"]') for name in ("phone", "desk")
    )
    for frame in (phone, desk):
        expect(frame.get_by_role("button", name="I agree and take part")).to_be_visible()
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    for name in links.all_inner_texts():
        page.get_by_role("link", name=name, exact=True).click()
        expect(phone.locator("h1")).to_have_count(1)
        check(page, f"preview-{protocol}-{name.split()[0]}")
    if protocol != "meena_static":
        page.goto(f"{start}chat/")
        expect(page.locator(".msg-partner")).to_have_count(3)
        expect(page.locator("[data-part=count]")).to_contain_text("to go")
        live = 6 if protocol == "meena_interactive" else 0  # two labels per message
        expect(page.locator(".label-row")).to_have_count(live)


def test_the_live_numbers_move_and_keep_the_focus(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    campaign = busy_campaign()
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/campaigns/{campaign.pk}/live/")
    joined = page.locator("#step-joined")
    expect(joined).to_contain_text("1")
    joined.focus()
    make_participation(campaign)
    expect(joined).to_contain_text("2")
    expect(joined).to_be_focused()


def test_the_live_page_says_when_its_numbers_are_old(page: Page, live_server: LiveServer) -> None:
    campaign = busy_campaign()
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/campaigns/{campaign.pk}/live/")
    page.route("**/live/part/", lambda route: route.abort())
    expect(page.locator("#stale")).to_contain_text("No connection. The numbers are from")
    page.unroute("**/live/part/")
    expect(page.locator("#stale")).to_be_hidden()


def test_a_whitelist_is_put_up_and_reviewed(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/whitelists/")
    page.get_by_label("Paste the file here").fill("text")
    page.get_by_role("button", name="Put it up for review").click()
    expect(page.get_by_label("Paste the file here")).to_have_value("text")
    check(page, "whitelists-errors")
    lines = "text,count\nGood morning!,40\nI will meet you at the station.,3\n" + "".join(
        f"I like the number {number}.,{90 - number}\n" for number in range(28)
    )
    page.get_by_label("Name").fill("Frequent")
    page.get_by_label("Paste the file here").fill(lines)
    page.get_by_role("button", name="Put it up for review").click()
    second = page.get_by_role("group", name="Reply 2", exact=True)
    second.get_by_label("edit", exact=True).check()
    page.get_by_role("button", name="Save this page").click()
    expect(page.get_by_role("alert")).to_be_focused()
    check(page, "whitelist-errors")
    second.get_by_label("drop").check()
    page.get_by_role("button", name="Save this page").click()
    expect(page.get_by_text("25 decisions are saved.")).to_be_visible()
    check(page, "whitelist")
    page.goto(f"{live_server.url}/whitelists/")
    check(page, "whitelists")


def test_who_presses_again_before_the_answer_does_it_once(
    page: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    second, create, calls = threading.Event(), studies.create, []

    def held(**values: Any) -> Any:
        """Answer when a second press has come, or when it has not within two seconds."""
        calls.append(values)
        if len(calls) > 1:
            second.set()
        second.wait(2)
        return create(**values)

    monkeypatch.setattr(studies, "create", held)
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/studies/")
    page.get_by_label("Name").fill("Four rounds")
    page.evaluate(
        """() => {
          const press = () => document.querySelector("main form[method=post] button").click();
          setTimeout(press);
          setTimeout(press, 700);
        }"""
    )
    expect(page.get_by_role("heading", name="Four rounds")).to_be_visible()
    assert (len(calls), Study.objects.count()) == (1, 1)
