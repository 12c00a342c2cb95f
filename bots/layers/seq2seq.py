"""An LSTM that reads one row of tokens and an LSTM that writes, started from its last state.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3; attention after Luong et
al. 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from bots.layers.asking import Asked, Reading, padded, places
from bots.layers.embedding import embedding
from bots.layers.network import Network
from bots.layers.recurrent import Decoder, Encoder, Output, Score, Sizes, State


class Seq2SeqNetwork(Network):
    """One row of tokens in, the reply out; `asked` and `written` are the tables of word vectors."""

    def __init__(
        self,
        reading: Reading,
        sizes: Sizes,
        attention: Score | Literal["none"],
        *,
        shared: bool = True,
    ) -> None:
        super().__init__(reading)
        size, hidden, dropout = sizes.vector, sizes.hidden, sizes.dropout
        self.written = embedding(reading, size)
        self.asked = self.written if shared else embedding(reading, size)
        self.dropout = nn.Dropout(dropout)
        self.asked_dropout = nn.Dropout(2 * dropout)  # doubled, as in the released code
        self.encoder = Encoder("lstm", size, hidden, sizes.layers, dropout)
        self.decoder = Decoder("lstm", size, hidden, sizes.layers, dropout, attention, hidden)
        self.output = Output(hidden, reading.codec.size)

    def read(self, asked: Sequence[Asked]) -> State:
        """Read rows of persona and history."""
        state: State
        ids, lengths = padded([each.flat for each in asked], self.device)
        outputs, state = self.encoder(self.asked_dropout(self.asked(ids)), lengths)
        if self.decoder.attention is None:
            return state
        state["memory"] = outputs
        state["present"] = places(lengths, ids.shape[1], self.device)
        return state

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on writing."""
        outputs, after = self.decoder(self.dropout(self.written(tokens)), state)
        return self.output(outputs, self.written.weight), after
