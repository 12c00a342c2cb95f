"""B-LM: one LSTM over the whole dialogue, which goes on where the bot is to speak.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3, and Dinan et al. 2019
(ConvAI2). As in their released code there is a token for who speaks, every word of both sides is
learned, and in a chat replies are sampled, at most 50 tokens long; the preset "paper" has its
sizes. The persona, which that model does not have, is read first unless told otherwise. A dialogue
longer than `tokens` is learned in parts. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor, nn
from torch.nn import functional

from bots.dialogue import Dialogue
from bots.layers.asking import Asked, Ids, Reading, drawn, padded
from bots.layers.embedding import embedding
from bots.layers.network import Network
from bots.layers.recurrent import Encoder, Output, Sizes, State, from_state, to_state
from bots.layers.writing import Writer
from bots.options import option
from bots.vocabulary import END, PAD, START, WordCodec
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
    """An LSTM that has read all that was said when it starts to write."""

    def __init__(self, reading: Reading, sizes: Sizes) -> None:
        super().__init__(reading)
        self.table = embedding(reading, sizes.vector)
        self.dropout = nn.Dropout(sizes.dropout)
        self.reader = Encoder("lstm", sizes.vector, sizes.hidden, sizes.layers, sizes.dropout)
        self.output = Output(sizes.hidden, reading.codec.size)

    def row(self, asked: Asked) -> Ids:
        """Return all in one row; each part ends, and what the bot said starts as it will now."""
        own = self.reading.codec.size + 1
        parts = (*asked.persona, *asked.history)
        return tuple(
            token for mark, *rest in parts for token in (START if mark == own else mark, *rest, END)
        )

    def read(self, asked: Sequence[Asked]) -> State:
        """Read everything up to the bot's turn."""
        ids, lengths = padded([self.row(each) for each in asked], self.device)
        state: State
        _, state = self.reader(self.table(ids), lengths)
        return state

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on writing."""
        outputs, hidden = self.reader.cells(self.dropout(self.table(tokens)), from_state(state))
        return self.output(self.dropout(outputs), self.table.weight), to_state(hidden)

    def lose(self, rows: Sequence[Ids]) -> Tensor:
        """Return the mean negative log-probability of words and ends, not of who speaks next."""
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
class DialogueModel(Writer):
    """Goes on with a dialogue word by word."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("sample", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    top_k: int = option(0, "Sample among so many of the likeliest words; 0: all", least=0)
    top_p: float = option(1.0, "Sample among words of this much probability", least=0, most=1)
    max_tokens: int = option(50, "Replies are cut after so many words", least=1)
    seed: int = option(0, "Of sampling")
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(0, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(64, "How many words of history it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(64, "Size of a state", least=2, trained=True)
    layers: int = option(1, "Layers", least=1, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Parts of dialogues per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(400, "Most parts of dialogues it learns; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> DialogueNetwork:
        """Return the untrained network."""
        sizes = Sizes(self.dimension, self.hidden, self.layers, self.dropout)
        return DialogueNetwork(self.reading(codec), sizes)

    def items(
        self, network: DialogueNetwork, dialogues: Sequence[Dialogue], seed: int
    ) -> list[Ids]:
        """Return parts of dialogues, as both sides see them, in one row each."""
        views = [view for each in dialogues for view in (each, each.swapped())]
        rows = [network.row(part) for view in views for part in parts(network.reading, view)]
        return drawn(rows, self.examples, seed)

    def loss(self, network: DialogueNetwork, batch: Sequence[Ids]) -> Tensor:  # type: ignore[override]
        """Return the negative log-likelihood of everything said."""
        return network.lose(batch)


def parts(reading: Reading, view: Dialogue) -> Iterator[Asked]:
    """Cut a dialogue where so many tokens are full; every part has the persona."""
    left = len(view.turns)
    while left:
        part = reading.asked((view.persona, view.turns[:left]))
        yield part
        left -= len(part.history)


BOT = DialogueModel
