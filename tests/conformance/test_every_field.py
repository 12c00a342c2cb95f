"""Every address and frame of the schema, with valid data and with each field wrong (G10, R24).

On a real server: no error of its own, refusals as the documents say, and nothing stored by them.
What there is to try is read from docs/protocol/, so that a new field is tried without a line here.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import attempts, cases, suite
from tests.conformance.documents import complaints, document, unknown_fields
from tests.conformance.stored import Stored
from tests.conformance.wire import Browser, Frame, Site, Tab

pytestmark = pytest.mark.xdist_group("every field")  # one server
STEPS: Mapping[str, Any] = document("openapi.json")["x-steps"]
CLOSES: Mapping[str, str] = document("asyncapi.json")["x-close-codes"]
OFFERED = [(state, action) for state, step in STEPS.items() for action in step["actions"]]
OF_STEPS = {action for _, action in OFFERED}
ANYWHERE = [each for each in attempts.operations() if each.action not in OF_STEPS]
Sites = Mapping[str, Site]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fields")


@pytest.fixture(scope="module")
def serving(folder: Path) -> Iterator[Sites]:
    with suite.serving(folder) as found:
        yield found


@pytest.fixture
def sites(serving: Sites) -> Iterator[Sites]:
    """The campaigns; whoever waits for a partner leaves again, not to be the next one's."""
    yield serving
    for browser in serving["pair"].browsers:
        browser.press("/stop")
    for site in serving.values():
        site.close()
        site.browsers.clear()


@pytest.fixture
def stored(serving: Sites, folder: Path) -> Iterator[Stored]:
    found = Stored(folder)
    yield found
    found.close()


# --- people at each step ------------------------------------------------------------------------


def reach(state: str, sites: Sites) -> Browser:
    """Return the browser of somebody who is at a step."""
    match state:
        case "ADMISSION":
            return sites["screening"].joined()
        case "READY":
            return sites["any"].joined()
        case "WAITING":
            return _pressed(sites["pair"].joined(), "/start", "WAITING")
        case "MATCHED":
            sites["pair"].joined().press("/start")
            return _pressed(sites["pair"].joined(), "/start", "MATCHED")
        case "CHATTING":
            return sites["talk"].chatting()
        case "RATING":
            return _finished(sites["talk"].chatting())
        case "WRITING":
            return _pressed(sites["writing"].joined(), "/start", "WRITING")
    return _pressed(sites["any"].joined(), "/stop", "ENDED")


def _pressed(browser: Browser, button: str, state: str) -> Browser:
    browser.press(button)
    browser.reach(state)
    return browser


def _finished(browser: Browser) -> Browser:
    def status() -> Frame:
        return next(each for each in browser.frames().json()["frames"] if "turn" in each)

    while not browser.site.until(lambda: (s := status())["turn"] == "you" and s, "own turn")[
        "may_finish"
    ]:
        browser.frames(cases.example(cases.schema_of("Message")))
    browser.frames(cases.example(cases.schema_of("Finish")))
    browser.reach("RATING")
    return browser


# --- addresses ----------------------------------------------------------------------------------


def tried(
    browser: Browser, operation: attempts.Operation, stored: Stored, *, is_first: bool = True
) -> Iterator[str]:
    """Send all that is wrong, and then the valid one; yield what is not as documented.

    What no state changes (an address, a method, a size) is tried where an operation comes first.
    """
    asked, page = attempts.valid(browser, operation), browser.page()
    stored.changes()
    wrong = [*attempts.wrong_fields(asked, page)]
    wrong += attempts.wrong_requests(asked, page) if is_first else ()
    for each in [*wrong, asked]:
        answer = each.send(browser)
        yield from (f"{each}: {problem}" for problem in attempts.problems(each, answer))
        changes = stored.changes()
        if answer.status_code >= 400 or operation.method == "get":
            yield from (f"{each}: {line}" for line in changes)


@pytest.mark.parametrize(("state", "action"), OFFERED)
def test_what_a_step_offers_takes_no_field_that_is_wrong(
    state: str, action: str, sites: Sites, stored: Stored
) -> None:
    browser = reach(state, sites)
    found = [each for each in attempts.operations() if each.action == action]
    assert found
    is_first = next(one for one, offered in OFFERED if offered == action) == state
    lines = (tried(browser, each, stored, is_first=is_first) for each in found)
    problems = [*itertools.chain(*lines)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("operation", ANYWHERE, ids=lambda each: each.name)
def test_an_address_of_every_step_takes_no_field_that_is_wrong(
    operation: attempts.Operation, sites: Sites, stored: Stored
) -> None:
    problems = [*tried(reach("READY", sites), operation, stored)]
    assert not problems, "\n".join(problems)


# --- frames -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", cases.client_frames())
def test_a_socket_takes_no_field_that_is_wrong(kind: str, sites: Sites, stored: Stored) -> None:
    browser, found = sites["talk"].chatting(), list(cases.spoiled(kind))
    assert all(cases.is_refused_by_schema(case, kind) for case in found)
    while found:
        tab = browser.greeted()
        stored.changes()
        for _ in range(3):
            if found and tab.code is None:
                _check_refused(tab, found.pop())
        assert stored.changes() == []
        tab.close()


def _check_refused(tab: Tab, case: cases.Case) -> None:
    """A refusal has the shape of the schema, and names the field."""
    tab.raw(json.dumps(case.body))
    if case.way == "bytes":
        assert str(tab.closed()) in CLOSES
        return
    frame = tab.kind("error", "refused")
    assert complaints(frame, "ServerFrame") == []
    assert not unknown_fields(frame)
    if frame["type"] == "refused":
        assert (frame["code"], case.field, case.way) == ("bad_text", "text", "characters"), case
    else:
        assert frame["code"] == "bad_frame", case
        assert case.field in frame["complaint"], (case, frame)


@pytest.mark.parametrize("kind", cases.client_frames())
def test_every_frame_is_answered_by_frames_of_the_schema(
    kind: str, sites: Sites, stored: Stored
) -> None:
    """What fits is never a bad frame; what is refused all the same leaves nothing behind."""
    browser = sites["labels"].chatting()
    tab = browser.greeted()
    stored.changes()
    tab.raw(json.dumps(cases.example(cases.schema_of(kind))))
    frame = tab.kind("ack", "refused", "status", "ready", "pong", "error")
    assert frame["type"] != "error"
    assert complaints(frame, "ServerFrame") == []
    if frame["type"] == "refused":
        assert stored.changes() == []
