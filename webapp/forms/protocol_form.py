"""The form that a protocol is built with: its fields follow from those of the dataclasses.

All that was typed travels in the form itself, so that adding, moving and deleting questions loses
nothing and needs no script. A part that the form does not show stays as the protocol has it.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Chat, Draw, Protocol, Question, Rate, ours
from evaluation.registry import get_kind, kind_names
from evaluation.serialized import (
    InvalidProtocol,
    from_json,
    question_from_json,
    to_json,
)
from evaluation.soundness import complaints
from evaluation.words import NOT_SHOWN, texts, words_of
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.staff_forms.fields import BadField, one_of, shown, storable

CHAT, CONTEXTS, MESSAGES, CONVERSATION = "chat", "contexts", "messages", "conversation"
CONVERSATIONS = "conversations"
WRITE = "write"
# Of a copy only: what is written comes along as it is.
WRITING = {WRITE: gettext_lazy("They write, with the fields and checks of the protocol copied")}
ACTIVITIES: dict[str, str | Promise] = {
    CHAT: gettext_lazy("They have a conversation"),
    CONTEXTS: gettext_lazy("They judge replies to contexts that you import"),
    MESSAGES: gettext_lazy("They judge messages of other people's conversations"),
    CONVERSATION: gettext_lazy("They judge conversations of other people as a whole"),
    CONVERSATIONS: gettext_lazy("They judge speakers of whole conversations that you import"),
}
WHEN: dict[str, str | Promise] = {
    "each": gettext_lazy("About the partner after the conversation, or about each reply"),
    "live": gettext_lazy("About each message of the partner, while chatting"),
    "together": gettext_lazy("Once about all replies that are shown together"),
}
WHERE = {
    CHAT: ("each", "live"),
    CONTEXTS: ("each", "together"),
    MESSAGES: ("each",),
    CONVERSATION: ("each",),
    CONVERSATIONS: ("each", "together"),
}
OF_PROTOCOL = ("title", "minutes", "source", "language", "instructions")
OF_CHAT = ("partner", "told", "first", "opening", "minimum", "maximum", "pool", "debrief")
OF_RATE = ("show", "votes", "batch", "messages", "keep")
MOST_QUESTIONS = 50
UNLABELED = "-"  # a line that stands for an empty text, such as a point without a word
LABELS: dict[str, str | Promise] = {
    "instructions": gettext_lazy("Instructions, one per line"),
    "language": gettext_lazy("Language of the texts (a code, such as en)"),
    "minutes": gettext_lazy("Duration (minutes)"),
    "source": gettext_lazy("Where it comes from"),
    "told": gettext_lazy("What participants are told of the partner"),
    "first": gettext_lazy("Number of the first point"),
    "debrief": gettext_lazy("What participants are told at the end"),
    "show": gettext_lazy("Replies to a context are shown"),
    "keep": gettext_lazy("What all items of a participant have in common"),
    "messages": gettext_lazy("Messages of a context, least and most"),
    "name": gettext_lazy("Short name, for the data"),
    "text": gettext_lazy("Question"),
    "help": gettext_lazy("Help below the question"),
    "points": gettext_lazy("Points of the scale, one per line"),
    "options": gettext_lazy("Options, one per line"),
    "only_if": gettext_lazy("Asked only after an answer to (short name of an earlier question)"),
    "only_if.values": gettext_lazy("Answers that open it, as stored, separated by commas"),
    "otherwise": gettext_lazy("Stored where it is not asked"),
}
OF_CHAT_LABELS: dict[str, str | Promise] = {
    "partner": gettext_lazy("With whom"),
    "first": gettext_lazy("Who writes first"),
}
HELP: dict[str, str | Promise] = {
    "points": gettext_lazy("A line with only - is a point without a word."),
    "options": gettext_lazy("A word, or: stored value | word | definition."),
    "anchors": gettext_lazy("A position and its word: 0 | very bad. Both ends need one."),
    "opening": gettext_lazy("Said where the partner writes first; may be empty."),
    "pool": gettext_lazy("train, valid or test, or a split that you import; empty: no personas."),
    "only_if": gettext_lazy("Empty: it is always asked. Yes is stored as 1, no as 0."),
    "debrief": gettext_lazy("May be empty."),
}
WORDS: dict[str, str | Promise] = {
    "one": gettext_lazy("one at a time"),
    "pairs": gettext_lazy("in pairs, side by side"),
    "all": gettext_lazy("all on one page"),
    "either": gettext_lazy("a bot or a person"),
    "bot": gettext_lazy("a bot"),
    "person": gettext_lazy("a person"),
    "participant": gettext_lazy("the participant"),
    "partner": gettext_lazy("the partner"),
    "draw": gettext_lazy("drawn for each conversation"),
    "": gettext_lazy("nothing"),
    "group": gettext_lazy("the data set of the contexts"),
    "system": gettext_lazy("the system"),
}
LONG = ("text", "help", "told", "debrief")
Raw = Mapping[str, str]


@dataclass(frozen=True)
class FieldType:
    """A field of a dataclass, as text that is typed and as a value of JSON."""

    name: str
    hint: Any
    is_needed: bool
    known: Mapping[str, Any]  # texts with the JSON that has their provenance

    @property
    def is_optional(self) -> bool:
        return type(None) in get_args(self.hint)

    def form_field(self) -> TypedField:
        choices = [(each, str(WORDS.get(each, each))) for each in self._literals()]
        kind = "select" if choices else "checkbox" if self.hint is bool else "text"
        if self.name in LONG or (get_origin(self.hint) is tuple and self._item() is not int):
            kind = "textarea"
        label = LABELS.get(self.name, self.name.replace("_", " ").capitalize())
        help_text = HELP.get(self.name, "")
        field = TypedField(self.read, kind=kind, choices=choices, label=label, help_text=help_text)
        field.rows = 2 if self.name in LONG else 5
        return field

    def typed(self, value: Any) -> str:
        """Return a value of the dataclass as somebody would type it."""
        if isinstance(value, Draw):
            return ", ".join(map(str, value.options))
        if isinstance(value, bool):
            return "true" if value else ""
        if isinstance(value, float):
            return str(int(value)) if value.is_integer() else repr(value)
        if isinstance(value, tuple) and self._item() is int:
            return ", ".join(map(str, value))
        if isinstance(value, tuple):
            return "\n".join(map(_line, value))
        return "" if value is None else str(value)

    def read(self, typed: str) -> Any:
        """Return the value of JSON that was typed; None leaves the default. Raises `BadField`."""
        typed = typed.replace("\r\n", "\n").strip()
        if not storable(typed):
            raise BadField(_("has characters that cannot be stored; please type it again"))
        if self.hint is bool:
            return typed == "true"
        if choices := self._literals():
            return one_of({each: str(WORDS.get(each, each)) for each in choices})(typed)
        if not typed and self.is_needed:
            raise BadField(_("is empty; write something here"))
        return self._value(typed) if typed or str in self._hints() else None

    def _value(self, typed: str) -> Any:
        hints = self._hints()
        if self.hint is Draw:
            return {"options": [_number(each, int) for each in _listed(typed)]}
        if get_origin(self.hint) is tuple and self._item() is int:
            return [_number(each, int) for each in _listed(typed)]
        if get_origin(self.hint) is tuple:
            lines = [line.strip() for line in typed.split("\n") if line.strip()]
            return [self._of_line(line) for line in lines]
        if hints == {str}:
            return typed if self.name in NOT_SHOWN else self.known.get(typed, typed)
        if str in hints:
            return _scalar(typed)
        if hints <= {int, float}:
            return _number(typed, float if float in hints else int)
        return _json(typed)

    def _of_line(self, line: str) -> Any:
        if not dataclasses.is_dataclass(self._item()):
            text = "" if line == UNLABELED else line
            return self.known.get(text, text)
        fields = dataclasses.fields(self._item())
        parts = [part.strip() for part in line.split("|")]
        parts = [parts[0], *parts] if len(parts) == 1 else parts
        if len(parts) > len(fields):
            most = {"value": shown(line), "most": len(fields)}
            raise BadField(_("%(value)s has more than %(most)d parts between | and |") % most)
        hints = get_type_hints(self._item())
        return {
            field.name: self._part(field.name, hints[field.name], part)
            for field, part in zip(fields, parts, strict=False)
        }

    def _part(self, name: str, hint: Any, typed: str) -> Any:
        """Return one part of a line that stands for several values."""
        if hint in (int, float):
            return _number(typed, hint)
        return _scalar(typed) if name in NOT_SHOWN else self.known.get(typed, typed)

    def _hints(self) -> set[Any]:
        found = get_args(self.hint) if get_origin(self.hint) not in (None, tuple) else (self.hint,)
        return {each for each in found if each is not type(None)}

    def _literals(self) -> tuple[str, ...]:
        return get_args(self.hint) if get_origin(self.hint) is Literal else ()

    def _item(self) -> Any:
        return get_args(self.hint)[0] if get_origin(self.hint) is tuple else None


def _line(each: Any) -> str:
    if not dataclasses.is_dataclass(each):
        return str(each) or UNLABELED
    values = [getattr(each, field.name) for field in dataclasses.fields(each)]
    parts = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    while parts and not parts[-1]:
        parts.pop()
    return " | ".join(parts)


def _listed(typed: str) -> list[str]:
    return [part.strip() for part in typed.split(",") if part.strip()]


def _number(typed: str, kind: type) -> int | float:
    if re.fullmatch(r"-?[0-9]{1,9}", typed):
        return int(typed)
    if kind is float and re.fullmatch(r"-?[0-9]{1,9}\.[0-9]{1,9}", typed):
        return float(typed)
    what = _("a number, such as 0.5") if kind is float else _("a whole number")
    raise BadField(_("%(value)s is not %(what)s") % {"value": shown(typed), "what": what})


def _scalar(typed: str) -> int | float | str:
    """Return a stored value: a number where it is written as one."""
    try:
        return _number(typed, float)
    except BadField:
        return typed


def _json(typed: str) -> Any:
    try:
        return json.loads(typed)
    except (ValueError, RecursionError):
        complaint = _("%(value)s is no value of JSON; write one such as [1, 2]")
        raise BadField(complaint % {"value": shown(typed)}) from None


def types_of(part: Any, names: tuple[str, ...] = ()) -> dict[str, FieldType]:
    """Return the fields of a dataclass, or of a value of it, by name."""
    kind = part if isinstance(part, type) else type(part)
    known = {} if isinstance(part, type) else _known(part)
    hints = {n: h for n, h in get_type_hints(kind).items() if get_origin(h) is not ClassVar}
    fields = {each.name: each for each in dataclasses.fields(kind) if each.init}
    return {
        name: FieldType(name, hints[name], _is_needed(fields[name]), known)
        for name in names or fields
    }


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def _known(part: Any) -> dict[str, Any]:
    """Return every text of a part with its provenance, by the text as it is shown."""
    return {
        str(words): {"text": words.marked, "tag": words.tag, "where": words.where}
        | ({"quoted": True} if words.quoted else {})
        for _path, words in words_of(part)
        if words.tag != "D" or words.where != ours("").where
    }


def _typed(part: Any, names: tuple[str, ...]) -> dict[str, str]:
    return {name: each.typed(getattr(part, name)) for name, each in types_of(part, names).items()}


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


GATE = ("only_if", "only_if.values", "otherwise")


def _question_types(kind: type[Question], origin: Question | None) -> dict[str, FieldType]:
    found = types_of(kind if origin is None else origin)
    return {name: each for name, each in found.items() if name not in ("only_if", "otherwise")}


def _question_typed(question: Question, when: str) -> dict[str, str]:
    names = tuple(_question_types(type(question), None))
    gate = question.only_if
    values = () if gate is None else gate.values
    otherwise = "" if question.otherwise is None else str(question.otherwise)
    return {
        "kind": question.kind,
        "origin": question.name,
        "asked": when,
        **_typed(question, names),
        "only_if": gate.question if gate else "",
        "only_if.values": ", ".join(map(str, values)),
        "otherwise": otherwise,
    }


def typed(protocol: Protocol) -> dict[str, str]:
    """Return everything that the form holds for a protocol, as text."""
    raw = _typed(protocol, OF_PROTOCOL)
    chat, after = protocol.chat, protocol.after
    raw["activity"] = after.over if after and not chat else WRITE if protocol.write else CHAT
    first = {"partner": "bot", "minimum": "10", "first": "participant"}
    raw |= _under("chat", _typed(chat, OF_CHAT) if chat else first)
    raw |= _under("rate", _typed(after or Rate(each=()), OF_RATE))
    listed = [(question, "live") for rate in (protocol.live,) if rate for question in rate.each]
    if after:
        listed += [(question, "each") for question in after.each]
        listed += [(question, "together") for question in after.together]
    for key, (question, when) in enumerate(listed, start=1):
        raw |= _under(f"q{key}", _question_typed(question, when))
    return raw | {"questions": " ".join(str(key + 1) for key in range(len(listed)))}


def _under(prefix: str, values: Raw) -> dict[str, str]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def keys_of(raw: Raw) -> list[str]:
    """Return the numbers of the form's questions, in the order of the page."""
    found = dict.fromkeys(re.findall(r"[0-9]{1,6}", raw.get("questions", "")[:1000]))
    return [key for key in found if raw.get(f"q{key}.kind") in kind_names()][:MOST_QUESTIONS]


