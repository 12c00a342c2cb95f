"""Keyword generators: the PPMI model and Seq2Seq, each alone and re-ranked by mutual information.

Source: the PPMI paper (NLP4CONVAI 2019), tables 1 and 2. The four learn the same dialogues by the
same seed; the model that tells the message from the reply is a Seq2Seq that learned them backwards.
What they say is written to keyword_generators.jsonl, a table of predictions, of which
`python -m analysis keyword_generators.jsonl --report keyword_generators` makes the paper's table
with the row of the reference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bots.commands.answers import answer
from bots.commands.benchmark_data import BenchmarkData, Split, Table
from bots.commands.predictions import Task
from bots.commands.test_set_replies import distinct, word_f1
from bots.line_files import write_records
from bots.registry import make_bot

MODELS = ("ppmi", "seq2seq")
NUMBER = 10  # of replies that are re-ranked
PREDICTIONS = "keyword_generators.jsonl"


def run(study: BenchmarkData) -> list[Table]:
    """Return F1, diversity and length of the four."""
    task = Task(study.name, seed=study.seed, sides=study.sides, limit=study.limit)
    rows: list[dict[str, object]] = []
    replies: list[dict[str, Any]] = []
    for name, bot in _four(study).items():
        answers = list(answer(bot, name, study.original.test, task))
        replies += answers
        texts = [str(row["response"]) for row in answers]
        f1 = [word_f1(str(row["response"]), str(row["gold"])) for row in answers]
        rows.append(
            {
                "model": name,
                "f1": sum(f1) / len(f1),
                "distinct-1": distinct(texts, 1),
                "distinct-2": distinct(texts, 2),
                "words": sum(len(text.split()) for text in texts) / len(texts),
            }
        )
    study.directory.mkdir(parents=True, exist_ok=True)
    write_records(replies, study.directory / PREDICTIONS)
    source = "PPMI keyword model, tables 1 and 2 (printed beside the report keyword_generators)"
    return [Table("keyword_generators", "Generators guided by keywords", source, rows)]


def _four(study: BenchmarkData) -> dict[str, Any]:
    """Return the bots by name, each trained on the training part by the study's seed."""
    backwards = {"weights": _backward(study).bot("seq2seq").weights}
    found: dict[str, Any] = {}
    for name in MODELS:
        found[name] = study.bot(name)
        inside = {"weights": found[name].weights}
        how = {"backward": "seq2seq", "backward_options": backwards, "number": NUMBER}
        found[f"{name} + MMI"] = make_bot("mmi", bot=name, options=inside, **how)
    return found


def _backward(study: BenchmarkData) -> BenchmarkData:
    """Return the study with the dialogues of its training part read from their end."""
    turned = tuple(replace(each, turns=each.turns[::-1]) for each in study.original.train)
    return replace(study, forms={"original": Split(turned, study.original.test)})
