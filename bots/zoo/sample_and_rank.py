"""Sample-and-rank decoding around any bot that writes.

Source: Adiwardana et al. 2020 (MEENA), section 3.4: draw N candidates independently at temperature
T and say the one with the highest probability. The caption of table 2 divides log P by the number
of tokens, but its values cannot be that, so `rank_by` chooses; it is computed at temperature 1
[our default]. The presets are the paper's base and full model (section 5; full also has the
repetition rule and the safety layer: wrap this in `no_repeat` and that in `safety`).
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
    "base": {"number": 20, "temperature": 0.88, "top_k": 0},
    "full": {"number": 20, "temperature": 1.0, "top_k": 40},
}


@dataclass
class SampleAndRank(Wrapper):
    """Draws several replies and sends the likeliest."""

    number: int = option(20, "Candidates drawn", least=1, after="options")
    temperature: float = option(0.88, "Sampling temperature; below 1: likelier words", least=0)
    top_k: int = option(0, "Likeliest words to sample from; 0: all", least=0)
    rank_by: Literal["mean_logp", "sum_logp", "gnmt"] = option(
        "mean_logp", "Score that orders candidates"
    )
    alpha: float = option(1.0, "Length penalty of gnmt", least=0)
    max_tokens: int = option(24, "Maximum tokens of a candidate", least=1)
    seed: int = option(0, "Seed of the draws", after="max_words")

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return the candidates drawn for each turn, likeliest first."""
        return self.inner.propose(turns, decoding or self._decoding())

    def _decoding(self) -> Decoding:
        return Decoding(
            method="sample",
            number=self.number,
            temperature=self.temperature,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
            rank_by=self.rank_by,
            alpha=self.alpha,
            seed=self.seed,
        )


BOT = SampleAndRank
