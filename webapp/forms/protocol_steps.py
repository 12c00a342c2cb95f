"""A protocol from the values of the builder's form: its steps, then all of it.

Apart because the form reads and refuses what was typed, field by field. A part that the form does
not show stays as the protocol has it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation import Protocol
from evaluation.serialized import CHECKS, from_json, to_json
from evaluation.words import texts
from webapp.forms.protocol_cards import (
    WHEN,
    Card,
    ImageCard,
    illustrate,
    images_json,
    known_json,
    question_json,
)
from webapp.forms.protocol_fields import FieldType, known_texts
from webapp.forms.protocol_parts import (
    BY_BOTS,
    BY_PARTICIPANTS,
    CHAT,
    MESSAGES,
    OF_TEXTS,
    WITH_KNOWN,
    WRITE,
    checks_of,
)
from webapp.forms.protocol_text import WITH_RIGHT, Raw, anchors

Values = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Typed:
    """What was typed and read: values by field, types by part, questions and images."""

    base: Protocol
    raw: Raw
    values: Values
    types: Mapping[str, Mapping[str, FieldType]]
    cards: Sequence[Card]
    images: Sequence[ImageCard]
    sizes: Mapping[str, tuple[int, int]]  # of images, by digest

    def protocol(self) -> Protocol:
        """Return the protocol. Raises `InvalidProtocol`."""
        base, values = self.base, self.values
        content = to_json(base) | self.part("", {})
        placed = images_json(base, list(self.images), values, self.sizes)
        content["images"] = placed.get("", [])
        by_time: dict[str, list[Any]] = {name: [] for name in WHEN}
        known: dict[str, list[Any]] = {name: [] for name in WITH_RIGHT}
        for card in self.cards:
            when = values[f"q{card.key}.asked"]
            question = question_json(card, values) | {"images": placed.get(f"q{card.key}", [])}
            at = anchors(self.raw, f"q{card.key}.")
            illustrate(question.get("examples", ()), at, placed)
            by_time[when].append(question)
            if when in WITH_RIGHT:
                known[when] += known_json(card, values, known_texts(base))
        content["steps"] = [
            *self._before(by_time, known),
            *self._work(by_time, placed),
            *self._between(by_time, known),
        ]
        content["sources"] = {}
        return _with_provenance(from_json(content), base)

    def part(self, prefix: str, before: Values) -> dict[str, Any]:
        """Return the JSON of a part: what was typed, and else what it was."""
        types = self.types[prefix]
        found = {name: self.values.get(prefix + name) for name in types}
        kept = {n: each for n, each in before.items() if n not in types}
        return kept | {
            n: each for n, each in found.items() if each is not None or types[n].is_optional
        }

    def _before(self, by_time: Values, known: Values) -> Iterator[Any]:
        """Yield the steps before the work."""
        if found := by_time["screening"]:
            yield {"step": "screening", "questions": found, "passes": known["screening"]}
        if found := by_time["quiz"]:
            quiz = {"step": "quiz", "questions": found, "answers": known["quiz"]}
            yield self.part("quiz.", quiz)
        is_shared = self.values["activity"] in WITH_KNOWN
        if is_shared and self.values.get("onboarding.items") is not None:
            yield self.part("onboarding.", {"step": "onboarding"})

    def _between(self, by_time: Values, known: Values) -> Iterator[Any]:
        """Yield the checks within the work."""
        if found := by_time["attention"]:
            checks = {"step": "attention", "questions": found, "passes": known["attention"]}
            yield self.part("attention.", checks)

    def _work(self, by_time: Values, placed: Values) -> Iterator[Any]:
        """Yield what participants do, and what they are asked about it."""
        activity = self.values["activity"]
        steps = {_step_name(each): each for each in to_json(self.base)["steps"]}
        if activity == CHAT:
            yield self._chat(steps.get(CHAT, {"step": CHAT}))
            if by_time["live"]:
                live = steps.get("live", {"step": "rate", "over": MESSAGES, "when": "live"})
                yield self.part("live.", live) | {"each": by_time["live"]}
        if activity == WRITE:
            yield self._write(steps.get(WRITE, {"step": WRITE}), placed)
        has_partner = activity in (CHAT, WRITE)
        over = "partner" if has_partner else activity
        after = self.part("rate.", steps.get(over, {"step": "rate", "over": over}))
        if by_time["each"] or not has_partner:
            yield after | {"each": by_time["each"], "together": by_time["together"]}

    def _chat(self, before: Values) -> dict[str, Any]:
        chat = self.part("chat.", before)
        for name in ("brief", "instead"):
            found = self.part(f"chat.{name}.", chat.get(name) or {})
            chat[name] = found if any(found.values()) else None
        chat["checks"] = self._checks(BY_PARTICIPANTS)
        chat["partner_checks"] = self._checks(BY_BOTS)
        return chat

    def _write(self, before: Values, placed: Values) -> dict[str, Any]:
        asks = self.part("write.asks.", before.get("asks", {"kind": "free_text"}))
        write = self.part("write.", before) | {"asks": asks}
        illustrate(write.get("examples", ()), anchors(self.raw, OF_TEXTS), placed)
        return write | {"checks": self._checks(OF_TEXTS)}

    def _checks(self, prefix: str) -> list[Any]:
        """Return the checks that are ticked: those that there were first, in their order."""
        order = dict.fromkeys([*checks_of(prefix, self.base), *CHECKS])
        return [
            self.part(f"{prefix}{name}.", {"check": name})
            for name in order
            if self.values.get(f"{prefix}{name}")
        ]


def _with_provenance(made: Protocol, base: Protocol) -> Protocol:
    """Return the protocol with the sources and labels of what is as it was."""
    now = {setting.name: setting.value for setting in made.settings()}
    then = {setting.name: setting.value for setting in base.settings()}
    kept = {n: s for n, s in base.sources.items() if n in now and now[n] == then.get(n)}
    labels = _still_right(base, made)
    return dataclasses.replace(made, sources=kept, translations=labels)


def _still_right(base: Protocol, made: Protocol) -> dict[str, dict[str, str]]:
    """Return the labels in other languages whose text is as it was."""
    before, now = dict(texts(base)), dict(texts(made))
    same = {field for field, text in now.items() if before.get(field) == text}
    kept = {
        code: {field: text for field, text in labels.items() if field in same}
        for code, labels in base.translations.items()
    }
    return {code: labels for code, labels in kept.items() if labels}


def _step_name(step: Mapping[str, Any]) -> str:
    if step["step"] in (CHAT, WRITE, *WITH_RIGHT, "onboarding"):
        return str(step["step"])
    return "live" if step.get("when") == "live" else str(step.get("over", "partner"))
