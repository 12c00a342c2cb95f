"""A-EVENT: how many replies change when candidates are re-ordered by event causality.

Source: the event-causality paper (NLP4CONVAI 2019), tables 2 and 3: HRED and a one-level model, the
last one or five messages as history, pairs and their embedding. The pool of pairs is mined from the
training part. What is said is also written to event_reranking.jsonl, a table of predictions, of
which `python -m analysis event_reranking.jsonl --report event_reranking` makes the paper's table
with BLEU, NIST, extrema and PMI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bots.bot import Turn
from bots.dialogue import Example
from bots.events import mined, write_pairs
from bots.lines import write_records
from bots.reference import printed
from bots.registry import make_bot
from bots.study import Study, Table
from bots.wording import distinct, word_f1

MODELS = ("seq2seq", "hred")
WAYS = (("Re-ranking", "pairs"), ("Re-ranking (emb)", "embedding"))
WINDOWS = (1, 5)
PREDICTIONS = "event_reranking.jsonl"


def run(study: Study) -> list[Table]:
    """Return the share re-ranked, and F1, diversity and length before and after."""
    study.directory.mkdir(parents=True, exist_ok=True)
    pool, path = _mined(study), study.directory / "event_pairs.tsv"
    write_pairs(pool, path)
    asked = study.examples()
    rows: list[dict[str, object]] = []
    said: list[dict[str, Any]] = []
    for name in MODELS:
        inside = {"weights": study.bot(name).weights}
        options = {"bot": name, "options": inside, "number": 10}
        first = _first(make_bot("beam", **options), asked)
        rows.append({"model": name, "rerank": "1-best", **_measured(first, asked)})
        said += _predictions(study, f"{name} 1-best", asked, first, None)
        for window in WINDOWS:
            for label, matching in WAYS:
                how = {"matching": matching, "window": window, "pairs": str(path)}
                texts = _first(make_bot("event_causality", **options, **how), asked)
                changed = sum(one != other for one, other in zip(first, texts, strict=True))
                row: dict[str, object] = {"model": name, "history": window, "rerank": label}
                row["reranked %"] = 100 * changed / len(texts)
                rows.append({**row, **_measured(texts, asked)})
                said += _predictions(study, f"{name} {label} of {window}", asked, texts, first)
    write_records(said, study.directory / PREDICTIONS)
    paper = printed("event_causality_table3")
    notes = [f"{len(pool)} pairs of events from the training part, each seen twice or more"]
    title = "Re-ranking by event causality (A-EVENT)"
    return [Table("event_reranking", title, paper["source"], rows, paper["rows"], notes)]


def _mined(study: Study) -> Any:
    return mined([turn.text for turn in each.turns] for each in study.original.train)


def _first(bot: Any, asked: Sequence[Example]) -> list[str]:
    turns: list[Turn] = [(each.persona, each.history) for each in asked]
    return [found[0].text for found in bot.propose(turns)]


def _predictions(
    study: Study,
    system: str,
    asked: Sequence[Example],
    texts: Sequence[str],
    first: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """Return rows of a PredictionTable; `first` is what is said without re-ranking."""
    return [
        {
            "prediction": f"{system}:{place}",
            "system": system,
            "dataset": study.name,
            "example": each.id,
            "context": [turn.text for turn in each.history],
            "gold": each.reply,
            "response": text,
            "candidates": None,
            "scores": None,
            "log_probs": None,
            "first": None if first is None else first[place],
        }
        for place, (each, text) in enumerate(zip(asked, texts, strict=True))
    ]


def _measured(said: Sequence[str], asked: Sequence[Example]) -> dict[str, object]:
    f1 = [word_f1(text, each.reply) for text, each in zip(said, asked, strict=True)]
    return {
        "f1": sum(f1) / len(f1),
        "dist1": distinct(said, 1),
        "dist2": distinct(said, 2),
        "length": sum(len(text.split()) for text in said) / len(said),
    }
