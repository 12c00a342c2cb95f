"""Statistics of a data set: dialogues, messages, words and unique words, by split and side.

What papers print of their data (PERSONA-CHAT, Zhang et al. 2018, section 3; ASAPP's dual encoder,
2019, table 1; PERSONA-METRICS, Miyazaki et al. 2021, tables 3 and 4). The column `split`, where the
table has one, names the splits. Words are those of the tokenizer that stands in each row, marks
left out; unique words are different ones in lower case. `python -m bots messages` writes data of
every layout as such a table.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.conversations.transcripts import HUMAN, placed
from analysis.report import Report, Section, many
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import ALL
from analysis.text.tokenizers import WORDS, NamedTokenizer

NOTE = (
    "Messages that are set aside, or that nobody is named as the author of, are not counted. A "
    "dialogue is of each side that has a message in it."
)


def dataset_statistics(messages: MessageTable, *, tokenizer: NamedTokenizer = WORDS) -> Report:
    """Return a row per split and side, and one of all sides per split, and of all splits."""
    table = placed(messages)
    split = table["split"].astype(str) if "split" in table.columns else ALL
    words = pd.Series(
        [tokenizer.words(text.lower()) for text in table["text"]], table.index, object
    )
    table = table.assign(split=split, author=_authors(table), words=words)
    frame = pd.DataFrame(list(_rows(table, tokenizer.name)))
    finding = "There are no messages."
    if len(frame):
        whole = frame.iloc[-1]
        finding = (
            f"{many(int(whole['dialogues']), 'dialogue')} with "
            f"{many(int(whole['messages']), 'message')}, {many(int(whole['words']), 'word')} and "
            f"{many(int(whole['unique words']), 'unique word')} ({tokenizer.name})."
        )
    return Report(
        name="dataset_statistics",
        title="Statistics of the data set",
        findings=(finding,),
        sections=(Section(finding, frame, NOTE),) if len(frame) else (),
    )


def _authors(table: pd.DataFrame) -> pd.Series:
    """Return each message's system; of people among each other, their side too."""
    alone = (table["system"] == HUMAN) & (table["about"] == HUMAN)
    named = HUMAN + ", side " + table["side"].astype(str)
    return table["system"].astype(str).mask(alone, named)


def _rows(table: pd.DataFrame, tokenizer: str) -> Iterator[dict[str, object]]:
    splits = sorted(set(table["split"]))
    for split in splits:
        part = table[table["split"] == split]
        for author, own in part.groupby("author", sort=True):
            yield _row(split, str(author), own, tokenizer)
        yield _row(split, ALL, part, tokenizer)
    if len(splits) > 1:
        yield _row(ALL, ALL, table, tokenizer)


def _row(split: str, side: str, part: pd.DataFrame, tokenizer: str) -> dict[str, object]:
    dialogues = len(part[["split", "conversation"]].drop_duplicates())
    counts = part["words"].map(len).to_numpy(dtype=int)
    return {
        "split": split,
        "side": side,
        "dialogues": dialogues,
        "messages": len(part),
        "words": int(counts.sum()),
        "unique words": len({word for words in part["words"] for word in words}),
        "messages per dialogue": len(part) / dialogues,
        "words per message": float(np.mean(counts)),
        "characters per message": float(part["text"].str.len().mean()),
        "tokenizer": tokenizer,
    }