def acted(raw: Raw, action: str) -> dict[str, str]:
    """Return the form's text after a button: `add`, `delete 3`, `up 3` or `down 3`."""
    keys = keys_of(raw)
    name, _space, key = action.partition(" ")
    changed = dict(raw)
    if name == "add" and raw.get("add_kind") in kind_names() and len(keys) < MOST_QUESTIONS:
        key = str(max(map(int, keys), default=0) + 1)
        keys.append(key)
        changed |= _under(f"q{key}", _fresh(raw["add_kind"], key, raw))
    elif key in keys:
        index = keys.index(key)
        keys.remove(key)
        if name != "delete":
            keys.insert(max(0, index + {"up": -1, "down": 1}.get(name, 0)), key)
    return changed | {"questions": " ".join(keys)}


def _fresh(kind: str, key: str, raw: Raw) -> dict[str, str]:
    """Return a new question's text: its kind's sample, but for the words of the question."""
    sample = get_kind(kind).sample()
    needed = {
        name: each.typed(getattr(sample, name))
        if each.is_needed
        else each.typed(_default(type(sample), name))
        for name, each in _question_types(type(sample), None).items()
    }
    when = "together" if sample.compares == "together" else "each"
    names = {raw.get(f"q{each}.name") for each in keys_of(raw)}
    free = (f"question_{n}" for n in range(int(key), 10_000))
    name = next(each for each in free if each not in names)
    return needed | {"kind": kind, "asked": when, "name": name, "text": "", "help": ""}


