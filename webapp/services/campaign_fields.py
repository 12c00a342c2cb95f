"""The form of a campaign: its fields as they are shown, and what was typed into them as values."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from evaluation import Protocol
from webapp.models import Campaign
from webapp.services import consent_text, source_settings
from webapp.services.fields import (
    Field,
    Invalid,
    Parse,
    Raw,
    collect,
    currency,
    money,
    parse_all,
    text,
    web_address,
    whole,
    yes_no,
)

LARGEST_SEED = 2**31 - 1

PARSERS: dict[str, Parse] = {
    "name": text(most=120),
    "minutes": whole(least=1, most=240),
    "pay": money(),
    "currency": currency,
    "waiting_pay": money(),
    "contact": text(most=200),
    "consent": text(most=20_000, least=40),
    "return_url": web_address,
    "wait_seconds": whole(least=15, most=3600),
    "reply_seconds": whole(least=10, most=600),
    "bot_when_alone": yes_no,
    "partner_left_counts": yes_no,
    "seed": whole(least=0, most=LARGEST_SEED),
}


def setting_fields(
    protocol: Protocol,
    campaign: Campaign | None = None,
    raw: Raw | None = None,
    problems: Mapping[str, str] | None = None,
) -> list[Field]:
    """Return a field for each setting of the protocol."""
    changes = campaign.changes if campaign else {}
    return source_settings.fields(protocol, changes, raw, problems or {})


def own_fields(
    protocol: Protocol,
    campaign: Campaign | None = None,
    raw: Raw | None = None,
    problems: Mapping[str, str] | None = None,
) -> list[Field]:
    """Return a field for everything else that a campaign has."""
    stored = _stored(campaign) if campaign else _first_values(protocol)
    given = stored if raw is None else {**dict.fromkeys(stored, ""), **raw}
    return [
        Field(raw=given[name], name=name, error=(problems or {}).get(name, ""), **about)
        for name, about in _descriptions().items()
        if name in _wanted(protocol)
    ]


def read(protocol: Protocol, raw: Raw) -> dict[str, Any]:
    """Return the values of a form, or raise `Invalid` with every complaint."""
    parsers = {name: parse for name, parse in PARSERS.items() if name in _wanted(protocol)}

    def blocks() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
        yield "own", lambda: parse_all(raw, parsers)
        yield "settings", lambda: source_settings.read(protocol, raw)

    parts = collect(blocks())
    values = parts["own"] | {"changes": parts["settings"]}
    if values.get("waiting_pay", Decimal(0)) > values["pay"]:
        complaint = _("is more than the full pay; waiting must not pay better than the work")
        raise Invalid({"waiting_pay": complaint})
    return values


def _wanted(protocol: Protocol) -> set[str]:
    """Return the names of the fields that mean anything for the protocol."""
    chat = protocol.chat
    unwanted: set[str] = set()
    if chat is None:
        unwanted = {"reply_seconds"}
    if chat is None or chat.partner == "bot":
        unwanted |= {"waiting_pay", "wait_seconds", "partner_left_counts"}
    if chat is None or chat.partner != "either":
        unwanted.add("bot_when_alone")
    return set(PARSERS) - unwanted


def _stored(campaign: Campaign) -> dict[str, str]:
    return {name: source_settings.written(getattr(campaign, name)) for name in PARSERS}


def _first_values(protocol: Protocol) -> dict[str, str]:
    return {
        "name": "",
        "consent": consent_text.prefilled(protocol),
        "contact": "",
        "minutes": str(protocol.minutes),
        "currency": "USD",
        "pay": "",
        "waiting_pay": "0.50",
        "return_url": "",
        "wait_seconds": "300",
        "reply_seconds": "60",
        "bot_when_alone": "false",
        "partner_left_counts": "false",
        "seed": str(secrets.randbelow(1_000_000)),
    }


def _descriptions() -> dict[str, dict[str, Any]]:
    return {
        "name": {
            "label": _("Name"),
            "help": _("For you and your colleagues; participants never see it."),
        },
        "minutes": {"label": _("Minutes it takes"), "kind": "number", "least": "1", "most": "240"},
        "pay": {"label": _("Pay"), "kind": "number", "least": "0", "step": "0.01"},
        "currency": {"label": _("Currency"), "help": _("Three letters, such as USD or EUR.")},
        "waiting_pay": {
            "label": _("Pay for waiting in vain"),
            "kind": "number",
            "least": "0",
            "step": "0.01",
        },
        "contact": {
            "label": _("Contact"),
            "help": _("Shown to participants: a name and an address where questions are answered."),
        },
        "consent": {
            "label": _("Consent text"),
            "kind": "textarea",
            "help": _("Markdown. It is a draft: your ethics board has the last word."),
        },
        "return_url": {
            "label": _("Return address of the panel"),
            "kind": "url",
            "help": _(
                "Where the last page leads back to, such as "
                "https://app.prolific.com/submissions/complete?cc={code}; empty for none."
            ),
        },
        "wait_seconds": {
            "label": _("Longest wait for a partner, seconds"),
            "kind": "number",
            "least": "15",
            "most": "3600",
        },
        "reply_seconds": {
            "label": _("Longest wait for a bot's reply, seconds"),
            "kind": "number",
            "least": "10",
            "most": "600",
        },
        "bot_when_alone": {
            "label": _("Offer a bot to who waited in vain for a person"),
            "kind": "checkbox",
        },
        "partner_left_counts": {
            "label": _("A conversation whose partner left counts towards the target"),
            "kind": "checkbox",
        },
        "seed": {
            "label": _("Seed of everything drawn by chance"),
            "kind": "number",
            "least": "0",
            "most": str(LARGEST_SEED),
        },
    }
