"""Stop rule of a campaign, as it is chosen in the draft and frozen in the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from evaluation import Protocol, Question
from webapp.models import Campaign
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import shown

FIELDS = frozenset(
    {
        *("stop_difference", "stop_question", "stop_alpha", "stop_margin", "stop_items"),
        "stop_recruiting",
    }
)
NEED_A_DIFFERENCE = ("stop_question", "stop_margin", "stop_items", "stop_recruiting")


def questions(protocol: Protocol) -> dict[str, Question]:
    """Return the questions of a protocol that score one system each, by name."""
    return {
        question.name: question
        for rate in protocol.rates
        for question in rate.each
        if question.level != "rank" and question.cell_scale is not None
    }


def judges_several(protocol: Protocol) -> bool:
    """Tell whether a participant may judge more than one system.

    Else a stop rule compares systems by the means of raters of their own.
    """
    if protocol.chat is not None and protocol.chat.conversations > 1:
        return True
    rate = protocol.after
    if rate is None or protocol.chat is not None or rate.keep == "system":
        return False
    return protocol.batch > 1 or rate.show != "one"


def problems(protocol: Protocol, values: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with a rule that was typed, by field."""
    known = questions(protocol)
    if not values.keys() >= FIELDS:
        return {}
    if values["stop_difference"] is None:
        complaint = _("is set, but there is no difference to be found; write it, or leave this out")
        return {name: complaint for name in NEED_A_DIFFERENCE if values[name]}
    name, names = values["stop_question"], ", ".join(known)
    found: dict[str, str] = {}
    if name and name not in known:
        complaint = _("%(value)s is not a question with a scale; write one of: %(names)s")
        found["stop_question"] = complaint % {"value": shown(name), "names": names}
    elif not name and len(known) > 1:
        complaint = _("is empty, and there are several questions; write one of: %(names)s")
        found["stop_question"] = complaint % {"names": names}
    return found


def plan_of(campaign: Campaign) -> dict[str, Any] | None:
    """Return a draft's rule as its plan freezes it; None where there is none."""
    protocol = protocol_of(campaign)
    known = questions(protocol)
    name = campaign.stop_question or next(iter(known), "")
    if campaign.stop_difference is None or name not in known:
        return None
    return {
        "question": name,
        "difference": float(campaign.stop_difference),
        "alpha": float(campaign.stop_alpha),
        "margin": None if campaign.stop_margin is None else float(campaign.stop_margin),
        "items": campaign.stop_items,
        "pauses": campaign.stop_recruiting,
        "own_raters": not judges_several(protocol),
    }
