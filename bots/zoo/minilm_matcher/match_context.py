"""Context network: MiniLM's upper layers learn to bring a whole context near its reply.

Two sentences compared apart never meet in the encoder; the persona and the last messages do here.
Learned by a softmax over the replies of a batch (Henderson et al. 2017, section 4.4), by cosines
times 20, the usual scale of sentence encoders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.dialogue import Example, Utterance
from bots.encoders.minilm import LAYERS, MiniLM, States, Tokens, precise, tokens

MESSAGES = 3
LONGEST = 128  # tokens of a context
SCALE = 20.0
AT_ONCE = 16
REMEMBERED = 16384  # texts a serving process keeps the vectors of: 25 MB


class ContextNetwork(nn.Module):
    """MiniLM, its upper layers learning, over whole contexts and over replies."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.encoder = MiniLM(layers)
        self.mixed = False  # whether it computes in mixed precision
        self._encoded: dict[str, Tensor] = {}

    def share(self, other: MiniLM) -> None:
        """Share the layers that are not trained, held in memory once."""
        for name in ("word", "position", "kind", "norm"):
            setattr(self.encoder, name, getattr(other, name))
        for index in range(LAYERS - self.encoder.trained):
            self.encoder.layers[index] = other.layers[index]

    def lower(self, texts: Sequence[Tokens]) -> States:
        """Run the layers that do not learn."""
        with precise(mixed=self.mixed):
            return self.encoder.lower(texts)

    def tuned(self) -> nn.ModuleList:
        """Return the layers that learn."""
        return self.encoder.layers[LAYERS - self.encoder.trained :]

    def loss(self, batch: Sequence[Example], lower: Callable[[Sequence[str]], States]) -> Tensor:
        """Softmax loss over the replies of the batch; `lower` gives the lower layers' output."""
        contexts = self._vectors([joined(each.persona, each.history) for each in batch], lower)
        scores = SCALE * contexts @ self._vectors([each.reply for each in batch], lower).T
        return functional.cross_entropy(scores, torch.arange(len(batch)))

    def _vectors(self, texts: Sequence[str], lower: Callable[[Sequence[str]], States]) -> Tensor:
        """Return vectors of length 1; texts of like length are encoded together."""
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        found = []
        for start in range(0, len(order), AT_ONCE):
            states = lower([texts[index] for index in order[start : start + AT_ONCE]])
            with precise(mixed=self.mixed):
                found.append(self.encoder.upper(states).mean().float())
        indices = torch.tensor(order).argsort()
        return functional.normalize(torch.cat(found)[indices], dim=-1)

    def scores(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> Tensor:
        """Return the score of each candidate."""
        context = joined(persona, history)
        self.add([*candidates, context])
        replies = torch.stack([self._encoded[text] for text in candidates])
        return SCALE * replies @ self._encoded[context]

    def add(self, texts: Sequence[str]) -> None:
        """Encode and keep texts that are new, in one pass; the oldest are forgotten."""
        new = [text for text in dict.fromkeys(texts) if text not in self._encoded]
        if len(self._encoded) + len(new) > REMEMBERED:
            self._encoded = {text: self._encoded[text] for text in texts if text in self._encoded}
        if new:
            self._encoded.update(zip(new, self._vectors(new, self._lower_of), strict=True))

    def _lower_of(self, texts: Sequence[str]) -> States:
        return self.lower([tokens(text, LONGEST) for text in texts])

    def move(self, device: torch.device) -> None:
        """Move to a device; what was encoded on another is forgotten."""
        self.to(device)
        self._encoded = {}


def joined(persona: Sequence[str], history: Sequence[Utterance]) -> str:
    """Return a context as one text."""
    return " ".join((*persona, *(turn.text for turn in history[-MESSAGES:])))
