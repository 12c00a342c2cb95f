"""The reference client: small, free of Parley, and not to be stopped by a broken line.

G31.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError, InvalidHandshake
from websockets.sync.client import ClientConnection

from evaluation.registry import protocol_names
from tests.conformance import protocols, suite
from tests.conformance.wire import Site

SOURCE = protocols.CLIENT.read_text(encoding="utf-8")
TREE = ast.parse(SOURCE)
SAMPLE = ("explanation_ranking", "live_engagement", "meena_interactive", "role_play")


@pytest.fixture(scope="module")
def client() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_client", protocols.CLIENT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_needs_the_standard_library_and_websockets_only() -> None:
    names = {
        name.partition(".")[0]
        for node in ast.walk(TREE)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
        )
    }
    assert names - sys.stdlib_module_names == {"websockets"}


def test_it_has_at_most_three_hundred_lines_of_code() -> None:
    told: set[int] = set()  # lines of docstrings
    for node in ast.walk(TREE):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            told |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(SOURCE.splitlines(), start=1)
    assert len([1 for number, line in lines if line.strip() and number not in told]) <= 300


# --- on a server --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Site]]:
    with suite.serving(tmp_path_factory.mktemp("client")) as found:
        yield found


def options(folder: Path) -> Namespace:
    return Namespace(keep=str(folder), answers={}, seconds=60.0)


@pytest.mark.slow
def test_without_sockets_it_polls(
    client: ModuleType,
    sites: Mapping[str, Site],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*address: object, **more: object) -> object:
        raise InvalidHandshake

    monkeypatch.setattr(client, "connect", refuse)
    person = client.ClientParticipation(sites["talk"].link, "poller", options(tmp_path))
    person.run()
    assert (person.problem, person.state) == ("", "ENDED")
    assert person.kept["code"]
    assert person.counts["polls"] > 0


class Flaky(ClientConnection):
    """A line that breaks when the first item is answered, so that its answer is lost."""

    sent: list[dict[str, Any]] = []
    has_broken: list[bool] = []

    def send(self, message: Any, **more: Any) -> None:
        self.sent.append(json.loads(message))
        super().send(message, **more)

    def recv(  # type: ignore[override]
        self, timeout: float | None = None, **more: Any
    ) -> Any:
        came = super().recv(timeout, **more)
        if json.loads(came)["type"] == "ack" and not self.has_broken:
            self.has_broken.append(True)
            raise ConnectionClosedError(None, None)
        return came


@pytest.mark.slow
def test_what_was_not_answered_is_sent_again_under_its_id(
    client: ModuleType,
    sites: Mapping[str, Site],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = client.connect
    monkeypatch.setattr(
        client,
        "connect",
        lambda address, **more: plain(address, create_connection=Flaky, **more),
    )
    person = client.ClientParticipation(sites["talk"].link, "flaky", options(tmp_path))
    person.run()
    assert (person.problem, person.state) == ("", "ENDED")
    ids = [frame["id"] for frame in Flaky.sent if "id" in frame]
    assert ids[0] == ids[1]
    assert len(set(ids)) == len(ids) - 1
    hellos = [frame["last_seq"] for frame in Flaky.sent if frame["type"] == "hello"]
    assert len(hellos) == 2


@pytest.mark.slow
def test_by_its_private_link_it_goes_on_with_an_empty_jar(
    client: ModuleType, sites: Mapping[str, Site], tmp_path: Path
) -> None:
    first = client.ClientParticipation(sites["talk"].link, "returning", options(tmp_path))
    first.begin()
    first.step()  # reads the instructions, and is gone
    second = client.ClientParticipation(sites["talk"].link, "returning", options(tmp_path))
    second.run()
    assert (second.problem, second.state) == ("", "ENDED")
    kept = json.loads((tmp_path / "returning.json").read_text())
    assert kept["private"].partition(":")[0] == first.kept["private"].partition(":")[0]
    assert kept["code"]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SAMPLE)
def test_it_completes_a_protocol(name: str, tmp_path: Path) -> None:
    """All of them: python -m tests.conformance --protocols."""
    assert name in protocol_names()
    found = protocols.completed(name, tmp_path)
    assert found.problem == "", str(found)
