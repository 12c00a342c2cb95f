"""B-THRED: utterances are read by words and as a context anew for each word that is written.

Source: Dziri et al. 2018 (THRED). A bi-GRU reads each utterance; at each step attention over its
words depends on the decoder's state and on the context so far, the context GRU goes over what that
finds, and attention over its states feeds the decoder beside attention over the topic's words
(from the decoder's state and the last context). p(w) = p_V(w) + p_K(w), one normalizer. The preset
"paper": hidden 800, 150 topics (LDA, alpha 1/150, gamma 0.01, without stop words and the 1,000 most
frequent words, 100 words each), Adam 0.0002, dropout 0.2, beam 5 with length normalization alpha 1,
three turns. Ours: the decoder starts from the context over the utterances' last states, and a
persona is read as the first utterance. Precision "bf16" computes in mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from bots.dialogue import Dialogue
from bots.layers.asking import Asked, Reading
from bots.layers.hierarchy import Hierarchy
from bots.layers.network import Network
from bots.layers.recurrent import Attention, Sizes, State
from bots.layers.topical import TopicalNetwork
from bots.layers.topics import Lda
from bots.layers.writing import History, Writer
from bots.options import option
from bots.vocabulary import WordCodec
from bots.weights import About

PRESETS = {
    "paper": {
        "dimension": 300,
        "hidden": 800,
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
        "alpha": 1.0,
    }
}


class ThredNetwork(TopicalNetwork):
    """Three attentions, joined at every step: words, utterances, topic."""

    def __init__(self, reading: Reading, sizes: Sizes, lda: Lda) -> None:
        super().__init__(reading, sizes, lda)
        vector, hidden = sizes.vector, sizes.hidden
        self.hierarchy = Hierarchy("gru", Sizes(vector, hidden, 1, sizes.dropout), ways=2)
        self.by_word = Attention("additive", 2 * hidden, 2 * hidden)
        self.by_utterance = Attention("additive", hidden, hidden)
        self.add_writer(sizes)

    def read(self, asked: Sequence[Asked]) -> State:
        """Read utterance by utterance, and find the topics."""
        joined = [
            Asked((sum(each.persona, ()),) if each.persona else (), each.history) for each in asked
        ]
        found = self.hierarchy(joined, self.table)
        ids, topical = self.topics.of(asked)
        return {
            "h": found.context,
            "words": found.words,
            "said": found.said,
            "spoken": found.spoken,
            "ids": ids,
            "told": self.table(ids),
            "topical": topical,
        }

    def look(self, before: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Attend over utterances, each read anew; the last one's context is the history's."""
        contexts = self.contexts(before, state)
        found, _ = self.by_utterance(before[:, None], contexts, state["spoken"])
        return found[:, 0], contexts[:, -1]

    def contexts(self, before: Tensor, state: State) -> Tensor:
        """Return the context after each utterance, as the decoder's state has them read.

        [rows, utterances, hidden]; after the last one of a row the context stays.
        """
        context, found = torch.zeros_like(before), []
        for place in range(state["spoken"].shape[1]):
            query = torch.cat((before, context), dim=1)[:, None]
            words, _ = self.by_word(query, state["words"][:, place], state["said"][:, place])
            after, _ = self.hierarchy.context.cells(words, context[None].contiguous())
            context = torch.where(state["spoken"][:, place, None], after[:, 0], context)
            found.append(context)
        return torch.stack(found, dim=1)


@dataclass
class Thred(Writer):
    """Writes a reply word by word, from words, utterances and the topic."""

    weights: str = option("", "Directory of trained weights")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Where it computes")
    precision: Literal["fp32", "bf16"] = option("fp32", "How it computes while it learns")
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    method: Literal["greedy", "beam", "sample"] = option("beam", "How it searches for a reply")
    number: int = option(5, "How many replies beam search or sampling find", least=1)
    temperature: float = option(1.0, "Of sampling", least=0)
    max_tokens: int = option(24, "Replies are cut after so many words", least=1)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "gnmt", "What beams are ranked by: per token, without, or with a length penalty"
    )
    alpha: float = option(1.0, "Length penalty of gnmt", least=0)
    sides: Literal["both", "self"] = option("both", "Whose replies it learns", trained=True)
    persona: bool = option(True, "Read the persona, before the history", trained=True)
    messages: int = option(3, "How many of the last messages it reads; 0: all", trained=True)
    tokens: int = option(32, "How many words of history it reads", least=8, trained=True)
    words: int = option(2000, "Most words it knows; 0: all", least=0, trained=True)
    least_count: int = option(2, "Words seen less often are not learned", least=1, trained=True)
    vectors: Literal["random", "glove"] = option("random", "First word vectors", trained=True)
    dimension: int = option(50, "Length of a word's vector", least=2, trained=True)
    hidden: int = option(32, "Size of a state", least=2, trained=True)
    dropout: float = option(0.1, "Dropout", least=0, most=0.9, trained=True)
    topics: int = option(10, "How many topics there are", least=1, trained=True)
    topic_words: int = option(20, "Words of a topic that it looks at", least=1, trained=True)
    frequent: int = option(100, "So many frequent words tell no topic", least=0, trained=True)
    gamma: float = option(0.01, "Prior of a topic's words", least=0.000001, trained=True)
    passes: int = option(4, "Passes over the dialogues that find topics", least=1, trained=True)
    rate: float = option(0.01, "Learning rate", least=0, trained=True)
    clip: float = option(5.0, "Longest the gradient may be; 0: any", least=0, trained=True)
    batch: int = option(32, "Examples per step", least=2, trained=True)
    epochs: int = option(2, "At most so many passes over the data", least=0, trained=True)
    patience: int = option(2, "Epochs it may go on without improving", least=1, trained=True)
    held_out: float = option(0.05, "Share of dialogues watched", least=0, most=0.5, trained=True)
    examples: int = option(256, "Most replies it learns from; 0: all", least=0, trained=True)
    _network: Network | None = field(default=None, init=False, repr=False, compare=False)
    _about: About | None = field(default=None, init=False, repr=False, compare=False)

    def build(self, codec: WordCodec) -> ThredNetwork:
        """Return the untrained network."""
        sizes = Sizes(self.dimension, self.hidden, 1, self.dropout)
        lda = Lda(self.topics, self.topic_words, self.frequent, self.gamma, self.passes)
        return ThredNetwork(self.reading(codec), sizes, lda)

    def learn(
        self,
        network: ThredNetwork,
        learned: Sequence[Dialogue],
        watched: Sequence[Dialogue],
        seed: int,
    ) -> History:
        """Find topics first."""
        network.topics.fit(learned, seed)
        return super().learn(network, learned, watched, seed)


BOT = Thred
