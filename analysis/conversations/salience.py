"""PTSal, persona term salience: how typical the word pairs of an utterance are of one persona.

PERSONA-METRICS (Miyazaki et al. 2021), after tf-idf: PTSal(t, p) = n(t, p)/m(p) ·
ln(|P|/s(t)), with n utterances of p that contain t, m utterances of p, s personas that use t. Terms
are bigrams; all lines are used, personas are not balanced. Apart because it is one published way to
score likeness, tried by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from analysis.text.tokens import Gram, Tokenizer, ngrams, split_lower

TERM = 2


@dataclass(frozen=True)
class Salience:
    """The table of terms by persona."""

    table: Mapping[str, Mapping[Gram, float]]
    tokens: Tokenizer = split_lower

    def score(self, utterance: str, persona: str) -> float:
        """Return the mean over the utterance's terms; an unseen term, or none at all, is 0."""
        terms = ngrams(self.tokens(utterance), TERM)
        known = self.table[persona]
        return sum(known.get(term, 0.0) for term in terms) / len(terms) if terms else 0.0


def salience(monologues: Mapping[str, Sequence[str]], tokens: Tokenizer = split_lower) -> Salience:
    """Return the table of a set of personas, each with its lines."""
    contain = {
        persona: Counter(term for line in lines for term in set(ngrams(tokens(line), TERM)))
        for persona, lines in monologues.items()
    }
    users = Counter(term for counts in contain.values() for term in counts)
    table = {
        persona: {
            term: times / len(monologues[persona]) * log(len(contain) / users[term])
            for term, times in counts.items()
        }
        for persona, counts in contain.items()
    }
    return Salience(table, tokens)
