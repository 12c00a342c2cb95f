"""Every kind of question and every step as a participant sees it, in every look, without barriers.

    python -m tests.browser.album FOLDER [--only NAME ...]

Writes a PNG per page, width (360, 1280), theme (light, dark) and direction (English, Arabic). Kinds
are those of the registry, steps those that a protocol can have, and screens those of `screens`: one
that has no page here is named, and the command fails. So it does where axe finds a barrier or
something is wider than the window. Pages and scripts are the real ones; Django answers the browser
in this process.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextvars import copy_context
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.looks import check_axe
from tests.browser.pictures import browser
from tests.live import ROOT

if TYPE_CHECKING:
    from tests.webapp.views.visiting import Visit

SITE = "http://127.0.0.1:9"  # a secure context, and no socket opens there
LANGUAGES = ("en", "ar")
LOOKS = tuple(product((360, 1280), ("light", "dark")))
HEIGHT = 800
PATIENCE = 15_000.0  # milliseconds
Look = tuple[int, str]  # width and theme
# The screen of a page, where it is not called as its step is; a kind of question is on "rate".
SCREENS = {
    "screening": "admission",
    "quiz": "admission",
    "matched": "waiting",
    "onboarding": "rate",
    "attention": "rate",
}


# --- the pages --------------------------------------------------------------------------------


def steps() -> Mapping[str, Callable[[str], Visit]]:
    """Return how somebody gets to each page, by the page's name and for a language."""
    return {
        "entry": _came,
        "ready": lambda language: _joined(_bots(language)),
        "screening": lambda language: _joined(_checked("SCREENING", language)),
        "quiz": _quizzed,
        "waiting": lambda language: _started(_people(language)),
        "matched": _matched,
        "chat": _chatted,
        "rate": _rated,
        "onboarding": lambda language: _started(_onboarding(language)),
        "attention": lambda language: _started(_attention(language)),
        "write": lambda language: _started(_writing(language)),
        "ended": _ended,
    }


def lacking() -> set[str]:
    """Return the steps of protocols, and the screens, that have no page here."""
    from evaluation.protocol import Step
    from webapp.services.participation import screens

    wanted = {each.__name__.lower() for each in get_args(Step)} | set(screens.NAMES.values())
    of_admission = {"admission"} if {"screening", "quiz"} <= set(steps()) else set()
    return wanted - set(steps()) - of_admission


def pages(folder: Path, language: str) -> Iterator[tuple[str, Callable[[], Visit]]]:
    """Yield every page's name and how somebody gets there."""
    from evaluation.registry import kind_names

    for name, reach in steps().items():
        yield f"step-{name}", partial(reach, language)
    for kind in kind_names():
        yield f"kind-{kind}", partial(_asked, folder, kind, language)


def _asked(folder: Path, kind: str, language: str) -> Visit:
    from tests.asking import campaign_asking, rating

    return rating(_in(campaign_asking(folder, kind), language))[0]


def _in(campaign: Any, language: str) -> Any:
    """Return a campaign whose pages are in a language."""
    type(campaign).objects.filter(pk=campaign.pk).update(languages=[language])
    campaign.refresh_from_db()
    return campaign


def _visit(campaign: Any) -> Visit:
    from tests.webapp.views.visiting import Visit

    return Visit(campaign)


def _joined(campaign: Any) -> Visit:
    visit = _visit(campaign)
    visit.join()
    return visit


def _started(campaign: Any) -> Visit:
    visit = _joined(campaign)
    visit.post("start")
    return visit


def _bots(language: str) -> Any:
    from tests.webapp.views.visiting import campaign_of

    return _in(campaign_of(changes={"chat.minimum": [2]}), language)


def _people(language: str) -> Any:
    from tests.webapp.services.people import people_campaign

    return _in(people_campaign(), language)


def _checked(name: str, language: str) -> Any:
    from tests.webapp import admitted

    return _in(admitted.campaign_with(getattr(admitted, name)), language)


def _onboarding(language: str) -> Any:
    from evaluation import Onboarding
    from tests.webapp.admitted import known_row, onboarding_campaign, rows_of

    rows = [*map(known_row, range(2)), *rows_of(4)]
    return _in(onboarding_campaign(Onboarding(items=2, share=0.5), rows, batch=4), language)


def _attention(language: str) -> Any:
    """Return a campaign whose first form ends with an attention check."""
    from evaluation import Attention, Gate, YesNo, ours
    from tests.webapp.admitted import onboarding_campaign, rows_of

    check = YesNo(name="choose_no", text=ours("This is an attention check: please choose No."))
    step = Attention(questions=(check,), passes=(Gate("choose_no", (0,)),), every=1, misses=1)
    return _in(onboarding_campaign(step, rows_of(4), batch=4), language)


