"""Fields of a protocol's parts: each as text that is typed, and as a value of JSON.

They follow from the dataclasses, so that a new field of a step or a question needs nothing here.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from django.utils.translation import gettext as _

from evaluation import AnsweredExample, Chat, Draw, WorkedExample, ours
from evaluation.serialized import field_types
from evaluation.setting_types import OneOf, SettingType, WordList
from evaluation.words import NOT_SHOWN, words_of
from webapp.forms.protocol_words import HELP, LABELS, OF_CHAT_LABELS, WORDS
from webapp.forms.typed_fields import TypedField
from webapp.services.staff_forms.fields import BadField, one_of, shown, storable

UNLABELED = "-"  # a line that stands for an empty text, such as a point without a word
LONG = ("text", "help", "told", "debrief")
NOT_IN_A_LINE = ("images",)  # of an example, which have cards of their own


@dataclass(frozen=True)
class FieldType:
    """A field of a dataclass, as text that is typed and as a value of JSON."""

    name: str
    hint: Any
    is_needed: bool
    known: Mapping[str, Any]  # texts with the JSON that has their provenance
    default: Any = None
    setting: SettingType | None = None  # where a campaign can change it

    @property
    def is_optional(self) -> bool:
        return type(None) in get_args(self.hint)

    def form_field(self) -> TypedField:
        choices = list(self._choices().items())
        kind = "select" if choices else "checkbox" if self.hint is bool else "text"
        if self.name in LONG or (get_origin(self.hint) is tuple and self._item() is not int):
            kind = "textarea"
        kind = "text" if isinstance(self.setting, WordList) else kind
        label = LABELS.get(self.name, self.name.replace("_", " ").capitalize())
        help_text = HELP.get(self.name, "")
        field = TypedField(self.read, kind=kind, choices=choices, label=label, help_text=help_text)
        field.rows = 2 if self.name in LONG else 5
        return field

    def typed(self, value: Any) -> str:
        """Return a value of the dataclass as somebody would type it."""
        if isinstance(self.setting, WordList):
            return ", ".join(value)
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
        if choices := self._choices():
            return one_of(choices)(typed)
        if not typed and self.is_needed:
            raise BadField(_("is empty; write something here"))
        return self._value(typed) if typed or str in self._hints() else None

    def _value(self, typed: str) -> Any:
        hints = self._hints()
        if isinstance(self.setting, WordList):
            return self.setting.read(typed)
        if self.hint is Draw:
            return {"options": [_number(each, int) for each in listed(typed)]}
        if get_origin(self.hint) is tuple and self._item() is int:
            return [_number(each, int) for each in listed(typed)]
        if get_origin(self.hint) is tuple:
            lines = [line.strip() for line in typed.split("\n") if line.strip()]
            return [self._of_line(line) for line in lines]
        if hints == {str}:
            return typed if self.name in NOT_SHOWN else self.known.get(typed, typed)
        if str in hints:
            return scalar(typed)
        if hints <= {int, float}:
            return _number(typed, float if float in hints else int)
        return _json(typed)

    def _of_line(self, line: str) -> Any:
        if not dataclasses.is_dataclass(self._item()):
            text = "" if line == UNLABELED else line
            return self.known.get(text, text)
        fields = _in_a_line(self._item())
        parts = [part.strip() for part in line.split("|")]
        if len(parts) == 1 and self._item() is AnsweredExample:
            raise BadField(
                _("%(value)s has no answer; write it behind a |") % {"value": shown(line)}
            )
        if len(parts) == 1 and self._item() is not WorkedExample:
            parts = [parts[0], *parts]
        if len(parts) > len(fields):
            most = {"value": shown(line), "most": len(fields)}
            raise BadField(_("%(value)s has more than %(most)d parts between | and |") % most)
        hints = field_types(self._item())
        return {
            field.name: self._part(field.name, hints[field.name], part)
            for field, part in zip(fields, parts, strict=False)
        }

    def _part(self, name: str, hint: Any, typed: str) -> Any:
        """Return one part of a line that stands for several values."""
        if hint in (int, float):
            return _number(typed, hint)
        if hint is bool:
            return one_of({"yes": _("yes"), "no": _("no")})(typed) == "yes"
        return scalar(typed) if name in NOT_SHOWN else self.known.get(typed, typed)

    def _hints(self) -> set[Any]:
        found = get_args(self.hint) if get_origin(self.hint) not in (None, tuple) else (self.hint,)
        return {each for each in found if each is not type(None)}

    def _choices(self) -> dict[str, str]:
        """Return the values of a choice with their words."""
        words = {
            each: WORDS.get(f"{self.name}.{each}", WORDS.get(each, each))
            for each in self._literals()
        }
        return {each: str(found) for each, found in words.items()}

    def _literals(self) -> tuple[str, ...]:
        if isinstance(self.setting, OneOf):
            return self.setting.options
        return get_args(self.hint) if get_origin(self.hint) is Literal else ()

    def _item(self) -> Any:
        return get_args(self.hint)[0] if get_origin(self.hint) is tuple else None


def _line(each: Any) -> str:
    if not dataclasses.is_dataclass(each):
        return str(each) or UNLABELED
    values = [getattr(each, field.name) for field in _in_a_line(each)]
    return joined([_part_of_line(value) for value in values])


def joined(parts: Sequence[str]) -> str:
    """Return the parts of a line with bars between them, as the form shows it again."""
    kept = list(parts)
    while kept and not kept[-1]:
        kept.pop()
    return " | ".join(kept)


def lines_of(typed: str) -> list[str]:
    """Return the lines of a field as the form shows them again."""
    split = [line.split("|") for line in typed.split("\n") if line.strip()]
    return [joined([part.strip() for part in parts]) for parts in split]


def _in_a_line(part: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(part) if field.name not in NOT_IN_A_LINE]


def _part_of_line(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def listed(typed: str) -> list[str]:
    return [part.strip() for part in typed.split(",") if part.strip()]


def _number(typed: str, kind: type) -> int | float:
    if re.fullmatch(r"-?[0-9]{1,9}", typed):
        return int(typed)
    if kind is float and re.fullmatch(r"-?[0-9]{1,9}\.[0-9]{1,9}", typed):
        return float(typed)
    what = _("a number, such as 0.5") if kind is float else _("a whole number")
    raise BadField(_("%(value)s is not %(what)s") % {"value": shown(typed), "what": what})


def scalar(typed: str) -> int | float | str:
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
    known = {} if isinstance(part, type) else known_texts(part)
    hints = field_types(kind)
    fields = {each.name: each for each in dataclasses.fields(kind) if each.init}
    return {name: _field_type(fields[name], hints[name], known) for name in names or fields}


def _field_type(field: dataclasses.Field[Any], hint: Any, known: Mapping[str, Any]) -> FieldType:
    is_needed = field.default is field.default_factory is dataclasses.MISSING
    default = None if field.default is dataclasses.MISSING else field.default
    about = field.metadata.get("setting")
    return FieldType(field.name, hint, is_needed, known, default, about.type if about else None)


def known_texts(part: Any) -> dict[str, Any]:
    """Return every text of a part with its provenance, by the text as it is shown."""
    return {
        str(words): {"text": words.marked, "tag": words.tag, "where": words.where}
        | ({"quoted": True} if words.quoted else {})
        for _path, words in words_of(part)
        if words.tag != "D" or words.where != ours("").where
    }


def typed_part(part: Any, names: tuple[str, ...]) -> dict[str, str]:
    return {name: each.typed(getattr(part, name)) for name, each in types_of(part, names).items()}


def labeled_field(each: FieldType, part: type) -> TypedField:
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
