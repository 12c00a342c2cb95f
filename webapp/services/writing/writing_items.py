"""Items of what is to be written: new personas, personas to revise, contexts, messages.

Apart because the launch makes them, and forms and exports ask what stands behind one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from evaluation import Write
from webapp.models import Campaign, Event, Item
from webapp.services.rules.protocols import protocol_of

TRAIN, VALID, TEST = "train", "valid", "test"


def make(campaign: Campaign) -> int:
    """Make the items of a campaign that is launched; return how many."""
    write = protocol_of(campaign).write
    if write is None:
        return 0
    if write.of_conversations:  # they were taken with their conversations
        return campaign.items.update(target=write.writers)
    known = set(campaign.items.values_list("key", flat=True))
    target = 1 if write.makes == "persona" else write.writers
    rows = [
        Item(campaign=campaign, target=target, order=_order(campaign, values["key"]), **values)
        for values in _wanted(campaign, write)
        if values["key"] not in known
    ]
    return len(Item.objects.bulk_create(rows, batch_size=500))


def basis(item: Item) -> tuple[str, ...]:
    """Return what a text is about: a persona's sentences, a context's messages, or a message."""
    if item.conversation is not None:
        return (_messages(item).get(seq=_seq(item)).content["text"],)
    if item.persona is not None:
        return tuple(item.persona.sentences)
    return tuple(item.context.messages) if item.context is not None else ()


def before(item: Item, count: int) -> list[tuple[int, str]]:
    """Return side and text of the messages before the one that an item is of, at most `count`."""
    if item.conversation is None or not count:
        return []
    rows = _messages(item).filter(seq__lt=_seq(item)).order_by("-seq")[:count]
    return [(row.side or 0, row.content["text"]) for row in reversed(rows)]


def message_of(item: Item) -> tuple[int, int] | None:
    """Return the conversation of the message that an item is of, and its `seq`."""
    return None if item.conversation_id is None else (item.conversation_id, _seq(item))


def _messages(item: Item) -> QuerySet[Event]:
    return Event.objects.filter(conversation=item.conversation, kind=Event.Kind.MESSAGE)


def _seq(item: Item) -> int:
    return int(item.key.rpartition(":")[2])  # as `judged_conversations` calls it


def split_of(item: Item) -> str:
    """Return the split of what is written for an item, "" where there is none."""
    return item.split if item.persona is None else item.persona.split


def _wanted(campaign: Campaign, write: Write) -> Iterator[Mapping[str, Any]]:
    if write.makes == "revision":
        for persona in campaign.personas.order_by("pk"):
            yield {"key": f"persona:{persona.key}", "persona": persona}
    elif write.makes == "reply":
        for context in campaign.contexts.order_by("pk"):
            yield {"key": f"context:{context.key}", "context": context}
    else:
        for number, split in enumerate(_splits(campaign, write), start=1):
            yield {"key": f"new:{number}", "split": split}


def _splits(campaign: Campaign, write: Write) -> list[str]:
    """Return the split of each persona wanted: which are set aside is drawn before any is there."""
    rest = write.count - write.valid - write.test
    found = [TRAIN] * rest + [VALID] * write.valid + [TEST] * write.test
    random.Random(f"{campaign.seed}:splits").shuffle(found)  # noqa: S311 (to be repeated)
    return found


def _order(campaign: Campaign, key: str) -> int:
    return random.Random(f"{campaign.seed}:{key}:order").getrandbits(31)  # noqa: S311
