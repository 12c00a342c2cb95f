"""Two people in two browsers, whatever the net does to one (PC-P5, R4, R6, R7, R10, G14, G22)."""

from __future__ import annotations

import json
import re
import time

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import DESK, PHONE, Visitor, Visitors
from webapp.services.replies.pace import LONGEST_WAIT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
MINUTE = 60.0  # seconds


def line(number: int) -> str:
    return f"This is what somebody says as message {number}"


def shows(visitor: Visitor, page: Page, first: str, count: int) -> None:
    """Each message once, in order, on the right side; `first` is whose message 1 was."""
    expect(page.locator(".msg")).to_have_count(count)
    other = "partner" if first == "you" else "you"
    found = page.evaluate(
        """[...document.querySelectorAll(".msg")].map((one) => [
             one.classList.contains("msg-you") ? "you" : "partner",
             one.querySelector(".msg-text").textContent])"""
    )
    sides = [first if number % 2 else other for number in range(1, count + 1)]
    assert found == [[side, line(number)] for number, side in enumerate(sides, start=1)]


def meet(one: Visitor, two: Visitor) -> None:
    expect(
        one.page.get_by_text("Looking for a partner. You keep your position in the queue.")
    ).to_be_visible()
    one.check("waiting")
    two.begin("people")
    for visitor in (one, two):
        expect(visitor.page.get_by_role("heading", name="Your partner is here")).to_be_visible()
    one.check("matched")
    for visitor in (one, two):
        visitor.page.get_by_role("button", name="Yes, I am here").click()
    for visitor in (one, two):
        expect(visitor.page.get_by_label("Your message")).to_be_visible()


def test_two_people_chat_through_reload_offline_and_a_second_tab(visitors: Visitors) -> None:
    one, two = visitors(PHONE), visitors(DESK, "dark")
    one.begin("people")
    meet(one, two)
    expect(one.page.get_by_text("0 of 6 messages, 6 to go")).to_be_visible()
    one.send_message(line(1))
    expect(one.page.locator(".msg-state")).to_have_text("Sent")
    shows(two, two.page, "partner", 1)
    reload(one)
    two.send_message(line(2))
    shows(one, one.page, "you", 2)
    offline(one, two)
    tab = second_tab(one, two)
    one.page.get_by_role("button", name="Finish the conversation").click()
    for page in (one.page, two.page, tab):
        expect(page.get_by_role("heading", name="What was your partner like?")).to_be_visible()
    codes = [rate(visitor) for visitor in (one, two)]
    assert len(set(codes)) == 2


def reload(one: Visitor) -> None:
    box = one.page.get_by_label("Your message")
    box.fill("A draft")
    one.page.reload()
    expect(box).to_have_value("A draft")
    box.fill("")


def offline(one: Visitor, two: Visitor) -> None:
    """What is written in a minute without a net is sent once it is back."""
    one.context.set_offline(True)
    began = time.monotonic()
    expect(one.page.get_by_text("Connection lost.")).to_be_visible()
    one.send_message(line(3))
    expect(one.page.get_by_text("Not sent yet, still trying")).to_be_visible()
    one.check("offline")
    away = two.page.get_by_text("Your partner may be reconnecting.")
    expect(away).to_be_visible(timeout=50_000)
    # The minute itself is what is tested; Playwright goes on hearing the pages meanwhile.
    one.page.wait_for_timeout(max(0.0, MINUTE - (time.monotonic() - began)) * 1000)
    one.context.set_offline(False)
    expect(away).to_be_hidden()
    expect(one.page.get_by_text("Connection lost.")).to_be_hidden()
    shows(two, two.page, "partner", 3)
    shows(one, one.page, "you", 3)


def second_tab(one: Visitor, two: Visitor) -> Page:
    """The newest tab controls, the older one says so and can take over; both show everything."""
    tab = one.context.new_page()
    one.watch(tab)
    tab.goto(one.site.address("people", "now"))
    shows(one, tab, "you", 3)
    expect(one.page.get_by_text("open in a newer tab")).to_be_visible()
    one.check("older-tab")
    two.send_message(line(4))
    shows(one, tab, "you", 4)
    shows(one, one.page, "you", 4)
    one.page.get_by_role("button", name="Continue here").click()
    expect(tab.get_by_text("open in a newer tab")).to_be_visible()
    expect(one.page.get_by_text("open in a newer tab")).to_be_hidden()
    one.send_message(line(5))
    shows(one, tab, "you", 5)
    two.send_message(line(6))
    shows(two, two.page, "partner", 6)
    shows(one, one.page, "you", 6)
    return tab


