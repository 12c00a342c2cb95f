"""Classifier of frequently asked questions that defers to people where it is not sure.

Source: the nex-cv paper of NLP4CONVAI 2019: word vectors averaged with weights by frequency, L2
logistic regression, confidence below .5: no answer, a human takes over; a classifier of general
intents is asked first, then that of the company's FAQ. What the general one makes of a question
that is none of its own the paper leaves open: here it knows the FAQ's questions as "none".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.linear_model import LogisticRegression

from bots.bot import Reply, Turn
from bots.dialogue import Utterance
from bots.encoders.sentences import Encode, encoder
from bots.guards.filters import safe_reply
from bots.line_files import BadLine, InvalidData, read_records, text_of, texts_of
from bots.options import option
from bots.zoo.faq.faq_examples import COMPANY, GENERAL, Intents

PRESETS = {"paper": {"encoder": "glove"}}
DEFERRED = "I am not sure about that. I will pass your question on to a colleague."
NONE = ""


@dataclass
class Faq:
    """Answers questions that it knows, and leaves the others to people."""

    threshold: float = option(0.5, "Confidence below which it defers", least=0, most=1)
    strength: float = option(100.0, "Inverse of the L2 penalty", least=0.000001)
    encoder: Literal["hashed", "glove", "minilm"] = option("hashed", "Encoder of texts")
    questions: str = option("", "JSON Lines: intent, answer, questions; empty: a small one of ours")
    labeled: str = option(
        "",
        "JSON Lines: text, label; more questions of its intents, as the staff desk has them",
    )
    _classifiers: tuple[Classifier, Classifier] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        """Answer the last message."""
        return self.respond_many([(persona, history)])[0]

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        """Answer each."""
        return [self._answer(history) for _, history in turns]

    def classify(self, text: str) -> tuple[str, float]:
        """Return the intent and the confidence of the classifier that decides."""
        general, company = self._ready()
        intent, confidence = general.guess(text)
        if intent != NONE and confidence >= self.threshold:
            return intent, confidence
        return company.guess(text)

    def _answer(self, history: Sequence[Utterance]) -> Reply:
        intent, confidence = self.classify(history[-1].text if history else "hello")
        deferred = confidence < self.threshold
        about = {"intent": intent, "confidence": round(confidence, 4), "deferred": deferred}
        answer = DEFERRED if deferred else self._known(intent)
        return safe_reply(answer, history, confidence, about)

    def _known(self, intent: str) -> str:
        general, company = self._ready()
        return {**company.answers, **general.answers}[intent]

    def _ready(self) -> tuple[Classifier, Classifier]:
        if self._classifiers is None:
            company = _read(self.questions) if self.questions else COMPANY
            general = GENERAL
            if self.labeled:
                general, company = _with_labeled(self.labeled, general, company)
            of_company = tuple(text for _, questions in company.values() for text in questions)
            encode = encoder(self.encoder)
            general = {**general, NONE: ("", of_company)}
            self._classifiers = (
                Classifier(general, encode, self.strength),
                Classifier(company, encode, self.strength),
            )
        return self._classifiers


class Classifier:
    """Logistic regression from vectors of questions to their intents."""

    def __init__(self, intents: Intents, encode: Encode, strength: float) -> None:
        self.answers = {intent: answer for intent, (answer, _) in intents.items()}
        self._encode = encode
        pairs = [(text, intent) for intent, (_, questions) in intents.items() for text in questions]
        texts, labels = zip(*pairs, strict=True)
        weights = LogisticRegression(C=strength, max_iter=1000, class_weight="balanced")
        self._fitted = weights.fit(encode(texts).numpy(), labels)

    def guess(self, text: str) -> tuple[str, float]:
        """Return the likeliest intent and its probability; a text without words has none."""
        vector = self._encode((text,)).numpy()
        if not np.any(vector):
            return self._fitted.classes_[0], 0.0
        found = self._fitted.predict_proba(vector)[0]
        best = int(found.argmax())
        return str(self._fitted.classes_[best]), float(found[best])


def _read(path: str) -> Intents:
    """Read a FAQ, or name everything that is wrong with it."""
    found = read_records(Path(path), _intent)
    names = [name for name, _, _ in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems = [f"{path}: intent {name!r} is there more than once" for name in twice]
    problems += [
        f"{path}: intent {name!r} is one of the general ones" for name in names if name in GENERAL
    ]
    if len(names) < 2:
        problems.append(f"{path}: has one intent, but must have at least two")
    if problems:
        raise InvalidData(problems)
    return {name: (answer, questions) for name, answer, questions in found}


def _with_labeled(path: str, *sets: Intents) -> tuple[Intents, ...]:
    """Return sets of intents with the questions of a file, or name every line of no intent."""
    known = sorted({name for intents in sets for name in intents})

    def parse(record: Mapping[str, Any]) -> tuple[str, str]:
        label = text_of(record, "label")
        if label not in known:
            raise BadLine(f"label is {label!r}, but must be one of {', '.join(known)}")
        return text_of(record, "text"), label

    more = read_records(Path(path), parse)
    return tuple(
        {
            name: (answer, (*questions, *(text for text, label in more if label == name)))
            for name, (answer, questions) in intents.items()
        }
        for intents in sets
    )


def _intent(record: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    return text_of(record, "intent"), text_of(record, "answer"), texts_of(record, "questions", 1)


BOT = Faq
