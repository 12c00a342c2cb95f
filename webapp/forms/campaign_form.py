"""A campaign's form: what every campaign has, then the settings of its protocol.

A setting's field follows from its type, which holds the bounds (`evaluation/setting_types.py`).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import (
    TAGS,
    Chat,
    InvalidSetting,
    InvalidValue,
    Onboarding,
    OneOf,
    Protocol,
    Quiz,
    Rate,
    Screening,
    Setting,
)
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.languages import ENGLISH_NAMES, SOURCE
from webapp.services.campaign import campaigns, personas_import
from webapp.services.rules.access import StaffCampaign
from webapp.services.staff_forms import consent_text
from webapp.services.staff_forms.fields import (
    BadField,
    completion_address,
    currency,
    language_codes,
    money,
    one_of,
    optional_money,
    panel_address,
    shown,
    storable,
    text,
    whole,
    yes_no,
)
from webapp.services.staff_forms.source_settings import PREFIX, plain, written

LONGEST_NAME = 120
POOL = f"{Chat.prefix}.pool"
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
            "contact",
            "languages",
        ),
        (),
    ),
    (gettext_lazy("Consent"), ("consent",), ()),
    (gettext_lazy("Panel"), ("panel", "return_url", "screened_url"), ()),
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
    (gettext_lazy("Rating"), (), (f"{PREFIX}{Rate.prefix}.",)),
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


def new_seed() -> str:
    """Return a seed that nobody chose."""
    return str(secrets.randbelow(1_000_000))


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
        text(most=LONGEST_NAME),
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
        help_text=gettext_lazy("A code of three letters, such as USD or EUR."),
        initial="USD",
    )
    waiting_pay = TypedField(
        money(), label=gettext_lazy("Pay if no partner is found"), kind="number", initial="0.50"
    )
    screening_pay = TypedField(
        money(),
        label=gettext_lazy("Pay for who does not pass"),
        kind="number",
        initial="0.00",
        help_text=gettext_lazy(
            "Of a screening, a quiz or an open onboarding; stated before consent. Panels ask that "
            "people who were screened out within a study are paid for their time."
        ),
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
    budget = TypedField(
        optional_money,
        label=gettext_lazy("Budget"),
        kind="number",
        help_text=gettext_lazy(
            "Codes and bonuses together never exceed it: who cannot be paid in full gets no place. "
            "Empty: what all places cost (work, a wait and a check each), and a tenth more for "
            "people who are paid and do not count. It can be raised while the campaign runs."
        ),
    )
    hold_unusual = TypedField(
        yes_no,
        label=gettext_lazy("Let nobody new in while most people stop early or write single words"),
        kind="checkbox",
        help_text=gettext_lazy(
            "Of the latest 20 endings half or more. Who is at work goes on, and codes are given; "
            "you let people in again on the page of the budget."
        ),
    )
    contact = TypedField(
        text(most=200),
        label=gettext_lazy("Contact"),
        help_text=gettext_lazy(
            "Shown to participants: a name and an address where questions are answered."
        ),
    )
    languages = TypedField(
        language_codes,
        label=gettext_lazy("Languages of participants' pages"),
        initial=SOURCE,
        help_text=format_lazy(
            gettext_lazy(
                "Codes separated by commas, the usual one first: {codes}. Of several a "
                "participant gets the browser's, and may choose. The protocol's words stay as "
                "the source has them unless you enter translations."
            ),
            codes=", ".join(f"{code} {name}" for code, name in ENGLISH_NAMES.items()),
        ),
    )
    consent = TypedField(
        text(most=20_000, least=40),
        label=gettext_lazy("Consent text"),
        kind="textarea",
        help_text=gettext_lazy("Markdown. It is a draft: your ethics board has the last word."),
    )
    panel = TypedField(
        one_of(campaigns.PANELS),
        label=gettext_lazy("Who takes part"),
        kind="select",
        choices=campaigns.PANELS.items(),
        initial=campaigns.USUAL_PANEL,
        help_text=gettext_lazy(
            "Stored with each participant. Give another panel a campaign, and so a link, of its "
            "own."
        ),
    )
    return_url = TypedField(
        completion_address,
        label=gettext_lazy("Panel completion URL"),
        kind="url",
        help_text=gettext_lazy(
            "Where the last page returns participants to, such as "
            "https://app.prolific.com/submissions/complete?cc={code}; empty for none. {code} "
            "becomes the participant's own code."
        ),
    )
    screened_url = TypedField(
        panel_address,
        label=gettext_lazy("Panel URL for who did not pass"),
        kind="url",
        help_text=gettext_lazy(
            "Where the last page leads who was screened out or failed a check: the panel's own "
            "code for them stands in it, such as https://app.prolific.com/submissions/"
            "complete?cc=SCREENED; empty: as for everybody with a code."
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
    troubled_percent = TypedField(
        whole(least=0, most=100),
        label=gettext_lazy("Troubled replies that a rehearsal may have (percent)"),
        kind="number",
        initial="0",
        help_text=gettext_lazy(
            "Replies that are empty, cut, filtered, a fixed line, only punctuation, or the same "
            "each time. With more of them a bot does not pass its rehearsal."
        ),
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
        initial=new_seed,
    )

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
        left = dict.fromkeys(self.fields)
        found = []
        for title, own, prefixes in SECTIONS:
            names = [name for name in own if name in left]
            names += [name for name in left if name.startswith(prefixes)]
            if names:
                found.append(FormSection(title, tuple(self[name] for name in names)))
            for name in names:
                del left[name]
        rest = tuple(self[name] for name in left)
        return [*found, FormSection(LAST_SECTION, rest, is_folded=True)] if rest else found

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
        self.refuse(_refused(self.protocol, changes) or self._unknown_split(changes))
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
        unwanted = {"reply_seconds"}
    if chat is None or chat.partner == "bot":
        unwanted |= {"waiting_pay", "wait_seconds", "partner_left_counts"}
    if not (protocol.admissions or protocol.onboarding):
        unwanted |= {"screening_pay", "screened_url"}
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
