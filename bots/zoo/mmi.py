"""N-best lists re-ranked by maximum mutual information: how well a reply predicts the message.

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
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Utterance
from bots.generation.decoding import StepModel
from bots.generation.teacher_forcing import forced
from bots.generation.wrapping import Wrapper, generator
from bots.options import InvalidOption, option


@dataclass
class MaximumMutualInformation(Wrapper):
    """Prefers replies that do not suit just any message."""

    backward: str = option(
        "markov", "Bot that predicts the message from the reply", after="options"
    )
    backward_options: dict[str, Any] = option({}, "Its options: weights, as a rule")  # noqa: RUF009
    share: float = option(0.5, "lambda: weight of log P(message | reply)", least=0, most=1)
    method: Literal["beam", "sample"] = option("beam", "Search method of candidates")
    number: int = option(10, "Candidates to re-rank", least=1)
    max_tokens: int = option(24, "Maximum tokens of a candidate", least=1)
    seed: int = option(0, "Seed of the samples", after="max_words")

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return the candidates of the bot inside, in the new order."""
        own = Decoding(self.method, self.number, max_tokens=self.max_tokens, seed=self.seed)
        found = self.inner.propose(turns, decoding or own)
        pairs = [(t, each) for t, listed in zip(turns, found, strict=True) for each in listed]
        scores = iter(self.scores(pairs))
        return [_ordered(listed, [next(scores) for _ in listed]) for listed in found]

    def scores(self, pairs: Sequence[tuple[Turn, ReplyCandidate]]) -> list[float]:
        """Return the score of each candidate."""
        back = self._backward(pairs)
        return [
            (1 - self.share) * each.score("sum_logp") + self.share * likelihood
            for (_, each), likelihood in zip(pairs, back, strict=True)
        ]

    def _backward(self, pairs: Sequence[tuple[Turn, ReplyCandidate]]) -> list[float]:
        """Return log P(message | reply), 0 where there is no message."""
        model = self._model()
        turns = [((), (Utterance("partner", each.text),)) for _, each in pairs]
        messages = [turn[1][-1].text if turn[1] else "" for turn, _ in pairs]
        rows = forced(model, turns, [model.codec.encode(text) for text in messages])
        return [sum(row) if text else 0.0 for row, text in zip(rows, messages, strict=True)]

    def _model(self) -> StepModel:
        bot = generator(self.backward, self.backward_options)
        model: StepModel | None = getattr(bot, "model", None)
        if model is None:
            raise InvalidOption(f"backward is {self.backward!r}, but must be one with a likelihood")
        return model


def _ordered(found: Sequence[ReplyCandidate], scores: Sequence[float]) -> list[ReplyCandidate]:
    order = sorted(range(len(found)), key=lambda index: scores[index], reverse=True)
    return [found[index] for index in order]


BOT = MaximumMutualInformation
