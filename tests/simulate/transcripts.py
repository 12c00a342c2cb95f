"""Transcripts imported from a folder and labeled through pages: truth per message, and its return.

What a message is (sensible, and then specific) is drawn by the share that is planted in its system:
that of MEENA's paper where it prints one. Raters mostly see it, so that they agree better than by
chance, and the majority of five brings it back.

Apart from the campaign, because the checks of the export ask for the truth too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webapp.crowd.people import Quality
    from webapp.models import Campaign
    from webapp.services.rating.transcripts import ImportedChat

# Sensible and specific, of all messages. Of Meena the paper prints the SSA alone, 79.
SHARES: Mapping[str, tuple[float, float]] = {
    "human": (0.97, 0.75),
    "meena": (0.87, 0.71),
    "mitsuku": (0.72, 0.40),
    "xiaoice": (0.45, 0.17),
}
OTHERS = (0.6, 0.3)
SEEN = 0.92  # the chance that a rater sees what a message is
AS_PLANTED: Mapping[str, Quality] = {
    "specific": {"sensible": SEEN, "specific": SEEN},
    "sensible": {"sensible": SEEN, "specific": 1 - SEEN},
    "neither": {"sensible": 1 - SEEN, "specific": 0.5},
}
EACH_SHORT = 1  # conversations of each system
MOST_ITEMS = 1_000  # of one person
VOTES = 5
TURNS = 6  # of an invented conversation
NEAR = 0.1  # between a share planted in messages and the one recovered
AGREE = SEEN**2 + (1 - SEEN) ** 2  # how often two raters say the same of a message
LEAST_ALPHA = 0.3

Row = Mapping[str, Any]


def chosen(folder: Path, each: int | None) -> list[ImportedChat]:
    """Return the conversations of a folder's files, the first `each` of every system."""
    from webapp.services.staff_forms import transcript_files
    from webapp.services.staff_forms.transcript_files import TextFile

    paths = sorted(path for path in folder.iterdir() if path.suffix in (".txt", ".jsonl", ".csv"))
    files = [TextFile(path.name, path.read_text("utf-8-sig")) for path in paths]
    files = [file for file in files if not file.name.startswith("README")]
    read = transcript_files.read(files)
    if read.faults:
        raise RuntimeError(str(read.faults[0]))
    chats = [found.chat for found in read.found]
    kept = [
        chat
        for name in dict.fromkeys(chat.system for chat in chats)
        for chat in [one for one in chats if one.system == name][:each]
    ]
    if not kept:
        raise RuntimeError(f"--transcripts {folder}: no conversations")
    return kept


def invented(systems: Sequence[str], count: int) -> list[ImportedChat]:
    """Return conversations of each system; what is said does not tell which it is."""
    from webapp.services.rating.transcripts import ImportedChat, ImportedTurn

    return [
        ImportedChat(
            name=f"{system}-{number}",
            system=system,
            turns=tuple(
                ImportedTurn(side=turn % 2, text=f"Line {turn} of {place}.{number}.")
                for turn in range(TURNS)
            ),
        )
        for number in range(count)
        for place, system in enumerate(systems)
    ]


def controls(systems: tuple[str, str], count: int) -> list[ImportedChat]:
    """Return conversations that are known to be better, and as many that are worse."""
    roles = dict(zip(systems, ("better", "worse"), strict=True))
    return [replace(chat, control=roles[chat.system]) for chat in invented(systems, count)]


def as_lines(chats: Sequence[ImportedChat]) -> str:
    """Return conversations as JSON Lines, which say what is a control."""
    return "\n".join(
        json.dumps(
            {
                "id": chat.name,
                "system": chat.system,
                "control": chat.control,
                "turns": [
                    {"speaker": ("Human", chat.system)[turn.side], "text": turn.text}
                    for turn in chat.turns
                ],
            }
        )
        for chat in chats
    )


def as_text(chats: Sequence[ImportedChat]) -> str:
    """Return conversations in the layout of text, as a requester would paste them."""
    blocks = []
    for number, chat in enumerate(chats, start=1):
        names = ("Human 1", "Human 2") if chat.system == "human" else ("Human", chat.system)
        lines = [f"{names[turn.side]}: {turn.text}" for turn in chat.turns]
        blocks.append("\n".join([f"{chat.system} Conversation {number}", *lines]))
    return "\n\n".join(blocks) + "\n"


