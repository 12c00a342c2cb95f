"""B-TAS2S: Seq2Seq with attention that also looks at words of the topic, and says them rather.

Source: Xing et al. 2017 (TA-Seq2Seq), as the base of THRED (Dziri et al. 2018): words of the
history's most probable topic are attended to, with what was read beside the decoder's state, and
have a probability of their own besides that of all words. Topics: 150 by LDA, alpha 1/150, gamma
0.01, without stop words and the 1,000 most frequent words, 100 words each (preset "paper"). Like
our Seq2Seq, it reads one way, the persona first. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

from bots.dialogue import Dialogue
from bots.layers.asking import Asked, Reading, padded, places
from bots.layers.network import Network
from bots.layers.recurrent import (
    Attention,
    Encoder,
    Sizes,
    State,
    last,
)
from bots.layers.topical import TopicalNetwork
from bots.layers.topics import Lda
from bots.layers.writing import History, Writer
from bots.options import option
from bots.vocabulary import WordCodec
from bots.weights import About

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
    """An encoder over one row, and a decoder fed with what it and the topic say."""

    def __init__(self, reading: Reading, sizes: Sizes, lda: Lda) -> None:
        super().__init__(reading, sizes, lda)
        vector, hidden = sizes.vector, sizes.hidden
        self.encoder = Encoder("gru", vector, hidden)
        self.attention = Attention("additive", hidden, hidden)
        self.add_writer(sizes)

    def read(self, asked: Sequence[Asked]) -> State:
        """Read rows of persona and history, and find their topics."""
        state: State
        ids, lengths = padded([each.flat for each in asked], self.device)
        outputs, state = self.encoder(self.dropout(self.table(ids)), lengths)
        told, topical = self.topics.of(asked)
        return {
            **state,
            "memory": outputs,
            "present": places(lengths, ids.shape[1], self.device),
            "context": last(outputs, lengths),
            "ids": told,
            "told": self.table(told),
            "topical": topical,
        }

    def look(self, before: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Attend over what was read."""
        found, _ = self.attention(before[:, None], state["memory"], state["present"])
        return found[:, 0], state["context"]


@dataclass
class TopicAwareSeq2Seq(Writer):
    """Writes a reply word by word, rather with words of the topic."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "mean_logp", "What beams are ranked by: per token, without, or with a length penalty"
    )
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(2, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(32, "How many words of history it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(48, "Size of a state", least=2, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)
    topics: int = option(10, "How many topics there are", least=1, trained=True)
    topic_words: int = option(20, "Words of a topic that it looks at", least=1, trained=True)
    frequent: int = option(100, "So many frequent words tell no topic", least=0, trained=True)
    gamma: float = option(0.01, "Prior of a topic's words", least=0.000001, trained=True)
    passes: int = option(4, "Passes over the dialogues that find topics", least=1, trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(16, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(256, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> TopicNetwork:
        """Return the untrained network."""
        sizes = Sizes(self.dimension, self.hidden, 1, self.dropout)
        lda = Lda(self.topics, self.topic_words, self.frequent, self.gamma, self.passes)
        return TopicNetwork(self.reading(codec), sizes, lda)

    def learn(
        self,
        network: TopicNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Find topics first."""
        network.topics.fit(learned, seed)
        return super().learn(network, learned, watched, seed)


BOT = TopicAwareSeq2Seq
