"""Matchers that answer: their scores averaged, texts they have seen lately not encoded again."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from bots.dialogue import Utterance
from bots.layers.contexts import LONGEST, asked, told, turns
from bots.layers.match_network import MatchNetwork
from bots.layers.matching import Told
from bots.layers.minilm import States, stack, tokens

AT_ONCE = 64
REMEMBERED = 4096  # texts a serving process keeps encoded


class Serving:
    """Networks that answer together; the last one's vectors stand for texts."""

    def __init__(self, networks: Sequence[MatchNetwork]) -> None:
        self.networks = [network.eval() for network in networks]
        self._each = [_One(network) for network in self.networks]

    def scores(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> Tensor:
        """Return the score of each candidate."""
        with torch.inference_mode():
            found = [each.scores(persona, history, candidates) for each in self._each]
            return torch.stack(found).mean(dim=0)

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """Return the vectors of texts, of length 1."""
        found = []
        with torch.inference_mode():
            for start in range(0, len(texts), AT_ONCE):
                part = [tokens(text, LONGEST) for text in texts[start : start + AT_ONCE]]
                states = self.networks[-1].encoder(part)
                found.append(functional.normalize(states.mean(), dim=-1))
        return torch.cat(found).clone()


class _One:
    """A network with the texts it has seen."""

    def __init__(self, network: MatchNetwork) -> None:
        self._network = network
        self._seen: dict[str, States] = {}

    def scores(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> Tensor:
        """Return the mean score of the heads for each candidate."""
        texts, rows = asked(persona, history)
        shown = self._told([*texts, *candidates])
        context, replies = shown.take(slice(0, len(texts))), shown.take(slice(len(texts), None))
        heads: Tensor = self._network.matcher(context, replies, turns([rows], len(texts)))
        return heads.mean(dim=0)[0]

    def _told(self, texts: Sequence[str]) -> Told:
        new = [text for text in dict.fromkeys(texts) if text not in self._seen]
        if len(self._seen) + len(new) > REMEMBERED:
            self._seen = {text: self._seen[text] for text in texts if text in self._seen}
        for text in new:  # alone, so that what it is encoded with cannot change its score
            self._seen[text] = self._network.encoder([tokens(text, LONGEST)])
        return told(texts, stack([self._seen[text] for text in texts]))
