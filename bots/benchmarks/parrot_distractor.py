"""Parrot distractor: how often rankers choose the partner's own last message.

Source: Dinan et al. 2019 (ConvAI2), section 3.1: the distractor hurts bag-of-words rankers most.
"""

from __future__ import annotations

from bots.commands.benchmark_data import BenchmarkData, Table
from bots.commands.predictions import hits

RANKERS = ("tfidf", "starspace", "profile_memory", "kv_profile_memory", "dual_encoder", "two_head")


def run(study: BenchmarkData) -> list[Table]:
    """Return hits@1 without and with the parrot, the loss, and its share of the errors."""
    rows: list[dict[str, object]] = []
    for name in RANKERS:
        bot = study.bot(name)
        before = hits(study.rows(bot))
        among = study.rows(bot, parrot=True)
        after = hits(among)
        errors = [row for row in among if row["response"] != row["gold"]]
        fooled = sum(row["response"] == row["context"][-1] for row in errors)
        rows.append(
            {
                "model": name,
                "without": before,
                "with": after,
                "loss": before - after,
                "parrot share of errors": fooled / len(errors) if errors else None,
            }
        )
    return [
        Table(
            "parrot_distractor",
            f"The parrot distractor, hits@1 among {study.candidates} and one more",
            "ConvAI2 section 3.1 (no figures printed)",
            rows,
            notes=["expected: bag-of-words rankers lose most"],
        )
    ]
