"""B-GPM: an LSTM reads the history; at each step the writer looks at the persona's sentences.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3: a sentence is the sum of
its words' vectors weighted by how rare they are (alpha), a_t = softmax(F W_a h_t), c_t = a_t F, and
the next input is tanh(W_c [c_(t-1), x_t]); the first c is of the encoder's last state. Without a
persona it is Seq2Seq. The preset "paper" has the sizes of its released code, where the alphas are
learned on and words are named by their own vectors. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn

from bots.layers.asking import Asked, Reading, padded
from bots.layers.network import Network
from bots.layers.recurrent import Attention, Output, Sizes, State
from bots.layers.salience import alphas
from bots.layers.seq2seq import Seq2SeqNetwork
from bots.layers.writing import Writer
from bots.options import option
from bots.vocabulary import MARKS, WordCodec
from bots.weights import About

PRESETS = {
    "small": {
        "vectors": "glove",
        "dimension": 50,
        "hidden": 128,
        "dropout": 0.2,
        "words": 8000,
        "least_count": 3,
        "examples": 0,
        "tokens": 40,
        "batch": 32,
        "rate": 0.003,
        "epochs": 4,
        "learn_alpha": True,
    },
    "paper": {
        "vectors": "glove",
        "dimension": 300,
        "hidden": 1024,
        "dropout": 0.1,
        "tied": True,
        "learn_alpha": True,
        "words": 0,
        "least_count": 1,
        "rate": 0.001,
        "clip": 0.0,
        "batch": 64,
        "epochs": 100,
        "patience": 5,
        "examples": 0,
        "messages": 0,
        "tokens": 256,
        "method": "greedy",
    },
}


class ProfileMemoryNetwork(Seq2SeqNetwork):
    """A Seq2Seq network whose writer has the persona as a memory."""

    def __init__(self, reading: Reading, sizes: Sizes, *, tied: bool, learn_alpha: bool) -> None:
        super().__init__(reading, sizes, "none")
        if tied:
            self.output = Output(sizes.hidden, reading.codec.size, sizes.vector)
        self.attention = Attention("general", sizes.hidden, sizes.vector)
        self.join = nn.Linear(2 * sizes.vector, sizes.vector)
        known = alphas(reading.codec.words)
        rest = reading.size - len(MARKS) - len(known)
        alpha = torch.tensor([*[0.0] * len(MARKS), *known, *[0.0] * rest])
        self.alpha = nn.Parameter(alpha, requires_grad=learn_alpha)

    def read(self, asked: Sequence[Asked]) -> State:
        """Read the history; remember the persona."""
        state = super().read([Asked((), each.history) for each in asked])
        most = max(1, *(len(each.persona) for each in asked))
        lines = [line for each in asked for line in (*each.persona, *[(0,)] * most)[:most]]
        ids, _ = padded(lines, self.device)
        found = (self.asked(ids) * self.alpha[ids][:, :, None]).sum(1)
        state["memory"] = found.view(len(asked), most, -1)
        state["present"] = (ids != 0).any(1).view(len(asked), most)
        return state

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on writing, a step at a time: each looks at the persona first."""
        outputs = []
        for vectors in self.dropout(self.written(tokens)).split(1, dim=1):
            top = state["h"][:, -1:]
            context, _ = self.attention(top, state["memory"], state["present"])
            joined = torch.tanh(self.join(torch.cat((context, vectors), dim=2)))
            known = state["present"].any(1)[:, None, None]
            output, state = self.decoder(torch.where(known, joined, vectors), state)
            outputs.append(output)
        return self.output(torch.cat(outputs, dim=1), self.written.weight), state


@dataclass
class GenerativeProfileMemory(Writer):
    """Writes a reply word by word, looking at the persona for each."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    persona: bool = option(True, "Remember the persona", trained=True)
    messages: int = option(2, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(48, "How many words of history it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(64, "Size of a state", least=2, trained=True)
    layers: int = option(1, "Layers of encoder and decoder", least=1, trained=True)
    tied: bool = option(False, "Words are named by their own vectors", trained=True)
    learn_alpha: bool = option(False, "Learn on how much a word tells", trained=True)
    dropout: float = option(
        0.1, "Dropout; the encoder's is twice that", least=0, most=0.45, trained=True
    )
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(640, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> ProfileMemoryNetwork:
        """Return the untrained network."""
        return ProfileMemoryNetwork(
            self.reading(codec),
            Sizes(self.dimension, self.hidden, self.layers, self.dropout),
            tied=self.tied,
            learn_alpha=self.learn_alpha,
        )


BOT = GenerativeProfileMemory
