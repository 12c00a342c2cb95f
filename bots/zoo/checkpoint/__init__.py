"""Your own model: any causal or seq2seq checkpoint of `transformers`, as safetensors.

Source: none for the adapter, it is ours; the preset "dialogpt" is the setting in which Adiwardana
et al. 2020 ("Towards a Human-like Open-Domain Chatbot") compared DialoGPT: top-k sampling with k =
10, no MMI re-ranking (the model of 762 million parameters; its folder is yours to bring). Layouts:
"marks" writes the persona and the history as marked lines, "turns" joins messages by the end token
as DialoGPT was trained, "template" uses the tokenizer's own chat template. Needs the extra
`checkpoints`; files of the folder only, never its code, never pickle.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bots.bot import Reply, ReplyEvent, Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import Utterance
from bots.generation import decoding as search
from bots.generation import teacher_forcing
from bots.guards.filters import empty_reply, keys_by
from bots.guards.growing import PAUSE
from bots.guards.own_model import CUT, OwnModel, with_prompt
from bots.learning import training
from bots.options import option
from bots.text.tokens import key, word_count
from bots.weights import InvalidWeights
from bots.zoo.checkpoint.pretrained import Pretrained
from bots.zoo.checkpoint.prompts import Prompt

NEEDS = {"checkpoints": ("transformers",)}
PRESETS = {
    "dialogpt": {
        "layout": "turns",
        "persona": False,
        "decoding": "top_k",
        "top_k": 10,
        "number": 1,
    },
    "nucleus": {"decoding": "nucleus", "top_p": 0.9, "number": 1},
}


@dataclass
class Checkpoint(OwnModel):
    """Continues persona and history as the checkpoint's model does."""

    checkpoint: str = option("", "Folder with config.json, *.safetensors and a tokenizer")
    kind: Literal["auto", "causal", "seq2seq"] = option("auto", "Kind of model")
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    precision: Literal["fp32", "bf16", "fp16"] = option(
        "fp32", "Precision of the numbers it computes with"
    )
    layout: Literal["marks", "turns", "template"] = option("marks", "Layout of a turn")
    persona: bool = option(True, "Put the persona into the prompt")
    persona_mark: str = option("your persona:", "Mark before each line of the persona, for `marks`")
    partner_mark: str = option("Partner:", "Mark before each message of the partner, for `marks`")
    own_mark: str = option("You:", "Mark before each message of its own, for `marks`")
    decoding: Literal["greedy", "beam", "sample", "nucleus", "top_k"] = option(
        "greedy", "Search method"
    )
    number: int = option(5, "Replies found by beam search or sampling", least=1, most=100)
    temperature: float = option(1.0, "Sampling temperature", least=0)
    top_k: int = option(10, "Likeliest tokens to sample from, for `top_k`", least=1)
    top_p: float = option(0.9, "Probability mass to sample from, for `nucleus`", least=0, most=1)
    max_tokens: int = option(40, "Maximum tokens of a reply; the rest is cut", least=1, most=1000)
    max_words: int = option(25, "Maximum words of a reply, where possible", least=1)
    seed: int = option(0, "Seed of sampling", least=0)
    stream: bool = option(
        False,
        "Participants see a reply grow where the protocol shows replies as they are written. Not "
        "where one of several replies is chosen, nor with rules that decide by the whole reply "
        "what is shown",
        label="Stream replies",
        last=True,
    )
    _opened: Pretrained | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.checkpoint:
            self._opened = Pretrained(
                Path(self.checkpoint),
                self.kind,
                Prompt(
                    self.layout, self.own_mark, self.partner_mark, self.persona_mark, self.persona
                ),
                self.max_tokens,
                training.device(self.device),
                self.precision,
            )

    @property
    def model(self) -> Pretrained:
        """The checkpoint, ready to decode or to score a text.

        Raises InvalidWeights if no folder is given.
        """
        if self._opened is None:
            raise InvalidWeights("checkpoint is '', but must be the folder of a checkpoint")
        return self._opened

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one batch: the best candidate that is short enough and new, or the best."""
        return self._replies(turns, None)

    def respond_many_growing(
        self, turns: Sequence[Turn], growing: Callable[[int, str], None]
    ) -> list[Reply]:
        """Answer all in one batch; where replies are streamed, tell their whole words so far."""
        seen_at = -math.inf

        def watch(written: Sequence[Sequence[int]]) -> None:
            nonlocal seen_at
            if time.monotonic() - seen_at >= PAUSE:
                seen_at = time.monotonic()
                for index, ids in enumerate(written):
                    growing(index, _whole_words(self.model.codec.decode(ids)))

        return self._replies(turns, watch if self.stream else None)

    def _replies(self, turns: Sequence[Turn], watch: search.Watch | None) -> list[Reply]:
        if self.stream:
            self.refuse_stream("checkpoint")
        drawing = self.drawing(turns)
        found = search.propose(self.model, drawing, self._decoding(), watch)
        return [self._reply(*pair) for pair in zip(found, turns, strict=True)]

    def _reply(self, proposed: Sequence[ReplyCandidate], turn: Turn) -> Reply:
        prompt = self.model.prompt_of(turn)
        about = {"text": prompt.text, "ids": list(prompt.ids), "notes": list(prompt.notes)}
        met: tuple[ReplyEvent, ...] = ("shortened",) if prompt.is_shortened else ()
        if prompt.is_adapted:
            met = (*met, "adapted")
        candidate = self._chosen(proposed, turn)
        if candidate is None:
            return with_prompt(empty_reply(""), about, *met)
        finish = "stop" if len(candidate.log_probs) > len(candidate.tokens) else CUT
        count = len(candidate.tokens)
        usage = {"prompt_tokens": len(prompt.ids), "completion_tokens": count}
        details: dict[str, object] = {"finish_reason": finish, "usage": usage}
        score = candidate.score("mean_logp")
        reply = self.checked(candidate.text, finish=finish, score=score, details=details)
        return with_prompt(reply, about, *met)

    def _chosen(self, proposed: Sequence[ReplyCandidate], turn: Turn) -> ReplyCandidate | None:
        """Return the best that is short enough and new; else the best with any text, or any."""
        earlier = keys_by("self", turn[1])
        written = [each for each in proposed if each.text.strip()]
        right = (
            each
            for each in written
            if word_count(each.text) <= self.max_words and key(each.text) not in earlier
        )
        return next(right, next(iter([*written, *proposed]), None))

    def propose(
        self, turns: Sequence[Turn], decoding: Decoding | None = None
    ) -> list[list[ReplyCandidate]]:
        """Return candidates for each turn, best first."""
        return search.propose(self.model, self.drawing(turns), decoding or self._decoding())

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the mean log-probability per token of each candidate."""
        return teacher_forcing.rank(self.model, persona, history, candidates)

    def _decoding(self) -> Decoding:
        sampled = self.decoding in ("sample", "nucleus", "top_k")
        return Decoding(
            method="sample" if sampled else "beam" if self.decoding == "beam" else "greedy",
            number=self.number,
            temperature=self.temperature,
            top_k=self.top_k if self.decoding == "top_k" else 0,
            top_p=self.top_p if self.decoding == "nucleus" else 1.0,
            max_tokens=self.max_tokens,
            seed=self.seed,
        )


def _whole_words(text: str) -> str:
    """Return a text without its last word, which the next tokens may change."""
    return (re.match(r"(?s).*(?=\s)", text) or [""])[0].rstrip()


BOT = Checkpoint
