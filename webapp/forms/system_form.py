"""A system's form: its name, how many people it gets, and a field for each option of its bot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.forms.boundfield import BoundField
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bots import Option, bot_options, bot_presets, describe, parse_option
from bots.prompt_slots import unknown_slot
from evaluation import Protocol
from webapp.forms.typed_fields import BASIS, StaffForm, TypedField
from webapp.services.campaign.systems import (
    StoredSystem,
    checkpoints_here,
    is_bot,
    is_people,
    problems_of,
    suggested_keys,
    weights_here,
)
from webapp.services.staff_forms.fields import BadField, shown, storable, text, whole, yes_no

OPTION = "option."
LARGEST_TARGET = 100_000
SERVER_DECIDES = "device"  # filled in by the reply worker
LONG = 5000  # characters; a longer option has a high field
ONE_LINE = 500  # characters; a longer option has a field of several lines


def trained_weights() -> list[tuple[str, str]]:
    """Return the folders of weights on this server, and which bot each was trained for."""
    return [(folder, f"{folder} ({bot})") for folder, bot in weights_here()]


def checkpoints() -> list[tuple[str, str]]:
    """Return the folders of checkpoints on this server."""
    return [(name, name) for name in checkpoints_here()]


PRESETS = {  # what those of our own are called
    "plain": gettext_lazy("Plain assistant"),
    "persona": gettext_lazy("Persona chat"),
    "role": gettext_lazy("Role play"),
    "topic": gettext_lazy("Conversation about a topic"),
    "interview": gettext_lazy("Interviewer"),
    "script": gettext_lazy("One text with the history, for completion models"),
}
FOLDERS = {"weights": trained_weights, "checkpoint": checkpoints}  # options that name one


def _name(raw: str) -> str:
    name: str = text(most=60)(raw)
    if name != slugify(name):
        raise BadField(
            _("%(value)s may have only small letters, digits and hyphens, such as %(right)s")
            % {"value": shown(name), "right": slugify(name) or "retrieval-1"}
        )
    return name


class OptionField(TypedField):
    """An option of a bot; its description says what it may be."""

    def __init__(self, bot: str, option: Option, known: tuple[Option, ...]) -> None:
        self.bot, self.option, self.known = bot, option, known
        kind, choices, about = "text", [(each, each) for each in option.choices], option.help
        if option.name in FOLDERS:
            kind, choices = "select", [("", _("none")), *FOLDERS[option.name]()]
        elif option.kind == "bool":
            kind = "checkbox"
        elif option.choices:
            kind = "select"
        else:
            kind = "textarea" if option.longest > ONE_LINE else "text"
            kind = "number" if option.kind == "int" else kind
            about = f"{option.help} ({describe(option)})"
        super().__init__(
            self.accepted, kind=kind, choices=choices, label=option.words, help_text=about
        )
        self.is_folded = option.last
        self.rows = 14 if option.longest > LONG else 3
        self.suggestions = suggested_keys() if option.name == "key_variable" else ()

    def accepted(self, typed: str) -> object:
        """Return the option's value. Raises `BadField`."""
        option = self.option
        if option.kind == "bool":
            return yes_no(typed)
        self._refuse_empty(typed.strip())
        if option.name in FOLDERS and typed not in dict([("", ""), *self.choices]):
            raise BadField(_("%(value)s is not a folder of weights here") % {"value": shown(typed)})
        if typed.strip() == "" and option.kind != "str":
            return None if option.optional else option.default
        self._refuse_by_kind(typed)
        try:
            short = typed.strip()[: option.longest + 1].replace("\r\n", "\n")
            value = parse_option(self.bot, self.known, option.name, short)
        except (ValueError, MemoryError, RecursionError):
            value = None
        if value is None or not storable(value) or len(typed) > option.longest:
            raise BadField(
                _("%(value)s is not valid; it must be %(what)s")
                % {"value": shown(typed), "what": describe(option)}
            )
        return value

    def _refuse_by_kind(self, typed: str) -> None:
        """Refuse an unknown slot, and what is no JSON, by name. Raises `BadField`."""
        complaint = unknown_slot(typed) if self.option.slots else ""
        if complaint or (self.option.kind == "dict" and (complaint := _json_problem(typed))):
            raise BadField(complaint)

    def _refuse_empty(self, typed: str) -> None:
        """Refuse nothing where the bot cannot answer without. Raises `BadField`."""
        if typed:
            return
        if self.option.name in FOLDERS and self.option.needed:
            complaint = _("is empty; this bot answers only with weights: choose a folder of them")
            if len(self.choices) < 2:
                complaint = _(
                    "is empty, and there are no weights on this server; ask whoever runs it to "
                    "train this bot, or choose another"
                )
            raise BadField(complaint)
        if self.option.required:
            raise BadField(_("is empty; it must be %(what)s") % {"what": describe(self.option)})


