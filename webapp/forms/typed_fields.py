"""Typed fields of staff's forms: what was typed stays; a function reads or refuses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from webapp.services.staff_forms.fields import BadField, Invalid, Parse, yes_no


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
        **about: Any,
    ) -> None:
        super().__init__(required=False, widget=forms.TextInput, **about)
        self.read, self.kind, self.choices = read, kind, tuple(choices)

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


class StaffForm(forms.Form):
    """A form of typed fields, whose names may have dots."""

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
