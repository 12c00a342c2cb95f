"""Persona likeness: votes of people on whether a character would say so, and scores of metrics.

PERSONA-METRICS (Miyazaki et al. 2021): NoL is the number of "likely" among five votes on
an utterance and a character; 0 or 1 is inappropriate. A study needs two tables. Its ratings answer
the question `likely` with 1 or 0: `item` is the message judged, or it is told by `conversation` and
`message_seq`, as in an export; the character is in the column `character` (`system` where that is
blank). Its messages have in `persona` the character who speaks; those that are judged, and a
character's lines with the words of a judged one by the same author (`system`), are left out of the
monologue, which metrics learn from. A column `persona_text` may describe the character, and
`series` tell casts apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.conversations.descriptions import measures
from analysis.conversations.language_model import voices
from analysis.conversations.nearest_line import ORDER, lines
from analysis.conversations.salience import salience
from analysis.conversations.speakers import LEAST, speakers
from analysis.scores.majorities import votes_wanted
from analysis.scores.question_ratings import identified
from analysis.stats.intervals import Floats
from analysis.tables.schema import MessageTable, RatingTable
from analysis.text.bleu import checked_order
from analysis.text.tokenizers import SPLIT, WORDS, NamedTokenizer

LIKELY = ("likely", "likely_to_say")
VOTES = 5
KEYS = ["protocol", "character", "item"]
MESSAGE_KEYS = ("conversation", "message_seq")  # of the message judged
INAPPROPRIATE = 1
LEARNED = ("PSProb", "PTSal", "uPPL", "MaxBLEU")
DESCRIBED = ("P-F1", "P-Cover")
# High perplexity is unlike the persona; all other metrics are high for what is like it.
HIGH_IS_BAD = "uPPL"


@dataclass(frozen=True, eq=False)
class LikenessStudy:
    """Judged utterances with their metrics, or why there is no study."""

    frame: pd.DataFrame
    reason: str | None = None

    @property
    def metrics(self) -> list[str]:
        return [name for name in (*LEARNED, *DESCRIBED) if name in self.frame]


def votes(ratings: RatingTable, *, needed: int | None = None) -> pd.DataFrame:
    """Return a row per character and item: its votes, and NoL where it has all of them.

    Needed are as many as the column `votes` says; where the table does not say, `needed`, else
    five, or in a table where no item has so many, as many as the most has.
    """
    single = cast(ratings)
    found = single.groupby(KEYS)["value"].agg(votes="size", likely="sum").reset_index()
    most = needed or (min(VOTES, int(found["votes"].max())) if len(found) else VOTES)
    wanted = votes_wanted(single, KEYS, most).rename("needed").reset_index()
    found = found.merge(wanted, on=KEYS)
    # Six votes where five are needed cannot be cut to five without choosing whom to believe.
    return found.assign(nol=found["likely"].where(found["votes"] == found["needed"]))


def cast(ratings: RatingTable) -> pd.DataFrame:
    """Return the single votes, a row each."""
    rows = identified(ratings)
    rows = rows[rows["question"].isin(LIKELY) & rows["value"].isin([0.0, 1.0])]
    rows = rows.assign(**{name: "" for name in MESSAGE_KEYS if name not in rows.columns})
    named = rows["character"].astype(str) if "character" in rows.columns else ""
    character = rows["system"].astype(str).where(pd.Series(named, index=rows.index) == "", named)
    return rows.assign(character=character, value=rows["value"].astype(float))


def several_scales(needed: pd.Series) -> str:
    """Return why counts of different numbers of votes are no one measure."""
    return f"NoL counts {' and '.join(map(str, sorted(set(needed))))} votes of different utterances"


@dataclass(frozen=True)
class Counting:
    """The tokens that metrics count, each metric's own where none are chosen, and MaxBLEU's n."""

    tokenizer: NamedTokenizer | None = None
    bleu_n: int = ORDER

    @property
    def note(self) -> str:
        """A sentence about both."""
        name = self.tokenizer.name if self.tokenizer else "split; P-F1 and P-Cover: words"
        return f"Tokens: {name}. MaxBLEU is BLEU-{self.bleu_n}."


AS_PUBLISHED = Counting()


def study(
    ratings: RatingTable,
    messages: MessageTable,
    *,
    seed: int = 0,
    counting: Counting = AS_PUBLISHED,
) -> LikenessStudy:
    """Return every judged utterance with the metrics of its character."""
    judged = votes(ratings).dropna(subset=["nol"])
    if judged["needed"].nunique() > 1:
        return LikenessStudy(judged, several_scales(judged["needed"]))
    known = judged.merge(_texts(cast(ratings), messages), on="item")
    if known.empty:
        return LikenessStudy(
            known, "no message was judged by enough people on the question `likely`"
        )
    parts = list(_by_series(known, messages, seed, counting))
    if not parts:
        return LikenessStudy(
            known, f"no cast of two characters with {LEAST} lines each beside those judged"
        )
    return LikenessStudy(pd.concat(parts, ignore_index=True))


def likeness(
    texts: Sequence[str],
    character: str,
    ratings: RatingTable,
    messages: MessageTable,
    *,
    seed: int = 0,
    counting: Counting = AS_PUBLISHED,
) -> pd.DataFrame:
    """Return a row per text with its metrics, as `study` scores the judged lines of a character.

    Raises ValueError where the character has no cast to learn from.
    """
    judged = votes(ratings).dropna(subset=["nol"])
    known = judged.merge(_texts(cast(ratings), messages), on="item")
    for mates in monologues(messages, _left_out(known, messages)).values():
        if character in mates and len(mates) > 1 and min(map(len, mates.values())) >= LEAST:
            rows = pd.DataFrame({"text": list(texts), "character": character})
            return _scored(rows, mates, _descriptions(messages), seed, counting)
    raise ValueError(f"{character!r} has no cast of two characters with {LEAST} lines each")


def monologues(
    messages: MessageTable, judged: frozenset[str] = frozenset()
) -> dict[str, dict[str, list[str]]]:
    """Return each series' characters with their lines, less those that are judged."""
    rows = messages[(messages["persona"] != "") & ~messages["message"].isin(judged)]
    series = rows["series"].astype(str) if "series" in rows.columns else pd.Series("", rows.index)
    found: dict[str, dict[str, list[str]]] = {}
    for (name, persona), part in rows.groupby([series, "persona"], sort=True):
        found.setdefault(str(name), {})[str(persona)] = sorted(part["text"])
    return found


