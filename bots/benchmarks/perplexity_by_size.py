"""Perplexity by size: one generator from its smallest size to its largest.

Source: Adiwardana et al. 2020 (MEENA), section 4.1 and figure 1: models of many sizes and training
times, SSA against perplexity. People's labels come from a campaign with these systems; the table
perplexity_by_size.jsonl has the log-probabilities of every reply, of which
`python -m analysis` makes the same perplexities by the same system names.
"""

from __future__ import annotations

from typing import Any

from bots.commands.benchmark_data import BenchmarkData, Table
from bots.generation.perplexity import LogProbs, perplexity
from bots.generation.shared_dictionary import shared_words, surprises
from bots.line_files import write_records
from bots.reference import printed

WRITER = "meena"
BASE: dict[str, Any] = {"subwords": 0, "block": "vanilla", "heads": 4}
WIDTHS = (16, 32, 64, 128)


def run(study: BenchmarkData) -> list[Table]:
    """Return size and perplexity of each, and write the replies' log-probabilities."""
    bots = {width: study.bot(WRITER, **BASE, width=width) for width in WIDTHS}
    known = shared_words(bots.values())
    tested = study.examples()
    rows: list[dict[str, object]] = []
    records: list[dict[str, Any]] = []
    for width, bot in bots.items():
        system = f"{WRITER}-{width}"
        found = surprises(bot.model, tested, known)
        size = sum(each.numel() for each in bot.model.network.parameters())
        rows.append({"system": system, "parameters": size, "perplexity": perplexity(found)})
        records += [
            _record(study, system, index, example, row)
            for index, (example, row) in enumerate(zip(tested, found, strict=True))
        ]
    study.directory.mkdir(parents=True, exist_ok=True)
    write_records(records, study.directory / "perplexity_by_size.jsonl")
    paper = printed("meena_r2")
    printed_rows = {"interactive SSA": paper["interactive_ssa_vs_ppl"]}
    printed_rows |= {"static SSA": paper["static_ssa_vs_ppl"]}
    notes = [f"{len(known)} words in the dictionary; printed is the R2 of SSA on perplexity"]
    title = "Perplexity per word by size"
    return [Table("perplexity_by_size", title, paper["source"], rows, [printed_rows], notes)]


def _record(
    study: BenchmarkData, system: str, index: int, example: Any, found: LogProbs
) -> dict[str, Any]:
    return {
        "prediction": f"{system}:{index}",
        "system": system,
        "dataset": study.name,
        "example": example.id,
        "context": [turn.text for turn in example.history],
        "gold": example.reply,
        "response": "",
        "candidates": None,
        "scores": None,
        "log_probs": list(found),
    }
