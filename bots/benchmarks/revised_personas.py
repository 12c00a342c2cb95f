"""Revised personas: the loss of rankers when personas are put in other words.

Source: Dinan et al. 2019 (ConvAI2), section 3.1 (a figure), and Zhang et al. 2018 (PERSONA-CHAT),
table 3, whose rankers are trained on revised personas.
"""

from __future__ import annotations

from bots.commands.benchmark_data import BenchmarkData, Table, flat
from bots.commands.predictions import hits
from bots.reference import printed

RANKERS = ("tfidf", "starspace", "profile_memory", "kv_profile_memory")


def run(study: BenchmarkData) -> list[Table]:
    """Return hits@1 with no, the original and the revised self persona, and the loss."""
    rows: list[dict[str, object]] = []
    for name in RANKERS:
        none = hits(study.rows(study.bot(name, "none"), "none"))
        bot = study.bot(name, "self", "revised")
        original = hits(study.rows(bot, "self", "original"))
        revised = hits(study.rows(bot, "self", "revised"))
        found = {"none": none, "original": original, "revised": revised}
        rows.append({"model": name, **found, "loss": original - revised})
    paper = printed("personachat_table3")
    return [
        Table(
            "revised_personas",
            f"Original and revised personas, hits@1/{study.candidates}",
            paper["source"],
            rows,
            [flat(row) for row in paper["rows"] if row["type"] == "ranking"],
            ["ours and the printed rankers are trained on revised personas, IR on none"],
        )
    ]
