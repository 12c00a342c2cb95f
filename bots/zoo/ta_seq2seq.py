"""Topic-aware Seq2Seq: attention also over words of the topic, which become likelier.

Source: Xing et al. 2017 (TA-Seq2Seq), as the base of THRED (Dziri et al. 2018): words of the
history's most probable topic are attended to, with what was read beside the decoder's state, and
have a probability of their own besides that of all words. Topics: 150 by LDA, alpha 1/150, gamma
0.01, without stop words and the 1,000 most frequent words, 100 words each (preset "paper"). Like
our Seq2Seq, it reads one way, the persona first. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from bots.options import defaults
from bots.writers.input_tokens import EncodedInput, Reading, is_filled, padded
from bots.writers.recurrent import Encoder, MemoryAttention, RecurrentSizes, State, last
from bots.writers.topical import TopicalNetwork, TopicalWriter
from bots.writers.topics import Lda

PRESETS = {
    "paper": {
        "dimension": 300,
        "hidden": 1024,
        "dropout": 0.2,
        "words": 0,
        "least_count": 1,
        "rate": 0.0002,
        "batch": 64,
        "epochs": 100,
        "patience": 5,
        "examples": 0,
        "messages": 3,
        "tokens": 256,
        "topics": 150,
        "topic_words": 100,
        "frequent": 1000,
        "passes": 50,
        "method": "beam",
        "number": 5,
        "rank_by": "gnmt",
    }
}


class TopicNetwork(TopicalNetwork):
    """An encoder over one row, and a decoder fed by it and by the topic."""

    def __init__(self, reading: Reading, sizes: RecurrentSizes, lda: Lda) -> None:
        super().__init__(reading, sizes, lda)
        vector, hidden = sizes.vector, sizes.hidden
        self.encoder = Encoder("gru", vector, hidden)
        self.attention = MemoryAttention("additive", hidden, hidden)
        self.add_writer(sizes)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read rows of persona and history, and find their topics."""
        state: State
        ids, lengths = padded([each.flat for each in inputs], self.device)
        outputs, state = self.encoder(self.dropout(self.table(ids)), lengths)
        topic_words, topical = self.topics.of(inputs)
        return {
            **state,
            "memory": outputs,
            "present": is_filled(lengths, ids.shape[1], self.device),
            "context": last(outputs, lengths),
            "ids": topic_words,
            "topic_vectors": self.table(topic_words),
            "topical": topical,
        }

    def look(self, before: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Attend over the input."""
        found, _ = self.attention(before[:, None], state["memory"], state["present"])
        return found[:, 0], state["context"]


@dataclass
@defaults(tokens=32, examples=256)
class TopicAwareSeq2Seq(TopicalWriter):
    """Writes a reply word by word, preferring words of the topic."""

    NETWORK = TopicNetwork


BOT = TopicAwareSeq2Seq
