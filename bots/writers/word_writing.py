"""Bots that write word by word, each word a vector: the options that they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bots.options import option
from bots.writers.writer import Writer


@dataclass
class VectorWriter(Writer):
    """A writer with a table of word vectors and states of one size."""

    vectors: Literal["random", "glove"] = option(
        "random", "Initial word vectors", trained=True, after="least_count"
    )
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(48, "Size of a state", least=2, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)


@dataclass
class WordWriter(VectorWriter):
    """A writer that searches for its replies, greedily, with a beam or by sampling."""

    method: Literal["greedy", "beam", "sample"] = option("beam", "Search method", after="max_words")
    number: int = option(5, "Replies found by beam search or sampling", least=1)
    temperature: float = option(1.0, "Sampling temperature", least=0)
    max_tokens: int = option(24, "Maximum words of a reply; the rest is cut", least=1)
