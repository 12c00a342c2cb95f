"""LSTM language model of the whole dialogue, continued where the bot is to answer.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3, and Dinan et al. 2019
(ConvAI2). As in their released code there is a token for who speaks, every word of both sides is
learned, and in a chat replies are sampled, at most 50 tokens long; the preset "paper" has its
sizes. The persona, which that model does not have, is read first unless told otherwise. A dialogue
longer than `tokens` is learned in parts. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from bots.dialogue import Dialogue
from bots.options import defaults, option
from bots.text.vocabulary import END, PAD, START, WordCodec
from bots.writers.embedding import embedding
from bots.writers.input_tokens import EncodedInput, Ids, Reading, drawn, padded
from bots.writers.network import Network
from bots.writers.recurrent import Encoder, Output, RecurrentSizes, State, from_state, to_state
from bots.writers.word_writing import WordWriter

PRESETS = {
    "small": {
        "vectors": "glove",
        "dimension": 50,
        "hidden": 128,
        "dropout": 0.2,
        "words": 8000,
        "least_count": 3,
        "examples": 0,
        "tokens": 128,
        "batch": 32,
        "rate": 0.003,
        "epochs": 4,
    },
    "paper": {
        "dimension": 512,
        "hidden": 1024,
        "layers": 2,
        "dropout": 0.1,
        "words": 0,
        "least_count": 1,
        "rate": 0.001,
        "batch": 64,
        "epochs": 100,
        "patience": 5,
        "examples": 0,
        "messages": 0,
        "tokens": 256,
        "persona": False,
        "method": "sample",
        "number": 1,
        "max_tokens": 50,
    },
}


class DialogueNetwork(Network):
    """An LSTM that has read the whole dialogue when it starts to write."""

    def __init__(self, reading: Reading, sizes: RecurrentSizes) -> None:
        super().__init__(reading)
        self.table = embedding(reading, sizes.vector)
        self.dropout = nn.Dropout(sizes.dropout)
        self.reader = Encoder("lstm", sizes.vector, sizes.hidden, sizes.layers, sizes.dropout)
        self.output = Output(sizes.hidden, reading.codec.size)

    def row(self, inputs: EncodedInput) -> Ids:
        """Return all in one row; each part ends in a mark, and the bot's begin with their own."""
        own = self.reading.codec.size + 1
        parts = (*inputs.persona, *inputs.history)
        return tuple(
            token for mark, *rest in parts for token in (START if mark == own else mark, *rest, END)
        )

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read everything up to the bot's turn."""
        ids, lengths = padded([self.row(each) for each in inputs], self.device)
        state: State
        _, state = self.reader(self.table(ids), lengths)
        return state

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing."""
        outputs, hidden = self.reader.cells(self.dropout(self.table(tokens)), from_state(state))
        return self.output(self.dropout(outputs), self.table.weight), to_state(hidden)

    def lose(self, rows: Sequence[Ids]) -> Tensor:
        """Return the mean negative log-probability of words and ends, not of speaker marks."""
        ids, _ = padded(rows, self.device)
        outputs, _ = self.reader.cells(self.dropout(self.table(ids[:, :-1])))
        wanted, size = ids[:, 1:], self.reading.codec.size
        marks = (wanted == START) | (wanted >= size)
        logits = self.output.logits(self.dropout(outputs), self.table.weight)
        return functional.cross_entropy(
            logits.reshape(-1, size).float(),
            wanted.masked_fill(marks, PAD).reshape(-1),
            ignore_index=PAD,
        )


@dataclass
@defaults(method="sample", max_tokens=50, messages=0, tokens=64, hidden=64)
class DialogueModel(WordWriter):
    """Continues a dialogue word by word."""

    top_k: int = option(0, "Likeliest words to sample from; 0: all", least=0, after="temperature")
    top_p: float = option(1.0, "Probability mass to sample from", least=0, most=1)
    seed: int = option(0, "Seed of sampling", after="max_tokens")
    layers: int = option(1, "Layers", least=1, trained=True, after="hidden")
    batch: int = option(16, "Parts of dialogues per step", least=2, trained=True)
    examples: int = option(
        400, "Maximum parts of dialogues to learn from; 0: all", least=0, trained=True
    )

    def build(self, codec: WordCodec) -> DialogueNetwork:
        """Return the untrained network."""
        sizes = RecurrentSizes(self.dimension, self.hidden, self.layers, self.dropout)
        return DialogueNetwork(self.reading(codec), sizes)

    def items(
        self, network: DialogueNetwork, dialogues: Sequence[Dialogue], seed: int
    ) -> list[Ids]:
        """Return parts of dialogues, as both sides see them, in one row each."""
        views = [view for each in dialogues for view in (each, each.swapped())]
        rows = [network.row(part) for view in views for part in parts(network.reading, view)]
        return drawn(rows, self.examples, seed)

    def loss(self, network: DialogueNetwork, batch: Sequence[Ids]) -> Tensor:  # type: ignore[override]
        """Return the negative log-likelihood of all messages."""
        return network.lose(batch)


def parts(reading: Reading, view: Dialogue) -> Iterator[EncodedInput]:
    """Cut a dialogue into parts of at most `tokens`; every part has the persona."""
    left = len(view.turns)
    while left:
        part = reading.encoded((view.persona, view.turns[:left]))
        yield part
        left -= len(part.history)


BOT = DialogueModel
