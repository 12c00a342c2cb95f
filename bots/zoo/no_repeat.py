"""B-NOREPEAT: the cross-turn repetition rule around any bot that writes.

Source: Adiwardana et al. 2020 (MEENA), section 5: candidates are removed if two turns of the bot
would share a long common sub-sequence. The paper gives no lengths; `run`, `share` and `least` are
our defaults. Where every candidate is removed, the least similar one is kept [ours].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bots.bot import Reply, Turn
from bots.candidates import Candidate, Decoding
from bots.forcing import spoken
from bots.options import option
from bots.repetition import Rule, most_alike
from bots.wrapping import Wrapper, own_turns


@dataclass
class NoRepeat(Wrapper):
    """Does not say what it has said in much the same words."""

    bot: str = option("sample_and_rank", "Which bot writes")
    options: dict[str, Any] = option({}, "That bot's options")  # noqa: RUF009
    run: int = option(5, "Tokens in a row that two turns may not share", least=1)
    share: float = option(0.75, "Share of the shorter that may not recur", least=0, most=1)
    least: int = option(4, "Shortest turn, in tokens, that the share is for", least=1)
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[Candidate]]:
        """Return the candidates that repeat nothing."""
        found = self.inner.propose(turns, decoding)
        return [self._kept(each, own_turns(t)) for each, t in zip(found, turns, strict=True)]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one batch; the log says what was removed."""
        found = self.inner.propose(turns)
        kept = [self._kept(each, own_turns(t)) for each, t in zip(found, turns, strict=True)]
        replies = spoken(kept, turns, self.max_words)
        return [
            _logged(reply, [each.text for each in before if each not in after])
            for reply, before, after in zip(replies, found, kept, strict=True)
        ]

    def _kept(self, found: Sequence[Candidate], said: Sequence[str]) -> list[Candidate]:
        rule = Rule(self.run, self.share, self.least)
        new = [each for each in found if not any(rule.broken(each.text, old) for old in said)]
        if new or not found:
            return new
        return [min(found, key=lambda each: most_alike(each.text, said))]


def _logged(reply: Reply, removed: Sequence[str]) -> Reply:
    if not removed:
        return reply
    return replace(reply, details={**reply.details, "repetitive": list(removed)})


BOT = NoRepeat
