"""The suite itself: each rule stands on the page, is kept, and notices a server that breaks it.

G31.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.conformance import suite
from tests.conformance.deviations import DEVIATIONS
from tests.conformance.documents import PAGE
from tests.conformance.rules import RULES
from tests.conformance.wire import Site

FEW = (  # one of each kind: joining, a replay, an item, a label, HTTP
    "a_claimed_id_needs_proof",
    "a_hello_is_answered_in_order",
    "a_repeat_is_stored_once",
    "specific_waits_for_sensible",
    "a_poll_is_a_sync",
)
pytestmark = pytest.mark.xdist_group("conformance")  # one server
each_rule = pytest.mark.parametrize("name", RULES)


def _words(text: str) -> str:
    return " ".join(text.split())


@each_rule
def test_the_rule_is_a_sentence_of_the_page(name: str) -> None:
    assert _words(RULES[name].text) in _words(PAGE.read_text(encoding="utf-8"))


def test_each_rule_has_a_deviation() -> None:
    assert len(RULES) >= 30
    assert set(DEVIATIONS) == set(RULES)


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Site]]:
    with suite.serving(tmp_path_factory.mktemp("suite"), patience=5.0) as found:
        yield found


def check(name: str, sites: Mapping[str, Site]) -> None:
    """The rule holds for the server, and is broken by the deviation, for its own reason."""
    meddler, complaint = DEVIATIONS[name]
    assert suite.checked(RULES[name], sites) == ""
    problem = suite.checked(RULES[name], sites, meddler())
    assert problem, "the deviation is not noticed"
    assert re.search(complaint, problem), problem


@pytest.mark.parametrize("name", FEW)
def test_a_rule_holds_and_its_deviation_is_noticed(name: str, sites: Mapping[str, Site]) -> None:
    check(name, sites)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RULES if name not in FEW])
def test_every_rule_holds_and_its_deviation_is_noticed(
    name: str, sites: Mapping[str, Site]
) -> None:
    check(name, sites)


@pytest.mark.slow
def test_a_server_with_a_bug_of_its_own_is_noticed(tmp_path: Path) -> None:
    """No change on the wire: the server stores what it has stored already."""
    with suite.serving(tmp_path, faults="no_unique_client_id") as found:
        assert suite.checked(RULES["a_ping_is_answered"], found) == ""
        assert suite.checked(RULES["a_repeat_is_stored_once"], found)
