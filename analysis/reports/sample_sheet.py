"""Sample sheet: conversations, and contexts with each system's reply, drawn at random with scores.

As papers print them (PERSONA-CHAT, Zhang et al. 2018, tables 7 to 12; ConvAI2, Dinan et al. 2019,
figures 6 to 11; MEENA, Adiwardana et al. 2020, appendix A; THRED 2019, tables 1 and 7), but drawn,
by the seed: equally many of each system. A sheet whose rows were chosen by hand says "picked". A
conversation with a message that is set aside is never drawn, nor are answers that are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.conversations.transcripts import placed, set_aside
from analysis.predictions.prediction_rows import groups
from analysis.report import Report, Section
from analysis.tables.options import BadOption
from analysis.tables.schema import TEXT, MessageTable, PredictionTable, RatingTable

EACH = 3  # of each system
SEQ = "message_seq"


def sample_sheet(
    messages: MessageTable | None = None,
    ratings: RatingTable | None = None,
    predictions: PredictionTable | None = None,
    *,
    seed: int = 0,
    each: int = EACH,
    picked: Sequence[str] = (),
) -> Report:
    """Return `each` conversations of each system, and as many contexts, or those that are picked.

    `picked` names conversations or examples. Raises `BadOption` for one that cannot be shown.
    """
    if each < 1:
        raise BadOption("each", str(each), "a whole number from 1")
    found = [*_of_messages(messages, ratings, seed, each, picked)]
    found += _of_predictions(predictions, ratings, seed, each, picked)
    shown = {section.key for section in found}
    for name in picked:
        if not {f"conversation-{name}", f"context-{name}"} & shown:
            raise BadOption("picked", name, "a conversation or an example that is not set aside")
    how = "picked by hand" if picked else f"drawn at random (seed {seed})"
    finding = f"{len(found)} {'sample' if len(found) == 1 else 'samples'}, {how}."
    return Report(
        name="sample_sheet",
        title="Sample sheet, picked" if picked else "Sample sheet",
        findings=(finding if found else "There is nothing to draw samples from.",),
        sections=tuple(found),
    )


def _of_messages(
    messages: MessageTable | None,
    ratings: RatingTable | None,
    seed: int,
    each: int,
    picked: Sequence[str],
) -> Iterator[Section]:
    if messages is None or messages.empty:
        return
    aside = set(messages.loc[set_aside(messages), "conversation"].astype(str))
    table = placed(messages).astype({"conversation": str})
    table = table[~table["conversation"].isin(aside)]
    about = table.groupby("conversation")["about"].first()
    answers = _answers(ratings)
    for name in _drawn(about, seed, each, picked):
        yield _conversation(name, str(about[name]), table, answers)


def _drawn(about: pd.Series, seed: int, each: int, picked: Sequence[str]) -> list[str]:
    """Return the names drawn of each system, or those picked, in their order."""
    if picked:
        return [name for name in picked if name in about.index]
    rng, found = np.random.default_rng(seed), []
    for _, names in about.groupby(about, sort=True):
        known = sorted(map(str, names.index))
        found += sorted(rng.choice(known, size=min(each, len(known)), replace=False))
    return [str(name) for name in found]


def _answers(ratings: RatingTable | None) -> pd.DataFrame:
    """Return the answers that count, with the conversation and message that each is about."""
    columns = ["conversation", SEQ, "item", "system", "question", "rater", "value", "level"]
    if ratings is None:
        return pd.DataFrame(columns=columns)
    kept = ratings[~set_aside(ratings)]
    for name in ("conversation", SEQ):
        if name not in kept:
            kept = kept.assign(**{name: ""})
    found = kept[columns].astype({"conversation": str, "item": str})
    return found.assign(**{SEQ: pd.to_numeric(found[SEQ].astype(object), errors="coerce")})


def _conversation(name: str, system: str, table: pd.DataFrame, answers: pd.DataFrame) -> Section:
    own = answers[(answers["conversation"] == name) | (answers["item"] == name)]
    whole = own[own[SEQ].isna()]
    labels = {seq: _listed(part) for seq, part in own.dropna(subset=[SEQ]).groupby(SEQ)}
    lines = table[table["conversation"] == name]
    frame = lines[["seq", "system", "text"]].reset_index(drop=True)
    frame["labels"] = [labels.get(float(seq), "") for seq in frame["seq"]]
    scores = _listed(whole)
    title = f"Conversation {name} with {system}" + (f": {scores}" if scores else "")
    return Section(title, frame, key=f"conversation-{name}")


def _listed(part: pd.DataFrame) -> str:
    """Return answers as they stand in the table, a question at a time, raters in order."""
    scored = part[part["level"] != TEXT].sort_values(["question", "rater"], kind="stable")
    return "; ".join(
        f"{question} {', '.join(map(_plain, rows['value']))}"
        for question, rows in scored.groupby("question", sort=True)
    )


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _of_predictions(
    predictions: PredictionTable | None,
    ratings: RatingTable | None,
    seed: int,
    each: int,
    picked: Sequence[str],
) -> Iterator[Section]:
    if predictions is None or predictions.empty:
        return
    drawn = _drawn(pd.Series("", sorted(set(predictions["example"]))), seed, each, picked)
    kept = PredictionTable(predictions[predictions["example"].isin(drawn)])
    answers = _answers(ratings)
    contexts: dict[str, str] = {}
    replies: dict[str, list[dict[str, object]]] = {name: [] for name in drawn}
    for group in groups(kept):
        for row in group.rows:
            own = answers[(answers["item"] == row.example) & (answers["system"] == group.system)]
            contexts[row.example] = " / ".join(row.context)
            reply = {"reply": row.response or "", "labels": _listed(own)}
            replies[row.example].append({"system": group.system, **reply})
    for name in drawn:
        frame = pd.DataFrame(replies[name])
        yield Section(f"Context {name}: {contexts[name]}", frame, key=f"context-{name}")
