"""Protocols written for a test that ask one kind of question, and visitors who are asked it."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from evaluation import protocols
from evaluation.registry import get_kind
from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.views.visiting import Visit, campaign_of, chat_through
from webapp.models import Campaign, QuotaCell
from webapp.services.campaign import contexts_import
from webapp.services.rating import context_items
from webapp.services.rules.protocols import protocol_of

PROTOCOL = '''"""Asks one kind of question."""

from dataclasses import replace

from evaluation import Chat, Draw, Gate, Protocol, Rate, YesNo
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
        {steps},
    ),
)
'''


CHAT = 'Chat(partner="bot", told="A bot.", minimum=Draw((2,)), pool="test")'


@contextmanager
def more_protocols(folder: Path) -> Iterator[None]:
    """Have protocols found in a folder as in `evaluation/protocols/`."""
    protocols.__path__.append(str(folder))
    yield
    protocols.__path__.remove(str(folder))
    for name in [name for name in sys.modules if name.startswith("evaluation.protocols.asks_")]:
        del sys.modules[name]


def campaign_asking(
    folder: Path,
    kind: str,
    *,
    over: str = "partner",
    when: str = "after",
    gated: bool = False,
    otherwise: str | int = "nothing",
) -> Campaign:
    """Return a campaign of a protocol, written to the folder, that asks a kind's sample."""
    name = f"asks_{kind}_{when}_{f'gated_{otherwise}' if gated else 'open'}"
    each = "(GATE, GATED)" if gated else "(ASKED,)"
    steps = f'{CHAT}, Rate(each={each}, over="{over}", when="{when}")'
    compares = get_kind(kind).compares
    if compares:
        asked = "each=(ASKED,)" if compares == "each" else "each=(), together=(ASKED,)"
        steps = f'Rate({asked}, over="contexts", show="pairs")'
    text = PROTOCOL.format(name=name, kind=kind, steps=steps)
    text = text.replace('otherwise="nothing"', f"otherwise={otherwise!r}")
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    return side_by_side(name) if compares else campaign_of(name)


def side_by_side(protocol: str) -> Campaign:
    """Return an open campaign with imported replies of two systems to three contexts."""
    return imported(
        protocol,
        [
            {
                "id": f"k{n}",
                "messages": [f"Hi {n}."],
                "replies": {"good": f"Hey {n}.", "bad": "What?"},
            }
            for n in range(3)
        ],
    )


def imported(
    protocol: str, rows: Iterable[Mapping[str, Any]], changes: Mapping[str, Any] | None = None
) -> Campaign:
    """Return an open campaign whose contexts and replies were imported."""
    campaign = make_campaign(protocol, personas=0, state="DRAFT", changes=dict(changes or {}))
    QuotaCell.objects.filter(system__campaign=campaign).delete()
    campaign.systems.all().delete()
    text = "\n".join(map(json.dumps, rows))
    contexts_import.store(campaign=campaign, text=text, by=make_staff(), now=NOW)
    context_items.make(campaign, at_launch=True)
    Campaign.objects.filter(pk=campaign.pk).update(state="OPEN")
    return Campaign.objects.get(pk=campaign.pk)


def chatting(campaign: Campaign) -> Visit:
    """Return somebody who has exchanged as many messages as are needed."""
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    chat_through(visit, 1)
    return visit


def rating(campaign: Campaign) -> tuple[Visit, Any]:
    """Return somebody in front of the form, and its last field."""
    if protocol_of(campaign).chat is None:
        visit = Visit(campaign)
        visit.join()
        visit.post("start")
    else:
        visit = chatting(campaign)
        visit.send(type="finish", id=str(uuid4()))
    return visit, visit.get().context["fields"][-1]