def _default(kind: type, name: str) -> Any:
    field = next(each for each in dataclasses.fields(kind) if each.name == name)
    return field.default if field.default is not dataclasses.MISSING else None


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
        }
        for prefix, found in self._parts.items():
            for name, each in found.items():
                if prefix in ("", self._prefix):
                    self.fields[prefix + name] = _labeled(each, Chat if prefix == "chat." else Rate)
        activities = ACTIVITIES | (WRITING if base.write else {})
        self.fields["activity"] = _select(activities, _("What participants do"))
        self._cards = [*self._read_cards()]

    @property
    def _prefix(self) -> str:
        return {CHAT: "chat.", WRITE: "write."}.get(self.activity, "rate.")

    def _read_cards(self) -> Iterator[Card]:
        origins = {
            question.name: question for rate in self.base.rates for question in rate.questions
        }
        for number, key in enumerate(keys_of(self.raw), start=1):
            kind = get_kind(self.raw[f"q{key}.kind"])
            origin = origins.get(self.raw.get(f"q{key}.origin", ""))
            origin = origin if type(origin) is kind else None
            card = Card(key, number, kind, origin)
            for name, each in _question_types(kind, origin).items():
                self.fields[f"q{key}.{name}"] = each.form_field()
            where = WHERE.get(self.activity, WHERE[CHAT])
            choices = {name: WHEN[name] for name in where}
            self.fields[f"q{key}.asked"] = _select(choices, _("When it is asked"))
            for name in GATE:
                self.fields[f"q{key}.{name}"] = TypedField(
                    _storable, label=LABELS[name], help_text=HELP.get(name, "")
                )
            yield card

    # --- on the page

    @property
    def is_chat(self) -> bool:
        return self.activity == CHAT

    def basics(self) -> list[BoundField]:
        return [self[name] for name in (*OF_PROTOCOL, "activity")]

    def activity_fields(self) -> list[BoundField]:
        return [self[name] for name in self.fields if name.startswith(self._prefix)]

    def cards(self) -> list[Card]:
        """Return the questions with their fields; those that few people need apart."""
        found = []
        for card in self._cards:
            more = [f"q{card.key}.{name}" for name in GATE]
            prefix = f"q{card.key}."
            names = [n for n in self.fields if n.startswith(prefix) and n not in more]
            first = [prefix + "text", prefix + "asked"]
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
        together = self.activity in (CONTEXTS, CONVERSATIONS) and shows != "one"
        return [
            (name, kind_words(name))
            for name in kind_names()
            if (together or not get_kind(name).compares)
            and (self.activity == CHAT or get_kind(name).sample().personas_beside() is None)
        ]

    def kept(self) -> list[str]:
        """Return what the conversation has beside the fields: its checks of messages."""
        chat = self.base.chat
        if chat is None or self.activity != CHAT:
            return []
        return [check.name for check in (*chat.checks, *chat.partner_checks)]

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
                fields = [f"q{card.key}.{word}" for word in words]
                found = next((field for field in fields if field in self.fields), None)
                self.add_error(found or f"q{card.key}.name", complaint)
                return
        self.add_error("activity", complaint)

    def _protocol(self, cards: list[Card], values: Mapping[str, Any]) -> Protocol:
        """Return the protocol of these values. Raises `InvalidProtocol`."""
        content = to_json(self.base) | self._of_part("", values)
        by_time: dict[str, list[Any]] = {name: [] for name in WHEN}
        for card in cards:
            by_time[values[f"q{card.key}.asked"]].append(self._question(card, values))
        content["steps"] = [*self._steps(by_time, values)]
        content["sources"] = {}
        made = from_json(content)
        now = {setting.name: setting.value for setting in made.settings()}
        before = {setting.name: setting.value for setting in self.base.settings()}
        kept = {n: s for n, s in self.base.sources.items() if n in now and now[n] == before.get(n)}
        labels = _still_right(self.base, made)
        return dataclasses.replace(made, sources=kept, translations=labels)

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
        read = {name: values[prefix + name] for name in _question_types(card.kind, card.origin)}
        made = {"kind": card.kind.kind} | {n: each for n, each in read.items() if each is not None}
        gate, otherwise = values[prefix + "only_if"], values[prefix + "otherwise"]
        if gate:
            opens = [_scalar(each) for each in _listed(values[prefix + "only_if.values"])]
            made["only_if"] = {"question": gate, "values": opens}
        if otherwise or (gate and getattr(card.kind, "level", "") == "text"):
            made["otherwise"] = _scalar(otherwise)
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
    if step["step"] in (CHAT, WRITE):
        return str(step["step"])
    return "live" if step.get("when") == "live" else str(step.get("over", "partner"))


def _is_wrong(form: ProtocolForm, card: Card) -> bool:
    return any(name.startswith(f"q{card.key}.") for name in form.errors)


def _labeled(each: FieldType, part: type) -> TypedField:
    """Return a field with the label that the setting of a campaign has."""
    field = each.form_field()
    if part is Chat:
        field.label = str(OF_CHAT_LABELS.get(each.name, field.label))
    found = {one.name: one.metadata.get("setting") for one in dataclasses.fields(part)}
    about = found.get(each.name)
    if about is not None:
        field.label = about.label
        field.help_text = HELP.get(each.name, about.help)
    return field


def _select(choices: Mapping[str, str | Promise], label: str) -> TypedField:
    words = {name: str(each) for name, each in choices.items()}
    return TypedField(one_of(words), kind="select", choices=words.items(), label=label)


def _storable(typed: str) -> str:
    if not storable(typed):
        raise BadField(_("has characters that cannot be stored; please type it again"))
    return typed.strip()
