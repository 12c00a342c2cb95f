"""The form that a protocol is built with: its fields follow from those of the dataclasses.

All that was typed travels in the form itself, so that adding, moving and deleting questions loses
nothing and needs no script. A part that the form does not show stays as the protocol has it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Chat, Onboarding, Protocol, Question, Quiz, Rate
from evaluation.registry import get_kind, kind_names
from evaluation.serialized import (
    InvalidProtocol,
    from_json,
    question_from_json,
    to_json,
)
from evaluation.soundness import complaints
from evaluation.words import texts
from webapp.forms.protocol_fields import (
    HELP,
    LABELS,
    FieldType,
    known_texts,
    labeled_field,
    listed,
    scalar,
    types_of,
)
from webapp.forms.protocol_text import (
    BEFORE,
    CHAT,
    CONTEXTS,
    CONVERSATION,
    GATE,
    KNOWN,
    MESSAGES,
    OF_CHAT,
    OF_ONBOARDING,
    OF_PROTOCOL,
    OF_QUIZ,
    OF_RATE,
    SPEAKERS,
    WRITE,
    Raw,
    keys_of,
    question_types,
    typed,
)
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.staff_forms.fields import BadField, one_of, storable

# Of a copy only: what is written comes along as it is.
WRITING = {WRITE: gettext_lazy("They write, with the fields and checks of the protocol copied")}
ACTIVITIES: dict[str, str | Promise] = {
    CHAT: gettext_lazy("They have a conversation"),
    CONTEXTS: gettext_lazy("They judge replies to contexts that you import"),
    MESSAGES: gettext_lazy("They judge messages of other people's conversations"),
    CONVERSATION: gettext_lazy("They judge conversations of other people as a whole"),
    SPEAKERS: gettext_lazy("They judge speakers of whole conversations that you import"),
}
WHEN: dict[str, str | Promise] = {
    "each": gettext_lazy("About the partner after the conversation, or about each reply"),
    "live": gettext_lazy("About each message of the partner, while chatting"),
    "together": gettext_lazy("Once about all replies that are shown together"),
    "screening": gettext_lazy("About the participant, before the instructions: who may take part"),
    "quiz": gettext_lazy("About the instructions, in a quiz before the work"),
}
WHERE = {
    CHAT: ("each", "live", *BEFORE),
    CONTEXTS: ("each", "together", *BEFORE),
    MESSAGES: ("each", *BEFORE),
    CONVERSATION: ("each", *BEFORE),
    SPEAKERS: ("each", "together", *BEFORE),
}
WITH_KNOWN = (CONTEXTS, SPEAKERS)  # of whose items some may have known answers
PARTS = {"chat.": Chat, "rate.": Rate, "quiz.": Quiz, "onboarding.": Onboarding}


@dataclass(frozen=True)
class Card:
    """A question of the form: its number in the form's fields, its number on the page, its kind."""

    key: str
    number: int
    kind: type[Question]
    origin: Question | None
    fields: tuple[BoundField, ...] = ()
    more: tuple[BoundField, ...] = ()
    is_last: bool = False

    @property
    def words(self) -> str:
        return kind_words(self.kind.kind)

    @property
    def is_open(self) -> bool:
        """Whether the fields that few people need are shown."""
        return any(field.errors or field.value() for field in self.more)


def kind_words(kind: str) -> str:
    """Return a kind of question as people call it."""
    words = {"likert": _("Likert scale"), "yes_no": _("Yes or no")}
    return str(words.get(kind, kind.replace("_", " ").capitalize()))


