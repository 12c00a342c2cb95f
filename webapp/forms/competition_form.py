"""Forms of a competition: its rules, and an entry; both are read by the competition's grammar."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bots import bot_names
from evaluation.competition import ADVANCE, CANDIDATES, METRICS, InvalidEntry
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.staff_forms.fields import BadField, shown

SEPARATOR = "|"  # between the parts of a source of data
MOST = 20_000  # characters of a field
PUBLIC = {"public": True, "not public": False}
ENSEMBLE = {"": None, "no": False, "yes": True}


def _line(raw: str) -> str:
    if len(raw) > MOST:
        raise BadField(_("has more than %(most)d characters") % {"most": MOST})
    return raw.strip()


def _listed(raw: str) -> list[str]:
    return [part.strip() for part in _line(raw).split(",") if part.strip()]


def _number(raw: str) -> object:
    """Return a whole number, or what was typed: the grammar says what would be right."""
    typed = _line(raw)
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 20 else typed


def _options(raw: str) -> object:
    try:
        return json.loads(_line(raw) or "{}")
    except (ValueError, RecursionError):
        raise BadField(_("is no JSON; write an object of options, or nothing")) from None


def _data(raw: str) -> list[dict[str, object]]:
    return [_source(line) for line in _line(raw).splitlines() if line.strip()]


def _source(line: str) -> dict[str, object]:
    parts = [part.strip() for part in line.split(SEPARATOR)]
    if len(parts) != 3 or parts[1] not in PUBLIC:
        raise BadField(
            _(
                "%(line)s: write the name, “public” or “not public”, and where it can be had, "
                "with | between"
            )
            % {"line": shown(line)}
        )
    return {"name": parts[0], "public": PUBLIC[parts[1]], "where": parts[2]}


def _ensemble(raw: str) -> bool | None:
    if raw not in ENSEMBLE:
        raise BadField(_("%(value)s is none of the options") % {"value": shown(raw)})
    return ENSEMBLE[raw]


class _ShortField(TypedField):
    rows = 3


class _CompetitionForm(StaffForm):
    """A form whose values are the fields of a file; what is left empty is left out.

    own: names here that differ from those of the file, for two forms stand on one page.
    """

    own: Mapping[str, str] = MappingProxyType({})

    def content(self) -> dict[str, Any]:
        """Return what a file would hold. Raises `Invalid`."""
        names = {mine: name for name, mine in self.own.items()}
        values = {names.get(name, name): value for name, value in self.values().items()}
        return {name: value for name, value in values.items() if value not in ("", None)}

    def refuse_by_grammar(self, problem: InvalidEntry) -> None:
        """Add the complaints of the grammar, each to its field."""
        self.refuse({self.own.get(name, name): text for name, text in problem.problems.items()})


class RulesForm(_CompetitionForm):
    """The rules of a competition."""

    own = MappingProxyType({"metrics": "choice"})

    opens = TypedField(
        _line, label=gettext_lazy("First day"), help_text=gettext_lazy("Such as 2018-04-21.")
    )
    closes = TypedField(_line, label=gettext_lazy("Last day"))
    baseline = TypedField(
        _line,
        label=gettext_lazy("Team of the baseline"),
        initial="baseline",
        help_text=gettext_lazy("Others must beat it in some metric; “baseline” is in its name."),
    )
    choice = TypedField(
        _listed,
        label=gettext_lazy("Metrics"),
        initial=", ".join(METRICS),
        help_text=gettext_lazy("Those that a team may choose from, between commas."),
    )
    advance = TypedField(
        _number,
        label=gettext_lazy("Teams that go on to people"),
        kind="number",
        initial=str(ADVANCE),
    )
    candidates = TypedField(
        _number,
        label=gettext_lazy("Candidates of hits@1"),
        kind="number",
        initial=str(CANDIDATES),
    )


class SubmissionForm(_CompetitionForm):
    """What a team submits."""

    own = MappingProxyType({"data": "sources"})

    team = TypedField(
        _line,
        label=gettext_lazy("Team"),
        help_text=gettext_lazy("Small letters, digits and hyphens, such as team-1."),
    )
    bot = TypedField(
        _line,
        label=gettext_lazy("Bot"),
        kind="select",
        choices=[("", "—"), *((name, name) for name in bot_names())],
    )
    options = _ShortField(
        _options,
        label=gettext_lazy("Options of the bot"),
        kind="textarea",
        help_text=gettext_lazy('JSON, such as {"function": "team_code.reply"}; empty for none.'),
    )
    metrics = TypedField(
        _listed,
        label=gettext_lazy("Metrics"),
        help_text=gettext_lazy("Those that it is ranked by, between commas."),
    )
    sources = _ShortField(
        _data,
        label=gettext_lazy("Data that it learned from"),
        kind="textarea",
        help_text=gettext_lazy(
            "A line for each: name | public or not public | where it can be had. Only public data "
            "is allowed."
        ),
    )
    ensemble = TypedField(
        _ensemble,
        label=gettext_lazy("Is it an ensemble of several models?"),
        kind="select",
        choices=[("", "—"), ("no", "No"), ("yes", "Yes")],
    )

    def __init__(self, data: Mapping[str, str] | None = None, metrics: str = "") -> None:
        super().__init__(data, initial={"metrics": metrics})
