"""Sections of a campaign's form: which fields stand together, and in what order.

Apart because neither a field nor its value depends on where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from evaluation import Attention, Chat, Onboarding, Quiz, Rate, Screening, Write
from webapp.forms.typed_fields import StaffForm
from webapp.services.staff_forms.source_settings import PREFIX

# Title, fields, and the beginnings of names of settings. What is in none comes last.
SECTIONS: tuple[tuple[str | Promise, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        gettext_lazy("Basics"),
        (
            "name",
            "project",
            "minutes",
            "pay",
            "currency",
            "waiting_pay",
            "quit_rule",
            "least_work",
            "budget",
            "hold_unusual",
            "hold_payments",
            "contact",
            "languages",
        ),
        (),
    ),
    (gettext_lazy("Consent"), ("consent", "keep_days", "crisis_text", "crisis_phrases"), ()),
    (gettext_lazy("Panel"), ("panel", "platform", "return_url", "screened_url"), ()),
    (
        gettext_lazy("Before the work"),
        ("screening_pay",),
        tuple(f"{PREFIX}{step.prefix}." for step in (Screening, Quiz, Onboarding)),
    ),
    (
        gettext_lazy("Conversation"),
        ("bot_when_alone", "partner_left_counts"),
        (f"{PREFIX}{Chat.prefix}.",),
    ),
    (gettext_lazy("Writing"), (), (f"{PREFIX}{Write.prefix}.",)),
    (
        gettext_lazy("Rating"),
        (),
        (f"{PREFIX}{Rate.prefix}.", f"{PREFIX}{Attention.prefix}."),
    ),
    (
        gettext_lazy("Stopping early"),
        (
            "stop_difference",
            "stop_question",
            "stop_alpha",
            "stop_margin",
            "stop_items",
            "stop_recruiting",
        ),
        (),
    ),
)
LAST_SECTION = gettext_lazy("Limits and reproduction")


@dataclass(frozen=True)
class FormSection:
    """Fields that belong together; those that few people change are folded away."""

    title: str | Promise
    fields: tuple[BoundField, ...]
    is_folded: bool = False

    @property
    def is_open(self) -> bool:
        """Whether a folded section is open: a field with a complaint has to be seen."""
        return any(field.errors for field in self.fields)

    @property
    def has_sources(self) -> bool:
        return any(field.name.startswith(PREFIX) for field in self.fields)


def sections_of(form: StaffForm) -> Iterator[FormSection]:
    """Yield every field of a form once, by what it is about; those that few people change last."""
    left = dict.fromkeys(form.fields)
    for title, own, prefixes in SECTIONS:
        names = [name for name in own if name in left]
        names += [name for name in left if name.startswith(prefixes)]
        if names:
            yield FormSection(title, tuple(form[name] for name in names))
        for name in names:
            del left[name]
    if left:
        yield FormSection(LAST_SECTION, tuple(form[name] for name in left), is_folded=True)
