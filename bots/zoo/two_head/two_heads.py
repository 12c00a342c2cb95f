"""Two-headed Transformer: decoder-only, with a second head that tells the true next message.

Source: Wolf et al. 2019 ("TransferTransfo"), section 3.3. The head sees what was made of a reply's
last token. Without large pre-training it hardly learns which words go together, so it can also be
told how alike a reply is to the persona and the last message, as bags of words whose vectors have
`overlap` numbers (0: it is not told) [ours].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.text.vocabulary import END, PAD, START, UNKNOWN
from bots.writers.causal import CausalNetwork
from bots.writers.input_tokens import EncodedInput, Ids, Reading, padded
from bots.writers.recurrent import State
from bots.writers.transformer import TransformerSizes


class TwoHeadNetwork(CausalNetwork):
    """A language model with a second head on a reply's last token."""

    def __init__(
        self, reading: Reading, sizes: TransformerSizes, positions: int, *, overlap: int
    ) -> None:
        super().__init__(reading, sizes, positions)
        self.choice = nn.Linear(sizes.width, 1)
        self.pool: Sequence[Ids] = ()  # replies that wrong candidates are drawn from
        self.bags: nn.EmbeddingBag | None = None
        if overlap:
            self.bags = nn.EmbeddingBag(reading.size, overlap, mode="sum", padding_idx=PAD)
            self.scale = nn.Parameter(torch.tensor(10.0))

    def weigh(self, texts: Iterable[Ids]) -> None:
        """Make the vectors of rare tokens longer (tf-idf); marks have none."""
        if self.bags is None:
            return
        rows = [set(text) for text in texts]
        counts = Counter(token for row in rows for token in row)
        table = self.bags.weight
        size = self.reading.codec.size
        rarity = [math.log((1 + len(rows)) / (0.5 + counts[token])) for token in range(size)]
        with torch.no_grad():
            table[:size] *= torch.tensor(rarity).clamp(min=0.1)[:, None]
            table[size:] = 0
            table[[PAD, START, END, UNKNOWN]] = 0

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read a batch; remember the words of the persona and of the last message."""
        state = super().read(inputs)
        if self.bags is None:
            return state
        words = [
            [token for part in (*each.persona, each.history[-1]) for token in part]
            for each in inputs
        ]
        return {**state, "bag": self.bags(padded(words, self.device)[0])}

    def hear(self, state: State, replies: Sequence[Ids]) -> tuple[Tensor, Tensor]:
        """Read whole replies; return the state of each token, and each reply's score."""
        tokens, lengths = padded([(START, *each, END) for each in replies], self.device)
        hidden, _ = self.follow(state, tokens)
        rows = torch.arange(len(replies), device=self.device)
        scores: Tensor = self.choice(hidden[rows, lengths.to(self.device) - 1])[:, 0]
        if self.bags is not None:
            alike = functional.cosine_similarity(state["bag"], self.bags(tokens), dim=1)
            scores = scores + self.scale * alike
        return hidden, scores
