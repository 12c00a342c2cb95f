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

from evaluation.sentences import Sentence, counted, listed, sentence
from evaluation.setting_types import OnOff, WholeNumber, WordList
from evaluation.settings import setting

PRONOUNS = ("I", "I'm", "My", "i")
GRAM = 5  # words in a row that a bot may not copy
_STOP_WORDS = """
a about above after again against all almost along already also although always am among an and
another any anybody anyone anything anywhere are aren't around as at away back be because been
before behind being below between both but by can can't cannot could couldn't did didn't do does
doesn't doing don't done down during each either else enough even ever every everybody everyone
everything everywhere except few for from further get gets getting got had hadn't has hasn't have
haven't having he he'd he'll he's her here hers herself him himself his how however i i'd i'll i'm
i've if in instead into is isn't it it's its itself just least less let let's lot lots many may
maybe me might mine more most much must my myself near neither never no nobody none nor not
nothing now nowhere of off often on once one only onto or other others our ours ourselves out over
own per perhaps quite rather really same shall she she'd she'll she's should shouldn't since so
some somebody someone something sometimes somewhere soon still such than that that's the their
theirs them themselves then there there's these they they'd they'll they're they've this those
though through to together too toward towards under until up upon us usually very was wasn't we
we'd we'll we're we've well were weren't what what's whatever when whenever where wherever whether
which while who who's whoever whole whom whose why will with within without won't would wouldn't
yes yet you you'd you'll you're you've your yours yourself yourselves
"""
STOP_WORDS = tuple(_STOP_WORDS.split())
# Common verbs in all forms: the paper's own good example of a revision repeats “worked”.
_ALLOWED_WORDS = """
enjoy enjoyed enjoying enjoys go goes going gone went like liked likes liking live lived lives
living love loved loves loving make made makes making want wanted wanting wants work worked
working works
"""
ALLOWED_WORDS = tuple(_ALLOWED_WORDS.split())


class MessageCheck(Interface):
    """A rule for one message; `name` is its name among the protocol's settings."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __call__(self, text: str, persona: Sequence[str]) -> Sentence | None: ...


UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)
WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
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

    def __call__(self, text: str, persona: Sequence[str]) -> Sentence | None:
        words = word_count(text)
        if words <= self.limit:
            return None
        return sentence(
            "Please use at most %(limit)s; this message has %(words)d.",
            limit=counted("%(count)d word", "%(count)d words", self.limit),
            words=words,
        )


@dataclass(frozen=True)
class MinWords:
    """At least `limit` words per message (released code of ConvAI2 and of See et al. 2019: 3)."""

    name: ClassVar[str] = "min_words"
    limit: int = setting("Minimum words per message", WholeNumber(least=1, most=1000), default=3)

    def __call__(self, text: str, persona: Sequence[str]) -> Sentence | None:
        words = word_count(text)
        if words >= self.limit:
            return None
        return sentence(
            "Please use at least %(limit)s; this message has %(words)d.",
            limit=counted("%(count)d word", "%(count)d words", self.limit),
            words=words,
        )


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

    def __call__(self, text: str, persona: Sequence[str]) -> Sentence | None:
        for line in persona:
            if self._copies(text, _essence(line)):
                return sentence(
                    "Please do not copy your character: say “%(line)s” in your own words.",
                    line=line,
                )
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
class SentenceLength:
    """So many words per sentence (PERSONA-CHAT section 3.1: at most 15; released code: 3)."""

    name: ClassVar[str] = "sentence_len"
    least: int = setting("Minimum words per sentence", WholeNumber(least=1, most=100), default=3)
    most: int = setting("Maximum words per sentence", WholeNumber(least=1, most=100), default=15)

    def __call__(self, text: str, persona: Sequence[str]) -> Sentence | None:
        words = word_count(text)
        if self.least <= words <= self.most:
            return None
        return sentence(
            "Write %(least)d to %(most)d words; this sentence has %(words)s.",
            least=self.least,
            most=self.most,
            words=counted("%(count)d word", "%(count)d words", words),
        )


@dataclass(frozen=True)
class NoNonstopOverlap:
    """No word of the original but stop words and common verbs (PERSONA-CHAT section 3.2).

    The paper's own good example repeats “worked”, so a strict reading would refuse it: verbs of
    `allowed` may be repeated (our default).
    """

    name: ClassVar[str] = "no_nonstop_overlap"
    stop_words: tuple[str, ...] = setting(
        "Stop words, which may be repeated", WordList(most=10_000), default=STOP_WORDS
    )
    allowed: tuple[str, ...] = setting(
        "Other words that may be repeated", WordList(most=10_000), default=ALLOWED_WORDS
    )

    def __call__(self, text: str, persona: Sequence[str]) -> Sentence | None:
        copied = [sentence("“%(word)s”", word=word) for word in self.copied(text, persona)]
        if not copied:
            return None
        return sentence(
            "Use other words than the original, which has too: %(words)s.", words=listed(copied)
        )

    def copied(self, text: str, persona: Sequence[str]) -> list[str]:
        """Return the words of a text that stand in the original as well, each once."""
        free = {*self.stop_words, *self.allowed}
        original = {word for line in persona for word in plain_words(line)}
        found = (word for word in plain_words(text) if word in original and word not in free)
        return list(dict.fromkeys(found))


def plain_words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation; contractions stay whole."""
    return WORDS.findall(text.lower().replace("’", "'"))


@dataclass(frozen=True)
class NoProfile5Gram:
    """No message may contain five words in a row of the sender's own persona.

    The rule of ConvAI2's wild server for bots. What counts as a word is ours: case and punctuation
    are ignored, and the five stand in one sentence of the persona.
    """

    name: ClassVar[str] = "no_profile_5gram"

    def __call__(self, text: str, persona: Sequence[str]) -> Sentence | None:
        own = _grams(text)
        for line in persona:
            for gram in _grams(line):
                if gram in own:
                    return sentence(
                        "Five words in a row are the character's: “%(words)s”.",
                        words=" ".join(gram),
                    )
        return None


def _grams(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"[\w'’]+", text.lower())
    return list(zip(*(words[start:] for start in range(GRAM)), strict=False))
