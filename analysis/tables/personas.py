"""Persona sentences of a message, from an export's file or from the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import msgspec
import pandas as pd

from analysis.tables.schema import BadTable, MessageTable, Problem

FILE = "personas.jsonl"
COLUMN = "persona_text"
ORIGINAL, REVISED = "original", "revised"  # forms of a persona
FORM = "persona_form"
# By campaign, key and form; in the export of one campaign its name is "".
Described = Mapping[tuple[str, str, str], Sequence[str]]


class PersonaLine(TypedDict):
    """A line of the file; `revised` is its other form, `campaign` whose it is in a study's."""

    persona: str | int
    sentences: list[str]
    revised: NotRequired[list[str]]
    campaign: NotRequired[str]


def described(messages: MessageTable, personas: Described) -> MessageTable:
    """Return the messages with their persona's sentences, one a line, in a column of its own.

    A table without forms is older than they are, and has the original one.
    """
    texts = {key: "\n".join(sentences) for key, sentences in personas.items()}
    forms = messages[FORM] if FORM in messages.columns else [ORIGINAL] * len(messages)
    of_several = any(campaign for campaign, _, _ in personas)
    campaigns = messages["campaign"] if of_several else [""] * len(messages)
    keys = zip(campaigns, messages["persona"], forms, strict=True)
    lines = [texts.get(key, "") for key in keys]
    return MessageTable(messages.assign(**{COLUMN: pd.Series(lines, messages.index, dtype="str")}))


def sentences(messages: pd.DataFrame) -> pd.Series:
    """Return each message's sentences: of the column `persona_text`, else of `persona` itself.

    A persona of one word is a name and describes nothing.
    """
    if COLUMN in messages.columns:
        return messages[COLUMN].fillna("").astype(str).map(_lines)
    return messages["persona"].astype(str).map(lambda text: _lines(text) if " " in text else [])


def read_personas(name: str, content: str) -> Described:
    """Return the personas of an export: one JSON object per line, with `persona` and `sentences`.

    `revised` has the other form, where there is one; `campaign` tells the personas of a study's
    campaigns apart. Raises `BadTable` where a line is none.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    problems = []
    lines = [line for line in content.split("\n") if line.strip()]
    for row, line in enumerate(lines, start=1):
        try:
            record = msgspec.json.decode(line, type=PersonaLine)
        except msgspec.DecodeError as error:
            right = "an object with persona and a list sentences"
            problems.append(Problem(row, "line", f"not a persona ({error})", right))
            continue
        of, key = record.get("campaign", ""), str(record["persona"])
        found[of, key, ORIGINAL] = record["sentences"]
        found[of, key, REVISED] = record.get("revised", [])
    if problems:
        raise BadTable(name, problems, len(lines))
    return found


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
