"""Transcripts as files: lines of text, JSON Lines or CSV; each fault says what would be right.

Apart because files are read before anything is known of the campaign that they are for.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from bots.datasets import transcripts as layout
from webapp.models import Control
from webapp.services.rating.transcripts import HUMAN, ImportedChat, ImportedTurn
from webapp.services.staff_forms.fields import shown, storable

SYSTEM_NAME = re.compile(r"[-a-zA-Z0-9_]{1,60}")
NO_NAME = re.compile(r"[^-a-zA-Z0-9_]+")
UNDESCRIBED = re.compile(r"\[\s*(?:image|picture|photo|video|gif)\s*:?\s*\]", re.I)
ABOUT = ("system", "account", "volunteer", "began_at", "ended_at", "reset", "control")
LONGEST = {"id": 80, "account": 40, "volunteer": 128, "system": 60}
OF_TURN = ("speaker", "text", "image")
YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": None}
SPEAKERS = 2
Turn = tuple[int, Mapping[str, Any]]  # its line, and its fields


@dataclass(frozen=True)
class TextFile:
    """A file that was uploaded, or what was pasted."""

    name: str
    text: str


@dataclass(frozen=True)
class FileFault:
    """Something wrong in a file: where, what it is, and what would be right."""

    file: str
    line: int
    field: str
    value: str
    right: str

    def __str__(self) -> str:
        where = _("%(file)s, line %(line)d") % {"file": self.file, "line": self.line}
        return f"{where}: {self.field} {shown(self.value)}: {self.right}"


@dataclass(frozen=True, kw_only=True)
class FoundChat:
    """A conversation of a file, and the line it begins at."""

    file: str
    line: int
    chat: ImportedChat


@dataclass
class FilesRead:
    """What files have: conversations, and everything that is wrong."""

    found: list[FoundChat] = field(default_factory=list)
    faults: list[FileFault] = field(default_factory=list)


@dataclass
class _Raw:
    """A conversation before its values are checked."""

    line: int
    about: dict[str, Any]
    turns: list[Turn] = field(default_factory=list)


def read(files: Sequence[TextFile]) -> FilesRead:
    """Read all files; names of conversations are unique over all of them."""
    result = FilesRead()
    positions: dict[str, str] = {}
    for file in files:
        for found in _Reader(file, result).chats():
            name = found.chat.name
            if name in positions:
                right = _("is in %(place)s already; give each conversation an id of its own")
                fault = right % {"place": positions[name]}
                result.faults.append(FileFault(file.name, found.line, "id", name, fault))
                continue
            positions[name] = _("%(file)s, line %(line)d") % {"file": file.name, "line": found.line}
            result.found.append(found)
    return result


class _Reader:
    """One file, and the faults found in it so far."""

    def __init__(self, file: TextFile, result: FilesRead) -> None:
        self.file, self.result = file, result
        self.stem = PurePath(file.name).stem

    def fault(self, line: int, name: str, value: object, right: str) -> None:
        self.result.faults.append(FileFault(self.file.name, line, name, str(value), right))

    def chats(self) -> Iterator[FoundChat]:
        """Yield the conversations without fault."""
        raws = list(self._raws())
        if not raws and not any(each.file == self.file.name for each in self.result.faults):
            self.fault(1, _("file"), self.file.text, _("has no conversation"))
        for number, raw in enumerate(raws, start=1):
            raw.about["id"] = raw.about.get("id") or f"{self.stem} {number}"
            before = len(self.result.faults)
            chat = self._chat(raw)
            if chat is not None and len(self.result.faults) == before:
                yield FoundChat(file=self.file.name, line=raw.line, chat=chat)

    def _raws(self) -> Iterator[_Raw]:
        text = self.file.text
        if not storable(text):
            self.fault(1, _("file"), "", _("has characters that cannot be stored"))
        elif text.lstrip().startswith("{"):
            yield from self._of_json(text)
        elif {"conversation", "speaker"} <= set(next(csv.reader(text.split("\n", 1)[:1]), [])):
            yield from self._of_csv(text)
        else:
            yield from self._of_text(text)

    # --- layouts

    def _of_text(self, text: str) -> Iterator[_Raw]:
        lines = text.split("\n")
        chats, problems = layout.text_chats(lines)
        for number, _complaint in problems:
            right = _("must be a name, a colon and a message")
            self.fault(number, _("line"), lines[number - 1].strip(), right)
        for chat in chats:
            turns: list[Turn] = [
                (each.number, {"speaker": each.speaker, "text": each.text}) for each in chat.turns
            ]
            yield _Raw(chat.start, {"id": chat.name}, turns)

    def _of_json(self, text: str) -> Iterator[_Raw]:
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                self.fault(number, _("line"), line, _("must be an object of JSON"))
                continue
            if not storable(record):
                self.fault(number, _("line"), line, _("has characters that cannot be stored"))
            elif isinstance(record, dict) and isinstance(record.get("turns"), list):
                yield self._record(number, record)
            else:
                self.fault(number, "turns", line, _("must be a list of speaker and text"))

    def _record(self, number: int, record: Mapping[str, Any]) -> _Raw:
        self._unknown(number, set(record) - {"id", "turns", *ABOUT}, ("id", "turns", *ABOUT))
        raw = _Raw(number, {name: record.get(name) for name in ("id", *ABOUT)})
        for turn in record["turns"]:
            if isinstance(turn, dict):
                self._unknown(number, set(turn) - set(OF_TURN), OF_TURN)
                raw.turns.append((number, turn))
            else:
                self.fault(number, "turns", turn, _("must have a speaker and a text"))
        return raw

    def _of_csv(self, text: str) -> Iterator[_Raw]:
        rows = csv.DictReader(io.StringIO(text, newline=""))
        known = ("conversation", *OF_TURN, *ABOUT)
        self._unknown(1, set(rows.fieldnames or ()) - set(known), known)
        raws: dict[str, _Raw] = {}
        for row in rows:
            line, name = rows.line_num, (row.get("conversation") or "").strip()
            if not name:
                self.fault(line, "conversation", "", _("must name the conversation of the message"))
                continue
            raw = raws.setdefault(name, _Raw(line, {"id": name}))
            raw.turns.append((line, {key: row.get(key) or "" for key in OF_TURN}))
            for key in ABOUT:
                self._agree(raw, key, (row.get(key) or "").strip(), line)
        yield from raws.values()

    def _agree(self, raw: _Raw, name: str, value: str, line: int) -> None:
        first = raw.about.setdefault(name, value) or value
        raw.about[name] = first
        if value and value != first:
            right = _("is %(first)s above in this conversation; write the same, or leave it blank")
            self.fault(line, name, value, right % {"first": shown(first)})

    def _unknown(self, line: int, names: set[Any], known: Sequence[str]) -> None:
        for name in sorted(map(str, names)):
            right = _("there is no such field; there are %(known)s") % {"known": ", ".join(known)}
            self.fault(line, _("field"), name, right)

    # --- values

    def _chat(self, raw: _Raw) -> ImportedChat | None:
        texts = {name: self._text(raw, name) for name in ("id", "account", "volunteer")}
        began, ended = self._time(raw, "began_at"), self._time(raw, "ended_at")
        if began and ended and ended < began:
            self.fault(
                raw.line, "ended_at", raw.about["ended_at"], _("must not be before began_at")
            )
        if texts["account"] and not (texts["volunteer"] and began):
            right = _("an account needs volunteer and began_at beside it, to see who had it when")
            self.fault(raw.line, "account", texts["account"], right)
        reset, control = self._reset(raw), self._control(raw)
        turns = [self._turn(line, turn) for line, turn in raw.turns]
        speakers = self._speakers(raw, [speaker for speaker, _text in turns])
        if speakers is None:
            return None
        bot, system = speakers
        return ImportedChat(
            name=texts["id"],
            system=system,
            turns=tuple(
                ImportedTurn(side=int(speaker == bot), text=text) for speaker, text in turns
            ),
            account=texts["account"],
            volunteer=texts["volunteer"],
            began_at=began,
            ended_at=ended,
            reset=reset,
            control=control,
        )

    def _speakers(self, raw: _Raw, names: Sequence[str]) -> tuple[str, str] | None:
        """Return who is the judged speaker, and the name of the system."""
        different = list(dict.fromkeys(names))
        if len(different) != SPEAKERS:
            right = _("a conversation has two speakers")
            self.fault(raw.line, "speaker", ", ".join(different), right)
            return None
        people = [name for name in different if layout.is_human(name)]
        named = str(raw.about.get("system") or "").strip()
        if named == HUMAN or (not named and len(people) == SPEAKERS):
            return different[1], HUMAN
        if len(people) != 1 and named not in different:
            right = _("one of them must be called Human, or both Human 1 and Human 2")
            self.fault(raw.line, "speaker", ", ".join(different), right)
            return None
        bot = named if named in different else layout.bot_of(names)
        system = named or NO_NAME.sub("-", bot).strip("-")
        if SYSTEM_NAME.fullmatch(system):
            return bot, system
        right = _("must have 1 to 60 letters, digits, - and _; say another in the field system")
        self.fault(raw.line, "system", named or bot, right)
        return None

    def _turn(self, line: int, turn: Mapping[str, Any]) -> tuple[str, str]:
        speaker, text = (str(turn.get(name) or "").strip() for name in ("speaker", "text"))
        image = str(turn.get("image") or "").strip()
        text = " ".join(text.split())
        if image:
            text = f"{text} [image: {' '.join(image.split())}]".strip()
        if not speaker:
            self.fault(line, "speaker", speaker, _("must say who wrote the message"))
        if not text:
            self.fault(line, "text", text, _("must be a message, or say in words what is shown"))
        if len(text) > settings.MAX_MESSAGE_CHARACTERS:
            right = _("must have at most %(most)d characters")
            self.fault(line, "text", text, right % {"most": settings.MAX_MESSAGE_CHARACTERS})
        if undescribed := UNDESCRIBED.search(text):
            right = _("must say what the image shows, as in [image: a cat on a sofa]")
            self.fault(line, "text", undescribed[0], right)
        return speaker, text

    def _text(self, raw: _Raw, name: str) -> str:
        value = raw.about.get(name)
        is_text = value is None or (isinstance(value, str | int) and not isinstance(value, bool))
        text = " ".join(str(value or "").split())
        if not is_text or len(text) > LONGEST[name]:
            right = _("must be a text of at most %(most)d characters")
            self.fault(raw.line, name, value, right % {"most": LONGEST[name]})
        return text

    def _time(self, raw: _Raw, name: str) -> datetime | None:
        value = str(raw.about.get(name) or "").strip()
        if not value:
            return None
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            right = _("must be a time such as 2026-05-31 14:05, in UTC unless it says otherwise")
            self.fault(raw.line, name, value, right)
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def _reset(self, raw: _Raw) -> bool | None:
        value = raw.about.get("reset")
        text = "" if value is None else str(value).strip().casefold()
        if text not in YES:
            self.fault(raw.line, "reset", value, _("must be yes, no, or blank where unknown"))
        return YES.get(text)

    def _control(self, raw: _Raw) -> str:
        value = str(raw.about.get("control") or "").strip()
        if value and value not in Control.values:
            self.fault(raw.line, "control", value, _("must be better, worse, or blank"))
        return value
