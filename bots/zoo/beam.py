"""Beam search, or greedy or nucleus decoding, around any bot that writes.

Source: the decodings that MEENA (Adiwardana et al. 2020, section 3.4) and ConvAI2 (Dinan et al.
2019, section 4) compare; nucleus: Holtzman et al. 2020, section 3.1; the length penalty "gnmt": Wu
et al. 2016, eq. 14. Widths and penalties that the sources leave open are options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bots.bot import Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.generation.wrapping import Wrapper
from bots.options import option

PRESETS = {
    "greedy": {"method": "greedy"},
    "nucleus": {"method": "nucleus", "top_p": 0.9, "temperature": 0.7, "number": 1},
}


@dataclass
class Beam(Wrapper):
    """Searches for likely replies, or draws from the nucleus."""

    method: Literal["beam", "greedy", "nucleus"] = option("beam", "Search method", after="options")
    number: int = option(10, "Beam width, or number of samples", least=1)
    top_p: float = option(0.9, "Probability mass of the nucleus", least=0, most=1)
    temperature: float = option(1.0, "Temperature of the nucleus; below 1: likelier words", least=0)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "mean_logp", "Score that orders candidates"
    )
    alpha: float = option(0.6, "Length penalty of gnmt", least=0)
    max_tokens: int = option(24, "Maximum tokens of a candidate", least=1)
    seed: int = option(0, "Seed of the draws", after="max_words")

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return the candidates of each turn, best first."""
        return self.inner.propose(turns, decoding or self._decoding())

    def _decoding(self) -> Decoding:
        drawn = self.method == "nucleus"
        return Decoding(
            method="sample" if self.method == "nucleus" else self.method,
            number=1 if self.method == "greedy" else self.number,
            temperature=self.temperature if drawn else 1.0,
            top_p=self.top_p if drawn else 1.0,
            max_tokens=self.max_tokens,
            rank_by=self.rank_by,
            alpha=self.alpha,
            seed=self.seed,
        )


BOT = Beam
