"""Every kind of question and every step has a page in the album, and no barrier on a phone.

The album's command takes them in every look; here is one, in Arabic and the dark.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from evaluation.registry import kind_names
from tests.asking import more_protocols
from tests.browser import album

pytestmark = pytest.mark.django_db
NAMES = [*(f"step-{name}" for name in album.steps()), *(f"kind-{name}" for name in kind_names())]


def test_every_step_and_screen_has_a_page(tmp_path: Path) -> None:
    assert album.lacking() == set()
    assert [name for name, _ in album.pages(tmp_path, "ar")] == NAMES


@pytest.mark.parametrize("gone", ["write", "waiting", "quiz"])
def test_a_step_without_a_page_is_named(monkeypatch: pytest.MonkeyPatch, gone: str) -> None:
    left = {name: reach for name, reach in album.steps().items() if name != gone}
    monkeypatch.setattr(album, "steps", lambda: left)
    assert gone in album.lacking()


@pytest.mark.browser
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_in_the_dark_from_right_to_left(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    with more_protocols(tmp_path):
        reach = dict(album.pages(tmp_path, "ar"))[name]
        page = album.opened(browser, reach(), name)
        album.dress(page, (360, "dark"))
        assert list(album.faults(page, name)) == []
        assert page.evaluate("document.documentElement.dir") == "rtl"
        page.context.close()
