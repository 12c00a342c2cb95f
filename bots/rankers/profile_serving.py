"""Served profile memory network with the replies it may give, from disk and to disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from bots import weights
from bots.bot import Turn
from bots.encoders.bags import BagEncoder, Vocabulary
from bots.learning import training
from bots.rankers.profile import ProfileNetwork, ReplyIndex, to_arrays

MODEL = "profile_memory"


@dataclass(frozen=True)
class Served:
    """A network with its cached replies; `messages` is the number of messages in the query."""

    network: ProfileNetwork
    index: ReplyIndex
    messages: int

    def queries(self, turns: Sequence[Turn]) -> Tensor:
        """Return q+ for each conversation, in one pass."""
        query = [self.network.ask(persona, history, self.messages) for persona, history in turns]
        with torch.inference_mode():
            return self.network.queries(query)

    def embed(self, texts: Sequence[str]) -> Tensor:
        """Return the unit vectors of texts."""
        with torch.inference_mode():
            return self.network.embed(texts)


def open_weights(path: Path, device: str, models: Sequence[str] = (MODEL,)) -> Served:
    """Read what `save_weights` wrote for one of these models, onto a device."""
    arrays, about = weights.load(path, *models)
    where = training.device(device)
    network = make_network(about.vocabulary, about.options).to(where)
    size = network.encoder.table.weight.shape
    pairs = (len(about.replies), size[1])
    arrays.fit({"embeddings": size, "replies": pairs, "messages": pairs})
    found = {name: torch.from_numpy(array).to(where) for name, array in arrays.items()}
    with torch.no_grad():
        network.encoder.table.weight.copy_(found["embeddings"])
    network.eval()
    index = ReplyIndex(about.replies, found["replies"], found["messages"])
    return Served(network, index, int(about.options["history"]))


def save_weights(path: Path, served: Served, about: weights.About) -> None:
    """Write the network and the cached vectors."""
    weights.save(path, to_arrays(served.network, served.index), about)


def make_network(listed: Sequence[str], options: Mapping[str, object]) -> ProfileNetwork:
    """Build an untrained network as the options say."""
    vocabulary = Vocabulary(listed, int(str(options["hashed"])))
    norm = float(str(options["max_norm"])) or None
    size = int(str(options["dimension"]))
    encoder = BagEncoder(vocabulary.size, size, str(options["pooling"]), norm)
    among = bool(options.get("query_is_memory"))  # which starspace does not have
    return ProfileNetwork(vocabulary, encoder, query_is_memory=among)


def cosines(queries: Tensor, candidates: Tensor) -> Iterator[float]:
    """Yield the cosine of the one query with each candidate."""
    yield from (candidates @ queries[0]).tolist()
