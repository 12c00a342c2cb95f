"""How a person fills in a form whose questions they have never seen: by what can be chosen."""

from __future__ import annotations

from collections.abc import Sequence

from webapp.crowd.page import Form, Page
from webapp.crowd.people import Person, Quality, agrees, picks, scale_point

YES_NO = {"0", "1"}


def fill(
    person: Person, form: Form, quality: Quality, right: str, *about: object
) -> dict[str, str]:
    """Answer every question of a form; `right` is the option that would be right, where one is."""
    given: dict[str, str] = {}
    for name, options in form.options.items():
        question = name.rpartition(".")[2]
        if question == "specific" and given.get(name.replace("specific", "sensible")) == "0":
            continue
        given[name] = _answer(person, question, options, quality, right, *about)
    return given


def _answer(
    person: Person,
    question: str,
    options: Sequence[str],
    quality: Quality,
    right: str,
    *about: object,
) -> str:
    if set(options) == YES_NO:
        return str(int(agrees(person, quality.get(question, 0.5), question, *about)))
    if all(option.isdigit() for option in options):
        points = [int(option) for option in options]
        middle = (min(points) + max(points)) / 2
        return str(scale_point(person, quality.get(question, middle), points, question, *about))
    return picks(person, quality.get(question, 0.5), right, options, question, *about)


def persona(page: Page) -> list[str]:
    """Return the sentences of the character that a person is given, if any."""
    return [line.strip() for line in page.items.get("persona", ()) if line.strip()]


def code(page: Page) -> str:
    """Return the completion code that a page shows, or nothing."""
    return page.marks.get("code", "").strip()
