"""Perplexity per word of every generator, with and without the persona.

Source: Zhang et al. 2018 (PERSONA-CHAT), table 3, and Dinan et al. 2019 (ConvAI2), whose rules
count words (`bots.generation.perplexity`). All models are asked for the same words: those that all
of them know. Beside them are counted ones, of single words and of three together. A model is
trained once, with what personas the data has, and tested with the persona and without it;
persona_conditions trains anew for each.
"""

from __future__ import annotations

from typing import Any

from bots.commands.benchmark_data import BenchmarkData, Table, flat
from bots.commands.predictions import Condition
from bots.generation.ngram_counts import counted
from bots.generation.perplexity import perplexity
from bots.generation.shared_dictionary import scored, shared_words, surprises
from bots.reference import printed

MODELS = (
    *("seq2seq", "generative_profile_memory", "language_model"),
    *("lost_in_conversation", "meena", "two_head"),
)
COUNTED = (
    ("counted: single words", 1, 0.0),
    ("counted: three words", 3, 0.0),
    ("counted: three words, and those of persona and message", 3, 0.1),
)
WORDS: dict[str, dict[str, Any]] = {"meena": {"subwords": 0, "block": "vanilla"}}
CONDITIONS: tuple[Condition, ...] = ("none", "self")


def run(study: BenchmarkData) -> list[Table]:
    """Return perplexities by condition; `words` is how many the dictionary holds."""
    bots = {name: study.bot(name, **WORDS.get(name, {})) for name in MODELS}
    known = shared_words(bots.values())
    tested = {condition: study.examples(persona=condition) for condition in CONDITIONS}
    rows: list[dict[str, object]] = []
    for name, bot in bots.items():
        found = {
            condition: surprises(bot.model, tested[condition], known) for condition in CONDITIONS
        }
        rows.append(
            {"model": name, **{condition: perplexity(each) for condition, each in found.items()}}
        )
    codec = next(iter(bots.values())).model.codec
    for label, order, cached in COUNTED:
        model = counted(study.original.train, codec, order, cached, added=1)
        found = {condition: surprises(model, tested[condition], known) for condition in CONDITIONS}
        rows.append(
            {"model": label, **{condition: perplexity(each) for condition, each in found.items()}}
        )
    share = scored(found["self"])
    note = f"{len(known)} words in the dictionary, {share:.1%} of all that was said"
    paper = printed("personachat_table3")
    return [
        Table(
            "perplexity",
            "Perplexity per word",
            paper["source"],
            rows,
            [flat(row) for row in paper["rows"] if row["type"] != "ranking"],
            [note],
        )
    ]
