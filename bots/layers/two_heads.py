"""A decoder-only Transformer with a second head, which tells the true next message from others.

Source: Wolf et al. 2019 ("TransferTransfo"), section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bots.layers.asking import Ids, Reading, padded
from bots.layers.causal import CausalNetwork
from bots.layers.recurrent import State
from bots.layers.transformer import Sizes
from bots.vocabulary import END, START


class TwoHeadNetwork(CausalNetwork):
    """A language model with a second head on a reply's last token."""

    def __init__(self, reading: Reading, sizes: Sizes, positions: int) -> None:
        super().__init__(reading, sizes, positions)
        self.choice = nn.Linear(sizes.width, 1)
        self.pool: Sequence[Ids] = ()  # replies that wrong candidates are drawn from

    def hear(self, state: State, replies: Sequence[Ids]) -> tuple[Tensor, Tensor]:
        """Take whole replies; return what was made of each token, and of the last one, the end."""
        tokens, lengths = padded([(START, *each, END) for each in replies], self.device)
        hidden, _ = self.follow(state, tokens)
        rows = torch.arange(len(replies), device=self.device)
        return hidden, hidden[rows, lengths.to(self.device) - 1]

    def likes(self, last: Tensor) -> Tensor:
        """Return the score of each reply, from what was made of its last token."""
        scores: Tensor = self.choice(last)
        return scores[:, 0]
