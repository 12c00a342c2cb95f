"""Writing campaigns, simulated: who wrote what is revised, what is replied to, and staff's part.

Apart from the campaigns that are rated: nobody is judged, and other people write before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evaluation import Protocol, Write
from evaluation.registry import get_protocol, protocol_names

if TYPE_CHECKING:
    from webapp.models import Campaign

ASIDE = 4  # one in so many personas is for validation, as many for test


def sizes(protocol: Protocol, people: int) -> dict[str, str]:
    """Return the settings by which so many people write all there is, as a form sends them."""
    write = protocol.write
    if write is not None and write.of_conversations:
        return {"write.writers": str(people)}  # everybody writes about the same few messages
    if write is None or write.makes != "persona":
        return {}
    count = people * write.batch
    if write.test == write.count:  # a hidden test has no other split
        return {"write.count": str(count), "write.valid": "0", "write.test": str(count)}
    aside = str(count // ASIDE)
    return {"write.count": str(count), "write.valid": aside, "write.test": aside}


def splits(protocol: Protocol, people: int) -> Mapping[str, int]:
    """Return how many personas of each split there have to be, without those that have none."""
    if protocol.write is None or protocol.write.makes != "persona":
        return {}
    wanted = {name.partition(".")[2]: int(n) for name, n in sizes(protocol, people).items()}
    aside = {split: wanted[split] for split in ("valid", "test")}
    found = {"train": wanted["count"] - sum(aside.values()), **aside}
    return {split: count for split, count in found.items() if count}


def source_protocol(revising: str) -> Protocol:
    """Return a protocol in which people write personas, for others to revise by this one."""
    found = map(get_protocol, protocol_names())
    wrote = [one for one in found if one.write and one.write.makes == "persona"]
    same = [one for one in wrote if one.name.rpartition("_")[0] == revising.rpartition("_")[0]]
    return (same or wrote)[0]


def add_contexts(campaign: Campaign, write: Write, people: int, staff: Any) -> None:
    """Give everybody a batch of the contexts that come with Parley."""
    from django.utils import timezone

    from webapp.services.campaign import contexts_import

    least, most = write.messages
    found = map(json.loads, contexts_import.bundled().splitlines())
    fitting = [each for each in found if least <= len(each["messages"]) <= most]
    text = "\n".join(map(json.dumps, fitting[: people * write.batch]))
    contexts_import.store(campaign=campaign, text=text, by=staff, now=timezone.now())


def accept_all(campaign: Campaign, staff: Any) -> None:
    """Accept what was offered, as staff do on their page."""
    from django.utils import timezone

    from webapp.services.writing import decisions

    pks = list(decisions.of_campaign(campaign).values_list("pk", flat=True))
    decisions.accept(campaign=campaign, pks=pks, by=staff, now=timezone.now())
