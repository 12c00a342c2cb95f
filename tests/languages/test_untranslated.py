"""R34: every text that participants see goes through gettext, whichever file it stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.languages import untranslated
from tests.languages.sources import ROOT, modules, scripts, templates


@pytest.mark.parametrize("path", templates(), ids=lambda path: str(path.name))
def test_a_template_shows_no_text_of_its_own(path: Path) -> None:
    assert untranslated.in_template(path) == [], "put these into {% trans %} or {% blocktrans %}"


@pytest.mark.parametrize("path", scripts(), ids=lambda path: str(path.name))
def test_a_script_brings_no_text_along(path: Path) -> None:
    assert untranslated.in_script(path) == [], "let the page hand these over (webapp/notices.py)"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_hands_its_sentences_to_gettext(path: Path) -> None:
    assert untranslated.in_module(path) == [], "put these into gettext"
    assert untranslated.unreadable(path) == [], "write %(names)s in place of an f-string"


def test_the_sources_reach_from_pages_to_questions() -> None:
    names = {str(path.relative_to(ROOT)) for path in (*templates(), *scripts(), *modules())}
    assert {
        "templates/participant/chat.html",
        "templates/questions/slider.html",
        "templates/404.html",
        "static/chat.js",
        "static/transcript.js",
        "webapp/notices.py",
        "webapp/services/rating/form.py",
        "evaluation/checks.py",
        "evaluation/kinds/free_text.py",
    } <= names
    assert not [name for name in names if "staff" in name]


def test_a_new_text_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('{% load i18n %}<p title="Two words">{% trans "Fine" %}</p><b>Not fine</b>')
    assert untranslated.in_template(page) == ["Two words", "Not fine"]
    module = tmp_path / "module.py"
    module.write_text(
        '"""A fine docstring."""\nx = "Please write to us."\ny = _("Please wait.")\n'
        'raise ValueError("This is for us.")\nz = gettext(f"Hello {x}.")\n'
    )
    assert untranslated.in_module(module) == ["Please write to us."]
    assert untranslated.unreadable(module) == ["gettext(f'Hello {x}.')"]
    script = tmp_path / "script.js"
    script.write_text(
        '// Not a text\nbox.textContent = "Saved";\nshow("part", words.fine);\n'
        'alert("Try it again");\n'
    )
    assert untranslated.in_script(script) == ["Try it again", "Saved"]
