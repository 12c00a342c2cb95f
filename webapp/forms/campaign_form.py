"""A campaign's form: what every campaign has, then the settings of its protocol.

A setting's field follows from its type, which holds the bounds (`evaluation/setting_types.py`).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from django.forms.boundfield import BoundField
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import TAGS, InvalidSetting, InvalidValue, OneOf, Protocol, Setting
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.campaign import campaigns
from webapp.services.rules.access import StaffCampaign
from webapp.services.staff_forms import consent_text
from webapp.services.staff_forms.fields import (
    BadField,
    currency,
    money,
    one_of,
    storable,
    text,
    web_address,
    whole,
    yes_no,
)
from webapp.services.staff_forms.source_settings import PREFIX, plain, written


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
        return (written(yes_no(typed)) if is_box else typed.strip()) != self.original

    def accepted(self, typed: str) -> Any:
        """Return the value as JSON holds it. Raises `BadField`."""
        typed = typed.strip()
        if not storable(typed):
            raise BadField(_("has characters that cannot be stored; please type it again"))
        try:
            return plain(self.setting.type.accept(self.setting.type.read(typed)))
        except InvalidValue as problem:
            raise BadField(str(problem)) from None


class CampaignForm(StaffForm):
    """The form of a draft: filled in from the protocol's source, or from what is stored."""

    name = TypedField(
        text(most=120),
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("For you and your colleagues; participants never see it."),
    )
    minutes = TypedField(
        whole(least=1, most=240), label=gettext_lazy("Duration (minutes)"), kind="number"
    )
    pay = TypedField(money(), label=gettext_lazy("Pay"), kind="number")
    currency = TypedField(
        currency,
        label=gettext_lazy("Currency"),
        help_text=gettext_lazy("Three letters, such as USD or EUR."),
        initial="USD",
    )
    waiting_pay = TypedField(
        money(), label=gettext_lazy("Pay if no partner is found"), kind="number", initial="0.50"
    )
    quit_rule = TypedField(
        one_of(campaigns.QUIT_RULES),
        label=gettext_lazy("Pay for stopping early"),
        kind="select",
        choices=campaigns.QUIT_RULES.items(),
        initial=campaigns.USUAL_QUIT_RULE,
        help_text=gettext_lazy(
            "Stated before consent. The minimum is that of messages of both sides; where there "
            "is no chat, the replies that a participant is given. Never more than the pay."
        ),
    )
    least_work = TypedField(
        whole(least=1, most=1000),
        label=gettext_lazy("Least work that is paid"),
        kind="number",
        initial="4",
        help_text=gettext_lazy(
            "Messages of both sides, or replies judged; stopping earlier pays nothing. The "
            "minimum itself is always enough."
        ),
    )
    contact = TypedField(
        text(most=200),
        label=gettext_lazy("Contact"),
        help_text=gettext_lazy(
            "Shown to participants: a name and an address where questions are answered."
        ),
    )
    consent = TypedField(
        text(most=20_000, least=40),
        label=gettext_lazy("Consent text"),
        kind="textarea",
        help_text=gettext_lazy("Markdown. It is a draft: your ethics board has the last word."),
    )
    return_url = TypedField(
        web_address,
        label=gettext_lazy("Panel completion URL"),
        kind="url",
        help_text=gettext_lazy(
            "Where the last page returns participants to, such as "
            "https://app.prolific.com/submissions/complete?cc={code}; empty for none."
        ),
    )
    wait_seconds = TypedField(
        whole(least=15, most=3600),
        label=gettext_lazy("Longest wait for a partner (seconds)"),
        kind="number",
        initial="300",
    )
    reply_seconds = TypedField(
        whole(least=10, most=600),
        label=gettext_lazy("Longest wait for a bot's reply (seconds)"),
        kind="number",
        initial="60",
    )
    bot_when_alone = TypedField(
        yes_no,
        label=gettext_lazy("Offer a bot if no partner arrives"),
        kind="checkbox",
    )
    partner_left_counts = TypedField(
        yes_no,
        label=gettext_lazy("A conversation whose partner left counts towards the target"),
        kind="checkbox",
    )
    seed = TypedField(
        whole(least=0, most=2**31 - 1),
        label=gettext_lazy("Random seed"),
        kind="number",
        initial=lambda: str(secrets.randbelow(1_000_000)),
    )

    def __init__(
        self,
        protocol: Protocol,
        data: Mapping[str, str] | None = None,
        campaign: StaffCampaign | None = None,
    ) -> None:
        first = {"minutes": str(protocol.minutes), "consent": consent_text.prefilled(protocol)}
        super().__init__(data, initial=first if campaign is None else _stored(campaign))
        self.protocol = protocol
        for name in _unwanted(protocol):
            del self.fields[name]
        self._own = list(self.fields)
        for setting in protocol.change(campaign.changes if campaign else {}).settings():
            self.initial[PREFIX + setting.name] = written(setting.value)
        for setting in protocol.settings():
            self.fields[PREFIX + setting.name] = SettingField(setting)

    def own(self) -> list[BoundField]:
        """Return the fields that every campaign has."""
        return [self[name] for name in self._own]

    def source(self) -> list[BoundField]:
        """Return the fields of the protocol's settings."""
        return [self[name] for name in self.fields if name not in self._own]

    def clean(self) -> dict[str, Any]:
        """Return the values, with the settings that depart under `changes`."""
        values = {name: value for name, value in self.cleaned_data.items() if name in self._own}
        if {"pay", "waiting_pay"} <= values.keys() and values["waiting_pay"] > values["pay"]:
            complaint = _("is more than the full pay; waiting must not pay better than the work")
            self.add_error("waiting_pay", complaint)
        changes = {
            setting.name: self.cleaned_data[PREFIX + setting.name]
            for setting in self.protocol.settings()
            if self.cleaned_data.get(PREFIX + setting.name, plain(setting.value))
            != plain(setting.value)
        }
        self.refuse(_refused(self.protocol, changes))
        return values | {"changes": changes}


def _unwanted(protocol: Protocol) -> set[str]:
    """Return the names of the fields that mean nothing for the protocol."""
    chat = protocol.chat
    unwanted: set[str] = set()
    if chat is None:
        unwanted = {"reply_seconds"}
    if chat is None or chat.partner == "bot":
        unwanted |= {"waiting_pay", "wait_seconds", "partner_left_counts"}
    if chat is None or chat.partner != "either":
        unwanted.add("bot_when_alone")
    return unwanted


def _stored(campaign: StaffCampaign) -> dict[str, Any]:
    return {name: written(getattr(campaign, name)) for name in CampaignForm.base_fields}


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
