"""Sample tables to which every metric applies: what contract tests run the open folders on."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis import RatingTable, message_table, prediction_table, rating_table
from analysis.tables.columns import RATING_COLUMNS
from analysis.tables.schema import MESSAGE_COLUMNS, PREDICTION_COLUMNS

BESIDE: dict[str, object] = {"campaign": "c", "place": 0, "conversation": "", "message_seq": ""}
SCORES = [4, 2, 5, 3, 1, 4, 2, 5, 3, 3, 5, 5]
EMPTY = {
    "ratings": rating_table(pd.DataFrame(columns=list(RATING_COLUMNS))),
    "messages": message_table(pd.DataFrame(columns=list(MESSAGE_COLUMNS))),
    "predictions": prediction_table(pd.DataFrame(columns=list(PREDICTION_COLUMNS))),
}


def rating_rows() -> list[dict[str, object]]:
    """Return rows to which all metrics of ratings apply: scales, a guess, labels of five, texts."""
    rows: list[dict[str, object]] = []
    for k, score in enumerate(SCORES):
        about = {"protocol": "chat", "item": f"d{k}", "system": f"s{k % 3}", "rater": f"r{k % 4}"}
        rows.append({**about, "question": "fluency", "level": "ordinal", "value": score})
        rows.append({**about, "question": "persona", "level": "nominal", "value": k % 2})
    for k in range(24):
        for system in range(3):
            about = {"protocol": "beside", "item": f"b{k}", "system": f"s{system}"}
            position = 1 + (system + (7 * k) // 5) % 3
            row = {**about, "rater": f"r{k % 4}", "question": "order", "value": position}
            rows.append({**row, "level": "rank", "place": (system + k) % 3})
    for item in range(8):
        for rater in range(5):
            sensible = int((item * rater) % 3 > 0)
            about = {"protocol": "static", "item": f"c{item // 2}", "system": f"s{item % 2}"}
            for question, value in (("sensible", sensible), ("specific", sensible * (item % 2))):
                row = {**about, "rater": f"r{rater}", "question": question, "value": value}
                rows.append({**row, "level": "nominal"})
    for item in range(6):
        for rater in range(5):
            about = {"protocol": "roles", "item": f"u{item}", "system": f"s{item % 2}"}
            row = {**about, "rater": f"r{rater}", "question": "likely", "level": "nominal"}
            rows.append({**row, "value": int(rater <= item)})
    for k in range(36):
        talk, turn = divmod(k, 3)
        about = {"protocol": "live", "item": f"{talk}:{2 * turn}", "system": f"s{talk % 2}"}
        row = {**about, "rater": f"r{talk % 4}", "question": "sensible", "level": "nominal"}
        row |= {"conversation": str(talk), "message_seq": 2 * turn}
        rows.append({**row, "value": int((5 * k + talk) % 7 > turn + 1)})
    for k in range(24):
        about = {"protocol": "faq", "item": f"q{k}", "system": f"s{k % 2}", "rater": f"r{k % 3}"}
        row = {**about, "question": "plausible", "level": "nominal"}
        rows.append({**row, "value": ("yes", "no", "yes", "can't tell", "yes")[k % 5]})
    for k in range(6):
        about = {"protocol": "chat", "item": f"d{k}", "system": f"s{k % 3}", "rater": f"r{k % 4}"}
        row = {**about, "question": "fluency_reason", "level": "text"}
        rows.append({**row, "value": f"It wrote {k} odd words."})
    return [*rows, *_mood_rows()]


def _mood_rows() -> Iterator[dict[str, object]]:
    """Yield perceived moods beside those intended, and dimensions on a scale from 0 to 1."""
    moods = ("positive", "negative", "neutral")
    for k in range(12):
        for rater in range(3):
            about = {"item": f"e{k}", "system": f"s{k % 2}", "rater": f"r{rater}"}
            row = {**about, "protocol": "mood", "question": "sentiment", "level": "nominal"}
            perceived = moods[(k + (k * rater) % 4 // 3) % 3]
            yield {**row, "value": perceived, "intended": moods[k % 3]}
            for n, dimension in enumerate(("goodness", "plausibility")):
                row = {**about, "protocol": "scale", "question": dimension, "level": "interval"}
                yield {**row, "value": ((7 + n) * k + 3 * rater) % 10 / 10}


def two_scales() -> RatingTable:
    """Return questions of two declared scales, asked of the same raters about several systems."""
    rows: list[dict[str, object]] = []
    for k in range(24):
        about = {"protocol": "ends", "item": f"t{k}", "system": f"s{k % 3}", "rater": f"r{k // 6}"}
        warm = {"question": "warm", "level": "ordinal", "scale_low": 1, "scale_high": 5}
        rows.append({**about, **warm, "value": 1 + (7 * k + k // 6) % 5})
        sure = {"question": "sure", "level": "interval", "scale_low": 0, "scale_high": 1}
        rows.append({**about, **sure, "value": (3 * k + k // 5) % 11 / 10})
    return rating_table(
        pd.DataFrame([{**BESIDE, "answer": f"a{k}", **r} for k, r in enumerate(rows)])
    )


def message_rows() -> list[dict[str, object]]:
    """Return messages to which all metrics apply: both sides, personas, users, times."""
    said = ["Hi there!", "I like tea.", "I like tea.", "Tea is good.", "Why not?", "No idea, sorry"]
    rows: list[dict[str, object]] = []
    for k, text in enumerate(said * 4):
        talk, is_bot = k // 6, k % 2 == 0
        row = {"message": f"m{k}", "conversation": f"v{talk}", "seq": k, "text": text}
        row |= {"side": "a" if is_bot else "b", "system": f"s{talk % 2}" if is_bot else "human"}
        row |= {"persona": "I like tea.\nI have a dog.", "user": "" if is_bot else f"u{talk // 2}"}
        rows.append({**row, "sent_at": f"2026-01-{1 + talk:02}T12:00:{2 * (k % 6):02}Z"})
    return rows


def prediction_rows() -> list[dict[str, object]]:
    """Return predictions to which all metrics apply: 100 candidates, log probabilities, extras."""
    said = [f"We met {k} owls at the old lake today." for k in range(100)]
    rows: list[dict[str, object]] = []
    for k in range(12):
        scores = [((7 * k + 13 * place) % 50) / 10 for place in range(100)]
        row = {
            "prediction": f"p{k}",
            "system": f"s{k % 2}",
            "dataset": "d",
            "example": f"e{k // 2}",
            "context": ["Hi!", "How was your trip to the lake?"],
            "gold": said[k],
            "response": said[max(range(100), key=scores.__getitem__)],
            "candidates": said,
            "scores": scores,
            "log_probs": [-1.0, -0.5 * k, None],
        }
        extras = {"token_hits": [1, k % 2], "discriminator": 0.5, "gold_score": 1.0}
        rows.append({**row, **extras, "batch": f"b{k % 3}"})
    return rows


def tables() -> dict[str, pd.DataFrame]:
    """Return a checked table of each kind."""
    rows = [{**BESIDE, "answer": f"a{k}", **row} for k, row in enumerate(rating_rows())]
    return {
        "ratings": rating_table(pd.DataFrame(rows)),
        "messages": message_table(pd.DataFrame(message_rows())),
        "predictions": prediction_table(pd.DataFrame(prediction_rows())),
    }