def _json_problem(typed: str) -> str:
    """Return where a text stops being JSON, or ""; what begins like none of it may be Python's."""
    try:
        json.loads(typed)
    except RecursionError:
        return _("has too many brackets within brackets")
    except ValueError as problem:
        if '"' in typed or "'" not in typed:
            return _("is no JSON: %(why)s") % {"why": str(problem)[:200]}
    return ""


class SystemForm(StaffForm):
    """The form of a new system, or of one that is stored."""

    name = TypedField(
        _name,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy(
            "Letters, digits and hyphens; in reports, never shown to participants."
        ),
    )
    target = TypedField(
        whole(least=1, most=LARGEST_TARGET),
        label=gettext_lazy("Participations wanted"),
        kind="number",
        initial="100",
        help_text=gettext_lazy("How many people are to complete a conversation with this system."),
    )
    sees_persona = TypedField(
        yes_no, label=gettext_lazy("The bot sees its persona"), kind="checkbox", initial="true"
    )
    is_control = TypedField(
        yes_no,
        label=gettext_lazy("It is the control"),
        kind="checkbox",
        help_text=gettext_lazy(
            "The worst system by design, such as one that repeats itself: raters who do not rate "
            "it lower fail, and results show scores with and without them. It is in no ranking."
        ),
    )

    def __init__(
        self,
        protocol: Protocol,
        bot: str,
        data: Mapping[str, str] | None = None,
        system: StoredSystem | None = None,
        typed: Mapping[str, str] | None = None,
    ) -> None:
        """`typed` is shown as it is, and not checked."""
        first: dict[str, Any] = {"name": slugify(bot.replace("_", "-"))}
        if system is not None:
            first = {"name": system.name, "target": str(system.target)}
            first["sees_persona"] = _typed(system.sees_persona)
            first["is_control"] = _typed(system.is_control)
        super().__init__(data, initial=first)
        chat = protocol.chat
        if chat is None:
            del self.fields["target"]
        if chat is None or not chat.pool or not is_bot(bot):
            del self.fields["sees_persona"]
        if is_people(bot):
            del self.fields["is_control"]
        self.options = _open_options(bot) if is_bot(bot) else ()
        stored = system.options if system else {}
        for each in self.options:
            self.fields[OPTION + each.name] = OptionField(bot, each, self.options)
            self.initial[OPTION + each.name] = _typed(stored.get(each.name, each.default))
        self.bot = bot
        self.is_stored = system is not None
        if typed is not None:
            self.initial.update({BASIS: self.basis, **typed})

    @property
    def shown_first(self) -> list[BoundField]:
        """The fields that most people fill in."""
        return [field for field in self if not _is_folded(field)]

    @property
    def folded(self) -> list[BoundField]:
        """The fields that few people change."""
        return [field for field in self if _is_folded(field)]

    @property
    def is_unfolded(self) -> bool:
        """Whether a folded field has a complaint."""
        return self.is_bound and any(field.errors for field in self.folded)

    @property
    def presets(self) -> list[tuple[str, str]]:
        """Named sets of options that can be filled in, with what they are called."""
        found = (name for name in self._presets() if name != "toy")
        return [(name, str(PRESETS.get(name, name))) for name in found]

    def preset(self, name: str) -> dict[str, str]:
        """Return the fields that a preset fills in, as they are typed; {} for none."""
        return {OPTION + key: _typed(value) for key, value in self._presets().get(name, {}).items()}

    def _presets(self) -> dict[str, dict[str, Any]]:
        known = {each.name for each in self.options}
        presets = bot_presets(self.bot) if is_bot(self.bot) else {}
        return {name: values for name, values in presets.items() if values.keys() <= known}

    def clean(self) -> dict[str, Any]:
        """Return the values, with the options that differ from their defaults under `options`."""
        values = self.cleaned_data
        names = {each.name: each.default for each in self.options if OPTION + each.name in values}
        chosen = {name: values[OPTION + name] for name in names}
        for name, complaint in problems_of(self.bot, chosen).items():
            self.add_error(OPTION + name, complaint)
        return {
            "name": values.get("name", ""),
            "target": values.get("target", 0),
            "sees_persona": values.get("sees_persona", True),
            "is_control": values.get("is_control", False),
            "options": {name: value for name, value in chosen.items() if value != names[name]},
        }


def _open_options(bot: str) -> tuple[Option, ...]:
    options = bot_options(bot)
    return tuple(each for each in options if not each.trained and each.name != SERVER_DECIDES)


def _is_folded(field: BoundField) -> bool:
    return isinstance(field.field, OptionField) and field.field.is_folded


def _typed(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
