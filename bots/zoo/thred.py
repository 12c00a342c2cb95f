"""Topical hierarchical encoder-decoder: attention over words, utterances and the topic.

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
from dataclasses import dataclass

import torch
from torch import Tensor

from bots.options import defaults, option
from bots.writers.hierarchy import Hierarchy
from bots.writers.input_tokens import EncodedInput, Reading
from bots.writers.recurrent import MemoryAttention, RecurrentSizes, State
from bots.writers.topical import TopicalNetwork, TopicalWriter
from bots.writers.topics import Lda

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

    def __init__(self, reading: Reading, sizes: RecurrentSizes, lda: Lda) -> None:
        super().__init__(reading, sizes, lda)
        vector, hidden = sizes.vector, sizes.hidden
        self.hierarchy = Hierarchy("gru", RecurrentSizes(vector, hidden, 1, sizes.dropout), ways=2)
        self.by_word = MemoryAttention("additive", 2 * hidden, 2 * hidden)
        self.by_utterance = MemoryAttention("additive", hidden, hidden)
        self.add_writer(sizes)

    def read(self, inputs: Sequence[EncodedInput]) -> State:
        """Read utterance by utterance, and find the topics."""
        joined = [
            EncodedInput((sum(each.persona, ()),) if each.persona else (), each.history)
            for each in inputs
        ]
        found = self.hierarchy(joined, self.table)
        ids, topical = self.topics.of(inputs)
        return {
            "h": found.context,
            "words": found.words,
            "is_word": found.is_word,
            "spoken": found.spoken,
            "ids": ids,
            "topic_vectors": self.table(ids),
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
        for index in range(state["spoken"].shape[1]):
            query = torch.cat((before, context), dim=1)[:, None]
            words, _ = self.by_word(query, state["words"][:, index], state["is_word"][:, index])
            after, _ = self.hierarchy.context.cells(words, context[None].contiguous())
            context = torch.where(state["spoken"][:, index, None], after[:, 0], context)
            found.append(context)
        return torch.stack(found, dim=1)


@dataclass
@defaults(messages=3, tokens=32, hidden=32, batch=32, examples=256, rank_by="gnmt")
class Thred(TopicalWriter):
    """Writes a reply word by word, from words, utterances and the topic."""

    alpha: float = option(1.0, "Length penalty of gnmt", least=0, after="rank_by")
    NETWORK = ThredNetwork


BOT = Thred
