"""Adversarial HRED: many replies from noise, of which the most human-like one is sent.

Source: hredGAN (NLP4CONVAI 2019); its network is `bots.zoo.hredgan.adversary`. Loss:
lambda_G GAN + lambda_M MLE under teacher forcing; the discriminator learns only while its accuracy
is below .99, and the generator gets the GAN term only where that is .75 or more. Inference: L
replies with the noise's variance times alpha (7 for utterance noise, 9 for word noise), each
decoded greedily, ranked by the discriminator. Ours: what the discriminator reads of the generator
are expected word vectors; both descend in one step of one optimizer. The preset has the paper's
sizes; VHRED, its baseline, is `vhred`. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from bots.bot import Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.generation import decoding as search
from bots.learning.training import Plan
from bots.options import defaults, option
from bots.text.vocabulary import END, START, WordCodec
from bots.writers.input_tokens import Item, padded
from bots.writers.network import Stepped, negative
from bots.writers.recurrent import RecurrentSizes, State
from bots.writers.word_writing import VectorWriter
from bots.zoo.hredgan.adversary import Adversaries

PRESETS = {
    "paper": {
        "dimension": 512,
        "hidden": 512,
        "layers": 3,
        "words": 50000,
        "least_count": 1,
        "optimizer": "sgd",
        "rate": 0.5,
        "decay": 0.99,
        "clip": 5.0,
        "batch": 64,
        "epochs": 50,
        "patience": 5,
        "examples": 0,
        "messages": 0,
        "tokens": 256,
        "samples": 64,
        "alpha": 7.0,
    },
    "paper_word": {
        "noise": "word",
        "dimension": 512,
        "hidden": 512,
        "layers": 3,
        "words": 50000,
        "least_count": 1,
        "optimizer": "sgd",
        "rate": 0.5,
        "decay": 0.99,
        "clip": 5.0,
        "batch": 64,
        "epochs": 50,
        "patience": 5,
        "examples": 0,
        "messages": 0,
        "tokens": 256,
        "samples": 64,
        "alpha": 9.0,
    },
}


class Noisy(Stepped):
    """The generator with several rows per turn, each with noise of its own."""

    def __init__(self, network: Adversaries, samples: int) -> None:
        super().__init__(network)
        self.adversaries, self.samples = network, samples

    def start(self, turns: Sequence[Turn]) -> State:
        """Read each turn; rows that follow each other are its samples."""
        inputs = [self.network.reading.encoded(turn) for turn in turns]
        lots = [index % self.samples for index in range(len(turns))]
        return self.adversaries.begin(inputs, lots)


@dataclass
@defaults(messages=3, tokens=32, words=1500, hidden=40, examples=240)
class HredGan(VectorWriter):
    """Writes several replies from noise and sends the one its discriminator trusts most."""

    samples: int = option(8, "L: replies written per turn", least=1, after="max_words")
    alpha: float = option(7.0, "Factor of the noise's variance when it answers", least=0)
    max_tokens: int = option(24, "Maximum words of a reply; the rest is cut", least=1)
    noise: Literal["utterance", "word"] = option(
        "utterance", "Noise drawn once per reply, or per word", trained=True
    )
    layers: int = option(1, "Layers of each network", least=1, trained=True, after="hidden")
    adversarial: float = option(
        1.0, "lambda_G: weight of the GAN term", least=0, trained=True, after="dropout"
    )
    likelihood: float = option(1.0, "lambda_M: weight of the likelihood", least=0, trained=True)
    optimizer: Literal["adam", "sgd"] = option("adam", "Optimizer", trained=True)
    decay: float = option(
        1.0, "Decay of the rate, every 1,000 steps", least=0.1, most=1, trained=True, after="rate"
    )

    def build(self, codec: WordCodec) -> Adversaries:
        """Return the untrained generator and discriminator."""
        sizes = RecurrentSizes(self.dimension, self.hidden, self.layers, self.dropout)
        return Adversaries(self.reading(codec), sizes, self.noise, 1.0)

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return Adam or SGD; without momentum a step that is held back leaves no trace."""
        if self.optimizer == "adam":
            return super().descent(network)
        return torch.optim.SGD(network.parameters(), lr=self.rate)

    def plan(self, seed: int, title: str) -> Plan:
        """Return the training plan; the rate decays."""
        plan = super().plan(seed, title)
        return replace(plan, schedule=lambda step: self.decay ** (step // 1000))

    def loss(self, network: Adversaries, batch: Sequence[Item]) -> Tensor:
        """Return the loss of both; on held-out data, the likelihood without noise."""
        wanted, _ = padded([(*reply, END) for _, reply in batch], network.device)
        fed = torch.cat((torch.full_like(wanted[:, :1], START), wanted[:, :-1]), dim=1)
        inputs = [each for each, _ in batch]
        lots = list(range(len(batch))) if network.training else None
        state = network.begin(inputs, lots)
        context = state["context"]
        log_probs, _ = network.write(state, fed)
        usual = self.likelihood * negative(wanted, log_probs)
        if not network.training or not self.adversarial:
            return usual
        real = network.judged(wanted, context)
        false = network.judged_written(log_probs, wanted, context, learn=True)
        accuracy = _accuracy(real, false)
        learned = -(real + _not(false)).mean() if accuracy < 0.99 else real.sum() * 0
        if accuracy < 0.75:
            return usual + learned
        fooled = -network.judged_written(log_probs, wanted, context, learn=False).mean()
        return usual + learned + self.adversarial * fooled

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return each turn's replies, most trusted by the discriminator first."""
        if decoding is not None:
            return super().propose(turns, decoding)
        network = self.adversaries
        many = [turn for turn in turns for _ in range(self.samples)]
        before, network.variance = network.variance, self.alpha
        try:
            model = Noisy(network, self.samples)
            greedy = Decoding(max_tokens=self.max_tokens)
            found = [each[0] for each in search.propose(model, many, greedy)]
        finally:
            network.variance = before
        trusted = self.trust(many, found)
        return list(_grouped(found, trusted, self.samples))

    def trust(self, turns: Sequence[Turn], found: Sequence[ReplyCandidate]) -> list[float]:
        """Return log D of replies: 0 means certainly human."""
        network = self.adversaries
        if not turns:
            return []
        with torch.inference_mode():
            inputs = [network.reading.encoded(turn) for turn in turns]
            rows = [(*network.reading.codec.encode(each.text), END) for each in found]
            wanted, _ = padded(rows, network.device)
            context = network.begin(inputs, None)["context"]
            scores: list[float] = network.judged(wanted, context).tolist()
        return scores

    @property
    def adversaries(self) -> Adversaries:
        """The network, which must have been trained."""
        network: Any = self.model.network
        return network  # type: ignore[no-any-return]


def _accuracy(real: Tensor, false: Tensor) -> float:
    """Return the accuracy of the discriminator at .5."""
    half = torch.tensor(0.5).log().item()
    right = (real > half).float().mean() + (false <= half).float().mean()
    return right.item() / 2


def _not(log_d: Tensor) -> Tensor:
    """Return log(1 - D)."""
    return torch.log1p(-log_d.exp().clamp(max=1 - 1e-6))


def _grouped(
    found: Sequence[ReplyCandidate], trusted: Sequence[float], samples: int
) -> Iterator[list[ReplyCandidate]]:
    for start in range(0, len(found), samples):
        indices = range(start, start + samples)
        order = sorted(indices, key=lambda index: trusted[index], reverse=True)
        yield [found[index] for index in order]


BOT = HredGan
