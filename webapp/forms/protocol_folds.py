"""Folds of the builder: fields that few people need, by what they are about.

Apart because neither a field nor its value depends on where it stands.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from evaluation.serialized import CHECKS
from webapp.forms.protocol_parts import (
    BY_BOTS,
    BY_PARTICIPANTS,
    CHAT,
    MORE_OF_CHAT,
    OF_TEXTS,
    WRITE,
    defaults,
)
from webapp.forms.typed_fields import StaffForm

FOLDS: dict[str, str | Promise] = {  # by the group of fields
    "more": gettext_lazy("More about the conversation"),
    "brief": gettext_lazy("A sheet for each side (a character, a role), and topics"),
    BY_PARTICIPANTS: gettext_lazy("Rules for what participants write"),
    BY_BOTS: gettext_lazy("Rules for what a bot says: a reply that breaks one is asked for again"),
    OF_TEXTS: gettext_lazy("Rules for each text"),
    "instead": gettext_lazy("Other words where a campaign does not tell of bots"),
}
FOLDED = {
    CHAT: ("more", "brief", BY_PARTICIPANTS, BY_BOTS, "instead"),
    WRITE: (OF_TEXTS,),
}


@dataclasses.dataclass(frozen=True)
class Fold:
    """Fields that few people need; open where one of them was changed."""

    title: str
    fields: tuple[BoundField, ...]

    @property
    def is_open(self) -> bool:
        first = defaults()
        return any(
            each.errors or (each.value() or "") != first.get(each.name, "") for each in self.fields
        )


def folds_of(form: StaffForm, activity: str) -> Iterator[Fold]:
    """Yield the folds of what participants do, each with its fields."""
    more = tuple(f"chat.{name}" for name in MORE_OF_CHAT)
    beginnings = {"more": more, "brief": ("chat.brief.",), "instead": ("chat.instead.",)}
    for group in FOLDED.get(activity, ()):
        begins = beginnings.get(group, tuple(f"{group}{name}" for name in CHECKS))
        fields = tuple(form[name] for name in form.fields if name.startswith(begins))
        yield Fold(str(FOLDS[group]), fields)