def rate(visitor: Visitor) -> str | None:
    """Answer the questions; return the code."""
    for field in ("fluency", "engagingness", "consistency"):
        visitor.page.locator(f"#p-{field}-4").check()
    visitor.page.get_by_text("Character 2").click()
    visitor.page.get_by_role("button", name="Send my answers").click()
    return visitor.page.locator("#code").text_content()


def test_the_turn_comes_with_the_message_of_the_partner(visitors: Visitors) -> None:
    """A net that breaks between a message and its status does not keep *Send* gray."""
    one, two = visitors(PHONE), visitors(DESK)
    hidden: list[str] = []
    cut = False

    def pass_on(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def answer(frame: str | bytes) -> None:
            if cut and json.loads(frame)["type"] == "status":
                hidden.append(str(frame))
            else:
                socket.send(frame)

        server.on_message(answer)

    one.page.route_web_socket(re.compile(r"/socket\?"), pass_on)
    one.begin("people")
    meet(one, two)
    one.send_message(line(1))
    shows(two, two.page, "partner", 1)
    expect(one.page.get_by_text("1 of 6 messages")).to_be_visible()
    one.page.get_by_label("Your message").fill(line(3))
    expect(one.page.get_by_role("button", name="Send")).to_be_disabled()
    cut = True
    two.send_message(line(2))
    shows(one, one.page, "you", 2)
    expect(one.page.get_by_role("button", name="Send")).to_be_enabled()
    expect(one.page.get_by_text("1 of 6 messages")).to_be_visible()
    one.send_message(line(3))
    shows(two, two.page, "partner", 3)
    assert hidden


def test_who_is_left_alone_rates_what_there_was(visitors: Visitors) -> None:
    one, two = visitors(DESK), visitors(PHONE)
    one.begin("people")
    meet(one, two)
    one.send_message(line(1))
    shows(two, two.page, "partner", 1)
    two.page.locator("summary", has_text="Stop").click()
    two.check("stop")
    two.page.get_by_role("button", name="Yes, stop here").click()
    expect(two.page.get_by_role("heading", name="You have left the study")).to_be_visible()
    two.check("declined-later")
    expect(one.page.get_by_text("Your partner left. Please rate")).to_be_visible()
    one.check("partner-left")


def test_without_websockets_everything_works_by_http(visitors: Visitors) -> None:
    one, two = visitors(DESK), visitors(DESK)
    one.page.route_web_socket(re.compile("/socket"), lambda socket: socket.close())
    one.begin("people")
    meet(one, two)
    one.send_message(line(1))
    shows(two, two.page, "partner", 1)
    two.send_message(line(2))
    shows(one, one.page, "you", 2)


def test_a_wait_without_partner_ends_with_another_kind_of_partner(visitors: Visitors) -> None:
    visitor = visitors(PHONE, "dark")
    page = visitor.begin("lonely")
    expect(page.get_by_role("button", name="Leave with 0.50 USD")).to_be_visible()
    visitor.check("nobody-came")
    page.get_by_role("button", name="Continue with another kind of partner").click()
    page.get_by_role("button", name="Yes, I am here").click()
    page.get_by_label("Your message").fill(line(1), timeout=20_000)  # once the partner answered
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_enabled(timeout=40_000)  # the partner may be drawn to begin
    said = page.locator(".msg-partner").count()
    send.click()
    # The bot keeps a person's pace here, which is drawn anew with every conversation.
    expect(page.locator(".msg-partner")).to_have_count(said + 1, timeout=1000 * LONGEST_WAIT)


def test_a_wait_without_partner_ends_with_waiting_pay(visitors: Visitors) -> None:
    visitor = visitors(DESK)
    page = visitor.begin("lonely")
    page.get_by_role("button", name="Leave with 0.50 USD").click()
    expect(page.get_by_role("heading", name="No partner was found")).to_be_visible()
    expect(page.get_by_text("It stands for 0.50 USD.")).to_be_visible()
    visitor.check("nobody")
