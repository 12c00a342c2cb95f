"""MaxBLEU: similarity of an utterance to the nearest line of a persona.

PERSONA-METRICS (Miyazaki et al. 2021): the highest sentence BLEU-3 with any line of
the monologue, as the multi-bleu script has it: 0 to 100, without smoothing. Apart because it is one
published way to score likeness, tried by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.text.bleu import sentence_bleu
from analysis.text.tokens import Gram, Tokenizer, ngrams, split_lower

ORDER = 3


@dataclass(frozen=True)
class Lines:
    """A persona's lines, found by their n-grams: a line without a common one has BLEU 0."""

    lines: tuple[tuple[str, ...], ...]
    having: Mapping[Gram, set[int]]
    tokens: Tokenizer
    order: int = ORDER

    def closest(self, utterance: str) -> float:
        """Return the highest BLEU with any line."""
        utterance_tokens = self.tokens(utterance)
        near = {
            k for gram in ngrams(utterance_tokens, self.order) for k in self.having.get(gram, ())
        }
        return max(
            (sentence_bleu(utterance_tokens, [self.lines[k]], self.order) for k in near),
            default=0.0,
        )


def lines(monologue: Sequence[str], tokens: Tokenizer = split_lower, order: int = ORDER) -> Lines:
    """Return a persona's lines, ready to be searched."""
    distinct = tuple(dict.fromkeys(tuple(tokens(line)) for line in monologue))
    having: dict[Gram, set[int]] = defaultdict(set)
    for index, line in enumerate(distinct):
        for gram in ngrams(line, order):
            having[gram].add(index)
    return Lines(distinct, dict(having), tokens, order)
