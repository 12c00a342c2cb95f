"""Word frequencies in the corpus that systems were trained on, or in a stand-in for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from analysis.tables.options import BadOption
from analysis.text.tokens import Tokenizer, split_lower

# Utterances of PERSONA-CHAT's training dialogues (Zhang et al. 2018: 162,064 less those of
# validation and test) times 11 tokens, about what ConvAI2's table 6 has for a message.
STAND_IN_TOKENS = 131_438 * 11


@dataclass(frozen=True)
class WordFrequencies:
    """A word's count by its lower-case form, and what is told of where it comes from."""

    source: str
    counts: Mapping[str, float] | None = field(default=None, compare=False)

    def count(self, word: str) -> float:
        """Return how often a token occurs; a mark is never rare in the stand-in."""
        if self.counts is not None:
            return self.counts.get(word, 0.0)
        return _expected(word)


STAND_IN = WordFrequencies(
    f"wordfreq's English list, as if the corpus had {STAND_IN_TOKENS:,} words: a stand-in"
)


def of_texts(texts: Iterable[str], source: str, tokens: Tokenizer = split_lower) -> WordFrequencies:
    """Return the counts of the tokens, by default of `split` in lower case, of a corpus."""
    return WordFrequencies(source, Counter(token for text in texts for token in tokens(text)))


def read(path: Path, tokens: Tokenizer = split_lower) -> WordFrequencies:
    """Return the corpus in a text file: one utterance, or `word<TAB>count`, per line.

    Raises `BadOption` where the file has no text or a count is no number.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption("corpus", str(path), f"a text file in UTF-8 ({error})") from error
    if not any(lines):
        raise BadOption("corpus", str(path), "a file with text in it")
    if not all("\t" in line for line in lines if line):
        return of_texts(lines, path.name, tokens)
    counts: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        word, _, count = line.rpartition("\t")
        if not count.isdecimal() and line:
            right = "word, a tab and a whole number"
            raise BadOption("corpus", f"{path.name}, line {number}: {line[:40]}", right)
        counts[word.lower()] += int(count or 0)
    return WordFrequencies(path.name, counts)


@lru_cache(maxsize=1 << 16)
def _expected(word: str) -> float:
    from wordfreq import word_frequency  # loads its list: only where no corpus is given

    if not any(letter.isalnum() for letter in word):
        return float("inf")
    return float(word_frequency(word, "en")) * STAND_IN_TOKENS
