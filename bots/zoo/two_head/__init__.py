"""Decoder-only Transformer with two heads: it writes replies and chooses among candidates.

Source: Wolf et al. 2019 ("TransferTransfo"), section 3, for the entry of Hugging Face to ConvAI2
(Dinan et al. 2019, section 4); the preset "released" is of their published code, "paper" of the
competition (its beam width is not in our sources: 5 is ours). No pre-trained weights come along:
as a first stage the language model is learned on the dialogues' own text, at `pretraining_rate`,
and the choice is helped by `overlap` [ours], which the papers' presets leave out. Precision bf16 is
of training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.dialogue import Dialogue, Utterance, no_reply
from bots.learning import training
from bots.options import defaults, option
from bots.text.vocabulary import END, Codec
from bots.writers.causal import negative_of_context, passages
from bots.writers.input_tokens import Ids, Item, drawn, padded, to_learn
from bots.writers.network import negative
from bots.writers.recurrent import select
from bots.writers.subword_writing import SubwordWriter
from bots.writers.transformer import TransformerSizes
from bots.writers.writer import History
from bots.zoo.two_head.two_heads import TwoHeadNetwork

PRESETS = {
    "small": {
        "width": 96,
        "layers": 2,
        "tokens": 48,
        "least_count": 3,
        "examples": 0,
        "overlap": 1024,
        "candidates": 4,
        "lm_coef": 2.0,
        "pretraining": 1,
        "pretraining_rate": 0.002,
        "epochs": 2,
        "rate": 0.001,
    },
    "paper": {
        "width": 768,
        "layers": 12,
        "heads": 12,
        "tokens": 224,
        "subwords": 40000,
        "examples": 0,
        "copies": 2,
        "overlap": 0,
        "epochs": 3,
        "pretraining": 3,
        "pretraining_rate": 2.5e-4,
        "rate": 6.25e-5,
        "weight_decay": 0.01,
        "method": "beam",
        "number": 5,
    },
    "released": {
        "width": 768,
        "layers": 12,
        "heads": 12,
        "tokens": 224,
        "subwords": 40000,
        "examples": 0,
        "copies": 2,
        "overlap": 0,
        "candidates": 4,
        "lm_coef": 2.0,
        "epochs": 3,
        "pretraining": 3,
        "pretraining_rate": 2.5e-4,
        "rate": 6.25e-5,
        "weight_decay": 0.01,
        "number": 1,
    },
}


@dataclass
@defaults(tokens=40, batch=32, epochs=1, examples=300)
class TwoHead(SubwordWriter):
    """Writes word by word; ranks by the head that was taught to tell the next message."""

    method: Literal["greedy", "beam", "sample"] = option(
        "sample", "Search method", after="max_words"
    )
    number: int = option(4, "Replies to choose from: samples, or beam width", least=1)
    temperature: float = option(0.7, "Sampling temperature; below 1: likelier words", least=0)
    top_p: float = option(0.9, "Probability mass to sample from", least=0, most=1)
    max_tokens: int = option(20, "Maximum words of a reply, or pieces of words", least=1)
    seed: int = option(0, "Seed of sampling")
    messages: int = option(5, "Last messages it reads: two exchanges, one more", least=1)
    candidates: int = option(
        2, "Candidates per example of the choice", least=2, trained=True, after="persona"
    )
    lm_coef: float = option(1.0, "Weight of the language model's loss", least=0, trained=True)
    mc_coef: float = option(1.0, "Weight of the choice's loss", least=0, trained=True)
    overlap: int = option(
        256,
        "Size of vectors that show recurring words; 0: none",
        least=0,
        trained=True,
    )
    copies: int = option(1, "Orders of the persona per example", least=1, trained=True)
    pretraining: int = option(1, "Epochs of pre-training, on the text alone", least=0, trained=True)
    pretraining_rate: float = option(0.005, "Learning rate of pre-training", least=0, trained=True)
    rate: float = option(0.005, "Learning rate, decaying to 0", least=0, trained=True)
    weight_decay: float = option(0.01, "Weight decay of AdamW", least=0, trained=True, after="rate")

    def build(self, codec: Codec) -> TwoHeadNetwork:
        """Return the untrained network."""
        sizes = TransformerSizes(self.width, self.heads, self.layers, 4 * self.width, self.dropout)
        return TwoHeadNetwork(
            self.reading(codec), sizes, 2 * self.tokens + 64, overlap=self.overlap
        )

    def prepare(self, network: TwoHeadNetwork, learned: Sequence[Dialogue]) -> None:
        """Weigh rare words more than frequent ones."""
        encode = network.reading.codec.encode
        network.weigh(tuple(encode(turn.text)) for each in learned for turn in each.turns)

    def learn(
        self,
        network: TwoHeadNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Learn the language first, then both heads at once.

        Raises `TooLittleData` if the dialogues hold no reply to learn from.
        """
        items, held_out = (self.items(network, each, seed) for each in (learned, watched))
        if not items:
            raise no_reply(learned)
        self.prepare(network, learned)
        network.pool = [reply for _, reply in items]
        read = self._read_first(network, learned, watched, seed)
        steps = max(1, self.epochs * (len(items) // self.batch))
        plan = replace(self.plan(seed, self.title), schedule=lambda step: max(0, 1 - step / steps))
        history = training.fit(
            network,
            self._adam(network, self.rate),
            items,
            held_out,
            lambda batch: self.loss(network, batch),
            plan,
        )
        network.pool = ()
        return (*read, *history)

    def _read_first(
        self,
        network: TwoHeadNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Learn the language model on all messages."""
        texts = drawn(list(passages(network.reading, learned)), self.examples // 2, seed)
        return training.fit(
            network,
            self._adam(network, self.pretraining_rate),
            texts,
            list(passages(network.reading, watched)),
            lambda batch: negative_of_context(network, batch),
            replace(self.plan(seed, f"{self.title} reading"), epochs=self.pretraining),
        )

    def items(
        self, network: TwoHeadNetwork, dialogues: Sequence[Dialogue], seed: int
    ) -> list[Item]:
        """Return examples; every copy has the persona in another order."""
        chance = Random(seed)  # noqa: S311
        found = to_learn(dialogues, self.examples, seed, self.sides)
        shuffled = [
            replace(each, persona=tuple(chance.sample(each.persona, len(each.persona))))
            for _ in range(self.copies - 1)
            for each in found
        ]
        return [network.reading.item(each) for each in (*found, *shuffled)]

    def loss(self, network: TwoHeadNetwork, batch: Sequence[Item]) -> Tensor:
        """Return the weighed sum of both heads' losses."""
        language, choice = self.losses(network, batch)
        return self.lm_coef * language + self.mc_coef * choice

    def losses(self, network: TwoHeadNetwork, batch: Sequence[Item]) -> tuple[Tensor, Tensor]:
        """Return the negative log-likelihood per token, and that of choosing the true reply."""
        state, count = network.read([inputs for inputs, _ in batch]), self.candidates
        true = [reply for _, reply in batch]
        offered = [reply for each in true for reply in (each, *_wrong(network, each, count - 1))]
        rows = torch.arange(len(batch)).repeat_interleave(count)
        hidden, scores = network.hear(select(state, rows), offered)
        wanted, _ = padded([(*each, END) for each in true], network.device)
        log_probs = network.log_probs(hidden[::count, : wanted.shape[1]])
        right = torch.zeros(len(batch), dtype=torch.int64, device=network.device)
        choice = functional.cross_entropy(scores.float().view(len(batch), count), right)
        return negative(wanted, log_probs), choice

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the choice head's score of each candidate."""
        if not candidates:
            return []
        network = self.model.network
        assert isinstance(network, TwoHeadNetwork)  # noqa: S101
        replies = [tuple(network.reading.codec.encode(text)) for text in candidates]
        with torch.inference_mode():
            state = network.read([network.reading.encoded((persona, history))])
            rows = torch.zeros(len(replies), dtype=torch.int64)
            scores: list[float] = network.hear(select(state, rows), replies)[1].tolist()
        return scores

    def _adam(self, network: nn.Module, rate: float) -> torch.optim.Optimizer:
        return torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=self.weight_decay)


def _wrong(network: TwoHeadNetwork, true: Ids, number: int) -> list[Ids]:
    """Draw replies of other dialogues; on held-out data always the same ones."""
    pool = network.pool
    lot = None if network.training else torch.Generator().manual_seed(sum(true))
    indices = torch.randint(len(pool), (2 * number + 1,), generator=lot).tolist()
    found = [pool[index] for index in indices if pool[index] != true]
    return (found + [true] * number)[:number]


BOT = TwoHead