def _texts(single: pd.DataFrame, messages: MessageTable) -> pd.DataFrame:
    """Return each item with its message and text, and its author, the system.

    An item is a message's name, or stands at a place of a conversation, as in an export.
    """
    items = single.drop_duplicates("item")[["item", "system", "conversation", "message_seq"]]
    known = messages[["message", "conversation", "seq", "text"]].astype({"message": "str"})
    named = items.merge(known[["message", "text"]], left_on="item", right_on="message")
    placed = items[~items["item"].isin(named["item"])].assign(
        seq=lambda rows: pd.to_numeric(rows["message_seq"], errors="coerce")
    )
    placed = placed.dropna(subset=["seq"]).merge(known, on=["conversation", "seq"])
    found = pd.concat([named, placed]).drop_duplicates("item")
    return found[["item", "message", "text", "system"]].rename(columns={"system": "author"})


def _left_out(judged: pd.DataFrame, messages: MessageTable) -> frozenset[str]:
    """Return the messages that teach nothing: those judged, and their authors' same words."""
    lines_judged = set(zip(judged["author"], judged["text"], strict=True))
    own = zip(messages["persona"], messages["text"], strict=True)
    copies = messages.loc[[pair in lines_judged for pair in own], "message"]
    return frozenset(judged["message"]) | frozenset(copies)


def _by_series(
    judged: pd.DataFrame, messages: MessageTable, seed: int, counting: Counting
) -> Iterator[pd.DataFrame]:
    casts = monologues(messages, _left_out(judged, messages))
    described = _descriptions(messages)
    for series, cast in casts.items():
        mine = judged[judged["character"].isin(cast)]
        if len(mine) and len(cast) > 1 and min(map(len, cast.values())) >= LEAST:
            yield _scored(mine.assign(series=series), cast, described, seed, counting)


def _scored(
    rows: pd.DataFrame,
    cast: dict[str, list[str]],
    described: dict[str, list[str]],
    seed: int,
    counting: Counting,
) -> pd.DataFrame:
    tokens = counting.tokenizer or SPLIT
    who, table = speakers(cast, seed=seed, tokens=tokens), salience(cast, tokens)
    heard, order = voices(cast, tokens=tokens), checked_order(counting.bleu_n)
    near = {persona: lines(monologue, tokens, order) for persona, monologue in cast.items()}
    pairs = list(zip(rows["text"], rows["character"], strict=True))
    columns = [who.personas.index(character) for _, character in pairs]
    probabilities = who.probabilities([text for text, _ in pairs])
    scores: dict[str, Sequence[float] | Floats] = {
        "PSProb": probabilities[np.arange(len(pairs)), columns],
        "PTSal": [table.score(text, character) for text, character in pairs],
        "uPPL": [heard.perplexity(character, text) for text, character in pairs],
        "MaxBLEU": [near[character].closest(text) for text, character in pairs],
    }
    if set(rows["character"]) <= set(described):
        measure = measures(counting.tokenizer or WORDS)
        for name, key in zip(DESCRIBED, measure, strict=True):
            scores[name] = [measure[key](text, described[persona]) for text, persona in pairs]
    return rows.assign(**{name: np.asarray(values) for name, values in scores.items()})


def _descriptions(messages: MessageTable) -> dict[str, list[str]]:
    """Return the sentences that describe each persona, one a line, where the table has them."""
    if "persona_text" not in messages.columns:
        return {}
    rows = messages[messages["persona_text"].fillna("").astype(str).str.strip() != ""]
    texts = rows.groupby("persona")["persona_text"].first()
    return {str(persona): str(text).splitlines() for persona, text in texts.items()}
