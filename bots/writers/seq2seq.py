"""Seq2Seq network: an LSTM reads one row of tokens, another writes, started from its last state.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.3; attention after Luong et
al. 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from bots.writers.embedding import embedding
from bots.writers.input_tokens import EncodedInput, Reading, is_filled, padded
from bots.writers.network import Network
from bots.writers.recurrent import Decoder, Encoder, Output, RecurrentSizes, Score, State


class Seq2SeqNetwork(Network):
    """One row of tokens in, the reply out; `asked` and `written` are the tables of word vectors."""

    def __init__(
        self,
        reading: Reading,
        sizes: RecurrentSizes,
        attention: Score | Literal["none"],
        *,
        shared: bool = True,
    ) -> None:
        super().__init__(reading)
        size, hidden, dropout = sizes.vector, sizes.hidden, sizes.dropout
        self.written = embedding(reading, size)
        self.asked = self.written if shared else embedding(reading, size)
        self.dropout = nn.Dropout(dropout)
        self.reading_dropout = nn.Dropout(2 * dropout)  # doubled, as in the released code
        self.encoder = Encoder("lstm", size, hidden, sizes.layers, dropout)
        self.decoder = Decoder("lstm", size, hidden, sizes.layers, dropout, attention, hidden)
        self.output = Output(hidden, reading.codec.size)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read rows of persona and history."""
        state: State
        ids, lengths = padded([each.flat for each in inputs], self.device)
        outputs, state = self.encoder(self.reading_dropout(self.asked(ids)), lengths)
        if self.decoder.attention is None:
            return state
        state["memory"] = outputs
        state["present"] = is_filled(lengths, ids.shape[1], self.device)
        return state

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing."""
        outputs, after = self.decoder(self.dropout(self.written(tokens)), state)
        return self.output(outputs, self.written.weight), after
