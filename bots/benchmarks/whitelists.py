"""Whitelists by frequency, by clusters and at random: their coverage and their hits.

Source: the ASAPP paper (NLP4CONVAI 2019), tables 4 to 6. "+" adds the true reply to the list;
without it only examples whose reply is on the list count.
"""

from __future__ import annotations

from collections.abc import Sequence

from bots.commands.benchmark_data import BenchmarkData, Table, flat
from bots.commands.test_set_replies import word_f1
from bots.dialogue import examples
from bots.guards import whitelists
from bots.reference import printed
from bots.text.tokens import key

SIZES = (100, 1000)
RANKER = "dual_encoder"


def run(study: BenchmarkData) -> list[Table]:
    """Return recall among the list, with and without the true reply added, coverage and F1."""
    bot = study.bot(RANKER)
    entries = whitelists.count(each.reply for each in examples(study.original.train))
    rows: list[dict[str, object]] = []
    for size in SIZES:
        chosen = {
            "random": whitelists.at_random(entries, size, study.seed),
            "frequency": whitelists.frequency(entries, size),
            "clustering": whitelists.clustering(entries, size, bot.encode, study.seed),
        }
        for name, listed in chosen.items():
            kept = whitelists.replies(listed)
            rows.append({"whitelist": name, "size": len(kept), **_measured(study, bot, kept)})
    papers = [printed(f"asapp_table{number}") for number in (4, 5, 6)]
    printed_rows = [
        {"table": paper["source"], **flat(row)} for paper in papers for row in paper["rows"]
    ]
    source = "; ".join(paper["source"] for paper in papers)
    title = "Whitelists"
    return [Table("whitelists", title, source, rows, printed_rows, [f"ranker {RANKER}, toy size"])]


def _measured(study: BenchmarkData, bot: object, kept: Sequence[str]) -> dict[str, object]:
    known = {key(text): index for index, text in enumerate(kept)}
    found = {"covered": 0, "R@1": 0, "R@10": 0, "R@1+": 0, "R@10+": 0}
    f1: list[float] = []
    tested = study.examples()
    for example in tested:
        there = key(example.reply) in known
        offered = list(kept) if there else [*kept, example.reply]
        index = known.get(key(example.reply), len(kept))
        scores = list(bot.rank(example.persona, example.history, offered))  # type: ignore[attr-defined]
        above = sum(score > scores[index] for score in scores)
        found["covered"] += there
        for most in (1, 10):
            found[f"R@{most}"] += there and above < most
            found[f"R@{most}+"] += above < most
        best = max(range(len(kept)), key=scores.__getitem__)
        f1.append(word_f1(kept[best], example.reply))
    covered, total = found.pop("covered"), len(tested)
    shares = {
        name: (value / total if name.endswith("+") else value / covered if covered else None)
        for name, value in found.items()
    }
    return {"coverage %": 100 * covered / total, **shares, "F1 of the best": sum(f1) / total}
