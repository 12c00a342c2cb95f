"""Looks at a page, under its content security policy: barriers found by axe, a thing come true."""

from __future__ import annotations

import time
from typing import Any

from axe_playwright_python.sync_playwright import Axe, AxeResults
from playwright.sync_api import Page

PATIENCE = 15.0  # seconds
# Only rules that are off by default look at what preloading brings.
_OPTIONS = {"resultTypes": ["violations"], "preload": False}


def check_axe(page: Page, name: str = "") -> None:
    """Fail with axe's report if it finds a barrier on the page as it stands."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    found = AxeResults(page.evaluate("options => axe.run(options)", _OPTIONS))
    assert found.violations_count == 0, f"{name or page.url}: {found.generate_report()}"


def wait_until(page: Page, expression: str, arg: Any = None) -> None:
    """Wait until an expression in JavaScript holds, or fail.

    Playwright's own wait_for_function compiles its expression in the page at every look but the
    first, which the policy refuses.
    """
    deadline = time.monotonic() + PATIENCE
    while not page.evaluate(expression, arg):
        assert time.monotonic() < deadline, f"never came true: {expression}"
        page.wait_for_timeout(50)
