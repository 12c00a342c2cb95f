"""Replies in the domain of the message and with the requested sentiment.

Source: Chikai et al. 2019 (NLP4CONVAI); its network is `bots.zoo.sentimental.sentimental`; the
loss is the reply's, that of the gate a_t (is the word of the lexicon?) and that of the domain
classifier. The paper pre-trains parts on 1.1 million pairs and has gold domains; here all is
learned at once and the domain is that of the dialogue's keywords
(`bots.zoo.sentimental.sentiment`). Words outside the vocabulary are unknown (the paper takes the
nearest of 50 neighbors). The preset has the paper's sizes. Precision "bf16" computes in mixed
precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from bots.dialogue import Dialogue
from bots.options import defaults, option
from bots.text.vocabulary import END, PAD, START, WordCodec
from bots.writers.input_tokens import Item, Reading, padded, to_learn
from bots.writers.network import negative
from bots.writers.recurrent import RecurrentSizes
from bots.writers.word_writing import WordWriter
from bots.zoo.sentimental.sentiment import SENTIMENTS, domain, sentiment
from bots.zoo.sentimental.sentimental import NAMES, SentimentalNetwork

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
@defaults(tokens=32, examples=400)
class Sentimental(WordWriter):
    """Writes with a sentiment that an option chooses."""

    sentiment: Literal["positive", "negative", "neutral"] = option(
        "positive", "Sentiment of the replies", after="max_words"
    )
    feeling: int = option(
        16, "Length of a domain's or sentiment's vector", least=2, trained=True, after="hidden"
    )

    def build(self, codec: WordCodec) -> SentimentalNetwork:
        """Return the untrained network."""
        sizes = RecurrentSizes(self.dimension, self.hidden, 1, self.dropout)
        return SentimentalNetwork(self.reading(codec), sizes, self.feeling, self.sentiment)

    def items(
        self, network: SentimentalNetwork, dialogues: Sequence[Dialogue], seed: int
    ) -> list[Felt]:
        """Return examples with the domain of the history and the sentiment of the reply."""
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
        inputs = [inputs for (inputs, _), _, _ in batch]
        domains = torch.tensor([each for _, each, _ in batch], device=device)
        feelings = torch.tensor([each for _, _, each in batch], device=device)
        state = network.begin(inputs, domains, feelings)
        fed = torch.cat((begin, wanted[:, :-1]), dim=1)
        log_probs, gate, _ = network.divided(state, fed)
        counted = (wanted != PAD).float()
        felt = network.sentimental[wanted].float()
        gated = functional.binary_cross_entropy_with_logits(gate.float(), felt, weight=counted)
        placed = functional.cross_entropy(network.domain_logits(inputs), domains)
        return negative(wanted, log_probs) + gated + placed


BOT = Sentimental
