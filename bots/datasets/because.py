"""Phenomena and their explanations, cut out of running text at the word "because".

Source: L2E (2019; NLP4CONVAI), which cuts sentences at "because" by patterns over a dependency
parse: S1 because S2. Here are patterns of words, so that no parser is needed; what they cannot tell
apart ("not because", "because of", questions, a bare "this is because") is left out. A phenomenon
that is denied is kept, though the reason may be what the sentence denies. ":context"
after the path puts the up to five sentences before first (L2EC). The partner says the phenomenon,
one's own side the explanation. Without a path: a text of our own that comes with the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bots.dialogue import Dialogue, Utterance
from bots.line_files import InvalidData, read_lines
from bots.text.tokens import words

BUNDLED = Path(__file__).parent / "text" / "because.txt"
CONTEXT = 5
LEAST = 3
MOST = 40
SUFFIX = ":context"

_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z])")
_SHORT = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|[A-Z])\.$")
_BETWEEN = re.compile(r"^(.+?),? because (.+)$", re.IGNORECASE)
_BEFORE = re.compile(r"^because ([^,]+), (.+)$", re.IGNORECASE)
_LEADING = re.compile(r"^(?:and|but|so|yet|well|also)\b,? ", re.IGNORECASE)
_TRAILING = re.compile(
    r",? (?:simply|mainly|mostly|largely|partly|only|just|perhaps|probably|especially)$", re.I
)
_VAGUE = re.compile(
    r"^(?:this|that|it|which|these|those|all this)(?: is| was|'s|’s| are| were)?$", re.IGNORECASE
)
_NOT = re.compile(r"\b(?:not|n't|never|neither|nor)$", re.IGNORECASE)
_CLAUSE = re.compile(r"[;:—]|, (?:but|so|yet|although|though|however|while|whereas)\b")


@dataclass(frozen=True)
class Explained:
    """A phenomenon, its explanation, and the sentences before it."""

    phenomenon: str
    explanation: str
    context: tuple[str, ...] = ()


def read(source: str) -> list[Dialogue]:
    """Read the text file at this path, with ":context" after it if sentences before are wanted.

    Raises InvalidData, naming everything wrong with the data.
    """
    name = source.removesuffix(SUFFIX)
    path = Path(name) if name else BUNDLED
    wanted = CONTEXT if source.endswith(SUFFIX) else 0
    found = list(explained("\n".join(read_lines(path)), wanted))
    if not found:
        raise InvalidData([f'{path}: no sentence of the form "... because ..."'])
    return [_dialogue(each, str(index)) for index, each in enumerate(found, start=1)]


def explained(text: str, context: int = CONTEXT) -> Iterator[Explained]:
    """Yield the explained phenomena of a text; paragraphs, parted by blank lines, stand alone."""
    for paragraph in re.split(r"\n\s*\n", text):
        before = list(sentences(" ".join(paragraph.split())))
        for index, sentence in enumerate(before):
            cut = taken_apart(sentence)
            if cut is not None:
                yield Explained(*cut, tuple(before[max(0, index - context) : index]))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph."""
    begun = ""
    for piece in _END.split(text):
        begun = f"{begun} {piece}".strip()
        if not _SHORT.search(begun):
            yield begun
            begun = ""
    if begun:
        yield begun


def taken_apart(sentence: str) -> tuple[str, str] | None:
    """Return phenomenon and explanation, or None where the patterns do not match."""
    bare = sentence.strip(" \"'()[]").rstrip(".!")
    if bare.endswith("?") or len(re.findall(r"\bbecause\b", bare, re.IGNORECASE)) != 1:
        return None
    if re.search(r"\bbecause of\b", bare, re.IGNORECASE):
        return None
    if found := _BEFORE.match(bare):
        explanation, phenomenon = found.groups()
    elif found := _BETWEEN.match(bare):
        phenomenon, explanation = found.groups()
    else:
        return None
    phenomenon = _TRAILING.sub("", _LEADING.sub("", phenomenon)).strip(" ,")
    explanation = _CLAUSE.split(explanation)[0].strip(" ,")
    if _VAGUE.match(phenomenon) or _NOT.search(phenomenon):
        return None
    fit = all(LEAST <= len(words(text)) <= MOST for text in (phenomenon, explanation))
    return (_sentence(phenomenon), _sentence(explanation)) if fit else None


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _dialogue(found: Explained, name: str) -> Dialogue:
    turns = [Utterance("partner", text) for text in (*found.context, found.phenomenon)]
    return Dialogue(name, (*turns, Utterance("self", found.explanation)))
