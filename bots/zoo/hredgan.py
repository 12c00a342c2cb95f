"""B-HREDGAN: many replies from noise, of which the one that most looks like a person's is said.

Source: hredGAN (NLP4CONVAI 2019), with the network of `bots.layers.adversary`: loss
lambda_G GAN + lambda_M MLE under teacher forcing; the discriminator learns only while its accuracy
is below .99, and the generator gets the GAN term only where that is .75 or more. Inference: L
replies with the noise's variance times alpha (7 for utterance noise, 9 for word noise), each
decoded greedily, ranked by the discriminator. Ours: what the discriminator reads of the generator
are expected word vectors; both descend in one step of one optimizer. The preset has the paper's
sizes; VHRED, its baseline, is `vhred`. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from bots import decoding as search
from bots.bot import Turn
from bots.candidates import Candidate, Decoding
from bots.layers.adversary import Adversaries
from bots.layers.asking import Item, padded
from bots.layers.network import Network, Stepped, negative
from bots.layers.recurrent import Sizes, State
from bots.layers.writing import Writer
from bots.options import option
from bots.training import Plan
from bots.vocabulary import END, START, WordCodec
from bots.weights import About

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
    """The generator with so many rows for each turn, each with noise of its own."""

    def __init__(self, network: Adversaries, samples: int) -> None:
        super().__init__(network)
        self.adversaries, self.samples = network, samples

    def start(self, turns: Sequence[Turn]) -> State:
        """Read each turn; rows that follow each other are its samples."""
        asked = [self.network.reading.asked(turn) for turn in turns]
        lots = [place % self.samples for place in range(len(turns))]
        return self.adversaries.begin(asked, lots)


@dataclass
class HredGan(Writer):
    """Writes several replies from noise and says the one its discriminator trusts most."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    samples: int = option(8, "L: replies that are written for each turn", least=1)
    alpha: float = option(7.0, "The noise's variance is times this when it answers", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    noise: Literal["utterance", "word"] = option("utterance", "Drawn once, or anew", trained=True)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(3, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(32, "How many words of history it reads", least=8, trained=True)
    words: int = option(1500, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(40, "Size of a state", least=2, trained=True)
    layers: int = option(1, "Layers of each network", least=1, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)
    adversarial: float = option(1.0, "lambda_G: weight of the GAN term", least=0, trained=True)
    likelihood: float = option(1.0, "lambda_M: weight of the likelihood", least=0, trained=True)
    optimizer: Literal["adam", "sgd"] = option("adam", "How it descends", trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    decay: float = option(1.0, "Of the rate, every 1,000 steps", least=0.1, most=1, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(240, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> Adversaries:
        """Return the untrained generator and discriminator."""
        sizes = Sizes(self.dimension, self.hidden, self.layers, self.dropout)
        return Adversaries(self.reading(codec), sizes, self.noise, 1.0)

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return Adam or SGD; without momentum a step that is held back leaves no trace."""
        if self.optimizer == "adam":
            return super().descent(network)
        return torch.optim.SGD(network.parameters(), lr=self.rate)

    def plan(self, seed: int, title: str) -> Plan:
        """Return how long it is trained; the rate decays."""
        plan = super().plan(seed, title)
        return replace(plan, schedule=lambda step: self.decay ** (step // 1000))

    def loss(self, network: Adversaries, batch: Sequence[Item]) -> Tensor:
        """Return what both minimize; held out, the likelihood without noise."""
        wanted, _ = padded([(*reply, END) for _, reply in batch], network.device)
        given = torch.cat((torch.full_like(wanted[:, :1], START), wanted[:, :-1]), dim=1)
        asked = [each for each, _ in batch]
        lots = list(range(len(batch))) if network.training else None
        state = network.begin(asked, lots)
        context = state["context"]
        log_probs, _ = network.write(state, given)
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
    ) -> list[list[Candidate]]:
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

    def trust(self, turns: Sequence[Turn], found: Sequence[Candidate]) -> list[float]:
        """Return log D of replies: 0 is a person's for certain."""
        network = self.adversaries
        if not turns:
            return []
        with torch.inference_mode():
            asked = [network.reading.asked(turn) for turn in turns]
            rows = [(*network.reading.codec.encode(each.text), END) for each in found]
            wanted, _ = padded(rows, network.device)
            context = network.begin(asked, None)["context"]
            scores: list[float] = network.judged(wanted, context).tolist()
        return scores

    @property
    def adversaries(self) -> Adversaries:
        """The network, which must be there."""
        network: Any = self.model.network
        return network  # type: ignore[no-any-return]


def _accuracy(real: Tensor, false: Tensor) -> float:
    """Return the share that the discriminator, at .5, tells right."""
    half = torch.tensor(0.5).log().item()
    right = (real > half).float().mean() + (false <= half).float().mean()
    return right.item() / 2


def _not(log_d: Tensor) -> Tensor:
    """Return log(1 - D)."""
    return torch.log1p(-log_d.exp().clamp(max=1 - 1e-6))


def _grouped(
    found: Sequence[Candidate], trusted: Sequence[float], samples: int
) -> Iterator[list[Candidate]]:
    for start in range(0, len(found), samples):
        places = range(start, start + samples)
        order = sorted(places, key=lambda place: trusted[place], reverse=True)
        yield [found[place] for place in order]


BOT = HredGan
