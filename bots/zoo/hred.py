"""B-HRED: words to utterances, utterances to a context, and a decoder that starts from it.

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

from bots import decoding as search
from bots.bot import Turn
from bots.candidates import Candidate, Decoding
from bots.dialogue import Dialogue
from bots.layers.asking import Asked, Item, Reading
from bots.layers.embedding import embedding
from bots.layers.hierarchy import Hierarchy
from bots.layers.network import Network, Stepped, negative, teach
from bots.layers.recurrent import Decoder, Output, Sizes, State
from bots.layers.writing import History, Writer
from bots.options import option
from bots.vocabulary import END, WordCodec
from bots.weights import About

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

    def __init__(self, reading: Reading, sizes: Sizes) -> None:
        super().__init__(reading)
        self.table = embedding(reading, sizes.vector)
        self.dropout = nn.Dropout(sizes.dropout)
        self.hierarchy = Hierarchy("gru", sizes)
        self.start = nn.Linear(sizes.hidden, sizes.hidden)
        self.decoder = Decoder("gru", sizes.vector, sizes.hidden, sizes.layers, sizes.dropout)
        self.output = Output(sizes.hidden, reading.codec.size)

    def read(self, asked: Sequence[Asked]) -> State:
        """Read utterance by utterance."""
        context = self.hierarchy(asked, self.table).context
        return {"h": torch.tanh(self.start(context))}

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on writing."""
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
class Hred(Writer):
    """Writes from a context that was read utterance by utterance."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "mean_logp", "What beams are ranked by: per token, without, or with a length penalty"
    )
    suppress: float = option(0.0, "How far a logit falls each time its word is written", least=0)
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(3, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(48, "How many words of history it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(64, "Size of a state", least=2, trained=True)
    layers: int = option(1, "Layers of each network", least=1, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)
    rarity: float = option(
        0.0, "Losses are divided by a word's frequency to this power", least=0, trained=True
    )
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    decoder_rate: float = option(0.0, "Decoder's own rate; 0: the same", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(800, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)
    _weighed: Tensor | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> HredNetwork:
        """Return the untrained network."""
        sizes = Sizes(self.dimension, self.hidden, self.layers, self.dropout)
        return HredNetwork(self.reading(codec), sizes)

    def learn(
        self,
        network: HredNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Learn, rare words weighing more where that is asked for."""
        if self.rarity:
            replies = [reply for _, reply in self.items(network, learned, seed)]
            weighed = rarities(replies, network.reading.codec.size, self.rarity)
            self._weighed = weighed.to(network.device)
        return super().learn(network, learned, watched, seed)

    def loss(self, network: HredNetwork, batch: Sequence[Item]) -> Tensor:
        """Return the negative log-likelihood, by inverse token frequency where asked for."""
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
    ) -> list[list[Candidate]]:
        """Return candidates for each turn; log-probabilities are those that it searched by."""
        if not self.suppress:
            return super().propose(turns, decoding)
        model = Suppressed(self.model.network, self.suppress)
        return search.propose(model, turns, decoding or self.decoding())


def rarities(replies: Sequence[Sequence[int]], size: int, power: float) -> Tensor:
    """Return each token's weight: its count among the replies, to the power of -`power`."""
    flat = torch.tensor([token for reply in replies for token in (*reply, END)])
    return torch.bincount(flat, minlength=size).clamp(min=1).float() ** -power


BOT = Hred
