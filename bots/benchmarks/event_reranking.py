"""Event re-ranking: the share of replies that event causality changes.

Source: the event-causality paper (NLP4CONVAI 2019), tables 2 and 3: HRED and a one-level model, the
last one or five messages as history, pairs and their embedding. The pool of pairs is mined from the
training part. The replies are also written to event_reranking.jsonl, a table of predictions, of
which `python -m analysis event_reranking.jsonl --report event_reranking` makes the paper's table
with BLEU, NIST, extrema and PMI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bots.bot import Turn
from bots.commands.benchmark_data import BenchmarkData, Table
from bots.commands.test_set_replies import distinct, word_f1
from bots.dialogue import Example
from bots.line_files import write_records
from bots.reference import printed
from bots.registry import make_bot
from bots.text.events import mined, write_pairs

MODELS = ("seq2seq", "hred")
WAYS = (("Re-ranking", "pairs"), ("Re-ranking (emb)", "embedding"))
WINDOWS = (1, 5)
PREDICTIONS = "event_reranking.jsonl"


def run(study: BenchmarkData) -> list[Table]:
    """Return the share re-ranked, and F1, diversity and length before and after."""
    study.directory.mkdir(parents=True, exist_ok=True)
    pool, path = _mined(study), study.directory / "event_pairs.tsv"
    write_pairs(pool, path)
    tested = study.examples()
    rows: list[dict[str, object]] = []
    predictions: list[dict[str, Any]] = []
    for name in MODELS:
        inside = {"weights": study.bot(name).weights}
        options = {"bot": name, "options": inside, "number": 10}
        first = _first(make_bot("beam", **options), tested)
        rows.append({"model": name, "rerank": "1-best", **_measured(first, tested)})
        predictions += _predictions(study, f"{name} 1-best", tested, first, None)
        for window in WINDOWS:
            for label, matching in WAYS:
                how = {"matching": matching, "window": window, "pairs": str(path)}
                texts = _first(make_bot("event_causality", **options, **how), tested)
                changed = sum(one != other for one, other in zip(first, texts, strict=True))
                row: dict[str, object] = {"model": name, "history": window, "rerank": label}
                row["reranked %"] = 100 * changed / len(texts)
                rows.append({**row, **_measured(texts, tested)})
                system = f"{name} {label} of {window}"
                predictions += _predictions(study, system, tested, texts, first)
    write_records(predictions, study.directory / PREDICTIONS)
    paper = printed("event_causality_table3")
    notes = [f"{len(pool)} pairs of events from the training part, each seen twice or more"]
    title = "Re-ranking by event causality"
    return [Table("event_reranking", title, paper["source"], rows, paper["rows"], notes)]


def _mined(study: BenchmarkData) -> Any:
    return mined([turn.text for turn in each.turns] for each in study.original.train)


def _first(bot: Any, tested: Sequence[Example]) -> list[str]:
    turns: list[Turn] = [(each.persona, each.history) for each in tested]
    return [found[0].text for found in bot.propose(turns)]


def _predictions(
    study: BenchmarkData,
    system: str,
    tested: Sequence[Example],
    texts: Sequence[str],
    first: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """Return rows of a PredictionTable; `first` is the reply without re-ranking."""
    return [
        {
            "prediction": f"{system}:{index}",
            "system": system,
            "dataset": study.name,
            "example": each.id,
            "context": [turn.text for turn in each.history],
            "gold": each.reply,
            "response": text,
            "candidates": None,
            "scores": None,
            "log_probs": None,
            "first": None if first is None else first[index],
        }
        for index, (each, text) in enumerate(zip(tested, texts, strict=True))
    ]


def _measured(texts: Sequence[str], tested: Sequence[Example]) -> dict[str, object]:
    f1 = [word_f1(text, each.reply) for text, each in zip(texts, tested, strict=True)]
    return {
        "f1": sum(f1) / len(f1),
        "dist1": distinct(texts, 1),
        "dist2": distinct(texts, 2),
        "length": sum(len(text.split()) for text in texts) / len(texts),
    }
