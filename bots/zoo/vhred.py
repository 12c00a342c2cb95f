"""HRED with a latent variable between context and decoder: the baseline of B-HREDGAN.

Source: VHRED (Serban et al. 2017), as named by hredGAN (NLP4CONVAI 2019): z is drawn from a normal
distribution that depends on the context, in training from one that also knows the reply, and the
loss is the variational bound: the negative log-likelihood plus their KL divergence per token. When
it answers z is the mean of the prior, so that the same turn gets the same reply. A weight of the
KL term, which starts small in practice, is an option [our default]. Precision "bf16" computes in
mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn

from bots.layers.asking import Asked, Item, Reading, padded
from bots.layers.embedding import embedding
from bots.layers.hierarchy import Hierarchy
from bots.layers.network import Network, negative
from bots.layers.recurrent import Decoder, Encoder, Output, Sizes, State
from bots.layers.writing import Writer
from bots.options import option
from bots.vocabulary import END, PAD, START, WordCodec
from bots.weights import About

PRESETS = {
    "paper": {
        "dimension": 512,
        "hidden": 512,
        "layers": 3,
        "latent": 100,
        "words": 50000,
        "least_count": 1,
        "rate": 0.0002,
        "batch": 64,
        "epochs": 50,
        "patience": 5,
        "examples": 0,
        "messages": 0,
        "tokens": 256,
    }
}


class Variational(Network):
    """The context and a latent variable, through a layer, are the decoder's first state."""

    def __init__(self, reading: Reading, sizes: Sizes, latent: int) -> None:
        super().__init__(reading)
        hidden = sizes.hidden
        self.table = embedding(reading, sizes.vector)
        self.dropout = nn.Dropout(sizes.dropout)
        self.hierarchy = Hierarchy("gru", sizes)
        self.replies = Encoder("gru", sizes.vector, hidden)
        self.prior = nn.Linear(hidden, 2 * latent)
        self.posterior = nn.Linear(2 * hidden, 2 * latent)
        self.start = nn.Linear(hidden + latent, hidden)
        self.decoder = Decoder("gru", sizes.vector, hidden, sizes.layers, sizes.dropout)
        self.output = Output(hidden, reading.codec.size)

    def read(self, asked: Sequence[Asked]) -> State:
        """Read utterance by utterance; z is the prior's mean."""
        context = self.hierarchy(asked, self.table).context
        mean, _ = self.prior(context[:, -1]).chunk(2, dim=1)
        return self._begun(context, mean)

    def _begun(self, context: Tensor, latent: Tensor) -> State:
        every = latent[:, None].expand(-1, context.shape[1], -1)
        return {"h": torch.tanh(self.start(torch.cat((context, every), dim=2)))}

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on writing."""
        outputs, after = self.decoder(self.dropout(self.table(tokens)), state)
        return self.output(outputs, self.table.weight), after

    def informed(self, asked: Sequence[Asked], replies: Tensor) -> tuple[State, Tensor]:
        """Return the state with a z that knows the reply, and KL(posterior, prior) [rows]."""
        context = self.hierarchy(asked, self.table).context
        lengths = (replies != PAD).sum(1)
        _, said = self.replies(self.table(replies), lengths)
        mean, spread = self.prior(context[:, -1]).chunk(2, dim=1)
        told = torch.cat((context[:, -1], said["h"][:, -1]), dim=1)
        own_mean, own_spread = self.posterior(told).chunk(2, dim=1)
        drawn = own_mean + torch.randn_like(own_mean) * own_spread.mul(0.5).exp()
        return self._begun(context, drawn), divergence(own_mean, own_spread, mean, spread)


def divergence(mean: Tensor, log_var: Tensor, other: Tensor, other_log_var: Tensor) -> Tensor:
    """Return KL between two normal distributions of independent parts [rows]."""
    apart = (mean - other).square() / other_log_var.exp()
    parts = other_log_var - log_var + (log_var - other_log_var).exp() + apart - 1
    return 0.5 * parts.sum(1)


@dataclass
class VariationalHred(Writer):
    """Writes from a context and what the context makes likely to be meant."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(3, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(48, "How many words of history it reads", least=8, trained=True)
    words: int = option(1500, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(48, "Size of a state", least=2, trained=True)
    layers: int = option(1, "Layers of each network", least=1, trained=True)
    latent: int = option(8, "Length of the latent variable", least=1, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)
    divergence: float = option(0.5, "Weight of the KL term", least=0, trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(320, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> Variational:
        """Return the untrained network."""
        sizes = Sizes(self.dimension, self.hidden, self.layers, self.dropout)
        return Variational(self.reading(codec), sizes, self.latent)

    def loss(self, network: Variational, batch: Sequence[Item]) -> Tensor:
        """Return the bound per token; held out, with z at the prior's mean and no KL term."""
        wanted, _ = padded([(*reply, END) for _, reply in batch], network.device)
        given = torch.cat((torch.full_like(wanted[:, :1], START), wanted[:, :-1]), dim=1)
        asked = [each for each, _ in batch]
        if not network.training:
            return negative(wanted, network.write(network.read(asked), given)[0])
        state, apart = network.informed(asked, wanted)
        usual = negative(wanted, network.write(state, given)[0])
        return usual + self.divergence * apart.sum() / (wanted != PAD).sum()


BOT = VariationalHred
