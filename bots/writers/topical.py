"""Topical writers, TA-Seq2Seq and THRED: every step looks at the input and at words of the topic.

Source: Xing et al. 2017 (TA-Seq2Seq) and Dziri et al. 2018 (THRED), which builds on it: a step of
the decoder is fed the last word, what was found in what was read, and what was found among the
topic's words; p(w) = p_V(w) + p_K(w) with one normalizer (`bots.writers.topics`). They differ in
how they read, and in what a step finds there: `look`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from bots.dialogue import Dialogue
from bots.options import option
from bots.text.vocabulary import WordCodec
from bots.writers.embedding import embedding
from bots.writers.input_tokens import Reading
from bots.writers.network import Network
from bots.writers.recurrent import Output, RecurrentSizes, State, cells, from_state, to_state
from bots.writers.topics import Lda, Topics, TopicWriter, jointly
from bots.writers.word_writing import WordWriter
from bots.writers.writer import History


class TopicalNetwork(Network):
    """The writing half of a network; a subclass reads."""

    def __init__(self, reading: Reading, sizes: RecurrentSizes, lda: Lda) -> None:
        super().__init__(reading)
        self.topics = Topics(reading.codec, lda)
        self.table = embedding(reading, sizes.vector)
        self.dropout = nn.Dropout(sizes.dropout)

    def add_writer(self, sizes: RecurrentSizes) -> None:
        """Make the writing half, after the reading one so that a seed gives the same start."""
        vector, hidden = sizes.vector, sizes.hidden
        self.topic = TopicWriter(hidden, hidden, vector)
        self.cells = cells("gru", 2 * vector + hidden, hidden)
        self.output = Output(hidden, self.reading.codec.size)

    @abstractmethod
    def look(self, before: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Return what the decoder attends to in its input now, and the context [rows, n]."""

    def write(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Continue writing, one step at a time."""
        written = []
        for vectors in self.dropout(self.table(tokens)).split(1, dim=1):
            log_probs, state = self._step(state, vectors[:, 0])
            written.append(log_probs)
        return torch.stack(written, dim=1), state

    def _step(self, state: State, vectors: Tensor) -> tuple[Tensor, State]:
        before, topic_vectors = state["h"][:, -1], state["topic_vectors"]
        found, context = self.look(before, state)
        topic = self.topic.attend(before, context, topic_vectors, state["topical"])
        fed = torch.cat((vectors, found, topic), dim=1)[:, None]
        outputs, hidden = self.cells(fed, from_state({"h": state["h"]}))
        after = self.dropout(outputs[:, 0])
        of_all = self.output.logits(after, self.table.weight)
        of_topic = self.topic.logits(after, context, topic, topic_vectors)
        log_probs = jointly(of_all.float(), of_topic.float(), state["ids"], state["topical"])
        return log_probs, {**state, **to_state(hidden)}


@dataclass
class TopicalWriter(WordWriter):
    """A writer that finds the topics of its dialogues before it learns to write."""

    NETWORK: ClassVar[type[TopicalNetwork]]
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "mean_logp",
        "Score of beams: per token, without, or with a length penalty",
        after="max_tokens",
    )
    sides: Literal["both", "self"] = option("both", "Sides whose replies it learns", trained=True)
    topics: int = option(10, "Number of topics", least=1, trained=True, after="dropout")
    topic_words: int = option(20, "Words per topic that it looks at", least=1, trained=True)
    frequent: int = option(
        100, "Most frequent words, which belong to no topic", least=0, trained=True
    )
    gamma: float = option(0.01, "Prior of a topic's words", least=0.000001, trained=True)
    passes: int = option(4, "Passes over the dialogues to find topics", least=1, trained=True)

    def build(self, codec: WordCodec) -> TopicalNetwork:
        """Return the untrained network."""
        sizes = RecurrentSizes(self.dimension, self.hidden, 1, self.dropout)
        lda = Lda(self.topics, self.topic_words, self.frequent, self.gamma, self.passes)
        return self.NETWORK(self.reading(codec), sizes, lda)

    def learn(
        self,
        network: TopicalNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Find topics first."""
        network.topics.fit(learned, seed)
        return super().learn(network, learned, watched, seed)
