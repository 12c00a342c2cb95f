"""Variational HRED: a latent variable between context and decoder, the baseline of hredGAN.

Source: VHRED (Serban et al. 2017), as named by hredGAN (NLP4CONVAI 2019): z is drawn from a normal
distribution that depends on the context, in training from one that also knows the reply, and the
loss is the variational bound: the negative log-likelihood plus their KL divergence per token. When
it answers z is the mean of the prior, so that the same turn gets the same reply. A weight of the
KL term, which starts small in practice, is an option [our default]. Precision "bf16" computes in
mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bots.options import defaults, option
from bots.text.vocabulary import END, PAD, START, WordCodec
from bots.writers.embedding import embedding
from bots.writers.hierarchy import Hierarchy
from bots.writers.input_tokens import EncodedInput, Item, Reading, padded
from bots.writers.network import Network, negative
from bots.writers.recurrent import Decoder, Encoder, Output, RecurrentSizes, State
from bots.writers.word_writing import WordWriter

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

    def __init__(self, reading: Reading, sizes: RecurrentSizes, latent: int) -> None:
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

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read utterance by utterance; z is the prior's mean."""
        context = self.hierarchy(inputs, self.table).context
        mean, _ = self.prior(context[:, -1]).chunk(2, dim=1)
        return self._begun(context, mean)

    def _begun(self, context: Tensor, latent: Tensor) -> State:
        every = latent[:, None].expand(-1, context.shape[1], -1)
        return {"h": torch.tanh(self.start(torch.cat((context, every), dim=2)))}

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing."""
        outputs, after = self.decoder(self.dropout(self.table(tokens)), state)
        return self.output(outputs, self.table.weight), after

    def informed(self, inputs: Sequence[EncodedInput], replies: Tensor) -> tuple[State, Tensor]:
        """Return the state with a z that knows the reply, and KL(posterior, prior) [rows]."""
        context = self.hierarchy(inputs, self.table).context
        lengths = (replies != PAD).sum(1)
        _, reply = self.replies(self.table(replies), lengths)
        mean, spread = self.prior(context[:, -1]).chunk(2, dim=1)
        known = torch.cat((context[:, -1], reply["h"][:, -1]), dim=1)
        own_mean, own_spread = self.posterior(known).chunk(2, dim=1)
        drawn = own_mean + torch.randn_like(own_mean) * own_spread.mul(0.5).exp()
        return self._begun(context, drawn), divergence(own_mean, own_spread, mean, spread)


def divergence(mean: Tensor, log_var: Tensor, other: Tensor, other_log_var: Tensor) -> Tensor:
    """Return KL between two normal distributions of independent parts [rows]."""
    apart = (mean - other).square() / other_log_var.exp()
    parts = other_log_var - log_var + (log_var - other_log_var).exp() + apart - 1
    return 0.5 * parts.sum(1)


@dataclass
@defaults(messages=3, words=1500)
class VariationalHred(WordWriter):
    """Writes from a context and a latent variable drawn from it."""

    layers: int = option(1, "Layers of each network", least=1, trained=True, after="hidden")
    latent: int = option(8, "Length of the latent variable", least=1, trained=True)
    divergence: float = option(0.5, "Weight of the KL term", least=0, trained=True, after="dropout")

    def build(self, codec: WordCodec) -> Variational:
        """Return the untrained network."""
        sizes = RecurrentSizes(self.dimension, self.hidden, self.layers, self.dropout)
        return Variational(self.reading(codec), sizes, self.latent)

    def loss(self, network: Variational, batch: Sequence[Item]) -> Tensor:
        """Return the bound per token; held out, with z at the prior's mean and no KL term."""
        wanted, _ = padded([(*reply, END) for _, reply in batch], network.device)
        fed = torch.cat((torch.full_like(wanted[:, :1], START), wanted[:, :-1]), dim=1)
        inputs = [each for each, _ in batch]
        if not network.training:
            return negative(wanted, network.write(network.read(inputs), fed)[0])
        state, apart = network.informed(inputs, wanted)
        usual = negative(wanted, network.write(state, fed)[0])
        return usual + self.divergence * apart.sum() / (wanted != PAD).sum()


BOT = VariationalHred
