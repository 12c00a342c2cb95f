"""Pages as the crowd reads them."""

from __future__ import annotations

from webapp.crowd import answers
from webapp.crowd.page import PageForm, read
from webapp.crowd.people import Person

PAGE = """
<html><head><meta name="csrf-token" content="tok"></head><body>
<details data-part="persona"><summary>You are</summary><ul><li>I sail.</li><li>I am <b>80</b>.</li>
</ul></details>
<form action="/c/x/stop"><input type="hidden" name="csrf" value="a"></form>
<form action="/c/x/rate?again=1" method="post"><input type="hidden" name="csrf" value="b">
<input type="checkbox" name="tick">
<fieldset data-name="p.fluency" data-kind="likert" data-gate="" data-gate-values="[]">
<input type="radio" name="p.fluency" value="1"><input type="radio" name="p.fluency" value="2">
</fieldset>
<fieldset data-name="p.persona" data-kind="persona_choice" data-gate="" data-gate-values="[]">
<input type="radio" name="p.persona" value="k1"><input type="radio" name="p.persona" value="k2">
</fieldset>
<fieldset data-name="p.sensible" data-kind="yes_no" data-gate="" data-gate-values="[]">
<input type="radio" name="p.sensible" value="1"><input type="radio" name="p.sensible" value="0">
</fieldset>
<fieldset data-name="p.specific" data-kind="yes_no" data-gate="p.sensible"
  data-gate-values="[&quot;1&quot;]">
<input type="radio" name="p.specific" value="1"><input type="radio" name="p.specific" value="0">
</fieldset>
<fieldset data-name="p.warmth" data-kind="none" data-gate="" data-gate-values="[]">
<select><option value="a">A</option><option value="b">B</option></select></fieldset>
<fieldset data-name="p.why" data-kind="none" data-gate="" data-gate-values="[]">
<textarea maxlength="9"></textarea></fieldset>
</form><input type="hidden" name="outside" value="c">
<p>Code: <span id="code"> AB-CD <br></span></p></body></html>
"""


def test_what_a_page_offers() -> None:
    page = read(PAGE)
    assert page.token == "tok"
    assert answers.persona(page) == ["I sail.", "I am 80."]
    assert answers.code(page) == "AB-CD"
    form = page.form("/rate")
    assert form is not None
    assert (form.sent, form.ticks) == ({"csrf": "b"}, ["tick"])
    asked = {question.name: question for question in form.questions}
    assert asked["p.persona"].options == ["k1", "k2"]
    assert (asked["p.specific"].gate, asked["p.specific"].gate_values) == ("p.sensible", ("1",))
    assert asked["p.warmth"].options == ["a", "b"]
    assert asked["p.why"].input == {"maxlength": "9"}
    assert page.form("/meet") is None


def rate_form() -> PageForm:
    """The questions whose kinds there are."""
    form = read(PAGE).form("/rate")
    assert form is not None
    return PageForm(form.action, questions=[q for q in form.questions if q.kind != "none"])


def test_a_form_is_answered_by_what_can_be_chosen() -> None:
    form = rate_form()
    sure = {"fluency": 2.0, "persona": 1.0, "sensible": 1.0, "specific": 0.0}
    given = answers.fill(Person(name="a", seed=1), form, sure, "k2")
    assert given == {
        "p.fluency": "2",
        "p.persona": "k2",
        "p.sensible": "1",
        "p.specific": "0",
    }


def test_what_is_not_sensible_is_not_asked_to_be_specific() -> None:
    form = rate_form()
    given = answers.fill(Person(name="a", seed=1), form, {"sensible": 0.0, "persona": 1.0}, "k1")
    assert given["p.sensible"] == "0"
    assert "p.specific" not in given
