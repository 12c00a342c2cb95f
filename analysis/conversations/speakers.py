"""Speaker classifier: the probability of each persona for an utterance (PSProb), and its accuracy.

PERSONA-METRICS (Miyazaki et al. 2021): multinomial logistic
regression on tf-idf of single words, trained on an equal number of lines of each persona (all cut
down to the smallest), 90 % of them; precision and recall on the other 10 % are held against the
chance rate, a persona's share of these, by a two-sided binomial test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.detection import Proportion
from analysis.stats.intervals import Floats, wilson_interval
from analysis.stats.significance import binomial
from analysis.tables.options import BadOption
from analysis.text.tokens import Tokenizer, split_lower

SIMULATED_AS = ("simple tests",)

TRAINED = 0.9
LEAST = 10
UNDEFINED = float("nan")


@dataclass(frozen=True)
class SpeakerLine:
    """Classification of one persona's held-out lines: precision, recall, chance rate, their p."""

    persona: str
    train: int
    evaluated: int
    precision: float
    recall: float
    chance: float
    precision_p: float
    recall_p: float


@dataclass(frozen=True, eq=False)
class Speakers:
    """A trained classifier, with the lines that were held out of its training."""

    personas: tuple[str, ...]
    held_out: tuple[tuple[str, str], ...]
    trained: Mapping[str, int]
    model: Any

    def probabilities(self, utterances: Sequence[str]) -> Floats:
        """Return p(persona | utterance), a row per utterance, a column per persona."""
        return np.asarray(self.model.predict_proba(list(utterances)), dtype=float)

    def probability(self, utterance: str, persona: str) -> float:
        """Return PSProb of one utterance."""
        return float(self.probabilities([utterance])[0, self.personas.index(persona)])

    def report(self) -> list[SpeakerLine]:
        """Return precision and recall on the held-out lines, persona by persona."""
        true = [persona for persona, _ in self.held_out]
        guesses = self._guesses([text for _, text in self.held_out])
        return [self._line(persona, true, guesses) for persona in self.personas]

    def accuracy(self, sets: Sequence[tuple[str, Sequence[str]]]) -> Proportion:
        """Return how often a set of utterances is given to the persona whose they are.

        The set's persona is the one with the highest sum of log probabilities: personality
        classification accuracy, which is defined for sets and not for single utterances.
        """
        right = 0
        for persona, utterances in sets:
            total = np.log(self.probabilities(utterances)).sum(axis=0)
            right += self.personas[int(total.argmax())] == persona
        return _share(right, len(sets))

    def persona_accuracy(
        self, persona: str, judged: Sequence[tuple[str, bool]], *, above: float | None = None
    ) -> Proportion:
        """Return how often "is the persona expressed" is answered as people answer it.

        It is taken to be where PSProb is above a bound, by default what chance would give.
        """
        bound = 1 / len(self.personas) if above is None else above
        index = self.personas.index(persona)
        found = self.probabilities([text for text, _ in judged])[:, index] > bound
        right = sum(bool(a) == b for a, (_, b) in zip(found, judged, strict=True))
        return _share(right, len(judged))

    def _guesses(self, texts: Sequence[str]) -> list[str]:
        return [self.personas[k] for k in self.probabilities(texts).argmax(axis=1)]

    def _line(self, persona: str, true: Sequence[str], guesses: Sequence[str]) -> SpeakerLine:
        both = sum(a == b == persona for a, b in zip(true, guesses, strict=True))
        chance = true.count(persona) / len(true)
        precision, precision_p = _against(both, guesses.count(persona), chance)
        recall, recall_p = _against(both, true.count(persona), chance)
        return SpeakerLine(
            persona=persona,
            train=self.trained[persona],
            evaluated=true.count(persona),
            precision=precision,
            recall=recall,
            chance=chance,
            precision_p=precision_p,
            recall_p=recall_p,
        )


def speakers(
    monologues: Mapping[str, Sequence[str]], *, tokens: Tokenizer = split_lower, seed: int = 0
) -> Speakers:
    """Return the classifier of these personas; lines are drawn and split by the seed."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # heavy: only where it is asked
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    balanced = _balanced(monologues, seed)
    cut = round(TRAINED * len(balanced))
    train, held_out = balanced[:cut], balanced[cut:]
    personas = sorted(monologues)
    model = make_pipeline(
        TfidfVectorizer(tokenizer=tokens, token_pattern=None, lowercase=False),
        LogisticRegression(max_iter=1000),
    )
    model.fit([text for _, text in train], [personas.index(persona) for persona, _ in train])
    counts = {name: sum(persona == name for persona, _ in train) for name in personas}
    return Speakers(tuple(personas), tuple(held_out), counts, model)


def _balanced(monologues: Mapping[str, Sequence[str]], seed: int) -> list[tuple[str, str]]:
    """Return as many lines of each persona as the smallest has, shuffled together."""
    least = min(map(len, monologues.values()), default=0)
    if len(monologues) < 2 or least < LEAST:
        right = f"two personas or more, each with {LEAST} lines or more"
        raise BadOption("monologues", f"{len(monologues)} personas, {least} lines at least", right)
    rng = np.random.default_rng(seed)
    lines = [
        (persona, text)
        for persona in sorted(monologues)
        for text in rng.choice(sorted(monologues[persona]), size=least, replace=False)
    ]
    return [
        (persona, str(text)) for persona, text in (lines[k] for k in rng.permutation(len(lines)))
    ]


def _against(hits: int, n: int, chance: float) -> tuple[float, float]:
    """Return a share and the p of its test against chance."""
    return (hits / n, binomial(hits, n, chance).p) if n else (UNDEFINED, UNDEFINED)


def _share(right: int, n: int) -> Proportion:
    return Proportion(right / n if n else UNDEFINED, wilson_interval(right, n), n)
