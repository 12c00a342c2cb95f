"""Bots, the dialogues they learn from, and how to get one. Knows no web."""

from bots.bot import BatchBot, Bot, Generator, LanguageModel, Ranker, Reply, Trainable, Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Dialogue, Example, SeededHistory, Utterance, examples, seed_of
from bots.guards.filters import fallback, safe, unsafe
from bots.options import InvalidOption, Option, describe, option, parse_option
from bots.registry import (
    Dataset,
    UnknownName,
    bot_names,
    bot_options,
    bot_presets,
    bot_summary,
    dataset_names,
    get_bot,
    get_dataset,
    make_bot,
    version,
)
from bots.weights import InvalidWeights

__all__ = [
    "BatchBot",
    "Bot",
    "Dataset",
    "Decoding",
    "Dialogue",
    "Example",
    "Generator",
    "InvalidOption",
    "InvalidWeights",
    "LanguageModel",
    "Option",
    "Ranker",
    "Reply",
    "ReplyCandidate",
    "SeededHistory",
    "Trainable",
    "Turn",
    "UnknownName",
    "Utterance",
    "bot_names",
    "bot_options",
    "bot_presets",
    "bot_summary",
    "dataset_names",
    "describe",
    "examples",
    "fallback",
    "get_bot",
    "get_dataset",
    "make_bot",
    "option",
    "parse_option",
    "safe",
    "seed_of",
    "unsafe",
    "version",
]
