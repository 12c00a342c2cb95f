"""Persona descriptions in an utterance: P-F1 and P-Cover.

Both are used by PERSONA-METRICS (Miyazaki et al. 2021). W_Y are the non-stop words of
the utterance, W_di those of the i-th sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

from analysis.text.tokenizers import NamedTokenizer
from analysis.text.tokens import Tokenizer, nonstop

Ranks = Mapping[str, int]


def persona_f1(utterance: str, sentences: Sequence[str], *, tokens: Tokenizer = nonstop) -> float:
    """Return 2RP/(R + P) of the best recall and the best precision, each over all sentences.

    The two maxima may be of different sentences, as the paper defines it. 0 without overlap.
    """
    own_words = set(tokens(utterance))
    described = [set(tokens(sentence)) for sentence in sentences]
    shared = [(len(own_words & words), len(words)) for words in described if words]
    if not own_words or not any(common for common, _ in shared):
        return 0.0
    recall = max(common / size for common, size in shared)
    precision = max(common for common, _ in shared) / len(own_words)
    return 2 * recall * precision / (recall + precision)


def persona_cover(
    utterance: str,
    sentences: Sequence[str],
    *,
    ranks: Ranks | None = None,
    tokens: Tokenizer = nonstop,
) -> float:
    """Return the highest mean inverse frequency of the words shared with a sentence.

    `ranks` are places in a list of words by frequency: by default wordfreq's for English, where
    the paper takes the order of GloVe's vocabulary.
    """
    known = ranks_of("en") if ranks is None else ranks
    own_words = set(tokens(utterance))
    shared = [own_words & set(tokens(sentence)) for sentence in sentences]
    return max((_mean_alpha(words, known) for words in shared if words), default=0.0)


def alpha(rank: int) -> float:
    """Return 1/(1 + ln(1 + tf)), tf = 10⁶/rank^1.07 by Zipf's law."""
    return 1 / (1 + math.log(1 + 1e6 / rank**1.07))


def measures(tokenizer: NamedTokenizer) -> dict[str, Callable[[str, Sequence[str]], float]]:
    """Return P-F1 and P-Cover of an utterance and sentences, by a tokenizer's words."""
    words = tokenizer.content
    return {
        "persona_f1": partial(persona_f1, tokens=words),
        "persona_cover": lambda text, sentences: persona_cover(
            text, sentences, ranks=ranks_of(tokenizer.language), tokens=words
        ),
    }


@lru_cache(maxsize=2)
def ranks_of(language: str) -> Ranks:
    """Return wordfreq's words of a language by place, from 1."""
    from wordfreq import top_n_list  # loads its list: only where persona coverage is asked for

    return {word: rank for rank, word in enumerate(top_n_list(language, 10**6), start=1)}


def _mean_alpha(shared: set[str], ranks: Ranks) -> float:
    # A word that is not on the list stands just behind its end.
    return sum(alpha(ranks.get(word, len(ranks) + 1)) for word in sorted(shared)) / len(shared)
