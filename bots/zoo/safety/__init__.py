"""Safety layer around any bot that writes.

Source: Adiwardana et al. 2020 (MEENA), section 5: a classifier at serving removes candidates that
are sensitive or toxic. It is not described, so a plug-in: by default the lexicon that all bots have
(`bots.guards.filters`) and a small logistic regression (`bots.zoo.safety.toxicity`), or any
function of text that BOT_CALLABLES names and that returns a probability. What is removed is logged
with why; where all is removed, something neutral is said, and that is logged too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bots.bot import Reply, Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.generation.teacher_forcing import spoken
from bots.generation.wrapping import Wrapper
from bots.guards.callables import find
from bots.guards.filters import unsafe
from bots.options import defaults, option
from bots.zoo.safety.toxicity import toxicity

PRESETS = {  # MEENA (full): drawn, ranked, the repetition rule, and this
    "full": {
        "bot": "no_repeat",
        "options": {
            "bot": "sample_and_rank",
            "options": {"number": 20, "temperature": 1.0, "top_k": 40},
        },
    }
}

Removed = list[dict[str, object]]  # the candidates' texts, why, and the classifier's probability


@dataclass
@defaults(bot="no_repeat")
class Safety(Wrapper):
    """Sends nothing that the lexicon or the classifier refuses."""

    classifier: str = option(
        "", "package.module.function of a text; empty: the one of the package", after="options"
    )
    threshold: float = option(0.5, "Probability at which a reply is refused", least=0, most=1)

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return the safe candidates; there may be none."""
        return [self._screen(found)[0] for found in self.inner.propose(turns, decoding)]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one batch; the log lists the removed candidates."""
        screened = [self._screen(found) for found in self.inner.propose(turns)]
        replies = spoken([kept for kept, _ in screened], turns, self.max_words)
        return [
            replace(reply, details={**reply.details, "removed": removed}) if removed else reply
            for reply, (_, removed) in zip(replies, screened, strict=True)
        ]

    def _screen(self, found: Sequence[ReplyCandidate]) -> tuple[list[ReplyCandidate], Removed]:
        judge = self._judge()
        kept: list[ReplyCandidate] = []
        removed: Removed = []
        for each in found:
            reason, probability = unsafe(each.text), judge(each.text)
            if reason is None and probability < self.threshold:
                kept.append(each)
            else:
                why = reason or "classifier"
                refused = {"text": each.text, "why": why, "probability": round(probability, 3)}
                removed.append(refused)
        return kept, removed

    def _judge(self) -> Callable[[str], float]:
        if not self.classifier:
            return toxicity
        return find(self.classifier, "safety: classifier")


BOT = Safety
