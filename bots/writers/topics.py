"""Topics of dialogues, their words, and a writer's preference for those words.

Source: Xing et al. 2017 (TA-Seq2Seq) and Dziri et al. 2018 (THRED): latent Dirichlet allocation
(Blei et al. 2003) over dialogues without stop words and the most frequent words; the best words of
a history's most probable topic are attended to, and p(w) = p_V(w) + p_K(w) with one normalizer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_matrix
from sklearn.decomposition import LatentDirichletAllocation
from torch import Tensor, nn

from bots.dialogue import Dialogue, TooLittleData
from bots.text.tokens import STOP, words
from bots.text.vocabulary import MARKS, Codec
from bots.writers.input_tokens import EncodedInput
from bots.writers.recurrent import MemoryAttention

ROUNDS = 50  # of inference; each is the same for every row, so a batch gives what one gets alone


@dataclass(frozen=True)
class Lda:
    """Settings of the topic model; alpha is 1 / `topics`."""

    topics: int
    best: int  # words of a topic that are attended to
    frequent: int  # most frequent words, which belong to no topic
    gamma: float
    passes: int


class Topics(nn.Module):
    """Topics kept with the weights: the weight of each word for each topic."""

    beta: Tensor  # [topics, size]: exp E[log p(word | topic)]; 0 for words that tell nothing
    best: Tensor  # [topics, best]: the words of each topic

    def __init__(self, codec: Codec, lda: Lda) -> None:
        super().__init__()
        self.codec = codec
        self.lda = lda
        self.register_buffer("beta", torch.zeros(lda.topics, codec.size))
        self.register_buffer("best", torch.zeros(lda.topics, lda.best, dtype=torch.int64))

    def fit(self, dialogues: Sequence[Dialogue], seed: int) -> None:
        """Find the topics of dialogues. Raises `TooLittleData` if too few words are left."""
        texts = [" ".join(turn.text for turn in each.turns) for each in dialogues]
        counted = [Counter(self.codec.encode(text)) for text in texts]
        topic_words = self._telling(counted)
        if len(topic_words) < self.lda.best:
            raise TooLittleData(
                f"{len(topic_words)} words are left to tell topics, but topic_words is "
                f"{self.lda.best}: give more data, or lower topic_words or frequent"
            )
        found = LatentDirichletAllocation(
            self.lda.topics,
            doc_topic_prior=1 / self.lda.topics,
            topic_word_prior=self.lda.gamma,
            learning_method="batch",
            max_iter=self.lda.passes,
            random_state=seed,
        ).fit(counts(counted, topic_words))
        columns = torch.tensor(topic_words)
        components = torch.from_numpy(found.components_)
        beta = torch.exp(components.digamma() - components.sum(1, keepdim=True).digamma())
        self.beta[:, columns] = beta.float()
        order = components.argsort(dim=1, descending=True, stable=True)[:, : self.lda.best]
        self.best.copy_(columns[order])

    def _telling(self, counted: Sequence[Counter[int]]) -> list[int]:
        """Return the words that are neither stop words nor among the most frequent."""
        total: Counter[int] = sum(counted, Counter())
        spelled = self.codec.tokens(range(self.codec.size))
        often = [token for token, _ in total.most_common(self.lda.frequent)]
        silent = {*range(len(MARKS)), *often}
        return [
            token
            for token in sorted(total.keys() - silent)
            if spelled[token] not in STOP and words(spelled[token])
        ]

    def shares(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Return each row's shares of the topics [rows, topics], by variational inference.

        Blei et al. 2003, section 5.2; a row without words of a topic is 0 throughout.
        """
        tells = self.beta.sum(0) > 0
        size = self.codec.size
        known = [torch.tensor([token for token in row if token < size]).long() for row in rows]
        counted = torch.stack([each.bincount(minlength=size) for each in known])
        telling = counted.to(self.beta.device) * tells
        prior = 1 / self.lda.topics
        gamma = torch.ones(len(rows), self.lda.topics, device=telling.device)
        for _ in range(ROUNDS):
            theta = torch.exp(gamma.digamma() - gamma.sum(1, keepdim=True).digamma())
            gamma = prior + theta * ((telling / (theta @ self.beta).clamp(min=1e-30)) @ self.beta.T)
        return gamma / gamma.sum(1, keepdim=True) * (telling.sum(1, keepdim=True) > 0)

    def of(self, inputs: Sequence[EncodedInput]) -> tuple[Tensor, Tensor]:
        """Return the words of each history's topic [rows, best], and whether it has one [rows]."""
        rows = [[token for part in each.history for token in part] for each in inputs]
        shares = self.shares(rows)
        return self.best[shares.argmax(1)], shares.any(1)


def counts(counted: Sequence[Counter[int]], topic_words: Sequence[int]) -> csr_matrix:
    """Return the counts of topic words in each text."""
    indices = {token: index for index, token in enumerate(topic_words)}
    cells = [
        (row, indices[token], number)
        for row, each in enumerate(counted)
        for token, number in each.items()
        if token in indices
    ]
    rows, columns, numbers = np.array(cells, dtype=np.int64).reshape(-1, 3).T
    return csr_matrix((numbers, (rows, columns)), shape=(len(counted), len(topic_words)))


class TopicWriter(nn.Module):
    """Attention to topic words, and their own share in the next word."""

    def __init__(self, hidden: int, context: int, vector: int) -> None:
        super().__init__()
        self.attention = MemoryAttention("additive", hidden + context, vector)
        self.edge = nn.Linear(hidden + context + vector, vector)

    def attend(self, state: Tensor, context: Tensor, vectors: Tensor, topical: Tensor) -> Tensor:
        """Return the attended topic words [rows, vector] of those [rows, best, vector].

        What was read (`context`) weighs beside the decoder's state, so that a word that does not
        fit the history is left aside.
        """
        query = torch.cat((state, context), dim=1)[:, None]
        present = topical[:, None].expand(vectors.shape[:2])
        found: Tensor = self.attention(query, vectors, present)[0]
        return found[:, 0]

    def logits(self, state: Tensor, context: Tensor, topic: Tensor, vectors: Tensor) -> Tensor:
        """Return the logits of the topic's words [rows, best]."""
        wanted: Tensor = self.edge(torch.cat((state, context, topic), dim=1))
        return (vectors @ wanted[:, :, None])[:, :, 0]


def jointly(of_all: Tensor, of_topic: Tensor, ids: Tensor, topical: Tensor) -> Tensor:
    """Return log(p_V + p_K) [rows, size]; both share one normalizer, and p_K is of `ids` only."""
    edge = of_topic.masked_fill(~topical[:, None], -torch.inf)
    total = torch.cat((of_all, edge), dim=1).logsumexp(1, keepdim=True)
    raised = torch.logaddexp(of_all.gather(1, ids), edge)
    return of_all.scatter(1, ids, raised) - total
