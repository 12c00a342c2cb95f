"""Message checks: rules for what a participant or a bot writes; a protocol names those it uses.

A check is called with the text and the sender's own persona and returns a complaint to show, or
None. Its fields are settings of the protocol.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from typing import Protocol as Interface

from evaluation.setting_types import OnOff, WholeNumber
from evaluation.settings import setting

PRONOUNS = ("I", "I'm", "My", "i")
GRAM = 5  # words in a row that a bot may not copy


class MessageCheck(Interface):
    """A rule for one message; `name` is its name among the protocol's settings."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __call__(self, text: str, persona: Sequence[str]) -> str | None: ...


UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)
WIDE_MARKS = re.compile("[\u3000-\u3004\u3008-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff65]")


def word_count(text: str) -> int:
    """Whitespace tokens of the stripped text (spec: shared mechanics).

    Of scripts that put no blanks between words (Chinese, Japanese, Thai, Lao, Burmese, Khmer) two
    characters count as a word; static/chat.js counts alike.
    """
    runs = sum((len(run) + 1) // 2 for run in UNSPACED.findall(text))
    return runs + len(WIDE_MARKS.sub(" ", UNSPACED.sub(" ", text)).split())


@dataclass(frozen=True)
class MaxWords:
    """At most `limit` words per message (PERSONA-CHAT, section 3: 15)."""

    name: ClassVar[str] = "max_words"
    limit: int = setting("Maximum words per message", WholeNumber(least=1, most=1000), default=15)

    def __call__(self, text: str, persona: Sequence[str]) -> str | None:
        words = word_count(text)
        if words <= self.limit:
            return None
        return f"Please use at most {self.limit} words; this message has {words}."


@dataclass(frozen=True)
class MinWords:
    """At least `limit` words per message (released code of ConvAI2 and of See et al. 2019: 3)."""

    name: ClassVar[str] = "min_words"
    limit: int = setting("Minimum words per message", WholeNumber(least=1, most=1000), default=3)

    def __call__(self, text: str, persona: Sequence[str]) -> str | None:
        words = word_count(text)
        if words >= self.limit:
            return None
        return f"Please use at least {self.limit} words; this message has {words}."


@dataclass(frozen=True)
class NoPersonaCopy:
    """No message may contain a sentence of the sender's own persona.

    PERSONA-CHAT section 3 says that simple string matching is used; the rule is the released
    code's: drop the first of each of I, I'm, My, i, and look for the rest. With `lenient_match` the
    search also ignores case and final punctuation (our default).
    """

    name: ClassVar[str] = "no_persona_copy"
    lenient_match: bool = setting(
        "Ignore case and final punctuation when comparing", OnOff(), default=True
    )

    def __call__(self, text: str, persona: Sequence[str]) -> str | None:
        for sentence in persona:
            if self._copies(text, _essence(sentence)):
                return f"Please do not copy your character: say “{sentence}” in your own words."
        return None

    def _copies(self, text: str, essence: str) -> bool:
        if essence and essence in text:
            return True
        plain = essence.lower().rstrip(".!?")
        return self.lenient_match and bool(plain) and plain in text.lower()


def _essence(sentence: str) -> str:
    words = [word for word in sentence.split(" ") if word]
    for pronoun in PRONOUNS:
        if pronoun in words:
            words.remove(pronoun)
    return " ".join(words)


@dataclass(frozen=True)
class NoProfile5Gram:
    """No message may contain five words in a row of the sender's own persona.

    The rule of ConvAI2's wild server for bots. What counts as a word is ours: case and punctuation
    are ignored, and the five stand in one sentence of the persona.
    """

    name: ClassVar[str] = "no_profile_5gram"

    def __call__(self, text: str, persona: Sequence[str]) -> str | None:
        own = _grams(text)
        for sentence in persona:
            for gram in _grams(sentence):
                if gram in own:
                    return f"Five words in a row are the character's: “{' '.join(gram)}”."
        return None


def _grams(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"[\w'’]+", text.lower())
    return list(zip(*(words[start:] for start in range(GRAM)), strict=False))
