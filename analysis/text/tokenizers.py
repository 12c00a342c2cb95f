"""Tokenizers by name, which metrics of text take as an option and print beside their numbers.

`split` and `words` are what the English papers count (`analysis.text.tokens`), and each metric's
default; `characters` parts every letter of scripts without spaces and needs no package; `mecab` is
PERSONA-METRICS' (Miyazaki et al. 2021, section 5.4): MeCab with UniDic, by the packages fugashi and
unidic-lite (extra `japanese`). A package that is missing is an error: nothing falls back on spaces.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import pandas as pd

from analysis.arguments import TOKENIZERS
from analysis.tables.options import BadOption
from analysis.text.tokens import STOP, Tokenizer, split_lower, words

# Particles, auxiliaries and pronouns; ours, as the paper does not print its stop words.
_JAPANESE = """
は が を に で と も の へ か ね よ な ぞ ぜ さ わ や から まで より って けど けれど だけ など
しか ば たら なら だ です ます た て し する いる ある なる れる られる せる させる ない ぬ ん う
よう そう らしい たい い こと もの これ それ あれ どれ ここ そこ この その あの どの 私 俺 僕 あなた
君 お前 じゃ では
"""
JAPANESE_STOP = frozenset(_JAPANESE.split())
# Scripts that put no spaces between words: kana, Han, Thai, Lao, Khmer, Burmese.
_UNSPACED = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff"
    "\u1000-\u109f\u1780-\u17ff"
)
_CHARACTERS = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:'[^\W_{_UNSPACED}]+)*|[^\w\s]")
MECAB_PACKAGES = ("fugashi", "unidic_lite")


@dataclass(frozen=True)
class NamedTokenizer:
    """A way to take tokens from a text, with its name and its language's stop words."""

    name: str
    tokens: Tokenizer = field(compare=False)
    stop: frozenset[str] = field(default=STOP, compare=False)
    language: str = "en"

    def __call__(self, text: str) -> list[str]:
        return self.tokens(text)

    def content(self, text: str) -> list[str]:
        """Return the tokens with a letter or digit that are no stop words."""
        return [each for each in self.words(text) if each not in self.stop]

    def words(self, text: str) -> list[str]:
        """Return the tokens with a letter or digit."""
        return [each for each in self.tokens(text) if any(map(str.isalnum, each))]


def characters(text: str) -> list[str]:
    """Return letters of scripts without spaces one by one, other words and marks whole."""
    return _CHARACTERS.findall(text.lower().replace("’", "'"))


SPLIT = NamedTokenizer("split", split_lower)
WORDS = NamedTokenizer("words", words)
CHARACTERS = NamedTokenizer("characters", characters, STOP | JAPANESE_STOP)


@cache
def mecab() -> NamedTokenizer:
    """Return MeCab with UniDic. Raises `BadOption`, naming the package, where one is missing."""
    for package in MECAB_PACKAGES:
        if importlib.util.find_spec(package) is None:
            name = package.replace("_", "-")
            right = f'to install {name}: pip install "parley[japanese]"'
            raise BadOption("tokenizer", f"mecab, which needs the package {name}", right)
    tagger = importlib.import_module("fugashi").Tagger()

    def tokens(text: str) -> list[str]:
        return [str(word.surface) for word in tagger(text.lower())]

    return NamedTokenizer("mecab", tokens, JAPANESE_STOP, "ja")


_NAMED: dict[str, Callable[[], NamedTokenizer]] = {
    "split": lambda: SPLIT,
    "words": lambda: WORDS,
    "characters": lambda: CHARACTERS,
    "mecab": mecab,
}
NAMES = TOKENIZERS


def tokenizer(name: str) -> NamedTokenizer:
    """Return the tokenizer of that name. Raises `BadOption` for another, or a missing package."""
    if name not in _NAMED:
        raise BadOption("tokenizer", name, f"one of {', '.join(NAMES)}")
    return _NAMED[name]()


def with_tokenizer(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return results with the tokenizer's name beside each."""
    return frame.assign(tokenizer=name) if len(frame) else frame
