"""Hierarchical reader: words to utterances, utterances to a context.

Source: Serban et al. 2016 (HRED), section 3; THRED and hredGAN begin with it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bots.writers.input_tokens import EncodedInput, is_filled, padded
from bots.writers.recurrent import Encoder, Kind, RecurrentSizes


@dataclass(frozen=True)
class ReadTurns:
    """States of words, of utterances and of the context, padded, with masks of what is present."""

    words: Tensor  # [rows, utterances, steps, hidden]
    is_word: Tensor  # [rows, utterances, steps], true where there is a word
    utterances: Tensor  # [rows, utterances, hidden]: the encoder's last output
    contexts: Tensor  # [rows, utterances, hidden]: the context after each
    spoken: Tensor  # [rows, utterances], true where there is an utterance
    context: Tensor  # [rows, layers, hidden]: the context's last state


class Hierarchy(nn.Module):
    """An encoder over the words of each utterance, and a context RNN over the utterances.

    Of an encoder of two ways an utterance is the last forward and the first backward output.
    """

    def __init__(self, kind: Kind, sizes: RecurrentSizes, ways: int = 1) -> None:
        super().__init__()
        hidden, layers, dropout = sizes.hidden, sizes.layers, sizes.dropout
        self.encoder = Encoder(kind, sizes.vector, hidden, layers, dropout, ways)
        self.dropout = nn.Dropout(dropout)
        self.context = Encoder(kind, hidden * ways, hidden, layers, dropout)

    def forward(self, inputs: Sequence[EncodedInput], table: nn.Embedding) -> ReadTurns:
        """Read persona and history, each sentence and message an utterance."""
        device = table.weight.device
        rows = [(*each.persona, *each.history) for each in inputs]
        flat = [utterance for row in rows for utterance in row]
        ids, lengths = padded(flat, device)
        words, state = self.encoder(self.dropout(table(ids)), lengths)
        ways = 2 if self.encoder.cells.bidirectional else 1
        vectors = state["h"][:, -ways:].flatten(1)
        counts = torch.tensor([len(row) for row in rows])
        spoken = is_filled(counts, int(counts.max()), device)
        is_word = is_filled(lengths, ids.shape[1], device)
        utterances = _spread(vectors, spoken)
        contexts, last = self.context(utterances, counts)
        return ReadTurns(
            _spread(words, spoken),
            _spread(is_word, spoken),
            utterances,
            contexts,
            spoken,
            last["h"],
        )


def _spread(found: Tensor, spoken: Tensor) -> Tensor:
    """Spread values of consecutive utterances over their positions in the rows."""
    empty = found.new_zeros((*spoken.shape, *found.shape[1:]))
    return empty.masked_scatter(spoken.view(*spoken.shape, *[1] * (found.dim() - 1)), found)
