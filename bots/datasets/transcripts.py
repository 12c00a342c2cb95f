"""Transcripts of conversations held elsewhere, such as with a bot that no program can reach.

Text: a line "Name: message" each, a blank line between conversations, and, where one likes, a first
line such as "Mitsuku Conversation 12" that names the conversation. JSON Lines: {"id", "turns":
[{"speaker", "text"}]}, or "messages" with "role" and "content". Each conversation has two speakers.
"self" is the bot: whoever is named after # in the source ("chats.txt#Mitsuku"); else, of a human
and somebody else, the other one; else the one who does not begin.

Source: the layout of the conversations released with Adiwardana et al. 2020, and section 2.3 there:
volunteers' chats with bots that have no interface (Mitsuku, XiaoIce), where the person begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, InvalidData, read_lines, read_records, text_of

HEADER = re.compile(r"(?:\S.*\s)?Conversation\s+(\S+)", re.IGNORECASE)
LINE = re.compile(r"([^:：]{1,40})[:：]\s*(.*)")
HUMAN = re.compile(r"(?:human|person|people|user|volunteer|worker|participant|partner)\b.*", re.I)
UNNAMED = "Conversation "
NAMES = {"self": "Self", "partner": "Partner"}


def read(source: str) -> list[Dialogue]:
    """Read the file at this path; "#Name" after it names the bot."""
    name, _, bot = source.partition("#")
    path = Path(name)
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        found = _numbered(read_records(path, lambda record: _of_record(record, bot)))
    else:
        found = _of_text(path, lines, bot)
    _only_once(path, found)
    return found


def _numbered(found: Sequence[Dialogue]) -> list[Dialogue]:
    """Name those without an id by their position."""
    return [
        Dialogue(each.id or str(index), each.turns) for index, each in enumerate(found, start=1)
    ]


def _only_once(path: Path, found: Sequence[Dialogue]) -> None:
    names = [each.id for each in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidData([f"{path}: two conversations are named {name!r}" for name in twice])


# --- text


@dataclass(frozen=True)
class SpokenLine:
    """One message as a file has it."""

    number: int
    speaker: str
    text: str


@dataclass
class TextChat:
    """One conversation of the text layout, with the number of its first line."""

    start: int
    name: str = ""
    turns: list[SpokenLine] = field(default_factory=list)

    @property
    def speakers(self) -> list[str]:
        return [turn.speaker for turn in self.turns]


def text_chats(lines: Sequence[str]) -> tuple[list[TextChat], list[tuple[int, str]]]:
    """Return the conversations of lines of text, and each bad line's number with its complaint."""
    found, problems = list[TextChat](), list[tuple[int, str]]()
    for block in _blocks(lines):
        chat = TextChat(block[0][0])
        found.append(chat)
        for number, line in block:
            try:
                _take(chat, number, line)
            except BadLine as problem:
                problems.append((number, str(problem)))
    return found, problems


def _of_text(path: Path, lines: Sequence[str], bot: str) -> list[Dialogue]:
    chats, wrong = text_chats(lines)
    problems = [f"{path}, line {number}: {problem}" for number, problem in wrong]
    found = []
    for index, chat in enumerate(chats, start=1):
        turns = [(turn.speaker, turn.text) for turn in chat.turns]
        try:
            found.append(Dialogue(chat.name or str(index), _sided(turns, bot)))
        except BadLine as problem:
            problems.append(f"{path}, line {chat.start}: {problem}")
    if problems or not found:
        raise InvalidData(problems or [f"{path}: no conversations"])
    return found


def _blocks(lines: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*lines, ""], start=1):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []


def _take(chat: TextChat, number: int, line: str) -> None:
    header = HEADER.fullmatch(line.strip())
    if header and not chat.turns and not chat.name:
        chat.name = line.strip().removeprefix(UNNAMED)
        return
    match = LINE.fullmatch(line.strip())
    if match is None or not match[2].strip():
        raise BadLine(f"must be a name, a colon and a message, is {line.strip()[:40]!r}")
    chat.turns.append(SpokenLine(number, match[1].strip(), match[2].strip()))


# --- JSON Lines


def _of_record(record: Mapping[str, Any], bot: str) -> Dialogue:
    turns = record.get("turns", record.get("messages"))
    if not isinstance(turns, list) or not turns:
        raise BadLine(f"turns is {turns!r}, but must be a list of messages")
    messages = []
    for index, turn in enumerate(turns, start=1):
        try:
            messages.append(_message(turn))
        except BadLine as problem:
            raise BadLine(f"turn {index}: {problem}") from problem
    name = record.get("id", "")
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise BadLine(f"id is {name!r}, but must be text")
    return Dialogue(str(name), _sided(messages, bot))


def _message(turn: object) -> tuple[str, str]:
    if not isinstance(turn, dict):
        raise BadLine(f"is {turn!r}, but must have a speaker and a text")
    speaker, text = ("role", "content") if "role" in turn else ("speaker", "text")
    return text_of(turn, speaker), text_of(turn, text)


# --- speakers


def _sided(messages: Sequence[tuple[str, str]], bot: str) -> tuple[Utterance, ...]:
    own = bot_of([name for name, _ in messages], bot)
    return tuple(Utterance("self" if name == own else "partner", text) for name, text in messages)


def is_human(name: str) -> bool:
    """Tell whether a speaker is called as people are: Human, Human 1, User, Volunteer."""
    return HUMAN.fullmatch(name) is not None


def bot_of(names: Sequence[str], bot: str = "") -> str:
    """Return which of the speakers is the bot; `bot` is its name where it is known.

    Raises BadLine where there are not two speakers.
    """
    speakers = list(dict.fromkeys(names))
    listed = ", ".join(speakers)
    if not 1 <= len(speakers) <= 2:
        raise BadLine(f"a conversation has two speakers; this one has {listed or 'no messages'}")
    if bot:
        if len(speakers) == 2 and bot not in speakers:
            raise BadLine(f"the bot was said to be {bot}, but the speakers are {listed}")
        return bot
    if "Self" in speakers or "self" in speakers:
        return "Self" if "Self" in speakers else "self"
    others = [name for name in speakers if not is_human(name)]
    return others[0] if len(others) == 1 else (speakers[1] if len(speakers) == 2 else "")


def write(dialogues: Sequence[Dialogue], path: Path) -> None:
    """Write the text layout, or name the dialogues that it cannot hold.

    Raises InvalidData, naming what the layout cannot hold.
    """
    problems = [problem for dialogue in dialogues for problem in _unfit(dialogue)]
    if problems:
        raise InvalidData(problems)
    blocks = (
        "\n".join([_header(each.id), *(f"{NAMES[one.speaker]}: {one.text}" for one in each.turns)])
        for each in dialogues
    )
    path.write_text("\n\n".join(blocks) + "\n", "utf-8")


def _header(name: str) -> str:
    return name if HEADER.fullmatch(name) else UNNAMED + name


def _unfit(dialogue: Dialogue) -> Iterator[str]:
    if dialogue.persona or dialogue.partner_persona:
        yield f"dialogue {dialogue.id}: a transcript has no place for personas; write jsonl"
    if not HEADER.fullmatch(_header(dialogue.id)):
        yield f"dialogue {dialogue.id}: a transcript's name has no spaces"
    for turn in dialogue.turns:
        if turn.candidates or not turn.text.strip() or {*"\r\n"} & {*turn.text}:
            yield f"dialogue {dialogue.id}: {turn.text[:40]!r} has no place on one line"
