"""Typed fields of staff's forms: what was typed stays; a function reads or refuses it.

A page of what is stored says in its field `basis` what it was filled in with, so that two people,
or two tabs, do not undo each other's changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext as _

from webapp.services.staff_forms.fields import BadField, Invalid, Parse, shown, yes_no

BASIS = "basis"  # the hidden field


class TypedBoundField(BoundField):
    """A field as `staff/_field.html` shows it: `raw` is what was typed, or what is stored."""

    @property
    def raw(self) -> str:
        value = self.value()
        return "" if value is None else str(value)

    @property
    def error(self) -> str:
        return str(self.errors[0]) if self.errors else ""

    @property
    def checked(self) -> bool:
        return yes_no(self.raw)

    @property
    def departs(self) -> bool:
        return isinstance(self.field, TypedField) and self.field.departs(self.raw)


class TypedField(forms.Field):
    """A field whose text `read` turns into a value; `BadField` says what would be right.

    kind: text, textarea, number, checkbox, select or url. rows: the height of a textarea.
    is_detail: whether it says more about the box before it.
    """

    rows = 14
    is_detail = False  # of the field before it

    def __init__(
        self,
        read: Parse,
        *,
        kind: str = "text",
        choices: Iterable[tuple[str, str]] = (),
        rows: int = 0,
        **about: Any,
    ) -> None:
        super().__init__(required=False, widget=forms.TextInput, **about)
        self.read, self.kind, self.choices = read, kind, tuple(choices)
        self.rows = rows or self.rows

    def to_python(self, value: Any) -> Any:
        try:
            return self.read(value or "")
        except BadField as problem:
            raise forms.ValidationError(str(problem)) from None

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> TypedBoundField:
        return TypedBoundField(form, self, field_name)

    def departs(self, typed: str) -> bool:
        """Tell whether what was typed departs from a source; only a setting has one."""
        return False

    def plain(self, text: str) -> str:
        """Return a text as it compares: a page sends other line ends, and boxes in its own way."""
        if self.kind == "checkbox":
            return "true" if yes_no(text) else ""
        return "\n".join(text.strip().splitlines())

    def in_words(self, text: str) -> str:
        """Return a value as a complaint names it."""
        if self.kind == "checkbox":
            return _("on") if yes_no(text) else _("off")
        return shown(dict(self.choices).get(text, text)) if text else _("empty")


class StaffForm(forms.Form):
    """A form of typed fields, whose names may have dots.

    is_stored: whether it is of something that is stored, and others may change as well.
    newer: the fields that others have changed meanwhile, once the form was checked.
    """

    is_stored = False
    newer: frozenset[str] = frozenset()

    @property
    def basis(self) -> str:
        """What a page of this form is filled in with, for `full_clean` to know it again.

        A preset fills in a form whose basis remains that of the page before.
        """
        if not self.is_stored:
            return ""
        return str(self.initial.get(BASIS, "")) or json.dumps(
            {name: _digest(self._stored(name)) for name in self.fields}, separators=(",", ":")
        )

    def full_clean(self) -> None:
        """Check all fields; one that others changed meanwhile has a complaint.

        What was not touched on the page becomes what is stored now, and what was typed stays:
        the next page has both, and storing it takes over the one and replaces the other.
        """
        newer = self._changed_meanwhile() if self.is_bound else {}
        fresh = {name: text for name, (text, is_touched) in newer.items() if not is_touched}
        if newer:
            self.data = {name: self.data[name] for name in self.data} | fresh
        super().full_clean()
        self.newer = frozenset(newer)
        for name, (text, is_touched) in newer.items():
            about = {"value": self._field(name).in_words(text)}
            complaint = _("somebody saved %(value)s here meanwhile; saving now keeps it")
            if is_touched:
                complaint = _("somebody saved %(value)s here meanwhile; saving now replaces it")
            self.add_error(name, complaint % about)
            found = self.errors[name].data
            found.insert(0, found.pop())  # the one that is shown: it is said this once

    def _changed_meanwhile(self) -> dict[str, tuple[str, bool]]:
        """Return what others changed since the page was made, and whether it was touched there.

        Where both made the same of it nothing needs to be said.
        """
        found: dict[str, tuple[str, bool]] = {}
        for name, before in _read(self.data.get(BASIS, "")).items():
            if name in self.fields and before != _digest(now := self._stored(name)):
                typed = self._field(name).plain(str(self.data.get(name, "")))
                if typed != now:
                    found[name] = (now, _digest(typed) != before)
        return found

    def _field(self, name: str) -> TypedField:
        return cast("TypedField", self.fields[name])

    def _stored(self, name: str) -> str:
        field = self._field(name)
        return field.plain(str(self.get_initial_for_field(field, name) or ""))

    def typed(self) -> dict[str, str]:
        """Return every field's text: of a form that nobody filled in, what it starts from."""
        return {name: str(self[name].value() or "") for name in self.fields}

    def wrong(self) -> list[BoundField]:
        """Return the fields with complaints."""
        return [field for field in self if field.errors]

    def refuse(self, problems: Mapping[str, str]) -> None:
        """Add complaints that only a service can make."""
        for name, complaint in problems.items():
            self.add_error(name, complaint)

    def values(self) -> dict[str, Any]:
        """Return the fields' values. Raises `Invalid` with a complaint for each wrong field."""
        if not self.is_valid():
            raise Invalid({name: str(found[0]) for name, found in self.errors.items()})
        return self.cleaned_data


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _read(basis: str) -> dict[str, str]:
    """Return what a page says that it was filled in with; of anything else nothing."""
    try:
        found = json.loads(basis or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
