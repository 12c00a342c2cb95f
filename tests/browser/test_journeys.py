"""Whole visits in a real browser, from the link to the code, as wide as phone and desk (G14)."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from evaluation import word_count
from tests.browser.conftest import DESK, PHONE, Visitor, Visitors

pytestmark = pytest.mark.browser
LOOKS = [(PHONE, "light"), (PHONE, "dark"), (DESK, "light"), (DESK, "dark")]
WORDS = "I really like to sail on the lake near my house"


def messages(page: Page, side: str) -> list[str]:
    return page.locator(f".msg-{side} .msg-text").all_text_contents()


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_chat_with_a_bot_from_the_link_to_the_code(
    visitors: Visitors, size: tuple[int, int], theme: str
) -> None:
    visitor = visitors(size, theme)
    page = visitor.enter("bot")
    expect(page.get_by_text("12.00 USD per hour")).to_be_visible()
    assert page.locator("main script, main img").count() == 0
    visitor.check("consent")
    page.get_by_role("button", name="I agree and take part").click()
    visitor.check("ready")
    page.get_by_role("button", name="I am ready, start").click()
    expect(page.get_by_text("I own boat number")).to_have_count(5)
    refused(visitor)
    for number in (1, 2):
        visitor.send_message(f"{WORDS} {number}")
        expect(page.locator(".msg-partner")).to_have_count(number)
    assert messages(page, "you") == [f"{WORDS} 1", f"{WORDS} 2"]
    visitor.check("chat")
    page.get_by_role("button", name="Finish the conversation").click()
    questions(visitor)
    done(visitor)


def refused(visitor: Visitor) -> None:
    """A message that breaks a rule stays in the box with the reason beside it."""
    page, box = visitor.page, visitor.page.get_by_label("Your message")
    long = " ".join(["sail"] * 16)
    box.fill(long)
    expect(page.get_by_text("16 of at most 15 words")).to_be_visible()
    box.press("Enter")
    expect(page.get_by_text("Please use at most 15 words; this message has 16.")).to_be_visible()
    expect(box).to_have_value(long)
    expect(box).to_be_focused()
    assert messages(page, "you") == []
    visitor.check("refused")
    page.reload()
    expect(box).to_have_value(long)
    box.fill("")


def test_a_message_that_is_too_long_is_never_cut(visitors: Visitors) -> None:
    """At the limit it goes; one character more is refused and stays, as long as it is pasted."""
    page = visitors(PHONE).begin("labels")
    box = page.get_by_label("Your message")
    for length in (5_000, 4_001, 100_000):
        box.fill("x" * length)
        expect(page.get_by_text(f"{length} of at most 4000 characters")).to_be_visible()
        box.press("Enter")
        expect(page.get_by_text("has more than 4000 characters. Please shorten it")).to_be_visible()
        assert len(box.input_value()) == length
    assert messages(page, "you") == []
    box.fill("🙂" * 4_000)
    expect(page.get_by_text("has more than 4000 characters")).to_be_hidden()
    box.press("Enter")
    expect(page.locator(".msg-you .msg-state")).to_have_text("Sent")
    assert messages(page, "you") == ["🙂" * 4_000]


def test_words_are_counted_alike_on_the_page_and_by_the_server(visitors: Visitors) -> None:
    """Of scripts without blanks too, and of a sentence that mixes them."""
    page = visitors(PHONE).begin("bot")
    for text in (
        "私は犬が好きです。",
        "東京tower 𠀀𠀁𠀂",
        "我有一条狗，叫小白。",
        "one two - three",
    ):
        page.get_by_label("Your message").fill(text)
        expect(page.get_by_text(f"{word_count(text)} of at most 15 words")).to_be_visible()


def questions(visitor: Visitor) -> None:
    """Digits answer; what is missing is named in a summary that has the focus."""
    page = visitor.page
    expect(page.get_by_role("heading", name="What was your partner like?")).to_be_visible()
    page.wait_for_load_state()  # a key pressed before the script has run is nobody's
    page.keyboard.press("4")
    expect(page.get_by_role("radio", name="4").first).to_be_checked()
    expect(page.get_by_text("Saved")).to_be_visible()
    page.reload()
    expect(page.get_by_role("radio", name="4").first).to_be_checked()
    page.get_by_role("button", name="Send my answers").click()
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    expect(summary.get_by_role("link")).to_have_count(3)
    visitor.check("missing")
    page.locator("#p-engagingness-3").check()
    page.locator("#p-consistency-5").check()
    page.get_by_text("Character 1").click()
    visitor.check("rating")
    page.get_by_role("button", name="Send my answers").click()


def done(visitor: Visitor) -> None:
    page = visitor.page
    code = page.locator("#code").text_content()
    assert code
    expect(page.get_by_text("Your partner may have been a computer program")).to_be_visible()
    back = page.get_by_role("link", name="Return and submit")
    assert back.get_attribute("href") == f"https://panel.example.org/done?code={code}"
    visitor.check("done")
    page.goto(visitor.site.address("bot"))
    expect(page.locator("#code")).to_have_text(code)
    page.get_by_role("link", name="Withdraw what I wrote").click()
    visitor.check("withdraw")
    page.get_by_role("button", name="Delete what I wrote").click()
    expect(page.get_by_role("heading", name="Deleted")).to_be_visible()
    expect(page.get_by_text(code)).to_be_visible()
    visitor.check("withdrawn")


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_label_every_message_while_chatting(
    visitors: Visitors, size: tuple[int, int], theme: str
) -> None:
    visitor = visitors(size, theme)
    page = visitor.begin("labels")
    expect(page.locator(".msg-partner .msg-text")).to_have_text("Hi!")
    first = page.locator(".labels").first
    specific = first.get_by_role("group", name="determine if it is specific")
    expect(specific.get_by_role("radio", name="Yes")).to_be_disabled()
    first.get_by_role("radio", name="Yes").first.focus()
    page.keyboard.press("Space")
    expect(specific.get_by_role("radio", name="Yes")).to_be_enabled()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    visitor.send_message("Hello, how are you?")
    expect(page.locator(".msg-partner")).to_have_count(2)
    visitor.check("labels")
    visitor.send_message("What do you do all day?")
    expect(page.locator(".msg-partner")).to_have_count(3)
    page.get_by_role("button", name="Label 2 more to finish").click()
    expect(page.locator(".labels").nth(1).get_by_role("radio").first).to_be_focused()
    for number in (1, 2):
        page.locator(".labels").nth(number).get_by_text("No", exact=True).first.click()
    page.reload()
    expect(page.locator(".labels").first.get_by_role("radio").first).to_be_checked()
    expect(page.locator(".msg")).to_have_count(5)
    page.get_by_role("button", name="Finish the conversation").click()
    expect(page.get_by_role("heading", name="Your completion code")).to_be_visible()


def test_write_twice_in_a_row_and_mark_what_one_likes(visitors: Visitors) -> None:
    visitor = visitors(PHONE)
    page = visitor.begin("wild")
    for text in ("Hi", "Hello?"):
        visitor.send_message(text)
    expect(page.locator(".msg-you")).to_have_count(2)
    expect(page.locator(".msg-partner")).to_have_count(0)
    expect(page.get_by_text("Your partner is writing")).to_be_visible()
    expect(page.locator(".msg-partner")).to_have_count(2)
    expect(page.get_by_text("Is this a good or a bad message? (optional)")).to_have_count(2)
    page.locator(".labels").first.get_by_text("Bad", exact=True).click()
    visitor.check("wild")
    page.reload()
    expect(page.locator(".labels").first.get_by_role("radio", name="Bad")).to_be_checked()
    page.get_by_role("button", name="Finish the conversation").click()
    expect(page.get_by_text("Score the conversation from 1 to 5.")).to_be_visible()
    visitor.check("wild-questions")


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_judge_fixed_replies(visitors: Visitors, size: tuple[int, int], theme: str) -> None:
    visitor = visitors(size, theme)
    page = visitor.enter("static")
    agree = page.get_by_role("button", name="I agree and take part")
    for _ in range(50):  # the replies come through a real worker, and may take a moment
        if agree.is_visible():
            break
        page.wait_for_timeout(200)
        page.reload()
    visitor.check("static-consent")
    agree.click()
    page.get_by_role("button", name="I am ready, start").click()
    expect(page.get_by_role("heading", name="Reply 1 of 2")).to_be_visible()
    specific = page.get_by_role("radiogroup", name="determine if it is specific")
    expect(specific.get_by_role("radio", name="Yes")).to_be_disabled()
    visitor.check("static")
    sensible = page.get_by_role("radiogroup", name="makes sense")
    sensible.get_by_text("Yes", exact=True).click()
    specific.get_by_text("Yes", exact=True).click()
    page.get_by_role("button", name="Next reply").click()
    expect(page.get_by_role("heading", name="Reply 2 of 2")).to_be_visible()
    sensible.get_by_text("No", exact=True).click()
    page.get_by_role("button", name="Send my answers").click()
    expect(page.get_by_role("heading", name="Your completion code")).to_be_visible()


@pytest.mark.parametrize(("size", "theme"), [(PHONE, "light"), (DESK, "dark")])
def test_two_conversations_each_with_its_form_and_its_pay(
    visitors: Visitors, size: tuple[int, int], theme: str
) -> None:
    visitor = visitors(size, theme)
    page = visitor.enter("rounds")
    expect(page.get_by_text("You may have up to 2, each with another partner.")).to_be_visible()
    expect(page.get_by_text("Per conversation. That is")).to_be_visible()
    visitor.check("rounds-consent")
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_role("button", name="I am ready, start").click()
    one_conversation(visitor, "p")
    expect(page.get_by_text("Next is conversation 2 of up to 2")).to_be_visible()
    expect(page.get_by_text("So far you have earned 2.00 USD.")).to_be_visible()
    visitor.check("rounds-between")
    page.get_by_role("button", name="Start the next conversation").click()
    expect(page.locator(".msg")).to_have_count(0)
    one_conversation(visitor, "p1")
    expect(page.get_by_text("are paid 4.00 USD")).to_be_visible()
    visitor.check("rounds-done")


def one_conversation(visitor: Visitor, key: str) -> None:
    page = visitor.page
    visitor.send_message(WORDS)
    expect(page.locator(".msg-partner")).to_have_count(1)
    page.get_by_role("button", name="Finish the conversation").click()
    for scale in ("fluency", "engagingness", "consistency"):
        page.locator(f"#{key}-{scale}-4").check()
    page.get_by_text("Character 1").click()
    page.get_by_role("button", name="Send my answers").click()
