"""Served matcher, with a context network beside it or without.

Texts it has seen lately are not encoded again. New ones are encoded together, those of like length
beside each other: what else is in a batch moves a score by less than .0001.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.bot import Turn
from bots.dialogue import Utterance
from bots.encoders.minilm import States, stack, tokens
from bots.learning.restoring import Shapes, restore
from bots.weights import Arrays
from bots.zoo.minilm_matcher.contexts import LONGEST, context_rows, matcher_texts, turns
from bots.zoo.minilm_matcher.match_context import ContextNetwork, joined
from bots.zoo.minilm_matcher.match_network import MatchNetwork
from bots.zoo.minilm_matcher.matching import MatcherTexts

AT_ONCE = 64
REMEMBERED = 8192  # texts a serving process keeps encoded


class Serving:
    """A matcher, and a context network whose score is added, times `share`."""

    def __init__(
        self, network: MatchNetwork, context: ContextNetwork | None = None, share: float = 0.0
    ) -> None:
        self.network = network.eval()
        self.context = None if context is None else context.eval()
        self.share = share
        self.device = torch.device("cpu")
        self._encoded: dict[str, States] = {}

    def to(self, device: torch.device) -> Serving:
        """Move everything to a device; what was encoded on another is forgotten."""
        self.network.to(device)
        if self.context is not None:
            self.context.move(device)
        self.device, self._encoded = device, {}
        return self

    def encode(self, turns: Sequence[Turn], candidates: Sequence[Sequence[str]]) -> None:
        """Encode what scoring these conversations' candidates will need, in one pass for all."""
        offered = [text for texts in candidates for text in texts]
        contexts = [text for turn in turns for text in context_rows(*turn)[0]]
        with torch.inference_mode():
            self._add([*contexts, *offered])
            if self.context is not None:
                self.context.add([*offered, *(joined(*turn) for turn in turns)])

    def scores(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> Tensor:
        """Return the score of each candidate."""
        texts, rows = context_rows(persona, history)
        with torch.inference_mode():
            shown = self._matcher_texts([*texts, *candidates])
            context, replies = shown.take(slice(0, len(texts))), shown.take(slice(len(texts), None))
            table = turns([rows], len(texts)).to(self.device)
            heads: Tensor = self.network.matcher(context, replies, table)
            found = heads.mean(dim=0)[0]
            if self.context is not None:
                found = found + self.share * self.context.scores(persona, history, candidates)
            return found

    def learned(self) -> dict[str, Tensor]:
        """Return what was learned, by name."""
        found = {f"matcher.{name}": v for name, v in self.network.matcher.state_dict().items()}
        if self.context is not None:
            layers = self.context.tuned().state_dict()
            found |= {f"context.{name}": value for name, value in layers.items()}
        return found

    def restore(self, arrays: Arrays, beside: Shapes) -> None:
        """Take over what was learned."""
        parts = nn.ModuleDict({"matcher": self.network.matcher})
        if self.context is not None:
            parts["context"] = self.context.tuned()
        restore(parts, arrays, beside)

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """Return the vectors of texts, of length 1."""
        found = []
        with torch.inference_mode():
            for start in range(0, len(texts), AT_ONCE):
                part = [tokens(text, LONGEST) for text in texts[start : start + AT_ONCE]]
                states = self.network.encoder(part)
                found.append(functional.normalize(states.mean(), dim=-1))
        return torch.cat(found).clone()

    def query_vectors(self, texts: Sequence[str]) -> Tensor:
        """Return the vectors of texts that are scored too, of length 1, from what is kept."""
        with torch.inference_mode():
            self._add(texts)
            means = [self._encoded[text].mean() for text in texts]
            return functional.normalize(torch.cat(means), dim=-1)

    def _matcher_texts(self, texts: Sequence[str]) -> MatcherTexts:
        self._add(texts)
        return matcher_texts(texts, stack([self._encoded[text] for text in texts]))

    def _add(self, texts: Sequence[str]) -> None:
        new = {text: tokens(text, LONGEST) for text in texts if text not in self._encoded}
        if len(self._encoded) + len(new) > REMEMBERED:
            self._encoded = {text: self._encoded[text] for text in texts if text in self._encoded}
        order = sorted(new, key=lambda text: len(new[text]))
        for start in range(0, len(order), AT_ONCE):
            chunk = order[start : start + AT_ONCE]
            states = self.network.encoder([new[text] for text in chunk])
            for index, text in enumerate(chunk):
                part = slice(index, index + 1), slice(0, len(new[text]))
                self._encoded[text] = States(
                    states.hidden[part].clone(), states.numbers[part].clone()
                )