class ProtocolForm(StaffForm):
    """The builder's form, begun from a protocol.

    raw: what was typed. check: whether it is to be read; else it is only shown again.
    """

    def __init__(self, base: Protocol, raw: Raw | None = None, *, check: bool = False) -> None:
        raw = typed(base) if raw is None else raw
        super().__init__(dict(raw) if check else None, initial=dict(raw))
        self.base, self.raw = base, raw
        self.activity = raw.get("activity", CHAT)
        self._parts: dict[str, dict[str, FieldType]] = {
            "": types_of(base, OF_PROTOCOL),
            "chat.": types_of(base.chat or Chat, OF_CHAT),
            "rate.": types_of(base.after or Rate, OF_RATE),
            "quiz.": types_of(base.quiz or Quiz, OF_QUIZ),
            "onboarding.": {  # empty where there is none
                name: dataclasses.replace(each, is_needed=False)
                for name, each in types_of(base.onboarding or Onboarding, OF_ONBOARDING).items()
            },
        }
        for prefix in ("", *self._prefixes):
            for name, each in self._parts[prefix].items():
                self.fields[prefix + name] = labeled_field(each, PARTS.get(prefix, Rate))
        activities = ACTIVITIES | (WRITING if base.write else {})
        self.fields["activity"] = _select(activities, _("What participants do"))
        self._cards = [*self._read_cards()]

    @property
    def _prefixes(self) -> tuple[str, ...]:
        """Return the parts whose fields are shown, by what participants do."""
        before = {self.raw.get(f"q{key}.asked") for key in keys_of(self.raw)}
        quiz = ("quiz.",) if "quiz" in before else ()
        rated = dict.fromkeys(WITH_KNOWN, ("rate.", "onboarding."))
        shown = {CHAT: ("chat.",), WRITE: (), **rated}
        return (*shown.get(self.activity, ("rate.",)), *quiz)

    def _read_cards(self) -> Iterator[Card]:
        origins = {question.name: question for question in self.base.questions}
        for number, key in enumerate(keys_of(self.raw), start=1):
            kind = get_kind(self.raw[f"q{key}.kind"])
            origin = origins.get(self.raw.get(f"q{key}.origin", ""))
            origin = origin if type(origin) is kind else None
            card = Card(key, number, kind, origin)
            for name, each in question_types(kind, origin).items():
                self.fields[f"q{key}.{name}"] = each.form_field()
            where = WHERE.get(self.activity, WHERE[CHAT])
            choices = {name: WHEN[name] for name in where}
            self.fields[f"q{key}.asked"] = _select(choices, _("When it is asked"))
            for name in (*self._known_fields(key), *GATE):
                self.fields[f"q{key}.{name}"] = TypedField(
                    _storable, label=LABELS[name], help_text=HELP.get(name, "")
                )
            yield card

    def _known_fields(self, key: str) -> tuple[str, ...]:
        """Return the fields of right answers, which only questions before the work have."""
        when = self.raw.get(f"q{key}.asked", "")
        return KNOWN[: {"screening": 1, "quiz": 2}.get(when, 0)]

    # --- on the page

    @property
    def is_chat(self) -> bool:
        return self.activity == CHAT

    def basics(self) -> list[BoundField]:
        return [self[name] for name in (*OF_PROTOCOL, "activity")]

    def activity_fields(self) -> list[BoundField]:
        return [self[name] for name in self.fields if name.startswith(self._prefixes)]

    def cards(self) -> list[Card]:
        """Return the questions with their fields; those that few people need apart."""
        found = []
        for card in self._cards:
            more = [f"q{card.key}.{name}" for name in GATE]
            prefix = f"q{card.key}."
            names = [n for n in self.fields if n.startswith(prefix) and n not in more]
            first = [prefix + "text", prefix + "asked"]
            known = [prefix + name for name in self._known_fields(card.key)]
            first += known
            rest = [name for name in names if name not in first]
            found.append(
                dataclasses.replace(
                    card,
                    fields=tuple(self[name] for name in (*first, *rest)),
                    more=tuple(self[name] for name in more),
                    is_last=card.number == len(self._cards),
                )
            )
        return found

    def hidden(self) -> list[tuple[str, str]]:
        """Return what the form carries without showing it."""
        names = ["questions"]
        names += [f"q{card.key}.{name}" for card in self._cards for name in ("kind", "origin")]
        known = [f"q{card.key}.{name}" for card in self._cards for name in KNOWN]
        names += [name for name in known if name not in self.fields]
        names += [
            prefix + name
            for prefix, found in self._parts.items()
            for name in found
            if prefix + name not in self.fields
        ]
        return [(name, self.raw[name]) for name in names if name in self.raw]

    def kinds(self) -> list[tuple[str, str]]:
        """Return the kinds of question that can be asked with what participants do."""
        shows = self.raw.get("rate.show", "one")
        together = self.activity in (CONTEXTS, SPEAKERS) and shows != "one"
        return [
            (name, kind_words(name))
            for name in kind_names()
            if (together or not get_kind(name).compares)
            and (self.activity == CHAT or get_kind(name).sample().personas_beside() is None)
        ]

    def kept(self) -> list[str]:
        """Return what the conversation has beside the fields: its checks of messages."""
        chat = self.base.chat
        return [check.name for check in chat.checks] if chat and self.activity == CHAT else []

    # --- what was typed

    def clean(self) -> dict[str, Any]:
        """Complain about what the protocol would refuse."""
        if not self.errors:
            try:
                protocol = self._protocol(self._cards, self.cleaned_data)
            except InvalidProtocol as problem:
                self._refuse(str(problem))
            else:
                self._look_at(protocol)
        return self.cleaned_data

    def protocol(self) -> Protocol:
        """Return the protocol that was typed; the form has to be valid."""
        return self._protocol(self._cards, self.cleaned_data)

    def sample(self) -> Protocol | None:
        """Return a protocol of those questions that are whole, where they make one."""
        checked = self if self.is_bound else ProtocolForm(self.base, self.raw, check=True)
        checked.is_valid()
        whole = [card for card in checked._cards if not _is_wrong(checked, card)]
        if not whole or "activity" not in checked.cleaned_data:
            return None
        try:
            return checked._protocol(whole, checked.cleaned_data)
        except InvalidProtocol:
            return None

    def _look_at(self, protocol: Protocol) -> None:
        for about, complaint in complaints(protocol):
            if about.startswith("question "):
                self._refuse(f"{about}: {complaint}")
            elif about in self.fields:
                self.add_error(about, complaint)
            else:
                about = "title" if about == "name" else "activity"
                self.add_error(about, complaint)

    def _refuse(self, complaint: str) -> None:
        """Put a complaint to the field it names: of a question, or what participants do."""
        for card in self._cards:
            name = str(self.cleaned_data.get(f"q{card.key}.name"))
            if re.search(rf"question {re.escape(name)}:", complaint):
                words = re.findall(r"[a-z_]+", complaint.partition(f"{name}:")[2])
                words = ["right" if word in ("passes", "answers") else word for word in words]
                fields = [f"q{card.key}.{word}" for word in words]
                found = next((field for field in fields if field in self.fields), None)
                self.add_error(found or f"q{card.key}.name", complaint)
                return
        self.add_error("activity", complaint)

    def _protocol(self, cards: list[Card], values: Mapping[str, Any]) -> Protocol:
        """Return the protocol of these values. Raises `InvalidProtocol`."""
        content = to_json(self.base) | self._of_part("", values)
        by_time: dict[str, list[Any]] = {name: [] for name in WHEN}
        known: dict[str, list[Any]] = {name: [] for name in BEFORE}
        for card in cards:
            when = values[f"q{card.key}.asked"]
            by_time[when].append(self._question(card, values))
            if when in BEFORE:
                known[when] += self._known(card, values)
        before = self._before(by_time, known, values)
        content["steps"] = [*before, *self._steps(by_time, values)]
        content["sources"] = {}
        made = from_json(content)
        now = {setting.name: setting.value for setting in made.settings()}
        then = {setting.name: setting.value for setting in self.base.settings()}
        kept = {n: s for n, s in self.base.sources.items() if n in now and now[n] == then.get(n)}
        labels = _still_right(self.base, made)
        return dataclasses.replace(made, sources=kept, translations=labels)

    def _before(
        self,
        by_time: Mapping[str, list[Any]],
        known: Mapping[str, list[Any]],
        values: Mapping[str, Any],
    ) -> Iterator[Any]:
        """Yield the steps before the work, as JSON."""
        if found := by_time["screening"]:
            yield {"step": "screening", "questions": found, "passes": known["screening"]}
        if found := by_time["quiz"]:
            own = self._of_part("quiz.", values)
            yield {"step": "quiz", "questions": found, "answers": known["quiz"], **own}
        if values["activity"] in WITH_KNOWN and values.get("onboarding.items") is not None:
            yield {"step": "onboarding", **self._of_part("onboarding.", values)}

    def _known(self, card: Card, values: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the answers that pass, of a question before the work that has any."""
        prefix = f"q{card.key}."
        right = [scalar(each) for each in listed(values.get(prefix + "right", ""))]
        found: dict[str, Any] = {"question": values[prefix + "name"], "values": right}
        if text := values.get(prefix + "explanation"):
            found["explanation"] = known_texts(self.base).get(text, text)
        if right or values[prefix + "asked"] == "quiz":
            yield found

    def _steps(self, by_time: Mapping[str, list[Any]], values: Mapping[str, Any]) -> Iterator[Any]:
        activity = values["activity"]
        steps = {_step_name(each): each for each in to_json(self.base)["steps"]}
        if activity == CHAT:
            yield steps.get("chat", {"step": "chat"}) | self._of_part("chat.", values)
            if by_time["live"]:
                live = {"step": "rate", "over": MESSAGES, "when": "live"}
                yield steps.get("live", live) | {"each": by_time["live"]}
        if activity == WRITE:
            yield steps[WRITE]
        has_partner = activity in (CHAT, WRITE)
        over = "partner" if has_partner else activity
        after = steps.get(over, {"step": "rate", "over": over})
        after = after | {"each": by_time["each"], "together": by_time["together"]}
        if not has_partner:
            yield after | self._of_part("rate.", values)
        elif by_time["each"]:
            yield after

    def _of_part(self, prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
        found = {name: values.get(prefix + name) for name in self._parts[prefix]}
        types = self._parts[prefix]
        return {n: each for n, each in found.items() if each is not None or types[n].is_optional}

    def _question(self, card: Card, values: Mapping[str, Any]) -> dict[str, Any]:
        prefix = f"q{card.key}."
        read = {name: values[prefix + name] for name in question_types(card.kind, card.origin)}
        made = {"kind": card.kind.kind} | {n: each for n, each in read.items() if each is not None}
        gate, otherwise = values[prefix + "only_if"], values[prefix + "otherwise"]
        if gate:
            opens = [scalar(each) for each in listed(values[prefix + "only_if.values"])]
            made["only_if"] = {"question": gate, "values": opens}
        if otherwise or (gate and getattr(card.kind, "level", "") == "text"):
            made["otherwise"] = scalar(otherwise)
        question_from_json(made)  # whose complaint names the question
        return made


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
    if step["step"] in (CHAT, WRITE, *BEFORE, "onboarding"):
        return str(step["step"])
    return "live" if step.get("when") == "live" else str(step.get("over", "partner"))


def _is_wrong(form: ProtocolForm, card: Card) -> bool:
    return any(name.startswith(f"q{card.key}.") for name in form.errors)


def _select(choices: Mapping[str, str | Promise], label: str) -> TypedField:
    words = {name: str(each) for name, each in choices.items()}
    return TypedField(one_of(words), kind="select", choices=words.items(), label=label)


def _storable(typed: str) -> str:
    if not storable(typed):
        raise BadField(_("has characters that cannot be stored; please type it again"))
    return typed.strip()
