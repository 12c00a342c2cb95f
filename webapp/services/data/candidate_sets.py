"""Candidate sets of paraphrased messages, in the layout of DSTC7's track 1 (NL-P11).

Each message that was to be paraphrased is the reply at a cut of its conversation. Right are the
message and its accepted paraphrases; the other candidates are messages of the other conversations.
Source: Gunasekara et al. 2019, section 3.2: test conversations are cut, with sets of 100. Apart
because it joins two campaigns' rows: what was paraphrased, and the conversations around it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from bots import Dialogue, Utterance
from bots.datasets import dstc7
from bots.dialogue import Example
from webapp.models import Campaign, Contribution, Event
from webapp.services.rules.protocols import protocol_of
from webapp.services.writing import decisions, writing_items

FILE = "dstc7.json"
SIZE = 100  # candidates; fewer where the other conversations have too few different messages
Spot = tuple[int, int]  # a conversation and the seq of a message
Message = tuple[int, int, str]  # seq, side, text


def text_of(campaign: Campaign) -> str:
    """Return the file's text, "" without a paraphrase that was accepted, or a wrong candidate.

    What was withdrawn, and what a reviewer set aside, is in no set.
    """
    write = protocol_of(campaign).write
    accepted = _accepted(campaign) if write and write.makes == "paraphrase" else {}
    if not accepted:
        return ""
    rows = campaign.items.kept().filter(conversation__excluded="").order_by("pk")
    spots = [spot for item in rows if (spot := writing_items.message_of(item))]
    messages_of = _messages({conversation for conversation, _ in spots})
    found = {
        example: accepted.get(spot, ())
        for spot in spots
        if (example := _example(spot, messages_of[spot[0]])) is not None
    }
    sets = dstc7.build_at(found, _dialogues(messages_of), seed=campaign.seed, size=SIZE)
    return json.dumps([dstc7.record(each) for each in sets], indent=1) + "\n" if sets else ""


def _accepted(campaign: Campaign) -> Mapping[Spot, Sequence[str]]:
    found: defaultdict[Spot, list[str]] = defaultdict(list)
    rows = decisions.of_campaign(campaign).filter(
        state=Contribution.State.ACCEPTED, assignment__participation__excluded=""
    )
    for row in rows:
        if spot := writing_items.message_of(row.assignment.item):
            found[spot] += row.texts
    return found


def _messages(conversations: Iterable[int]) -> Mapping[int, Sequence[Message]]:
    found: defaultdict[int, list[Message]] = defaultdict(list)
    rows = Event.objects.filter(conversation__in=list(conversations), kind=Event.Kind.MESSAGE)
    for row in rows.order_by("conversation", "seq"):
        found[row.conversation_id].append((row.seq, row.side or 0, row.content["text"]))
    return found


def _example(spot: Spot, messages: Sequence[Message]) -> Example | None:
    """Return a message as the reply to those before it; None for one that opens."""
    conversation, wanted = spot
    ((side, reply),) = [(side, text) for seq, side, text in messages if seq == wanted]
    history = tuple(
        Utterance("self" if who == side else "partner", text)
        for seq, who, text in messages
        if seq < wanted
    )
    name = f"{conversation}:{wanted}"
    return Example(name, str(conversation), (), (), history, reply) if history else None


def _dialogues(messages_of: Mapping[int, Sequence[Message]]) -> list[Dialogue]:
    return [
        Dialogue(str(number), tuple(Utterance("self", text) for _, _, text in messages))
        for number, messages in messages_of.items()
    ]
