"""A writer whose every step looks at what was read and at words of the topic: TA-Seq2Seq, THRED.

Source: Xing et al. 2017 (TA-Seq2Seq) and Dziri et al. 2018 (THRED), which builds on it: a step of
the decoder is fed the last word, what was found in what was read, and what was found among the
topic's words; p(w) = p_V(w) + p_K(w) with one normalizer (`bots.layers.topics`). They differ in how
they read, and in what a step finds there: `look`.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from bots.layers.asking import Reading
from bots.layers.embedding import embedding
from bots.layers.network import Network
from bots.layers.recurrent import Output, Sizes, State, cells, from_state, to_state
from bots.layers.topics import Lda, Topics, TopicWriter, jointly


class TopicalNetwork(Network):
    """The half that writes; a subclass reads."""

    def __init__(self, reading: Reading, sizes: Sizes, lda: Lda) -> None:
        super().__init__(reading)
        self.topics = Topics(reading.codec, lda)
        self.table = embedding(reading, sizes.vector)
        self.dropout = nn.Dropout(sizes.dropout)

    def add_writer(self, sizes: Sizes) -> None:
        """Make what writes; after what reads, so that a seed starts both as it always did."""
        vector, hidden = sizes.vector, sizes.hidden
        self.topic = TopicWriter(hidden, hidden, vector)
        self.cells = cells("gru", 2 * vector + hidden, hidden)
        self.output = Output(hidden, self.reading.codec.size)

    @abstractmethod
    def look(self, before: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Return what a decoder in this state finds in what was read, and the context [rows, n]."""

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Go on writing, a step at a time."""
        written = []
        for vectors in self.dropout(self.table(tokens)).split(1, dim=1):
            log_probs, state = self._step(state, vectors[:, 0])
            written.append(log_probs)
        return torch.stack(written, dim=1), state

    def _step(self, state: State, vectors: Tensor) -> tuple[Tensor, State]:
        before, told = state["h"][:, -1], state["told"]
        found, context = self.look(before, state)
        topic = self.topic.attend(before, context, told, state["topical"])
        fed = torch.cat((vectors, found, topic), dim=1)[:, None]
        outputs, hidden = self.cells(fed, from_state({"h": state["h"]}))
        after = self.dropout(outputs[:, 0])
        of_all = self.output.logits(after, self.table.weight)
        of_topic = self.topic.logits(after, context, topic, told)
        log_probs = jointly(of_all.float(), of_topic.float(), state["ids"], state["topical"])
        return log_probs, {**state, **to_state(hidden)}
