"""Cross-turn repetition rule around any bot that writes.

Source: Adiwardana et al. 2020 (MEENA), section 5: candidates are removed if two turns of the bot
would share a long common sub-sequence. The paper gives no lengths; `run`, `share` and `least` are
our defaults. Where every candidate is removed, the least similar one is kept [ours].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bots.bot import Reply, Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.generation.teacher_forcing import spoken
from bots.generation.wrapping import Wrapper, own_turns
from bots.options import defaults, option
from bots.text.repetition import RepetitionRule, most_alike


@dataclass
@defaults(bot="sample_and_rank")
class NoRepeat(Wrapper):
    """Does not repeat itself in much the same words."""

    run: int = option(
        5, "Consecutive tokens that two turns may not share", least=1, after="options"
    )
    share: float = option(0.75, "Share of the shorter that may not recur", least=0, most=1)
    least: int = option(4, "Minimum tokens of a turn for the share to apply", least=1)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return the candidates that repeat no earlier message."""
        found = self.inner.propose(turns, decoding)
        return [self._kept(each, own_turns(t)) for each, t in zip(found, turns, strict=True)]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one batch; the log lists the removed candidates."""
        found = self.inner.propose(turns)
        kept = [self._kept(each, own_turns(t)) for each, t in zip(found, turns, strict=True)]
        replies = spoken(kept, turns, self.max_words)
        return [
            _logged(reply, [each.text for each in before if each not in after])
            for reply, before, after in zip(replies, found, kept, strict=True)
        ]

    def _kept(self, found: Sequence[ReplyCandidate], own: Sequence[str]) -> list[ReplyCandidate]:
        rule = RepetitionRule(self.run, self.share, self.least)
        new = [each for each in found if not any(rule.broken(each.text, old) for old in own)]
        if new or not found:
            return new
        return [min(found, key=lambda each: most_alike(each.text, own))]


def _logged(reply: Reply, removed: Sequence[str]) -> Reply:
    if not removed:
        return reply
    return replace(reply, details={**reply.details, "repetitive": list(removed)})


BOT = NoRepeat
