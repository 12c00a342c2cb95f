"""A quiz is built in a real browser: its fields come with the time when it is asked."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.serialized import from_json
from tests.browser.test_own_protocols import ask
from tests.browser.test_staff_pages import check, refused, sign_in
from webapp.models import OwnProtocol

__all__ = ["refused"]  # a fixture
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]


def test_a_question_becomes_one_of_a_quiz(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    sign_in(page, live_server)
    page.get_by_role("link", name="Your protocols").click()
    page.get_by_role("link", name="Start from blank").click()
    page.get_by_label("Title").fill("With a quiz")
    ask(page, "yes_no", 1, "Is one message enough?")
    page.locator("[id='id_q1.asked']").select_option("quiz")
    page.get_by_role("button", name="Show its fields").click()
    page.get_by_label("Answers that pass, as stored, separated by commas").fill("maybe")
    page.get_by_label("Explanation for who was wrong").fill("Ten are needed.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("answers has 'maybe', no answer to it")
    check(page, "builder-quiz")
    page.get_by_label("Answers that pass, as stored, separated by commas").fill("0")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    quiz = from_json(OwnProtocol.objects.get().content).quiz
    assert quiz is not None
    assert quiz.answers[0].values == (0,)
    assert quiz.explanation(quiz.questions[0].name) == "Ten are needed."
