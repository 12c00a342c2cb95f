"""Match network: a matcher with its encoder, and what a batch of dialogues teaches it.

The encoder does not learn here: what it makes of every text of the training is kept.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.encoders.minilm import WORDS, MiniLM, States, Tokens, precise, tokens
from bots.text.tokens import key
from bots.zoo.minilm_matcher.contexts import LONGEST, MatcherDialogue, Rows, matcher_texts, turns
from bots.zoo.minilm_matcher.match_words import frequencies
from bots.zoo.minilm_matcher.matching import FEATURES, Matcher, MatcherTexts

MET = 256  # dialogues whose texts are remembered to begin with
MEASURED = 6  # batches from which the usual size of features is taken
NEVER = -1e4
Encode = Callable[[Sequence[str]], States]
Item = TypeVar("Item")


class MatchNetwork(nn.Module):
    """MiniLM as it comes, and the matcher over its states."""

    def __init__(self, heads: int, width: int, dropout: float) -> None:
        super().__init__()
        self.encoder = MiniLM()
        self.matcher = Matcher(heads, width, dropout)

    def encode(self, texts: Sequence[Tokens], *, mixed: bool) -> States:
        """Encode texts, in mixed precision or not."""
        with precise(mixed=mixed):
            states = self.encoder(texts)
        return States(states.hidden.float(), states.numbers)

    def prepare(self, learned: Sequence[MatcherDialogue], encode: Encode) -> None:
        """Count the rarity of tokens, and measure the usual size of features."""
        known = [tokens(text, LONGEST) for each in learned for text in each.texts]
        self.matcher.idf.copy_(_rarity(known))
        single, pairs = frequencies(known)
        self.matcher.single.copy_(single)
        self.matcher.pairs.copy_(pairs)
        with torch.no_grad():
            for batch in _cut(learned[len(learned) // 2 :][:MET], 8):
                joined = Joined.of(batch)
                self._remember(joined, matcher_texts(joined.texts, encode(joined.texts)))
            some = list(learned)[: MEASURED * 8]
            rows = torch.cat([self._features(batch, encode) for batch in _cut(some, 8)])
        self.matcher.mean.copy_(rows.mean(dim=0))
        self.matcher.spread.copy_(rows.std(dim=0, correction=min(1, len(rows) - 1)) + 1e-3)

    def _remember(self, joined: Joined, shown: MatcherTexts) -> None:
        lines = {row for rows in joined.contexts for row in rows.persona}
        last = [rows.messages[-1][1] for rows in joined.contexts]
        self.matcher.remember(shown, (last, joined.replies, sorted(lines)))

    def _features(self, learned: Sequence[MatcherDialogue], encode: Encode) -> Tensor:
        joined = Joined.of(learned)
        shown = matcher_texts(joined.texts, encode(joined.texts))
        table = turns(joined.contexts, len(joined.texts))
        replies = shown.take(list(joined.replies))
        return self.matcher.features(shown, replies, table).reshape(-1, FEATURES)

    def loss(self, learned: Sequence[MatcherDialogue], encode: Encode) -> Tensor:
        """Softmax over the replies of the batch that are of other dialogues; the heads' mean."""
        joined = Joined.of(learned)
        shown = matcher_texts(joined.texts, encode(joined.texts))
        table = turns(joined.contexts, len(joined.texts))
        scores = self.matcher(shown, shown.take(list(joined.replies)), table)
        scores = scores.masked_fill(joined.unfit(), NEVER)
        if self.matcher.training:  # of the encoder's latest state, and not of these dialogues
            self._remember(joined, shown)
        right = torch.arange(len(joined.replies)).repeat(len(scores))
        return functional.cross_entropy(scores.flatten(0, 1), right)


@dataclass(frozen=True)
class Joined:
    """Dialogues of a batch as one list of texts."""

    texts: tuple[str, ...]
    contexts: tuple[Rows, ...]
    replies: tuple[int, ...]
    dialogues: tuple[int, ...]  # of each context

    @classmethod
    def of(cls, learned: Sequence[MatcherDialogue]) -> Joined:
        """Join dialogues."""
        texts: list[str] = []
        contexts, replies, dialogues = [], [], []
        for number, dialogue in enumerate(learned):
            contexts += [rows.moved(len(texts)) for rows in dialogue.contexts]
            replies += [len(texts) + index for index in dialogue.replies]
            dialogues += [number] * len(dialogue.contexts)
            texts += dialogue.texts
        return cls(tuple(texts), tuple(contexts), tuple(replies), tuple(dialogues))

    def unfit(self) -> Tensor:
        """Return which replies are no distractors of a context: of its dialogue, or equal."""
        owner = torch.tensor(self.dialogues)
        numbers: dict[str, int] = {}
        numbered = [numbers.setdefault(key(self.texts[row]), row) for row in self.replies]
        same = torch.tensor(numbered)
        unfit = (owner.view(-1, 1) == owner) | (same.view(-1, 1) == same)
        return unfit.fill_diagonal_(False)


def _rarity(texts: Sequence[Tokens]) -> Tensor:
    """Return every token's idf, ln((N + 1) / (df + 1))."""
    counted = Counter(number for text in texts for number in set(text))
    rarity = torch.full((WORDS,), math.log(len(texts) + 1))
    for number, count in counted.items():
        rarity[number] = math.log((len(texts) + 1) / (count + 1))
    return rarity


def _cut(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
