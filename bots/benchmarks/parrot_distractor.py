"""Parrot distractor: how often rankers choose the partner's own last message.

Source: Dinan et al. 2019 (ConvAI2), section 3.1: the distractor hurts bag-of-words rankers most.
Every ranker of the registry whose packages are installed is tried. In a table a ranker may put the
parrot first; in a conversation the rule of `bots.guards.filters.choose` stands between, and
"parrot said" is how often it would be sent all the same.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from bots.bot import Generator, Ranker
from bots.commands.benchmark_data import BenchmarkData, Table
from bots.commands.predictions import hits
from bots.dialogue import Utterance
from bots.guards.filters import choose
from bots.registry import bot_names
from bots.text.tokens import key

WRITES_TOO = ("two_head",)  # that the paper ranks with
ANY_LENGTH = 1000


def rankers() -> list[str]:
    """Return the bots that rank what they may say, and those of the paper that write as well."""
    kinds = {name: importlib.import_module(f"bots.zoo.{name}").BOT for name in bot_names()}
    return [
        name
        for name, kind in kinds.items()
        if issubclass(kind, Ranker) and (name in WRITES_TOO or not issubclass(kind, Generator))
    ]


def run(study: BenchmarkData) -> list[Table]:
    """Return hits@1 without and with the parrot, the loss, and how often it is chosen and said."""
    rows: list[dict[str, object]] = []
    missing = []
    for name in rankers():
        try:
            bot = study.bot(name)
        except ImportError as reason:
            missing.append(f"{name} was left out: {reason}")
            continue
        rows.append({"model": name, **_measured(study, bot)})
    return [
        Table(
            "parrot_distractor",
            f"The parrot distractor, hits@1 among {study.candidates} and one more",
            "ConvAI2 section 3.1 (no figures printed)",
            rows,
            notes=["expected: bag-of-words rankers lose most", *missing],
        )
    ]


def _measured(study: BenchmarkData, bot: Any) -> dict[str, object]:
    before = hits(study.rows(bot))
    among = study.rows(bot, parrot=True)
    after = hits(among)
    errors = [row for row in among if row["response"] != row["gold"]]
    fooled = sum(row["response"] == row["context"][-1] for row in errors)
    return {
        "without": before,
        "with": after,
        "loss": before - after,
        "parrot share of errors": fooled / len(errors) if errors else None,
        "parrot first": fooled / len(among),
        "parrot said": sum(map(chooses_parrot, among)) / len(among),
        "n": len(among),
    }


def chooses_parrot(row: Mapping[str, Any]) -> bool:
    """Tell whether the partner's last message would be sent, of the candidates of a prediction."""
    ranked = sorted(
        zip(row["candidates"], row["scores"], strict=True), key=lambda pair: -float(pair[1])
    )
    history = [Utterance("partner", row["context"][-1])]
    chosen = choose(ranked, history, ANY_LENGTH)
    return "canned" not in chosen.events and key(chosen.text) == key(row["context"][-1])
