"""A-COND's other half: perplexity per word of every generator, without and with the persona.

Source: Zhang et al. 2018 (PERSONA-CHAT), table 3, and Dinan et al. 2019 (ConvAI2), whose rules
count words (`bots.perplexity`). All models are asked for the same words: those that all of them
know. Beside them are counted ones, of single words and of three together. A model is trained once,
with what personas the data has, and tested with the persona and without it; persona_conditions
trains anew for each.
"""

from __future__ import annotations

from typing import Any

from bots.foreseeing import scored, shared_words, surprises
from bots.layers.counts import counted
from bots.perplexity import perplexity
from bots.predictions import Condition
from bots.reference import printed
from bots.study import Study, Table, flat

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


def run(study: Study) -> list[Table]:
    """Return perplexities by condition; `words` is how many the dictionary holds."""
    bots = {name: study.bot(name, **WORDS.get(name, {})) for name in MODELS}
    known = shared_words(bots.values())
    asked = {told: study.examples(persona=told) for told in CONDITIONS}
    rows: list[dict[str, object]] = []
    for name, bot in bots.items():
        found = {told: surprises(bot.model, asked[told], known) for told in CONDITIONS}
        rows.append({"model": name, **{told: perplexity(each) for told, each in found.items()}})
    codec = next(iter(bots.values())).model.codec
    for label, order, cached in COUNTED:
        model = counted(study.original.train, codec, order, cached, added=1)
        found = {told: surprises(model, asked[told], known) for told in CONDITIONS}
        rows.append({"model": label, **{told: perplexity(each) for told, each in found.items()}})
    share = scored(found["self"])
    note = f"{len(known)} words in the dictionary, {share:.1%} of all that was said"
    paper = printed("personachat_table3")
    return [
        Table(
            "perplexity",
            "Perplexity per word (A-COND)",
            paper["source"],
            rows,
            [flat(row) for row in paper["rows"] if row["type"] != "ranking"],
            [note],
        )
    ]
