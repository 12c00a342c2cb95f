"""Known answers of a context that is imported for an onboarding, read and checked.

Apart because they are checked against the questions of the protocol, which the rest of a context is
not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from evaluation import Onboarding, Protocol, Question, Rate
from webapp.models import Campaign
from webapp.services.staff_forms.fields import shown
from webapp.services.staff_forms.pasted import BadRow


def read(value: Any, protocol: Protocol, systems: Sequence[str]) -> dict[str, Any]:
    """Return the known answers by question, {} for none; `systems` are those that replied.

    Raises `BadRow`.
    """
    if not isinstance(value, dict):
        raise BadRow(_("known is %(value)s; it must map questions to answers") % _about(value))
    if not value:
        return {}
    rate = protocol.after
    if protocol.onboarding is None or rate is None:
        raise BadRow(_("has known answers, and the protocol has no onboarding; leave known out"))
    _check_replies(rate, systems)
    return {name: _answer(name, right, rate, systems) for name, right in value.items()}


def _check_replies(rate: Rate, systems: Sequence[str]) -> None:
    """Refuse replies of which it would not be known which one is meant, or shown."""
    least, most = {"one": (1, 1), "pairs": (2, 2), "all": (2, len(systems))}[rate.show]
    if not least <= len(systems) <= max(most, least) or max(Counter(systems).values()) > 1:
        raise BadRow(
            _("has %(count)d replies beside known; it must have %(least)s, each of another system")
            % {"count": len(systems), "least": least if rate.show != "all" else f"{least}+"}
        )


def _answer(name: str, right: Any, rate: Rate, systems: Sequence[str]) -> Any:
    question = next((each for each in rate.questions if each.name == name), None)
    if question is None:
        known = ", ".join(each.name for each in rate.questions)
        raise BadRow(
            _("known has the question %(value)s; there are %(known)s")
            % (_about(name) | {"known": known})
        )
    if question.compares:
        return _best(question, right, systems)
    if question in rate.together or not isinstance(right, Mapping):
        return _values(question, right)
    if set(right) != set(systems):
        raise BadRow(
            _("known.%(name)s is %(value)s; it must name the systems %(known)s")
            % (_about(right) | {"name": name, "known": ", ".join(sorted(systems))})
        )
    return {system: _values(question, each) for system, each in right.items()}


def _best(question: Question, right: Any, systems: Sequence[str]) -> str:
    if isinstance(right, str) and right in systems:
        return right
    raise BadRow(
        _("known.%(name)s is %(value)s; it must be the system of the best reply: %(known)s")
        % (_about(right) | {"name": question.name, "known": " or ".join(sorted(systems))})
    )


def _values(question: Question, right: Any) -> list[Any]:
    values = right if isinstance(right, list) else [right]
    if values and all(_is_possible(question, each) for each in values):
        return values
    raise BadRow(
        _("known.%(name)s is %(value)s; it must be an answer, or a list of answers: %(known)s")
        % (_about(right) | {"name": question.name, "known": question.offer()})
    )


def _is_possible(question: Question, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    return question.gives(value)


def wanted_of(protocol: Protocol) -> str:
    """Return the question that known answers may be about first, "" without an onboarding."""
    rate = protocol.after
    return rate.questions[0].name if rate and protocol.onboarding else ""


def enough(campaign: Campaign, onboarding: Onboarding) -> tuple[bool, str]:
    """Tell whether there are items enough with known answers, and others; and say so in words."""
    known = campaign.contexts.exclude(known={}).count()
    others = campaign.contexts.filter(known={}).count()
    text = _("%(count)d contexts with known answers, %(items)d are wanted of each rater.")
    words = text % {"count": known, "items": onboarding.items}
    if known < onboarding.items:
        return False, words + " " + _("Import more with the field known.")
    if not others:
        return False, words + " " + _("Import others too: of known answers nothing is learned.")
    return True, words


def _about(value: Any) -> dict[str, str]:
    return {"value": shown(value)}
