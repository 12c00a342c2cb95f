"""Items of an export as a judge model is shown them: what came before, and what is judged.

What people rated has the item of their ratings, so that both stand side by side; what nobody rated
(another conversation, a message, a reply to a context) has one of its own. What was shown together
is what people were shown together.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.tables.cell_values import unguarded
from evaluation import Protocol, Rate
from evaluation.serialized import InvalidProtocol, from_json

Row = Mapping[str, str]
MESSAGES = ("conversation", "seq", "side", "system", "partner_of", "excluded", "text")
RATINGS = (
    *("campaign", "question", "level", "item", "system", "conversation", "message_seq"),
    *("intended", "excluded"),
)
Conversations = Mapping[str, Sequence[Row]]  # the messages of each conversation, in order


class UnreadableExport(ValueError):
    """A file that a judge model cannot be shown; the text says why."""


@dataclass(frozen=True)
class JudgedCandidate:
    """What is judged: a reply, a message or a speaker; `item` and the rest as in the ratings."""

    system: str
    text: str
    item: str
    conversation: str
    message_seq: str = ""
    intended: str = ""


@dataclass(frozen=True)
class JudgeItem:
    """What is on one page: lines before, then the candidates; `step` is a place in `rates`."""

    key: str
    step: int
    before: tuple[str, ...]
    candidates: tuple[JudgedCandidate, ...]


@dataclass(frozen=True)
class JudgeExport:
    """An export's protocol, the name of its campaign, and what it holds that can be judged."""

    protocol: Protocol
    campaign: str
    items: tuple[JudgeItem, ...]


def read(paths: Sequence[Path]) -> JudgeExport:
    """Read the export of a campaign; further ones bring messages of conversations held elsewhere.

    Raises UnreadableExport, naming the file and what is wrong.
    """
    first, *more = [_tables(path) for path in paths]
    try:
        known = json.loads(first["protocol.json"])
        without = known.items() if isinstance(known, dict) else ()
        protocol = from_json({name: value for name, value in without if name != "image_files"})
    except (ValueError, InvalidProtocol) as error:
        raise UnreadableExport(f"{paths[0]}: protocol.json cannot be read: {error}") from error
    conversations: dict[str, list[Row]] = defaultdict(list)
    for path, tables in zip(paths, (first, *more), strict=True):
        for row in _messages(path, tables["messages.csv"]):
            conversations[row["conversation"]].append(row)
    rated = _rows(f"{paths[0]}: ratings_all.csv", first["ratings_all.csv"], RATINGS)
    items = tuple(
        item
        for step, rate in enumerate(protocol.rates)
        for item in _items(step, rate, conversations, [row for row in rated if _is_of(rate, row)])
    )
    if not items:
        raise UnreadableExport(
            f"{paths[0]}: nothing to judge: it has no messages of what people rate"
        )
    return JudgeExport(protocol, rated[0]["campaign"] if rated else protocol.name, items)