def _writing(language: str) -> Any:
    from tests.webapp.services.written import of_personas

    return _in(of_personas(), language)


def _came(language: str) -> Visit:
    """Return somebody in front of the consent: the link itself, not the page of their step."""
    return _visit(_bots(language))


def _quizzed(language: str) -> Visit:
    """Return somebody who has answered one question wrong."""
    visit = _started(_checked("QUIZ", language))
    page = visit.get().context
    wrong = {field.name: field.answer.options[-1].value for field in page["fields"]}
    visit.post("answer", wrong | {"try": page["screen"].admission.try_name})
    return visit


def _matched(language: str) -> Visit:
    campaign = _people(language)
    first = _started(campaign)
    _started(campaign)
    return first


def _chatted(language: str) -> Visit:
    from tests.webapp.views.visiting import chat_through

    visit = _started(_bots(language))
    chat_through(visit, 2)
    return visit


def _rated(language: str) -> Visit:
    from tests.asking import rating

    return rating(_bots(language))[0]


def _ended(language: str) -> Visit:
    from tests.webapp.views.visiting import good_answers

    visit = _rated(language)
    visit.post("rate", good_answers(visit.get()))
    return visit


# --- the browser ------------------------------------------------------------------------------


def opened(of: Browser, visit: Visit, name: str) -> Page:
    """Return a page that shows where somebody is; Django answers in this process."""
    sort, step = name.split("-", maxsplit=1)
    if step != "entry":
        shown = visit.get().context["screen"].name
        assert shown == ("rate" if sort == "kind" else SCREENS.get(step, step)), f"{name}: {shown}"
    context = of.new_context(reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    # A route is answered in a context of its own, which has another connection to the database.
    here = copy_context()
    page.route(f"{SITE}/**", lambda route: here.copy().run(_answer, route, visit))
    page.goto(SITE + visit.base + ("" if name == "step-entry" else "now"))
    if name == "step-chat":
        expect(page.locator(".msg")).to_have_count(4, timeout=PATIENCE)
    return page


def _answer(route: Route, visit: Visit) -> None:
    asked = urlsplit(route.request.url)
    if asked.path.startswith("/static/"):
        route.fulfill(path=ROOT / asked.path.removeprefix("/"))
        return
    method, body = route.request.method, route.request.post_data or ""
    kind = route.request.headers.get("content-type", "application/json")
    tab = {"X-Tab": route.request.headers.get("x-tab", "")}
    address = f"{asked.path}?{asked.query}"
    answer = visit.client.generic(method, address, body, content_type=kind, headers=tab)
    route.fulfill(
        status=answer.status_code, body=answer.content, content_type=answer["Content-Type"]
    )


def dress(page: Page, look: Look) -> None:
    """Give a page a width and a theme."""
    width, theme = look
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]


def faults(page: Page, name: str) -> Iterator[str]:
    """Yield what is wrong with a page."""
    try:
        check_axe(page, name)
    except AssertionError as barrier:
        yield str(barrier)
    if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
        yield f"{name}: something is wider than the window"


def take(of: Browser, folder: Path, protocols: Path, only: list[str]) -> tuple[int, list[str]]:
    """Take every picture; return how many there are, and what is wrong."""
    count, found = 0, list[str]()
    for language in LANGUAGES:
        for name, reach in pages(protocols, language):
            if only and name not in only:
                continue
            page = opened(of, reach(), name)
            for look in LOOKS:
                picture = f"{name}-{look[0]}-{look[1]}-{language}"
                dress(page, look)
                found += faults(page, picture)
                page.screenshot(path=folder / f"{picture}.png", full_page=True)
                count += 1
            page.context.close()
    return count, found


def main() -> None:
    """Take the pictures, and say how many there are and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="pages, such as kind-slider")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        os.environ |= {"DATA_DIR": data, "DEBUG": "1", "DJANGO_ALLOW_ASYNC_UNSAFE": "1"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
        os.environ.pop("DATABASE_URL", None)
        import django
        from django.core.management import call_command
        from django.test.utils import setup_test_environment

        django.setup()
        setup_test_environment()
        call_command("migrate", verbosity=0, skip_checks=True)
        from tests.asking import more_protocols

        protocols = Path(data) / "protocols"
        protocols.mkdir()
        with more_protocols(protocols), browser() as chosen:
            count, found = take(chosen, given.folder, protocols, given.only)
    for fault in (*found, *(f"{name}: has no page here" for name in sorted(lacking()))):
        print(fault)
    print(f"{count} pictures in {given.folder}; {len(found)} faults")
    sys.exit(1 if found or lacking() else 0)


if __name__ == "__main__":
    main()
