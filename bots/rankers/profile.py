"""Ranking Profile Memory network, shared by the bots that serve its weights.

Source: Zhang et al. 2018 ("Personalizing Dialogue Agents"), section 4.2: q+ = q + sum_i s_i p_i,
s = softmax(sim(q, p_i)), sim the cosine; candidates are ranked by sim(q+, c). Without a persona it
is StarSpace (Wu et al. 2017). In the authors' released code q is one of the memories, and the new
query is the weighted sum (`query_is_memory`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.dialogue import Utterance
from bots.encoders.bags import Bag, BagEncoder, Vocabulary

OPENING = "hello"  # stands for a history when there is none


@dataclass(frozen=True)
class ProfileQuery:
    """The query of a profile bot: the last messages, and the persona's sentences."""

    query: Bag
    persona: tuple[Bag, ...]


class ProfileNetwork(nn.Module):
    """Bags of words in, unit vectors out; the cosine of two is their product."""

    def __init__(
        self, vocabulary: Vocabulary, encoder: BagEncoder, *, query_is_memory: bool
    ) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.encoder = encoder
        self.query_is_memory = query_is_memory

    def ask(
        self, persona: Sequence[str], history: Sequence[Utterance], messages: int
    ) -> ProfileQuery:
        """Turn the end of a history, and a persona, into numbers."""
        text = " ".join(turn.text for turn in history[-messages:]) or OPENING
        return ProfileQuery(self.vocabulary.bag(text), tuple(map(self.vocabulary.bag, persona)))

    def embed(self, texts: Sequence[str]) -> Tensor:
        """Return the unit vectors of texts."""
        return self.embed_bags([self.vocabulary.bag(text) for text in texts])

    def embed_bags(self, bags: Sequence[Bag]) -> Tensor:
        """Return the unit vectors of bags."""
        return functional.normalize(self.encoder(bags), dim=-1)

    def queries(self, query: Sequence[ProfileQuery]) -> Tensor:
        """Return the unit vectors of q+, in one pass."""
        return functional.normalize(self._queries(query), dim=-1)

    def _queries(self, sought: Sequence[ProfileQuery]) -> Tensor:
        query: Tensor = self.encoder([each.query for each in sought])
        most = max((len(each.persona) for each in sought), default=0)
        if most == 0:
            return query
        padded = [bag for each in sought for bag in (*each.persona, *[()] * most)[:most]]
        memories = self.encoder(padded).view(len(sought), most, -1)
        present = torch.tensor([bool(bag) for bag in padded], device=query.device)
        return self.attend(query, memories, present.view(len(sought), most))

    def attend(self, query: Tensor, memories: Tensor, present: Tensor) -> Tensor:
        """Return q+ from q and the memories that are present."""
        if self.query_is_memory:
            memories = torch.cat((query.unsqueeze(1), memories), dim=1)
            present = functional.pad(present, (1, 0), value=True)
        sims = functional.cosine_similarity(query.unsqueeze(1), memories, dim=-1)
        weights = torch.softmax(sims.masked_fill(~present, -1e4), dim=1) * present
        added = (weights.unsqueeze(-1) * memories).sum(dim=1)
        return added if self.query_is_memory else query + added


class ReplyIndex:
    """Replies to serve, each with the message it followed, as two matrices."""

    def __init__(self, replies: Sequence[str], vectors: Tensor, keys: Tensor) -> None:
        self.replies = tuple(replies)
        self.vectors = vectors
        self.keys = keys

    @classmethod
    def build(cls, network: ProfileNetwork, pairs: Sequence[tuple[str, str]]) -> ReplyIndex:
        """Embed pairs of message and reply."""
        messages, replies = zip(*pairs, strict=True) if pairs else ((), ())
        with torch.inference_mode():
            return cls(replies, network.embed(replies), network.embed(messages))

    def best(self, queries: Tensor, most: int) -> list[list[tuple[str, float]]]:
        """Return for each query the replies nearest to it, best first: one product for all."""
        scores, indices = (queries @ self.vectors.T).topk(min(most, len(self.replies)), dim=1)
        return [
            [(self.replies[index], score) for index, score in zip(*row, strict=True)]
            for row in zip(indices.tolist(), scores.tolist(), strict=True)
        ]


def to_arrays(network: ProfileNetwork, index: ReplyIndex) -> dict[str, np.ndarray]:
    """Return the learned and cached arrays, to be saved."""
    tensors = {
        "embeddings": network.encoder.table.weight.detach(),
        "replies": index.vectors,
        "messages": index.keys,
    }
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}
