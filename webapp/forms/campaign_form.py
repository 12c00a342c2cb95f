"""A campaign's form: what every campaign has, then the settings of its protocol.

A setting's field follows from its type, which holds the bounds (`evaluation/setting_types.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import TAGS, Chat, InvalidSetting, InvalidValue, OneOf, Protocol, Setting
from webapp.forms.campaign_fields import LONGEST_NAME, CampaignFields, new_seed
from webapp.forms.campaign_sections import FormSection, sections_of
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.campaign import personas_import
from webapp.services.rules.access import StaffCampaign
from webapp.services.staff_forms import consent_text, stop_rules
from webapp.services.staff_forms.fields import (
    BadField,
    one_of,
    shown,
    storable,
    text,
    whole,
    yes_no,
)
from webapp.services.staff_forms.source_settings import PREFIX, plain, written

POOL = f"{Chat.prefix}.pool"
OF_CONVERSATIONS = {"conversation_tokens", "conversation_cost"}
OF_BOTS = {"troubled_percent", "tokens", "token_cost"}


class SettingField(TypedField):
    """A field of a setting, from whose value in the source a campaign may depart."""

    def __init__(self, setting: Setting) -> None:
        kind, label = setting.type.control, setting.label
        options = setting.type.options if isinstance(setting.type, OneOf) else ()
        choices = [(each, each) for each in options]
        super().__init__(
            self.accepted, kind=kind, choices=choices, label=label, help_text=setting.help
        )
        self.setting = setting
        self.original = written(setting.value)
        self.tag_means = TAGS[setting.source.tag]

    def departs(self, typed: str) -> bool:
        is_box = self.kind == "checkbox"
        text = "\n".join(typed.strip().splitlines())  # a browser ends lines by two signs
        return (written(yes_no(typed)) if is_box else text) != self.original

    def accepted(self, typed: str) -> Any:
        """Return the value as JSON holds it. Raises `BadField`."""
        typed = typed.strip()
        if not storable(typed):
            raise BadField(_("has characters that cannot be stored; please type it again"))
        try:
            return plain(self.setting.type.accept(self.setting.type.read(typed)))
        except InvalidValue as problem:
            raise BadField(str(problem)) from None


class CampaignForm(CampaignFields):
    """The form of a draft: filled in from the protocol's source, or from what is stored."""

    def __init__(
        self,
        protocol: Protocol,
        data: Mapping[str, str] | None = None,
        campaign: StaffCampaign | None = None,
        projects: Mapping[str, str] | None = None,
    ) -> None:
        first = {"minutes": str(protocol.minutes), "consent": consent_text.prefilled(protocol)}
        super().__init__(data, initial=first if campaign is None else _stored(campaign))
        self.protocol = protocol
        self.is_stored = campaign is not None
        self._splits = personas_import.splits(campaign)
        for name in _unwanted(protocol):
            del self.fields[name]
        self._own = list(self.fields)
        self._project: int | None = None
        if projects and len(projects) > 1:  # with one there is nothing to choose
            self.fields["project"] = TypedField(
                one_of(projects),
                label=gettext_lazy("Project"),
                kind="select",
                choices=projects.items(),
                initial=next(iter(projects)),
                help_text=gettext_lazy("Whose members see the campaign; it stays there."),
            )
        for setting in protocol.change(campaign.changes if campaign else {}).settings():
            self.initial[PREFIX + setting.name] = written(setting.value)
        for setting in protocol.settings():
            self.fields[PREFIX + setting.name] = SettingField(setting)

    def project(self) -> int | None:
        """Return the project that was chosen, where there is more than one."""
        return self._project

    def _unknown_split(self, changes: Mapping[str, Any]) -> dict[str, str]:
        """Refuse a split of personas that is neither built in nor named by an imported one."""
        pool = changes.get(POOL)
        if pool is None or pool in self._splits:
            return {}
        complaint = _("%(value)s is no split; write one of: %(splits)s, or import personas of it")
        about = {"value": shown(pool), "splits": ", ".join(sorted(self._splits))}
        return {PREFIX + POOL: complaint % about}

    def sections(self) -> list[FormSection]:
        """Return every field once, by what it is about."""
        return list(sections_of(self))

    def clean(self) -> dict[str, Any]:
        """Return the values, with the settings that depart under `changes`."""
        self._project = int(self.cleaned_data.get("project", 0)) or None
        values = {name: value for name, value in self.cleaned_data.items() if name in self._own}
        if {"pay", "waiting_pay"} <= values.keys() and values["waiting_pay"] > values["pay"]:
            complaint = _("is more than the full pay; waiting must not pay better than the work")
            self.add_error("waiting_pay", complaint)
        if {"pay", "screening_pay"} <= values.keys() and values["screening_pay"] > values["pay"]:
            complaint = _("is more than the full pay; a check must not pay better than the work")
            self.add_error("screening_pay", complaint)
        changes = {
            setting.name: self.cleaned_data[PREFIX + setting.name]
            for setting in self.protocol.settings()
            if self.cleaned_data.get(PREFIX + setting.name, plain(setting.value))
            != plain(setting.value)
        }
        refused = _refused(self.protocol, changes) or self._unknown_split(changes)
        self.refuse(refused)
        if not refused and not any(name in self.errors for name in stop_rules.FIELDS):
            self.refuse(stop_rules.problems(self.protocol.change(changes), values))
        return values | {"changes": changes}


class DuplicateForm(StaffForm):
    """What a campaign's duplicate does not have in common with it."""

    name = TypedField(text(most=LONGEST_NAME), label=gettext_lazy("Name"))
    seed = TypedField(
        whole(least=0, most=2**31 - 1),
        label=gettext_lazy("Random seed"),
        kind="number",
        initial=new_seed,
    )

    def __init__(self, campaign: StaffCampaign, data: Mapping[str, str] | None = None) -> None:
        name = _("Copy of %(name)s") % {"name": campaign.name}
        super().__init__(data, initial={"name": name[:LONGEST_NAME]})


def _unwanted(protocol: Protocol) -> set[str]:
    """Return the names of the fields that mean nothing for the protocol."""
    chat = protocol.chat
    unwanted: set[str] = set()
    if chat is None:
        unwanted = {"reply_seconds", "crisis_text", "crisis_phrases", *OF_CONVERSATIONS}
    if chat is None and not any(rate.over == "contexts" for rate in protocol.rates):
        unwanted |= OF_BOTS
    if chat is None or chat.partner == "bot":
        unwanted |= {"waiting_pay", "wait_seconds", "partner_left_counts"}
    if not (protocol.admissions or protocol.onboarding or protocol.attention):
        unwanted |= {"screening_pay", "screened_url"}
    if chat is None or chat.partner != "either":
        unwanted.add("bot_when_alone")
    if not stop_rules.questions(protocol):
        unwanted |= stop_rules.FIELDS
    return unwanted


def _stored(campaign: StaffCampaign) -> dict[str, Any]:
    found = {name: written(getattr(campaign, name)) for name in CampaignForm.base_fields}
    return found | {"languages": ", ".join(campaign.languages)}  # in one line


def _refused(protocol: Protocol, changes: Mapping[str, Any]) -> dict[str, str]:
    """Ask the protocol until it accepts what is left; each refusal begins with its setting."""
    left, problems = dict(changes), {}
    while True:
        try:
            protocol.change(left)
        except InvalidSetting as problem:
            name, _colon, complaint = str(problem).partition(": ")
            problems[PREFIX + name] = complaint
            if left.pop(name, None) is None:
                return problems
        else:
            return problems
