"""The pages beside the way: closed and wrong links, declining, stopping; a very small window."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESK, PHONE, Visitors

pytestmark = pytest.mark.browser
TINY = (320, 256)  # 1280 by 1024 at 400 % zoom


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("campaign", "text"), [("paused", "The study is paused"), ("full", "The study is full")]
)
def test_a_link_that_takes_nobody_says_why(
    visitors: Visitors, campaign: str, text: str, theme: str
) -> None:
    visitor = visitors(PHONE, theme)
    page = visitor.enter(campaign)
    expect(page.get_by_text(text)).to_be_visible()
    expect(page.get_by_role("button", name="I agree and take part")).to_have_count(0)
    visitor.check(campaign)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_wrong_link_and_declining(visitors: Visitors, theme: str) -> None:
    visitor = visitors(DESK, theme)
    page = visitor.page
    answer = page.goto(visitor.site.address("bot", "withdraw/forged"))
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
    visitor.check("not-found")
    visitor.enter("bot")
    page.get_by_role("link", name="No, thank you").click()
    expect(page.get_by_role("heading", name="That is fine")).to_be_visible()
    visitor.check("declined")


def test_everything_is_reached_in_a_tiny_window(visitors: Visitors) -> None:
    visitor = visitors(TINY)
    page = visitor.enter("bot")
    visitor.check("tiny-consent")
    page.get_by_role("button", name="I agree and take part").click()
    visitor.check("tiny-ready")
    page.get_by_role("button", name="I am ready, start").click()
    visitor.send_message("Hello there")
    expect(page.locator(".msg-partner")).to_have_count(1)
    visitor.check("tiny-chat")
    stop = page.locator("summary", has_text="Stop")
    stop.click()
    expect(page.get_by_text("You end the study here and are paid 1.00 USD.")).to_be_visible()
    visitor.check("tiny-stop")
    page.get_by_role("button", name="Yes, stop here").click()
    expect(page.get_by_text("you are paid 1.00 USD")).to_be_visible()
    visitor.check("tiny-done")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download the receipt").click()
    page.get_by_role("link", name="Check a receipt").click()
    page.get_by_label("Receipt", exact=True).fill(started.value.path().read_text())
    page.get_by_role("button", name="Check it").click()
    expect(
        page.get_by_text("Valid: this server signed exactly the receipts above.")
    ).to_be_visible()
    visitor.check("tiny-receipts")


def test_stop_names_what_is_due_at_the_moment_it_is_opened(visitors: Visitors) -> None:
    visitor = visitors(DESK)
    page = visitor.enter("bot")
    expect(page.get_by_text("each earns its share of 2.00 USD")).to_be_visible()
    visitor.check("stopping-rule")
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_role("button", name="I am ready, start").click()
    stop = page.locator("summary", has_text="Stop")
    for messages, said in ((0, "You have not begun"), (2, "paid 1.00 USD."), (4, "paid 2.00 USD.")):
        if messages:
            visitor.send_message(f"Hello, this is for message {messages}")
            expect(page.locator(".msg")).to_have_count(messages)
        stop.click()
        expect(page.locator("[data-part=stop-means]")).to_contain_text(said)
        stop.click()
    stop.click()
    page.get_by_role("button", name="Yes, stop here").click()
    expect(page.get_by_text("It stands for 2.00 USD.")).to_be_visible()


def test_a_message_on_its_way_and_a_partner_who_writes(visitors: Visitors) -> None:
    visitor = visitors(DESK)
    page = visitor.begin("slow")
    visitor.send_message("Hello")
    expect(page.get_by_text("Your partner is writing")).to_be_visible()
    box = page.get_by_label("Your message")
    box.fill("More")
    box.press("Enter")
    expect(page.get_by_text("Please wait for your partner's message first.")).to_be_visible()
    expect(box).to_have_value("More")
    box.press("Shift+Enter")
    expect(box).to_have_value("More\n")
    visitor.check("typing")


@pytest.mark.parametrize(("size", "theme"), [(PHONE, "dark"), (DESK, "light")])
def test_a_problem_is_reported_beside_a_chat_that_goes_on(
    visitors: Visitors, size: tuple[int, int], theme: str
) -> None:
    visitor = visitors(size, theme)
    page = visitor.begin("bot")
    visitor.send_message("Hello there")
    page.get_by_label("Your message").fill("half a sen")
    page.locator("summary", has_text="Stop").click()
    with page.context.expect_page() as opened:
        page.locator(".stop-means").get_by_role("link", name="Report a problem").click()
    beside = opened.value
    beside.get_by_role("button", name="Send the report").click()
    expect(beside.get_by_role("alert")).to_contain_text("Please write what happened.")
    visitor.check("problem-refused", beside)
    beside.get_by_label("What happened?").fill("The picture does not load.")
    beside.get_by_role("button", name="Send the report").click()
    expect(beside.get_by_text("have your report")).to_be_visible()
    visitor.check("problem-sent", beside)
    expect(page.get_by_label("Your message")).to_have_value("half a sen")
    page.locator("summary", has_text="Stop").click()
    visitor.send_message("Is it still you?")
    expect(page.locator(".msg-you")).to_have_count(2)


FORMER_ITEM = """text => {
    const { key } = JSON.parse(document.getElementById("chat-data").textContent);
    const id = crypto.randomUUID();
    const item = { frame: { type: "say", text, id }, at: Date.now() };
    localStorage.setItem(`parley.${key}.outbox.${id}`, JSON.stringify(item));
}"""


def test_what_a_page_of_version_1_left_in_its_outbox_is_sent(visitors: Visitors) -> None:
    visitor = visitors(DESK)
    page = visitor.begin("slow")
    expect(page.locator("#count")).to_contain_text("0 of ")
    page.evaluate(FORMER_ITEM, "Written before the deploy.")
    page.reload()
    expect(page.locator(".msg-you .msg-text")).to_have_text("Written before the deploy.")
    expect(page.locator(".msg-you .msg-state")).to_have_text("Sent")
    expect(page.get_by_text("Your partner is writing")).to_be_visible()
