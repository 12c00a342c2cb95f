"""Candidates that a generator proposes for a turn, and how it searches for them; needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["greedy", "beam", "sample"]
RankBy = Literal["mean_logp", "sum_logp", "gnmt"]


@dataclass(frozen=True)
class Decoding:
    """Search settings for replies.

    `number` candidates come back for each turn, best first. Sampling divides the logits by
    `temperature`, keeps the `top_k` likeliest tokens (0: all) and of those the fewest that hold
    `top_p` of the probability. `alpha` is the length penalty of "gnmt" (Wu et al. 2016, eq. 14).
    Each sample of each turn draws from a generator of its own, seeded by `seed` and the turn.
    """

    method: Method = "greedy"
    number: int = 1
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    max_tokens: int = 24
    rank_by: RankBy = "mean_logp"
    alpha: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class ReplyCandidate:
    """A reply that a model wrote; `log_probs` are natural, one for each token, at temperature 1.

    The end mark counts as a token where the model wrote one, so `log_probs` may be one longer.
    """

    text: str
    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]

    def score(self, rank_by: RankBy, alpha: float = 1.0) -> float:
        """Return the score that candidates are ranked by; higher is better."""
        total, length = sum(self.log_probs), len(self.log_probs)
        if rank_by == "sum_logp" or not length:
            return total
        return total / (length if rank_by == "mean_logp" else ((5 + length) / 6) ** alpha)


def best_first(candidates: list[ReplyCandidate], decoding: Decoding) -> list[ReplyCandidate]:
    """Return the candidates, best first; equal ones keep their order."""
    return sorted(
        candidates, key=lambda each: each.score(decoding.rank_by, decoding.alpha), reverse=True
    )