def import_through_pages(campaign: Campaign, chats: Sequence[ImportedChat], staff: Any) -> None:
    """Upload conversations as staff do: look at the preview, then import what it kept."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test import Client
    from django.urls import reverse

    client, page = Client(headers={"host": "127.0.0.1"}), reverse("transcripts", args=[campaign.pk])
    client.force_login(staff)
    has_controls = any(chat.control for chat in chats)
    text = as_lines(chats) if has_controls else as_text(chats)
    upload = SimpleUploadedFile("transcripts.txt", text.encode())
    seen = client.post(page, {"action": "preview", "file": [upload]})
    if 'value="store"' not in seen.content.decode():
        raise RuntimeError("the preview of the transcripts offers no import")
    client.post(page, {"action": "store", "kept_name": ["transcripts.txt"], "kept_text": [text]})
    stored = campaign.conversations.count()
    if stored != len(chats):
        raise RuntimeError(f"{stored} of {len(chats)} conversations were imported")


def take_through_pages(draft: Campaign, source: int, systems: Sequence[str], staff: Any) -> None:
    """Take the conversations of an ended campaign, as staff do."""
    from django.test import Client
    from django.urls import reverse

    client, page = Client(headers={"host": "127.0.0.1"}), reverse("transcripts", args=[draft.pk])
    client.force_login(staff)
    client.post(page, {"action": "take", "source": str(source), "system": list(systems)})
    taken = set(draft.taken_conversations.values_list("system__name", flat=True))
    if taken != set(systems):
        raise RuntimeError(f"conversations of {sorted(taken)} were taken, not of {systems}")


def kind_of(system: str, item: str, seed: int) -> str:
    """Return what a message is: specific, sensible, or neither."""
    sensible, specific = SHARES.get(system.casefold(), OTHERS)
    point = random.Random(f"{seed}:{item}").random()
    return "specific" if point < specific else "sensible" if point < sensible else "neither"


def truth(campaign: Campaign, seed: int, name: str) -> dict[str, str]:
    """Return what somebody's message to judge is, as an oracle tells it to the crowd."""
    from webapp.models import Participation
    from webapp.services.rating import submission

    person = Participation.objects.filter(campaign=campaign, external__value=name).first()
    assignment = None if person is None else submission.current(person)
    if assignment is None:
        return {}
    candidate = assignment.item.candidates.select_related("system").get()
    kind = kind_of(candidate.system.name, assignment.item.key, seed)
    return {"system": kind, candidate.key: kind}


# --- what came back -------------------------------------------------------------------------------


def planted_shares(ratings: Sequence[Row], seed: int) -> dict[str, tuple[float, float]]:
    """Return what was drawn for the messages of each system: sensible, and specific."""
    kinds: dict[str, dict[str, str]] = {}
    for row in ratings:
        of_system = kinds.setdefault(row["system"], {})
        of_system[row["item"]] = kind_of(row["system"], row["item"], seed)
    return {
        system: (
            fmean(kind != "neither" for kind in items.values()),
            fmean(kind == "specific" for kind in items.values()),
        )
        for system, items in kinds.items()
    }


def recovered_shares(results: Sequence[Row], system: str) -> dict[str, float]:
    """Return what the analysis has of a system: sensibleness, specificity and SSA."""
    return {
        row["metric"]: row["estimate"]
        for row in results
        if row["system"] == system
        and row["metric"] in ("sensibleness", "specificity", "ssa")
        and row["estimate"] is not None
    }


def problems(ratings: Sequence[Row], results: Sequence[Row], seed: int) -> Iterator[str]:
    """Yield, as sentences, in what the analysis is not what was planted in the messages."""
    planted = planted_shares(ratings, seed)
    if not planted:
        yield "nothing was labeled"
    for system, shares in planted.items():
        found = recovered_shares(results, system)
        for name, share in zip(("sensibleness", "specificity"), shares, strict=True):
            if name not in found or abs(found[name] - share) > NEAR:
                yield f"{name} of {system}: {found.get(name)} where {share:.2f} was planted"
    yield from _of_order(planted, results)
    yield from _of_agreement(results)


def ordered(planted: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the systems, best first."""
    return sorted(planted, key=lambda name: -sum(planted[name]))


def _of_order(planted: Mapping[str, tuple[float, float]], results: Sequence[Row]) -> Iterator[str]:
    for better, worse in pairwise(ordered(planted)):
        first, second = (
            recovered_shares(results, name).get("ssa", 0.0) for name in (better, worse)
        )
        apart = (sum(planted[better]) - sum(planted[worse])) / 2
        if apart > NEAR and first <= second:
            yield f"ssa: {better} {first:.2f} is not above {worse} {second:.2f}"


def _of_agreement(results: Sequence[Row]) -> Iterator[str]:
    for row in results:
        if row["question"] != "sensible" or row["estimate"] is None:
            continue
        if row["metric"] == "percent_agreement" and abs(row["estimate"] - AGREE) > NEAR:
            yield f"agreement of {row['system']}: {row['estimate']:.2f}, not {AGREE:.2f}"
    alphas = [
        row["estimate"]
        for row in results
        if row["metric"] == "krippendorff_alpha" and row["estimate"] is not None
    ]
    if not alphas or max(alphas) < LEAST_ALPHA:
        yield f"alpha: {max(alphas, default=None)}, though raters mostly see what messages are"
