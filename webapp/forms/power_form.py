"""Form of the planner: a difference, the power that is wanted, and what is fixed already."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.arguments import PUBLISHED_VARIANCES
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.results.planner import MOST_PILOT, PILOT
from webapp.services.staff_forms.fields import (
    number,
    one_of,
    optional,
    optional_text,
    optional_whole,
    shown,
    whole,
)
from webapp.services.staff_forms.source_settings import written

MOST_POINTS = 100_000


class PowerForm(StaffForm):
    """Fields of the planner. complaints: of an answer that was computed, by field."""

    difference = TypedField(
        number(above=0, most=MOST_POINTS),
        label=gettext_lazy("Difference to be found"),
        kind="number",
        help_text=gettext_lazy("Between two systems, in points of the scale."),
    )
    power = TypedField(
        number(above=0, most=1, below=1),
        label=gettext_lazy("Power"),
        kind="number",
        help_text=gettext_lazy("The probability of finding it, such as 0.8."),
    )
    items = TypedField(
        optional_whole(least=2, most=2000),
        label=gettext_lazy("Conversations or items per system"),
        kind="number",
        help_text=gettext_lazy("Empty: the fewest that reach the power."),
    )
    raters = TypedField(
        optional_whole(least=2, most=20_000),
        label=gettext_lazy("Raters"),
        kind="number",
        help_text=gettext_lazy("In all. Empty: as many as their ratings, below, make up."),
    )
    judges = TypedField(
        optional_whole(least=1, most=1000),
        label=gettext_lazy("Systems that each rater judges"),
        kind="number",
        help_text=gettext_lazy(
            "In a balanced order: a pair is compared by those who judge both. Empty: every system."
        ),
    )
    votes = TypedField(
        whole(least=1, most=1000),
        label=gettext_lazy("Raters per conversation or item"),
        kind="number",
    )
    each = TypedField(
        whole(least=1, most=100_000),
        label=gettext_lazy("Ratings that one participant gives"),
        kind="number",
        help_text=gettext_lazy("Answers to this question, over all systems: the pay is for them."),
    )
    low = TypedField(
        number(least=-MOST_POINTS, most=MOST_POINTS),
        label=gettext_lazy("Lower end of the scale"),
        kind="number",
        help_text=gettext_lazy("Published variances are stretched to the scale."),
    )
    high = TypedField(
        number(least=-MOST_POINTS, most=MOST_POINTS),
        label=gettext_lazy("Upper end of the scale"),
        kind="number",
    )
    severity = TypedField(
        optional(number(least=0, most=MOST_POINTS)),
        label=gettext_lazy("How much raters differ in severity (SD)"),
        kind="number",
        help_text=gettext_lazy(
            "In points. It counts only where each rater judges one system, and no publication has "
            "it. Empty: as the table or campaign has it."
        ),
    )
    question = TypedField(
        optional_text(most=200),
        label=gettext_lazy("Question of the table or campaign"),
        help_text=gettext_lazy("Empty where it has only one."),
    )
    fee = TypedField(
        number(least=0, most=1000),
        label=gettext_lazy("Fee of the panel (percent of the pay)"),
        kind="number",
    )

    def __init__(
        self,
        data: Mapping[str, str] | None = None,
        *,
        first: Mapping[str, Any],
        sources: Mapping[str, str],
        size: int | None = None,
        pilot: str = "",
    ) -> None:
        """Start from values by field; `size` is an upload's, `pilot` a file's that was read."""
        super().__init__(data, initial={name: _written(value) for name, value in first.items()})
        label = gettext_lazy("How much ratings vary")
        self.fields["source"] = TypedField(
            one_of(sources), kind="select", choices=sources.items(), label=label
        )
        self._size, self.pilot = size, pilot
        self.complaints: Mapping[str, str] = {}

    @property
    def complained(self) -> list[tuple[str, str, str]]:
        """The complaints, each with its field's name and label."""
        labels = {name: str(field.label) for name, field in self.fields.items()}
        labels["file"] = _("Table of a pilot, or an export")
        return [(name, labels.get(name, name), text) for name, text in self.complaints.items()]

    def clean(self) -> dict[str, Any]:
        """Return the values as JSON holds them."""
        found = self.cleaned_data
        if {"low", "high"} <= found.keys() and found["low"] >= found["high"]:
            about = {"value": shown(found["high"]), "low": found["low"]}
            self.add_error("high", _("%(value)s is not above the lower end, %(low)s") % about)
        if found.get("raters") and found.get("votes", 0) > found["raters"]:
            about = {"value": shown(found["votes"]), "raters": found["raters"]}
            complaint = _("%(value)s: there are only %(raters)s raters; write at most so many")
            self.add_error("votes", complaint % about)
        is_published = found.get("source") in PUBLISHED_VARIANCES
        if is_published and found.get("judges") == 1 and found.get("severity", 0) is None:
            self.add_error("severity", _("is empty, and no publication has it; write an SD"))
        if found.get("source") == PILOT:
            self._check_pilot()
        return {name: _plain(value) for name, value in found.items()}

    def _check_pilot(self) -> None:
        if self._size is None and not self.pilot:
            complaint = _("%(value)s: no file was chosen; choose one below")
            self.add_error("source", complaint % {"value": shown(self.data.get("source", ""))})
        elif (self._size or 0) > MOST_PILOT:
            about = {"value": (self._size or 0) // 1_000_000, "most": MOST_PILOT // 1_000_000}
            complaint = _("the file has %(value)d MB; choose one of at most %(most)d MB")
            self.add_error("source", complaint % about)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else written(value)
