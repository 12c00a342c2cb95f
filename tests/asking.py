"""Protocols written for a test that ask one kind of question, and visitors who are asked it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from evaluation import protocols
from tests.webapp.views.visiting import Visit, campaign_of, chat_through
from webapp.models import Campaign

PROTOCOL = '''"""Asks one kind of question."""

from dataclasses import replace

from evaluation import Chat, Draw, Gate, Protocol, Rate, Shown, YesNo
from evaluation.registry import get_kind

ASKED = get_kind("{kind}").sample()
GATE = YesNo(name="gate", text="Is there more to say?")
GATED = replace(ASKED, only_if=Gate("gate"), otherwise="nothing")

PROTOCOL = Protocol(
    name="{name}",
    title="One question",
    source="this test",
    minutes=1,
    instructions=("Chat.",),
    steps=(
        Chat(partner="bot", told="A bot.", minimum=Draw((2,)), pool="test"),
        Rate(each={each}, over="{over}", when="{when}"),
    ),
)
'''


@contextmanager
def more_protocols(folder: Path) -> Iterator[None]:
    """Have protocols found in a folder as in `evaluation/protocols/`."""
    protocols.__path__.append(str(folder))
    yield
    protocols.__path__.remove(str(folder))
    for name in [name for name in sys.modules if name.startswith("evaluation.protocols.asks_")]:
        del sys.modules[name]


def campaign_asking(
    folder: Path, kind: str, *, over: str = "partner", when: str = "after", gated: bool = False
) -> Campaign:
    """Return a campaign of a protocol, written to the folder, that asks a kind's sample."""
    name = f"asks_{kind}_{when}_{'gated' if gated else 'open'}"
    each = "(GATE, GATED)" if gated else "(ASKED,)"
    text = PROTOCOL.format(name=name, kind=kind, each=each, over=over, when=when)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    return campaign_of(name)


def chatting(campaign: Campaign) -> Visit:
    """Return somebody who has exchanged as many messages as are needed."""
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    chat_through(visit, 1)
    return visit


def rating(campaign: Campaign) -> tuple[Visit, Any]:
    """Return somebody in front of the form, and its last field."""
    visit = chatting(campaign)
    visit.send(type="finish", id=str(uuid4()))
    return visit, visit.get().context["fields"][-1]
