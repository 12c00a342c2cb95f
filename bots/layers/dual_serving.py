"""A trained dual encoder with the replies it may give, from disk and to disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bots import training, weights
from bots.bot import Turn
from bots.layers import topk
from bots.layers.bags import Vocabulary
from bots.layers.dual import DualEncoder
from bots.layers.restoring import shapes
from bots.layers.text_encoder import Shape, TextEncoder, WordTable, encode_all

MATRIX = "replies"  # the array that holds the encoded replies
NETWORK = "network."


@dataclass(frozen=True)
class DualServed:
    """What a process holds to answer with: `matrix` has a row for each reply."""

    network: DualEncoder
    replies: tuple[str, ...]
    matrix: Tensor
    context_words: int
    reply_words: int

    @classmethod
    def build(
        cls, network: DualEncoder, replies: Sequence[str], options: Mapping[str, Any]
    ) -> DualServed:
        """Encode the replies."""
        network.eval()
        sizes = int(options["context_words"]), int(options["reply_words"])
        empty = torch.zeros(0, 0)
        return cls(network, (), empty, *sizes).offering(replies)

    def offering(self, replies: Sequence[str]) -> DualServed:
        """Return the same with other replies to choose from, encoded now."""
        return replace(self, replies=tuple(replies), matrix=self.embed(replies))

    def queries(self, turns: Sequence[Turn]) -> Tensor:
        """Encode conversations."""
        most, table = self.context_words, self.network.table
        texts = [table.dialogue(persona, history, most) for persona, history in turns]
        return encode_all(self.network.queries, texts)

    def embed(self, replies: Sequence[str]) -> Tensor:
        """Encode replies."""
        table, most = self.network.table, self.reply_words
        return encode_all(self.network.embed, [table.text(reply, most) for reply in replies])

    def best(self, turns: Sequence[Turn], most: int) -> list[list[tuple[str, float]]]:
        """Return for each conversation the best replies, exactly: one product with all."""
        values, places = topk.best(self.matrix, self.queries(turns), most)
        return [
            [(self.replies[place], score) for place, score in zip(*row, strict=True)]
            for row in zip(places.tolist(), values.tolist(), strict=True)
        ]

    def scores(self, turn: Turn, candidates: Sequence[str]) -> list[float]:
        """Score the candidates of one conversation."""
        found: list[float] = (self.embed(candidates) @ self.queries([turn])[0]).tolist()
        return found


def make_dual(listed: Sequence[str], options: Mapping[str, Any]) -> DualEncoder:
    """Build an untrained network as the options say; of heads, none pools the last states."""
    vocabulary = Vocabulary(listed, int(options["hashed"]))
    table = WordTable(vocabulary, int(options["dimension"]))
    shape = Shape(
        options["cell"],
        int(options["layers"]),
        int(options["hidden"]),
        int(options.get("heads", 0)),
        int(options.get("attention", 1)),
        float(options["dropout"]),
    )
    contexts, replies = TextEncoder(table, shape), TextEncoder(table, shape)
    replies.load_state_dict(contexts.state_dict())  # they start alike, and part while they learn
    return DualEncoder(table, contexts, replies, bilinear=not options.get("heads", 0))


def save_dual(path: Path, served: DualServed, about: weights.About) -> None:
    """Write the network, each array once, and the encoded replies."""
    named = dict(served.network.named_parameters())
    arrays = {NETWORK + name: each.detach().cpu().numpy() for name, each in named.items()}
    weights.save(path, {**arrays, MATRIX: served.matrix.cpu().numpy()}, about)


def open_dual(path: Path, bot: str, device: str) -> tuple[DualServed, weights.About]:
    """Read what `save_dual` wrote for this bot, onto a device."""
    arrays, about = weights.load(path, bot)
    where = training.device(device)
    network = make_dual(about.vocabulary, about.options).to(where)
    _fill(network, arrays, len(about.replies))
    network.eval()
    sizes = int(about.options["context_words"]), int(about.options["reply_words"])
    matrix = torch.from_numpy(arrays[MATRIX]).to(where)
    return DualServed(network, about.replies, matrix, *sizes), about


def _fill(network: DualEncoder, arrays: weights.Arrays, replies: int) -> None:
    named = dict(network.named_parameters())
    arrays.fit({**shapes(named, NETWORK), MATRIX: (replies, network.contexts.reader.width)})
    with torch.no_grad():
        for name, parameter in named.items():
            parameter.copy_(torch.from_numpy(arrays[NETWORK + name]))
