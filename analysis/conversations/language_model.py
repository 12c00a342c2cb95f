"""N-gram language models of personas, and the perplexity of an utterance under one (uPPL).

PERSONA-METRICS (Miyazaki et al. 2021) adapts a general model to a persona's lines
and takes exp(mean cross-entropy) of an utterance. Theirs is BERT; ours, by default, interpolates
n-grams as Witten & Bell 1991 (IEEE Trans. Inf. Theory 37) do, a persona's counts on top of the
general model's probabilities, as those stand on a uniform distribution of words. Any function of
(persona, utterance) can take its place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log

from analysis.text.tokens import Tokenizer, split_lower

ORDER = 3
START, END, UNKNOWN = "<s>", "</s>", "<unk>"
Context = tuple[str, ...]


@dataclass
class NgramModel:
    """p(w | h) = (c(hw) + T(h) p(w | shorter h)) / (c(h) + T(h)), T words seen after h."""

    vocabulary: frozenset[str]
    order: int = ORDER
    below: NgramModel | None = None
    after: dict[Context, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    totals: Counter[Context] = field(default_factory=Counter)

    def learn(self, lines: Iterable[Sequence[str]]) -> NgramModel:
        """Count the n-grams of all orders; a word outside the vocabulary is unknown."""
        for line in lines:
            for word, history in self._steps(line):
                for start in range(len(history) + 1):
                    self.after[history[start:]][word] += 1
                    self.totals[history[start:]] += 1
        return self

    def probability(self, word: str, history: Context) -> float:
        """Return p(word | history); over the vocabulary, the end and the unknown it sums to 1."""
        if self.below is not None:
            found = self.below.probability(word, history)
        else:
            found = 1 / (len(self.vocabulary) + 2)
        # From the shortest history to the longest: each corrects what is known without it.
        for start in range(len(history), -1, -1):
            context = history[start:]
            if context in self.totals:
                followers = self.after[context]
                total, kinds = self.totals[context], len(followers)
                found = (followers[word] + kinds * found) / (total + kinds)
        return found

    def perplexity(self, lines: Iterable[Sequence[str]]) -> float:
        """Return exp of the mean negative log probability of all words and ends of lines."""
        logs = [log(self.probability(*step)) for line in lines for step in self._steps(line)]
        return exp(-sum(logs) / len(logs))

    def _steps(self, line: Sequence[str]) -> Iterable[tuple[str, Context]]:
        words = [word if word in self.vocabulary else UNKNOWN for word in line]
        past = (START,) * (self.order - 1)
        for word in (*words, END):
            yield word, past
            past = (*past, word)[1:] if past else ()


@dataclass(frozen=True)
class Voices:
    """A language model for each persona."""

    models: Mapping[str, NgramModel]
    tokens: Tokenizer

    def perplexity(self, persona: str, utterance: str) -> float:
        """Return uPPL of one utterance: the lower, the more like the persona."""
        return self.of_lines(persona, [utterance])

    def of_lines(self, persona: str, lines: Iterable[str]) -> float:
        """Return the perplexity of lines together."""
        return self.models[persona].perplexity([self.tokens(line) for line in lines])


def voices(
    monologues: Mapping[str, Sequence[str]],
    *,
    general: Iterable[str] = (),
    order: int = ORDER,
    tokens: Tokenizer = split_lower,
) -> Voices:
    """Return the models of all personas, adapted from one of `general` lines and all monologues."""
    lines = {
        persona: [tokens(line) for line in monologue] for persona, monologue in monologues.items()
    }
    everything = [
        *(tokens(line) for line in general),
        *(line for s in lines.values() for line in s),
    ]
    vocabulary = frozenset(word for line in everything for word in line)
    common = NgramModel(vocabulary, order).learn(everything)
    models = {
        persona: NgramModel(vocabulary, order, below=common).learn(monologue)
        for persona, monologue in lines.items()
    }
    return Voices(models, tokens)
