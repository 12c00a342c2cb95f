"""REI, the response echo index: how far replies repeat what was in the training data.

THRED (Dziri et al. 2019): the highest Jaccard similarity of a reply's words with those
of any utterance in a random tenth of the training data; words without stop words and punctuation.
The paper lemmatizes; here words are stemmed (Porter). 0 where both have no word.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from random import Random

from analysis.text.stemming import stem
from analysis.text.tokenizers import WORDS, NamedTokenizer

SHARE = 0.1


def norm(text: str, tokenizer: NamedTokenizer = WORDS) -> frozenset[str]:
    """Return the words that are not stop words; English ones as their stems."""
    found = tokenizer.content(text)
    return frozenset(map(stem, found) if tokenizer.language == "en" else found)


def sample(utterances: Sequence[str], *, seed: int, share: float = SHARE) -> list[str]:
    """Return a random share of the utterances, at least one."""
    most = max(1, round(share * len(utterances)))
    return Random(seed).sample(list(utterances), most)  # noqa: S311


class EchoIndex:
    """Utterances by their words, so that only those which share one are compared."""

    def __init__(self, utterances: Iterable[str], tokenizer: NamedTokenizer = WORDS) -> None:
        self.tokenizer = tokenizer
        self.sets = sorted(
            {norm(text, tokenizer) for text in utterances} - {frozenset()}, key=sorted
        )
        self.indices: dict[str, list[int]] = defaultdict(list)
        for index, known in enumerate(self.sets):
            for word in known:
                self.indices[word].append(index)

    def score(self, reply: str) -> float:
        """Return the reply's highest Jaccard similarity with an utterance."""
        reply_words = norm(reply, self.tokenizer)
        shared = Counter(index for word in reply_words for index in self.indices.get(word, ()))
        return max(
            (
                common / (len(reply_words) + len(self.sets[k]) - common)
                for k, common in shared.items()
            ),
            default=0.0,
        )
