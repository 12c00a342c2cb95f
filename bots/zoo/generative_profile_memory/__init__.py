"""Generative Profile Memory: a Seq2Seq writer that attends over the persona at each step.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3: a sentence is the sum of
its words' vectors weighted by how rare they are (alpha), a_t = softmax(F W_a h_t), c_t = a_t F, and
the next input is tanh(W_c [c_(t-1), x_t]); the first c is of the encoder's last state. Without a
persona it is Seq2Seq. The preset "paper" has the sizes of its released code, where the alphas are
learned on and words are named by their own vectors. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from bots.options import defaults, option
from bots.text.vocabulary import MARKS, WordCodec
from bots.writers.input_tokens import EncodedInput, Reading, padded
from bots.writers.recurrent import MemoryAttention, Output, RecurrentSizes, State
from bots.writers.seq2seq import Seq2SeqNetwork
from bots.writers.word_writing import WordWriter
from bots.zoo.generative_profile_memory.salience import alphas

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

    def __init__(
        self, reading: Reading, sizes: RecurrentSizes, *, tied: bool, learn_alpha: bool
    ) -> None:
        super().__init__(reading, sizes, "none")
        if tied:
            self.output = Output(sizes.hidden, reading.codec.size, sizes.vector)
        self.attention = MemoryAttention("general", sizes.hidden, sizes.vector)
        self.join = nn.Linear(2 * sizes.vector, sizes.vector)
        known = alphas(reading.codec.words)
        rest = reading.size - len(MARKS) - len(known)
        alpha = torch.tensor([*[0.0] * len(MARKS), *known, *[0.0] * rest])
        self.alpha = nn.Parameter(alpha, requires_grad=learn_alpha)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read the history; remember the persona."""
        state = super().read([EncodedInput((), each.history) for each in inputs])
        most = max(1, *(len(each.persona) for each in inputs))
        lines = [line for each in inputs for line in (*each.persona, *[(0,)] * most)[:most]]
        ids, _ = padded(lines, self.device)
        found = (self.asked(ids) * self.alpha[ids][:, :, None]).sum(1)
        state["memory"] = found.view(len(inputs), most, -1)
        state["present"] = (ids != 0).any(1).view(len(inputs), most)
        return state

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing, one step at a time; each looks at the persona first."""
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
@defaults(hidden=64, examples=640)
class GenerativeProfileMemory(WordWriter):
    """Writes a reply word by word, looking at the persona for each."""

    sides: Literal["both", "self"] = option("both", "Sides whose replies it learns", trained=True)
    persona: bool = option(True, "Remember the persona", trained=True)
    layers: int = option(1, "Layers of encoder and decoder", least=1, trained=True, after="hidden")
    tied: bool = option(False, "Output layer tied to the word vectors", trained=True)
    learn_alpha: bool = option(False, "Learn the weights of words", trained=True)
    dropout: float = option(
        0.1, "Dropout; twice that in the encoder", least=0, most=0.45, trained=True
    )

    def build(self, codec: WordCodec) -> ProfileMemoryNetwork:
        """Return the untrained network."""
        return ProfileMemoryNetwork(
            self.reading(codec),
            RecurrentSizes(self.dimension, self.hidden, self.layers, self.dropout),
            tied=self.tied,
            learn_alpha=self.learn_alpha,
        )


BOT = GenerativeProfileMemory
