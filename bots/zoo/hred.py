"""Hierarchical encoder-decoder: words to utterances, utterances to a context, context to a reply.

Source: Serban et al. 2016, section 3. The preset "event" is the model of the event-causality paper
of the NLP4CONVAI workshop: GRUs, two learning rates, a loss weighted by inverse token frequency,
beams ranked by length-normalized score, words suppressed that were written already. Our own where
that paper's summary leaves it open: the exponent of the frequency, the form of the suppression (a
token's logit falls by `suppress` for each time it was written), and words instead of its 32,000
sentence pieces. A persona, which HRED does not have, is read as the first utterances. Precision
"bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

from bots.bot import Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Dialogue
from bots.generation import decoding as search
from bots.options import defaults, option
from bots.text.vocabulary import END, WordCodec
from bots.writers.embedding import embedding
from bots.writers.hierarchy import Hierarchy
from bots.writers.input_tokens import EncodedInput, Item, Reading
from bots.writers.network import Network, Stepped, negative, teach
from bots.writers.recurrent import Decoder, Output, RecurrentSizes, State
from bots.writers.word_writing import WordWriter
from bots.writers.writer import History

PRESETS = {
    "event": {
        "hidden": 256,
        "dimension": 256,
        "layers": 2,
        "dropout": 0.1,
        "words": 32000,
        "least_count": 1,
        "rate": 0.0001,
        "decoder_rate": 0.0005,
        "clip": 50.0,
        "batch": 100,
        "epochs": 100,
        "patience": 5,
        "examples": 0,
        "messages": 5,
        "tokens": 256,
        "rarity": 0.4,
        "suppress": 1.0,
        "method": "beam",
        "number": 20,
    }
}


class HredNetwork(Network):
    """The context's last state, through a layer, is the decoder's first."""

    def __init__(self, reading: Reading, sizes: RecurrentSizes) -> None:
        super().__init__(reading)
        self.table = embedding(reading, sizes.vector)
        self.dropout = nn.Dropout(sizes.dropout)
        self.hierarchy = Hierarchy("gru", sizes)
        self.start = nn.Linear(sizes.hidden, sizes.hidden)
        self.decoder = Decoder("gru", sizes.vector, sizes.hidden, sizes.layers, sizes.dropout)
        self.output = Output(sizes.hidden, reading.codec.size)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read utterance by utterance."""
        context = self.hierarchy(inputs, self.table).context
        return {"h": torch.tanh(self.start(context))}

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing."""
        outputs, after = self.decoder(self.dropout(self.table(tokens)), state)
        return self.output(outputs, self.table.weight), after


class Suppressed(Stepped):
    """A network whose words become less likely each time they are written."""

    def __init__(self, network: Network, by: float) -> None:
        super().__init__(network)
        self.by = by

    def step(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Take one step, counting."""
        log_probs, after = super().step(state, tokens)
        written = nn.functional.one_hot(tokens.to(log_probs.device), self.codec.size)
        counts = state["counts"] + written if "counts" in state else written
        lowered = torch.log_softmax(log_probs - self.by * counts, dim=1)
        return lowered, {**after, "counts": counts}


@dataclass
@defaults(messages=3, hidden=64, examples=800)
class Hred(WordWriter):
    """Writes from a context that was read utterance by utterance."""

    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "mean_logp", "Score of beams: per token, without, or with a length penalty"
    )
    suppress: float = option(0.0, "Decrease of a logit each time its word is written", least=0)
    sides: Literal["both", "self"] = option("both", "Sides whose replies it learns", trained=True)
    layers: int = option(1, "Layers of each network", least=1, trained=True, after="hidden")
    rarity: float = option(
        0.0,
        "Losses are divided by a word's frequency to this power",
        least=0,
        trained=True,
        after="dropout",
    )
    decoder_rate: float = option(
        0.0, "Decoder's own rate; 0: the same", least=0, trained=True, after="rate"
    )
    _weighed: Tensor | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> HredNetwork:
        """Return the untrained network."""
        sizes = RecurrentSizes(self.dimension, self.hidden, self.layers, self.dropout)
        return HredNetwork(self.reading(codec), sizes)

    def learn(
        self,
        network: HredNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Learn, with more weight on rare words if `rarity` is set."""
        if self.rarity:
            replies = [reply for _, reply in self.items(network, learned, seed)]
            weighed = rarities(replies, network.reading.codec.size, self.rarity)
            self._weighed = weighed.to(network.device)
        return super().learn(network, learned, watched, seed)

    def loss(self, network: HredNetwork, batch: Sequence[Item]) -> Tensor:
        """Return the negative log-likelihood, by inverse token frequency if `rarity` is set."""
        return negative(*teach(network, batch), self._weighed)

    def descent(self, network: nn.Module) -> torch.optim.Optimizer:
        """Return Adam, with a learning rate of the decoder's own where there is one."""
        late = ("decoder.", "output.")
        named = list(network.named_parameters())
        reads = [each for name, each in named if not name.startswith(late)]
        writes = [each for name, each in named if name.startswith(late)]
        own: dict[str, Any] = {"params": writes, "lr": self.decoder_rate or self.rate}
        return torch.optim.Adam([{"params": reads}, own], lr=self.rate)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return candidates for each turn, with the log-probabilities of the search."""
        if not self.suppress:
            return super().propose(turns, decoding)
        model = Suppressed(self.model.network, self.suppress)
        return search.propose(model, turns, decoding or self.decoding())


def rarities(replies: Sequence[Sequence[int]], size: int, power: float) -> Tensor:
    """Return each token's weight: its count among the replies, to the power of -`power`."""
    flat = torch.tensor([token for reply in replies for token in (*reply, END)])
    return torch.bincount(flat, minlength=size).clamp(min=1).float() ** -power


BOT = Hred