def _tables(path: Path) -> dict[str, str]:
    names = ("protocol.json", "messages.csv", "ratings_all.csv")
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name).decode("utf-8") for name in names}
    except (OSError, zipfile.BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise UnreadableExport(
            f"{path}: must be the zip of a campaign's export ({error})"
        ) from error


def _messages(path: Path, text: str) -> list[Row]:
    where = f"{path}: messages.csv"
    rows = _rows(where, text, MESSAGES)
    for number, row in enumerate(rows, start=1):
        if row["side"] not in ("0", "1"):
            raise UnreadableExport(f"{where}, row {number}: side is {row['side']!r}, not 0 or 1")
    return rows


def _rows(where: str, text: str, columns: Sequence[str]) -> list[Row]:
    """Return the rows as they were before the guard against formulas was put in front."""
    try:
        found = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        lacking = [each for each in columns if each not in (found.fieldnames or ())]
        if lacking:
            raise UnreadableExport(f"{where} lacks the columns {', '.join(lacking)}")
        rows = list(found)
    except csv.Error as error:
        raise UnreadableExport(f"{where} is no CSV ({error})") from error
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            raise UnreadableExport(f"{where}, row {number}: has more or fewer cells than columns")
    return [{name: unguarded(cell) for name, cell in row.items()} for row in rows]


def _is_of(rate: Rate, row: Row) -> bool:
    """Tell whether an answer is of this step; known answers of an onboarding are of none."""
    names = {question.name for question in rate.questions}
    return row["question"] in names and not row["excluded"].startswith("onboarding")


def _items(
    step: int, rate: Rate, conversations: Conversations, rated: Sequence[Row]
) -> Iterator[JudgeItem]:
    if rate.show != "one":
        yield from _together(step, rate, conversations, rated)
        return
    known = {(row["conversation"], _seq(rate, row), _side(row)): row for row in rated}
    sides = {key[::2] for key in known if key[2]}
    for number, messages in conversations.items():
        if messages[0]["excluded"]:
            continue
        for seq, side in _judged_spots(
            rate, messages, [s for n, s in sorted(sides) if n == number]
        ):
            row = known.get((number, seq, side), {})
            own = f"{number}:side{side}" if side else f"{number}:{seq}" if seq else number
            yield _alone(step, rate, messages, (seq, side), row, own)


def _seq(rate: Rate, row: Row) -> str:
    """Return the message that is judged, "" where it is the only one that can be."""
    return "" if rate.over == "contexts" else row["message_seq"]


def _side(row: Row) -> str:
    """Return the side that is judged where two people judge each other, "" elsewhere."""
    return row["item"].partition(":side")[2]


def _judged_spots(
    rate: Rate, messages: Sequence[Row], sides: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield what of a conversation is judged by itself: messages, or sides."""
    is_context = not messages[0]["system"]  # with the reply to it
    if rate.over == "contexts":
        yield "", ""
    elif rate.over == "messages" or (rate.over == "partner" and rate.when == "live"):
        opens = rate.when == "live" and not rate.label_opening
        judged = [row for row in messages if row["system"] == messages[0]["partner_of"]]
        yield from ((row["seq"], "") for row in judged if not (opens and row is messages[0]))
    elif rate.over in ("partner", "conversation") and not is_context:
        yield from (("", side) for side in sides) if sides else [("", "")]


def _alone(
    step: int, rate: Rate, messages: Sequence[Row], spot: tuple[str, str], row: Row, own: str
) -> JudgeItem:
    seq, side = spot
    first = messages[0]
    before, text = messages, ""
    if seq:
        at = [each["seq"] for each in messages].index(seq)
        before, text, side = messages[:at], messages[at]["text"], messages[at]["side"]
    elif rate.over == "contexts":
        before, text = messages[:-1], messages[-1]["text"]
    item = row.get("item", own)
    system = row.get("system", first["partner_of"])
    names = ("Speaker 1", "Speaker 2") if rate.over == "contexts" else _names(messages, side)
    candidate = JudgedCandidate(
        system,
        text,
        item,
        first["conversation"],
        row.get("message_seq", seq),
        row.get("intended", ""),
    )
    lines = (*_character(row), *_lines(before, names))
    return JudgeItem(item, step, lines, (candidate,))


def _character(row: Row) -> list[str]:
    """Return the line that says what a text is judged by."""
    return [f"Character: {row['character']}"] if row.get("character") else []


def _names(messages: Sequence[Row], side: str) -> tuple[str, str]:
    """Return what the sides of a conversation are called; the partner's is judged."""
    judged = side or next((r["side"] for r in messages if r["system"] == r["partner_of"]), "1")
    return ("Partner", "You") if judged == "0" else ("You", "Partner")


def _lines(messages: Sequence[Row], names: tuple[str, str]) -> Iterator[str]:
    return (f"{names[int(row['side'])]}: {row['text']}" for row in messages)


def _together(
    step: int, rate: Rate, conversations: Conversations, rated: Sequence[Row]
) -> Iterator[JudgeItem]:
    """Yield what people were shown together, its candidates in the order of their names."""
    shown: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rated:
        key = row["item"] if row["level"] == "rank" else row["item"].rpartition(":")[0]
        if row["conversation"] in conversations:
            shown[key][row["conversation"]] = row
    for key, rows in shown.items():
        found = sorted(rows.values(), key=lambda row: (row["system"], row["conversation"]))
        messages = conversations[found[0]["conversation"]]
        of_contexts = rate.over == "contexts"
        before = _lines(messages[:-1], ("Speaker 1", "Speaker 2")) if of_contexts else iter(())
        candidates = [
            _of(row, conversations[row["conversation"]], key, of_contexts) for row in found
        ]
        if len(candidates) > 1:
            lines = (*_character(found[0]), *before)
            yield JudgeItem(key, step, lines, tuple(candidates))


def _of(row: Row, messages: Sequence[Row], key: str, of_contexts: bool) -> JudgedCandidate:
    text = (
        messages[-1]["text"] if of_contexts else "\n".join(_lines(messages, _names(messages, "")))
    )
    number = row["conversation"]
    return JudgedCandidate(row["system"], text, f"{key}:{number}", number, "", row["intended"])
