"""A-SSA, its perplexity side: one generator at several sizes, from smallest to largest.

Source: Adiwardana et al. 2020 (MEENA), section 4.1 and figure 1: models of many sizes and training
times, SSA against perplexity. People's labels come from a campaign with these systems; the table
perplexity_by_size.jsonl has the log-probabilities of every reply, of which
`python -m analysis` makes the same perplexities by the same system names.
"""

from __future__ import annotations

from typing import Any

from bots.foreseeing import shared_words, surprises
from bots.lines import write_records
from bots.perplexity import LogProbs, perplexity
from bots.reference import printed
from bots.study import Study, Table

WRITER = "meena"
BASE: dict[str, Any] = {"subwords": 0, "block": "vanilla", "heads": 4}
WIDTHS = (16, 32, 64, 128)


def run(study: Study) -> list[Table]:
    """Return size and perplexity of each, and write the replies' log-probabilities."""
    bots = {width: study.bot(WRITER, **BASE, width=width) for width in WIDTHS}
    known = shared_words(bots.values())
    asked = study.examples()
    rows: list[dict[str, object]] = []
    records: list[dict[str, Any]] = []
    for width, bot in bots.items():
        system = f"{WRITER}-{width}"
        found = surprises(bot.model, asked, known)
        size = sum(each.numel() for each in bot.model.network.parameters())
        rows.append({"system": system, "parameters": size, "perplexity": perplexity(found)})
        records += [
            _record(study, system, place, example, row)
            for place, (example, row) in enumerate(zip(asked, found, strict=True))
        ]
    study.directory.mkdir(parents=True, exist_ok=True)
    write_records(records, study.directory / "perplexity_by_size.jsonl")
    paper = printed("meena_r2")
    told = {"interactive SSA": paper["interactive_ssa_vs_ppl"]}
    told |= {"static SSA": paper["static_ssa_vs_ppl"]}
    notes = [f"{len(known)} words in the dictionary; printed is the R2 of SSA on perplexity"]
    title = "Perplexity per word by size (A-SSA)"
    return [Table("perplexity_by_size", title, paper["source"], rows, [told], notes)]


def _record(study: Study, system: str, place: int, example: Any, found: LogProbs) -> dict[str, Any]:
    return {
        "prediction": f"{system}:{place}",
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
