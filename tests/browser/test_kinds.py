"""Kinds of question in a browser: the scripts know inputs and attributes, and no kind.

Real pages and the real scripts; what the scripts send to the server is written down here instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from evaluation import Shown
from evaluation.registry import get_kind, kind_names
from tests import newcomer
from tests.asking import campaign_asking, more_protocols, rating
from tests.browser.looks import wait_until
from webapp.views.rendering import label_data

ROOT = Path(__file__).parents[2]
SITE = "http://parley.test"
INPUTS = "input, select, textarea"
LIVE = [name for name in kind_names() if get_kind(name).while_chatting]
pytestmark = [pytest.mark.browser, pytest.mark.django_db]
LABELS = """<!doctype html><html lang="en"><title>Labels</title><main id="message"></main>
<script type="module">
import { Labels } from "/static/labels.js";
window.sent = [];
const words = { labels: "Labels", answer_first: "later" };
window.labels = new Labels(%s, words, (label) => window.sent.push(label));
window.labels.draw(document.getElementById("message"), 2);
</script></html>"""


class Form:
    """The form of a kind in front of somebody."""

    def __init__(
        self, page: Page, html: str, field: Any, shown: Shown, *, late: bool = False
    ) -> None:
        self.page, self.field, self.shown = page, field, shown
        self.drafts: list[dict[str, str]] = []
        self.script: list[Route] = []  # that is asked for and held, where it comes late
        serve(page, html, self._draft)
        if late:
            page.route("**/rate.js", lambda route: self.script.append(route))
            with page.expect_request("**/rate.js"):
                page.goto(SITE, wait_until="commit")
            wait_until(page, "document.readyState !== 'loading'")
        else:
            page.goto(SITE)
        self.question = page.locator(f"#{field.id}")

    def _draft(self, route: Route) -> None:
        self.drafts.append(json.loads(route.request.post_data or "")["answers"])
        route.fulfill(json={"saved": True})

    def sends(self) -> str | None:
        """What would be sent for the field."""
        script = "(name) => new FormData(document.getElementById('rate')).get(name)"
        return self.page.evaluate(script, self.field.name)  # type: ignore[no-any-return]

    def saved(self) -> str:
        """Wait until the answer is autosaved, and return it."""
        expect(self.page.locator("[data-part=saved]")).to_have_text("Saved")
        return self.drafts[-1][self.field.name]

    def is_good(self, raw: str | None) -> bool:
        self.field.question.parse(raw or "", self.shown)
        return True


def serve(page: Page, html: str, draft: Callable[[Route], None]) -> None:
    """Answer the browser: one page, the repository's scripts, and where answers are saved."""
    page.route(f"{SITE}/", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.route("**/draft", draft)
    page.route(
        "**/static/**",
        lambda route: route.fulfill(path=ROOT / route.request.url.removeprefix(f"{SITE}/")),
    )


def answer(question: Any, good: str) -> None:
    """Answer by hand whatever input there is."""
    first = question.locator(INPUTS).first
    if first.get_attribute("type") == "range":
        first.press("ArrowRight")
    elif first.get_attribute("type") == "radio":
        first.click()
    else:
        first.fill(good)
        first.blur()


def form_of(page: Page, visit: Any, field: Any, *, late: bool = False) -> Form:
    answered = visit.get()
    shown = answered.context["screen"].form.shown
    return Form(page, answered.content.decode(), field, shown, late=late)


@pytest.fixture
def form(page: Page, kind: str, tmp_path: Path) -> Iterator[Form]:
    with more_protocols(tmp_path):
        visit, field = rating(campaign_asking(tmp_path, kind))
        yield form_of(page, visit, field)


@pytest.fixture
def gated(page: Page, kind: str, tmp_path: Path) -> Iterator[Form]:
    """The same question, asked only after a yes."""
    with more_protocols(tmp_path):
        visit, field = rating(campaign_asking(tmp_path, kind, gated=True))
        yield form_of(page, visit, field)


@pytest.fixture
def late(page: Page, kind: str, tmp_path: Path) -> Iterator[Form]:
    """The same form, whose script is not there yet."""
    with more_protocols(tmp_path):
        visit, field = rating(campaign_asking(tmp_path, kind))
        yield form_of(page, visit, field, late=True)


@pytest.mark.parametrize("kind", kind_names())
def test_what_is_answered_before_the_script_is_there_is_saved(late: Form, kind: str) -> None:
    good = late.field.question.sample_answers(late.shown)
    answer(late.question, good[0] if good else "")
    (script,) = late.script
    script.fallback()
    assert late.saved() == late.sends()
    assert late.is_good(late.sends())


@pytest.mark.parametrize("kind", ["ranking"])
def test_ranks_changed_before_the_script_is_there_are_not_taken_away(late: Form, kind: str) -> None:
    ranks = late.page.locator("input[data-alone]")
    names = "all => [...new Set(all.map((each) => each.name))].slice(0, 2)"
    first, second = ranks.evaluate_all(names)

    def choose(name: str, rank: int) -> None:
        late.page.locator(f'input[name="{name}"]').nth(rank).check()

    choose(first, 0)
    choose(second, 1)
    ranks.evaluate_all(
        "all => all.forEach((each) => each.toggleAttribute('checked', each.checked))"
    )
    choose(first, 1)
    choose(second, 0)
    (script,) = late.script
    script.fallback()
    late.saved()
    drafts = late.drafts[-1]
    options = [option.value for option in late.field.answer.options]
    assert (drafts[first], drafts[second]) == (options[1], options[0])


@pytest.mark.parametrize("kind", kind_names())
def test_nothing_is_sent_until_an_answer_is_given_and_that_is_saved(form: Form, kind: str) -> None:
    assert not form.sends()
    good = form.field.question.sample_answers(form.shown)
    answer(form.question, good[0] if good else "")
    assert form.is_good(form.sends())
    assert form.saved() == form.sends()


@pytest.mark.parametrize("kind", ["free_text"])
def test_a_text_is_saved_while_it_is_typed_and_digits_are_part_of_it(form: Form, kind: str) -> None:
    form.question.locator("textarea").press_sequentially("Two dogs and 3 cats")
    assert form.saved() == form.sends() == "Two dogs and 3 cats"


@pytest.mark.parametrize("kind", kind_names())
def test_digits_choose_the_options_that_name_one(form: Form, kind: str) -> None:
    if get_kind(kind).compares:  # the page asks the same of several replies
        form.question.locator(INPUTS).first.focus()
    for option in form.field.answer.options:
        if option.key:
            form.page.keyboard.press(option.key)
            assert form.sends() == option.value
    if not any(option.key for option in form.field.answer.options):
        form.page.keyboard.press("1")
        assert not form.sends()


@pytest.mark.parametrize("kind", [name for name in kind_names() if not get_kind(name).compares])
def test_a_question_is_locked_until_its_gate_opens_and_empty_when_it_closes(
    gated: Form, kind: str
) -> None:
    gate = gated.page.locator('[data-name="p.gate"]')
    first = gated.question.locator(INPUTS).first
    expect(first).to_be_disabled()
    gate.get_by_label("Yes").check()
    expect(first).to_be_enabled()
    assert not gated.sends()
    good = gated.field.question.sample_answers(gated.shown)
    answer(gated.question, good[0] if good else "")
    assert gated.is_good(gated.sends())
    gate.get_by_label("No").check()
    expect(first).to_be_disabled()
    gate.get_by_label("Yes").check()
    assert not gated.sends()


@pytest.mark.parametrize("kind", ["slider"])
def test_the_slider_of_a_label_stands_in_the_middle_and_is_answered_there(
    page: Page, kind: str
) -> None:
    serve(page, LABELS % json.dumps([label_data(get_kind(kind).sample())]), lambda route: None)
    page.goto(SITE)
    slider = page.locator(".label-row input")
    expect(slider).to_have_value("0.5")
    slider.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Space")  # is no second answer
    assert [sent["value"] for sent in page.evaluate("window.sent")] == ["0.5"]


@pytest.mark.parametrize("kind", LIVE)
def test_a_label_is_sent_shown_in_other_tabs_and_taken_back(page: Page, kind: str) -> None:
    question, data = get_kind(kind).sample(), label_data(get_kind(kind).sample())
    serve(page, LABELS % json.dumps([data]), lambda route: route.abort())
    page.goto(SITE)
    wait_until(page, "Boolean(window.labels)")
    value = f"window.labels.value(2, '{question.name}')"
    assert page.evaluate(value) is None
    good = question.sample_answers(Shown(()))
    answer(page.locator(".label-row"), good[0])
    (sent,) = page.evaluate("window.sent")
    assert (sent["seq"], sent["question"]) == (2, question.name)
    question.parse(sent["value"], Shown(()))
    for raw in good:
        page.evaluate(f"window.labels.mark(2, '{question.name}', {json.dumps(raw)})")
        assert question.parse(page.evaluate(value), Shown(())) == question.parse(raw, Shown(()))
    page.evaluate(f"window.labels.restore(2, '{question.name}', undefined)")
    assert page.evaluate(value) is None
    page.evaluate("window.labels.focusFirst([2])")
    expect(page.locator(".label-row input").first).to_be_focused()


@pytest.mark.timeout(400)
def test_the_typed_number_of_the_guide_needs_no_script_of_its_own(tmp_path: Path) -> None:
    newcomer.clone(tmp_path)
    newcomer.paste("A kind of question", tmp_path)
    arguments = ("-m", "browser", "tests/browser/test_kinds.py")
    assert newcomer.passed(tmp_path, "-k", "typed_number and not guide", *arguments).total() >= 4


@pytest.mark.parametrize("kind", ["slider"])
def test_a_slider_shows_its_value_and_is_moved_by_keys(form: Form, kind: str) -> None:
    slider, shown = form.question.locator("input"), form.question.locator("output")
    expect(shown).to_have_text("no answer yet")
    slider.focus()
    form.page.keyboard.press("Space")  # where it stands
    expect(shown).to_have_text("0.5")
    assert form.saved() == form.sends() == "0.5"
    form.page.keyboard.press("ArrowRight")
    expect(shown).to_have_text("0.51")
    for key, end in (("Home", "0"), ("ArrowLeft", "0"), ("End", "1"), ("ArrowRight", "1")):
        form.page.keyboard.press(key)
        assert form.sends() == end
        expect(shown).to_have_text(end)


@pytest.mark.parametrize("kind", ["slider"])
def test_a_locked_slider_shows_no_value(gated: Form, kind: str) -> None:
    gate = gated.page.locator('[data-name="p.gate"]')
    gate.get_by_label("Yes").check()
    gated.question.locator("input").click()
    expect(gated.question.locator("output")).to_have_text("0.5")
    gate.get_by_label("No").check()
    expect(gated.question.locator("output")).to_have_text("no answer yet")


@pytest.mark.parametrize("kind", ["ranking"])
def test_a_position_that_is_taken_goes_to_who_had_the_other(form: Form, kind: str) -> None:
    """So arrow keys move a reply, and positions stay different."""
    first, second = (form.page.locator(".question").nth(number) for number in (0, 1))
    first.locator("input").nth(0).check()
    second.locator("input").nth(1).check()
    first.locator("input").nth(0).press("ArrowRight")
    expect(first.locator("input").nth(1)).to_be_checked()
    expect(second.locator("input").nth(0)).to_be_checked()
    assert form.saved() == form.sends() == "1"
