"""Generators of the hredGAN and THRED tables, and the ranking by a discriminator.

Source: hredGAN (NLP4CONVAI 2019), tables 1 and 2; THRED (NLP4CONVAI 2019), table 4. What they say
is also written to generators.jsonl, a table of predictions, of which
`python -m analysis generators.jsonl --report generators` makes the papers' tables with BLEU, ROUGE
and NASL; people's scores come from a campaign.
"""

from __future__ import annotations

from typing import Any

from bots.commands.answers import answer
from bots.commands.benchmark_data import BenchmarkData, Table, flat
from bots.commands.predictions import Task
from bots.commands.test_set_replies import distinct, word_f1
from bots.generation.likelihood import measure
from bots.line_files import write_records
from bots.reference import printed

MODELS = ("seq2seq", "hred", "vhred", "hredgan", "ta_seq2seq", "thred")
LIST = 8


def run(study: BenchmarkData) -> list[Table]:
    """Return perplexity, F1 and diversity of each, and replies by the discriminator."""
    task = Task(study.name, seed=study.seed, sides="both", limit=study.limit)
    rows: list[dict[str, object]] = []
    replies: list[dict[str, Any]] = []
    for name in MODELS:
        bot = study.bot(name)
        answers = list(answer(bot, name, study.original.test, task))
        replies += answers
        rows.append({"model": name, **_measured(study, bot, answers)})
    study.directory.mkdir(parents=True, exist_ok=True)
    write_records(replies, study.directory / "generators.jsonl")
    gan, thred = printed("hredgan_table1"), printed("thred_table4")
    printed_rows = [{"data": "MTC", **flat(row)} for row in gan["MTC"]]
    printed_rows += [{"data": "Reddit, OpenSubtitles", **flat(row)} for row in thred["rows"]]
    source = f"{gan['source']}; {thred['source']}"
    table = Table("generators", "Generators", source, rows, printed_rows)
    return [table, _ranking(study)]


def _measured(study: BenchmarkData, bot: Any, answers: list[dict[str, Any]]) -> dict[str, object]:
    texts = [str(row["response"]) for row in answers]
    f1 = [word_f1(str(row["response"]), str(row["gold"])) for row in answers]
    return {
        "ppl": measure(bot.model, study.examples()).per_token,
        "f1": sum(f1) / len(f1),
        "distinct-1": distinct(texts, 1),
        "distinct-2": distinct(texts, 2),
        "words": sum(len(text.split()) for text in texts) / len(texts),
    }


def _ranking(study: BenchmarkData) -> Table:
    """Return the replies to one context, the most trusted by the discriminator first."""
    bot = study.bot("hredgan", samples=LIST)
    example = study.examples()[0]
    turn = (example.persona, example.history)
    found = bot.propose([turn])[0]
    trusted = bot.trust([turn] * len(found), found)
    rows = [
        {"rank": index, "reply": each.text, "log D": score}
        for index, (each, score) in enumerate(zip(found, trusted, strict=True), start=1)
    ]
    title = "Replies by the discriminator's score"
    return Table(
        "discriminator_ranking",
        title,
        "hredGAN, table 2 (examples only)",
        rows,
        notes=[f"context: {example.history[-1].text}"],
    )
