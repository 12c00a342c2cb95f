"""B-MMI: N-best lists in another order, by how well a reply tells what it was said to.

Source: Li et al. 2016 ("A Diversity-Promoting Objective Function for Neural Conversation Models"),
section 3, MMI-bidi as the PPMI paper of NLP4CONVAI uses it: (1 - lambda) log P(R|Q) + lambda
log P(Q|R). Q is the partner's last message. The backward model is any bot that writes, trained with
the dialogues read backwards: `--data reversed:KIND:PATH`. Width and lambda are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bots.bot import Turn
from bots.candidates import Candidate, Decoding
from bots.decoding import StepModel
from bots.dialogue import Utterance
from bots.forcing import forced
from bots.options import InvalidOption, option
from bots.wrapping import Wrapper, generator


@dataclass
class MaximumMutualInformation(Wrapper):
    """Prefers replies that could not be said to just anything."""

    bot: str = option("markov", "Which bot writes")
    options: dict[str, Any] = option({}, "That bot's options")  # noqa: RUF009
    backward: str = option("markov", "Which bot tells the message from the reply")
    backward_options: dict[str, Any] = option({}, "Its options: weights, as a rule")  # noqa: RUF009
    share: float = option(0.5, "lambda: how much log P(message | reply) counts", least=0, most=1)
    method: Literal["beam", "sample"] = option("beam", "How candidates are found")
    number: int = option(10, "How many are put in order", least=1)
    max_tokens: int = option(24, "Longest a candidate may be", least=1)
    max_words: int = option(20, "Replies are at most this long, where possible", least=1)
    seed: int = option(0, "Of samples")

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[Candidate]]:
        """Return the candidates of the bot inside, in the new order."""
        own = Decoding(self.method, self.number, max_tokens=self.max_tokens, seed=self.seed)
        found = self.inner.propose(turns, decoding or own)
        pairs = [(t, each) for t, listed in zip(turns, found, strict=True) for each in listed]
        scores = iter(self.scores(pairs))
        return [_ordered(listed, [next(scores) for _ in listed]) for listed in found]

    def scores(self, pairs: Sequence[tuple[Turn, Candidate]]) -> list[float]:
        """Return what each candidate is ordered by."""
        back = self._told(pairs)
        return [
            (1 - self.share) * each.score("sum_logp") + self.share * told
            for (_, each), told in zip(pairs, back, strict=True)
        ]

    def _told(self, pairs: Sequence[tuple[Turn, Candidate]]) -> list[float]:
        """Return log P(message | reply), 0 where there is no message."""
        model = self._model()
        asked = [((), (Utterance("partner", each.text),)) for _, each in pairs]
        messages = [turn[1][-1].text if turn[1] else "" for turn, _ in pairs]
        rows = forced(model, asked, [model.codec.encode(text) for text in messages])
        return [sum(row) if text else 0.0 for row, text in zip(rows, messages, strict=True)]

    def _model(self) -> StepModel:
        bot = generator(self.backward, self.backward_options)
        model: StepModel | None = getattr(bot, "model", None)
        if model is None:
            raise InvalidOption(f"backward is {self.backward!r}, but must be one with a likelihood")
        return model


def _ordered(found: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    order = sorted(range(len(found)), key=lambda place: scores[place], reverse=True)
    return [found[place] for place in order]


BOT = MaximumMutualInformation
