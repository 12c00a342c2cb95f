"""Served matcher, with a context network beside it or without.

Texts it has seen lately are not encoded again. New ones are encoded together, those of like length
beside each other: what else is in a batch moves a score by less than .0001. In half precision
vectors point elsewhere by less than .02 radians; what weighs them stays in single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from bots.bot import Turn
from bots.dialogue import Utterance
from bots.encoders.minilm import halved, tokens
from bots.learning.restoring import Shapes, restore
from bots.weights import Arrays
from bots.zoo.minilm_matcher.contexts import LONGEST, context_rows, matcher_texts, turns
from bots.zoo.minilm_matcher.match_context import ContextNetwork, joined
from bots.zoo.minilm_matcher.match_network import MatchNetwork
from bots.zoo.minilm_matcher.matching import MatcherTexts

AT_ONCE = 32
REMEMBERED = 12_288  # texts a serving process keeps encoded: the preset's replies, and contexts


class Serving:
    """A matcher, and a context network whose score is added, times `share`."""

    def __init__(
        self, network: MatchNetwork, context: ContextNetwork | None = None, share: float = 0.0
    ) -> None:
        self.network = network.eval()
        self.context = None if context is None else context.eval()
        self.share = share
        self.device = torch.device("cpu")
        self._encoded: dict[str, MatcherTexts] = {}
        self._learned: dict[str, Tensor] = {}

    def to(self, device: torch.device, *, half: bool = False) -> Serving:
        """Move everything to a device; what was encoded on another is forgotten.

        With `half`, MiniLM computes in half precision from here on.
        """
        if half:
            self._learned = self.learned()
            self._halve()
        self.network.to(device)
        if self.context is not None:
            self.context.move(device)
        self.device, self._encoded = device, {}
        return self

    def _halve(self) -> None:
        holders = [each for each in (self.network, self.context) if each is not None]
        for holder, half in zip(holders, halved([each.encoder for each in holders]), strict=True):
            holder.encoder = half

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
        """Return what was learned, by name, as precise as it was learned."""
        if self._learned:
            return self._learned
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
            return torch.cat([self._encoded[text].vectors for text in texts])

    def _matcher_texts(self, texts: Sequence[str]) -> MatcherTexts:
        self._add(texts)
        known = [self._encoded[text] for text in texts]
        return MatcherTexts(
            pad_sequence([each.numbers[0] for each in known], batch_first=True),
            pad_sequence([each.units[0] for each in known], batch_first=True).float(),
            torch.cat([each.vectors for each in known]),
            torch.cat([each.style for each in known]),
            torch.cat([each.crowded for each in known if each.crowded is not None]),
        )

    def _add(self, texts: Sequence[str]) -> None:
        new = {text: tokens(text, LONGEST) for text in texts if text not in self._encoded}
        if len(self._encoded) + len(new) > REMEMBERED:
            self._encoded = {text: self._encoded[text] for text in texts if text in self._encoded}
        order = sorted(new, key=lambda text: len(new[text]))
        kept = self.network.encoder.word.weight.dtype
        for start in range(0, len(order), AT_ONCE):
            chunk = order[start : start + AT_ONCE]
            shown = matcher_texts(chunk, self.network.encoder([new[text] for text in chunk]))
            shown = replace(shown, crowded=self.network.matcher.crowded(shown.vectors))
            for index, text in enumerate(chunk):
                one, length = shown.take(slice(index, index + 1)), len(new[text])
                self._encoded[text] = MatcherTexts(
                    one.numbers[:, :length].clone(),
                    one.units[:, :length].to(kept, copy=True),
                    one.vectors,
                    one.style,
                    one.crowded,
                )
