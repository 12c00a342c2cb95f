"""Persona conditions: the worth of one's own persona, the partner's, or both, to each model.

Source: Zhang et al. 2018 (PERSONA-CHAT), tables 3, 5 and 6. A model is trained under the condition
it is tested under; rankers that learn are trained on original and on revised personas, generators
on original ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bots.commands.benchmark_data import BenchmarkData, Form, Table, flat
from bots.commands.predictions import Condition, hits
from bots.commands.test_set_replies import answers, word_f1
from bots.generation.likelihood import measure
from bots.reference import printed

CONDITIONS: tuple[Condition, ...] = ("none", "self", "their", "both")
RANKERS = ("starspace", "profile_memory", "kv_profile_memory")
GENERATORS = ("seq2seq", "generative_profile_memory")


def run(study: BenchmarkData) -> list[Table]:
    """Return the table of rankers (6) and that of generators (5); together they hold table 3's."""
    return [_rankers(study), _generators(study)]


def _rankers(study: BenchmarkData) -> Table:
    tested: Sequence[Form] = [form for form in ("original", "revised") if form in study.forms]
    rows = [_ranker(study, "tfidf", "original", "none needed", tested)]
    for form in tested:
        rows += [_ranker(study, name, form, f"{form} personas", tested) for name in RANKERS]
    paper = printed("personachat_table6")
    return Table(
        "persona_conditions_rankers",
        f"Rankers by persona condition, hits@1/{study.candidates}",
        paper["source"],
        rows,
        [flat(row) for row in paper["rows"]],
        [paper["note"]],
    )


def _ranker(
    study: BenchmarkData, name: str, learned: Form, label: str, tested: Sequence[Form]
) -> dict[str, object]:
    row: dict[str, object] = {"train": label, "model": name}
    for condition in CONDITIONS:
        bot = study.bot(name, condition, learned)
        for form in tested:
            short = "orig" if form == "original" else "rewrite"
            row[f"{condition} {short}"] = hits(study.rows(bot, condition, form))
    return row


def _generators(study: BenchmarkData) -> Table:
    rows = []
    for condition in CONDITIONS:
        for name in GENERATORS:
            row: dict[str, object] = {"persona": condition, "model": name}
            bot = study.bot(name, condition)
            for form in ("original", "revised"):
                if form in study.forms:
                    row |= _generator(study, bot, condition, form)
            rows.append(row)
    paper = printed("personachat_table5")
    return Table(
        "persona_conditions_generators",
        "Generators by persona condition",
        paper["source"],
        rows,
        [flat(row) for row in paper["rows"]],
        ["without a persona both generators are the same model", paper["note"]],
    )


def _generator(
    study: BenchmarkData, bot: Any, condition: Condition, form: Form
) -> dict[str, object]:
    tested = study.examples(form, condition)
    f1 = [
        word_f1(reply, each.reply) for reply, each in zip(answers(bot, tested), tested, strict=True)
    ]
    return {
        f"{form} ppl": measure(bot.model, tested).per_token,
        f"{form} hits@1": hits(study.rows(bot, condition, form)),
        f"{form} f1": sum(f1) / len(f1),
    }
