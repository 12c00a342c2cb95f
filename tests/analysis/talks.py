"""Small message tables for the tests of analysis, and real chats turned into such."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pandas as pd

from analysis import MessageTable, message_table
from tests.analysis.examples import shared

Line = tuple[str, str]


def talks(given: Iterable[Sequence[Line]], **common: object) -> MessageTable:
    """Return a table of conversations, each a list of (system, text); people are "human"."""
    rows = [
        {"conversation": f"c{k}", "seq": seq, "side": system, "system": system, "text": text}
        for k, lines in enumerate(given)
        for seq, (system, text) in enumerate(lines)
    ]
    return of_rows(rows, **common)


def of_rows(rows: Iterable[dict[str, object]], **common: object) -> MessageTable:
    """Return a checked table of rows, each filled up with what is common and with defaults."""
    usual = {"persona": "", "sent_at": "", "side": "a", "system": "s", "conversation": "c"}
    filled = [
        {"message": f"m{k}", "seq": k, **usual, **common, **row} for k, row in enumerate(rows)
    ]
    return message_table(pd.DataFrame(filled))


def meena(name: str) -> MessageTable:
    """Return the published chats of one system with people (Adiwardana et al. 2020)."""
    text = shared("meena_conversations", f"{name}.txt").read_text(encoding="utf-8")
    rows: list[dict[str, object]] = []
    for k, block in enumerate(text.strip().split("\n\n")):
        lines = [line.partition(": ") for line in block.splitlines()[1:] if ": " in line]
        for seq, (who, _, said) in enumerate(lines):
            system = "human" if who.startswith("Human") else who
            row = {"conversation": f"c{k}", "seq": seq, "side": who, "system": system}
            rows.append({**row, "text": said})
    return of_rows(rows)


def volunteers() -> pd.DataFrame:
    """Return the chats of volunteers of ConvAI2, a row each, as distributed (intermediate)."""
    path = shared("convai2_2018_humanbot", "intermediate.jsonl")
    with path.open(encoding="utf-8") as lines:
        return pd.DataFrame([json.loads(line) for line in lines])


def volunteer_messages() -> MessageTable:
    """Return the same chats as a message table; bots by their published pseudonyms."""
    rows: list[dict[str, object]] = []
    for k, talk in enumerate(volunteers().to_dict("records")):
        who = {side: talk[f"{side}_id"] for side in ("participant1", "participant2")}
        about = next(each["user_id"] for each in who.values() if each["class"] == "Bot")
        for seq, line in enumerate(talk["dialog"]):
            author = who[line["sender"]]
            bot = author["class"] == "Bot"
            row = {"conversation": f"d{k}", "seq": seq, "side": line["sender"]}
            row |= {"system": author["user_id"] if bot else "human", "text": line["text"]}
            row |= {"user": "" if bot else author["user_id"], "message": f"d{k}:{seq}"}
            row |= {"persona": " ".join(talk["bot_profile" if bot else "user_profile"] or [])}
            rows.append({**row, "partner_of": about})
    return of_rows(rows)
