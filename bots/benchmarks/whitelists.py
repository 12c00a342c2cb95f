"""Whitelists by frequency, by clusters and at random: their coverage and their hits.

Source: the ASAPP paper (NLP4CONVAI 2019), tables 4 to 6. "+" adds the true reply to the list;
without it only examples whose reply is on the list count. A list is of the replies of those sides
that the ranker learned from and is tested on. Every score is also written to whitelists.jsonl, a
table of predictions, of which `python -m analysis whitelists.jsonl --report whitelists` makes the
paper's tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bots.commands.benchmark_data import BenchmarkData, Table, flat
from bots.commands.test_set_replies import word_f1
from bots.dialogue import Example, examples
from bots.guards import whitelists
from bots.line_files import write_records
from bots.reference import printed
from bots.text.tokens import key

SIZES = (100, 1000)
RANKER = "dual_encoder"


def run(study: BenchmarkData) -> list[Table]:
    """Return recall among the list, with and without the true reply added, coverage and F1."""
    bot = study.bot(RANKER, sides=study.sides)
    entries = whitelists.count(each.reply for each in examples(study.original.train, study.sides))
    lists: dict[str, Sequence[str]] = {}
    for size in SIZES:
        chosen = {
            "random": whitelists.at_random(entries, size, study.seed),
            "frequency": whitelists.frequency(entries, size),
            "clustering": whitelists.clustering(entries, size, bot.encode, study.seed),
        }
        lists |= {f"{name} {size}": whitelists.replies(each) for name, each in chosen.items()}
    rows: list[dict[str, object]] = []
    predicted, every = study.rows(bot), _scores(study, bot, lists)
    for name, kept in lists.items():
        scored = list(_scored(name, kept, every))
        predicted += scored
        rows.append({"whitelist": name.split()[0], "size": len(kept), **_measured(scored)})
    study.directory.mkdir(parents=True, exist_ok=True)
    write_records(predicted, study.directory / "whitelists.jsonl")
    papers = [printed(f"asapp_table{number}") for number in (4, 5, 6)]
    printed_rows = [
        {"table": paper["source"], **flat(row)} for paper in papers for row in paper["rows"]
    ]
    source = "; ".join(paper["source"] for paper in papers)
    title = "Whitelists"
    return [
        Table(
            "whitelists", title, source, rows, printed_rows, [f"ranker {RANKER}, size {study.size}"]
        )
    ]


def _scores(
    study: BenchmarkData, bot: Any, lists: Mapping[str, Sequence[str]]
) -> list[tuple[Example, dict[str, float]]]:
    """Return each example with the scores of all that is on a list, and of its own reply."""
    texts = list(dict.fromkeys(text for kept in lists.values() for text in kept))
    found = []
    for example in study.examples():
        offered = [*texts, example.reply]
        scores = bot.rank(example.persona, example.history, offered)
        found.append((example, dict(zip(offered, scores, strict=True))))
    return found


def _scored(
    name: str, kept: Sequence[str], every: Sequence[tuple[Example, Mapping[str, float]]]
) -> Iterator[dict[str, Any]]:
    """Yield the row of a PredictionTable of each example: the list, and the true reply's score."""
    on_list = {key(text): text for text in kept}
    for number, (example, scores) in enumerate(every):
        yield {
            "prediction": f"{name}: {number}",
            "system": RANKER,
            "dataset": name,
            "example": str(number),
            "context": [turn.text for turn in example.history],
            "gold": example.reply,
            "response": None,
            "candidates": list(kept),
            "scores": [scores[text] for text in kept],
            "log_probs": None,
            "gold_score": scores[on_list.get(key(example.reply), example.reply)],
        }


def _measured(scored: Sequence[dict[str, Any]]) -> dict[str, object]:
    """Return a list's figures; a tie counts against the ranker, so equal scores hit nothing."""
    found = {"covered": 0, "R@1": 0, "R@10": 0, "R@1+": 0, "R@10+": 0}
    f1: list[float] = []
    for row in scored:
        there = key(row["gold"]) in set(map(key, row["candidates"]))
        above = sum(score >= row["gold_score"] for score in row["scores"]) - there
        found["covered"] += there
        for most in (1, 10):
            found[f"R@{most}"] += there and above < most
            found[f"R@{most}+"] += above < most
        best = max(range(len(row["scores"])), key=row["scores"].__getitem__)
        f1.append(word_f1(row["candidates"][best], row["gold"]))
    covered, total = found.pop("covered"), len(scored)
    shares = {
        name: (value / total if name.endswith("+") else value / covered if covered else None)
        for name, value in found.items()
    }
    return {"coverage %": 100 * covered / total, **shares, "F1 of the best": sum(f1) / total}
