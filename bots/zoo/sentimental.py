"""B-CHIKAI: replies in the domain of the message, with the sentiment that is asked for.

Source: Chikai et al. 2019 (NLP4CONVAI), with the network of `bots.layers.sentimental`: the loss is
the reply's, that of the gate a_t (is the word of the lexicon?) and that of the domain classifier.
The paper pre-trains parts on 1.1 million pairs and has gold domains; here all is learned at once
and the domain is that of the dialogue's keywords (`bots.sentiment`). Words outside the vocabulary
are unknown (the paper takes the nearest of 50 neighbors). The preset has the paper's sizes.
Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from bots.dialogue import Dialogue
from bots.layers.asking import Item, Reading, padded, to_learn
from bots.layers.network import Network, negative
from bots.layers.recurrent import Sizes
from bots.layers.sentimental import NAMES, SentimentalNetwork
from bots.layers.writing import Writer
from bots.options import option
from bots.sentiment import SENTIMENTS, domain, sentiment
from bots.vocabulary import END, PAD, START, WordCodec
from bots.weights import About

Felt = tuple[Item, int, int]  # an item, its domain and its sentiment

PRESETS = {
    "paper": {
        "dimension": 256,
        "hidden": 512,
        "feeling": 64,
        "words": 45000,
        "least_count": 1,
        "dropout": 0.2,
        "rate": 0.01,
        "batch": 200,
        "epochs": 30,
        "patience": 3,
        "examples": 0,
        "messages": 1,
        "tokens": 64,
        "number": 5,
    }
}


@dataclass
class Sentimental(Writer):
    """Writes with a sentiment that an option chooses."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    sentiment: Literal["positive", "negative", "neutral"] = option("positive", "What it shows")
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(2, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(32, "How many words of history it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(48, "Size of a state", least=2, trained=True)
    feeling: int = option(16, "Length of a domain's or sentiment's vector", least=2, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(400, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> SentimentalNetwork:
        """Return the untrained network."""
        sizes = Sizes(self.dimension, self.hidden, 1, self.dropout)
        return SentimentalNetwork(self.reading(codec), sizes, self.feeling, self.sentiment)

    def items(
        self, network: SentimentalNetwork, dialogues: Sequence[Dialogue], seed: int
    ) -> list[Felt]:
        """Return examples with the domain of what was said before and the reply's sentiment."""
        reading: Reading = network.reading
        return [
            (
                reading.item(each),
                NAMES.index(domain(turn.text for turn in each.history)),
                SENTIMENTS.index(sentiment(each.reply)),
            )
            for each in to_learn(dialogues, self.examples, seed)
        ]

    def loss(self, network: SentimentalNetwork, batch: Sequence[Felt]) -> Tensor:  # type: ignore[override]
        """Return the reply's loss, the gate's, and the domain classifier's."""
        device = network.device
        wanted, _ = padded([(*reply, END) for (_, reply), _, _ in batch], device)
        begin = torch.full_like(wanted[:, :1], START)
        asked = [asked for (asked, _), _, _ in batch]
        domains = torch.tensor([each for _, each, _ in batch], device=device)
        feelings = torch.tensor([each for _, _, each in batch], device=device)
        state = network.begin(asked, domains, feelings)
        given = torch.cat((begin, wanted[:, :-1]), dim=1)
        log_probs, gate, _ = network.divided(state, given)
        counted = (wanted != PAD).float()
        felt = network.sentimental[wanted].float()
        gated = functional.binary_cross_entropy_with_logits(gate.float(), felt, weight=counted)
        placed = functional.cross_entropy(network.told_domain(asked), domains)
        return negative(wanted, log_probs) + gated + placed


BOT = Sentimental
