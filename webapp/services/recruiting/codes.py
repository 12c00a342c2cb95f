"""Fixed completion codes: one per group of outcomes, the same for everybody, known to the panel.

A person's own code stays the proof that they took part; the fixed one only sorts submissions.
"""

from __future__ import annotations

import secrets
from typing import Any

from webapp import notices
from webapp.models import ExternalId, PanelStudy, Participation
from webapp.services.rules import payment

Outcome = Participation.Outcome
PLATFORM = "prolific"
COMPLETE = "https://app.prolific.com/submissions/complete?cc="
LENGTH = 8

GROUPS: dict[str, str] = {  # of the outcomes with pay; a part of it is another group
    Outcome.COMPLETED: "completed",
    Outcome.PARTNER_LEFT: "completed",
    Outcome.ONBOARDING: "completed",
    Outcome.QUIT: "completed",  # who reached the minimum is paid in full
    Outcome.FAILED: "failed_by_us",
    Outcome.STOPPED: "failed_by_us",
    Outcome.NOBODY: "no_partner",
    Outcome.SCREENED_OUT: "screened_out",
    Outcome.CHECK_FAILED: "screened_out",
}
UNPAID = (Outcome.FULL, Outcome.DECLINED, Outcome.QUIT, *payment.NOT_ADMITTED)  # and never return
TYPES = {
    "completed": "COMPLETED",
    "failed_by_us": "OTHER",
    "partial": "GIVE_BONUS",
    "no_partner": "OTHER",
    "screened_out": "FIXED_SCREENOUT",
    "unpaid": "NO_CONSENT",
}
BY_PERCENTAGE = "by_percentage"  # a code that only we send, with a percentage of the reward
REVIEW = {"action": "MANUALLY_REVIEW"}


def new_codes(*, pays_parts: bool = False) -> dict[str, str]:
    """Draw a study's codes, all different; secret, so not from a campaign's seed."""
    names = [*TYPES, *([BY_PERCENTAGE] if pays_parts else [])]
    drawn: set[str] = set()
    while len(drawn) < len(names):
        drawn.add("".join(secrets.choice(payment.ALPHABET) for _ in range(LENGTH)))
    return dict(zip(names, sorted(drawn, key=lambda _: secrets.randbits(32)), strict=True))


def for_panel(study: PanelStudy) -> list[dict[str, Any]]:
    """Return the codes with their types and actions, as a study is created with them.

    The panel approves nothing by itself: who only knows the fixed code has not worked.
    """
    return [
        {"code": code, "code_type": _type(study, group), "actions": [_action(study, group)]}
        | ({"actor": "researcher"} if group == BY_PERCENTAGE else {})
        for group, code in study.codes.items()
    ]


def _type(study: PanelStudy, group: str) -> str:
    is_bonus = group == "screened_out" and not study.screening_reward
    return "OTHER" if is_bonus or group == BY_PERCENTAGE else TYPES[group]


def _action(study: PanelStudy, group: str) -> dict[str, Any]:
    if group == "screened_out" and study.screening_reward:
        return {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": study.screening_reward,
            "slots": study.screening_openings,
        }
    if group == BY_PERCENTAGE:
        return {"action": "DYNAMIC_PAYMENT"}
    if group in ("completed", "failed_by_us") or (study.pays_parts and group != "unpaid"):
        return dict(REVIEW)
    return {"action": "REQUEST_RETURN", "return_reason": return_reason(study, group)}


def return_reason(study: PanelStudy, group: str) -> str:
    """Return why a submission is asked back, which the panel requires and participants read."""
    key = "return_unpaid" if group == "unpaid" else "return_for_bonus"
    return notices.text_in(study.campaign.languages[0], key)


def group_of(person: Participation, study: PanelStudy) -> str:
    """Return the group of an ended participation; "" where it may still be resumed."""
    code = payment.code_of(person)
    if code is None:
        return "unpaid" if person.outcome in UNPAID else ""
    group = GROUPS.get(person.outcome, "completed")
    is_whole = round(code.amount * 100) >= study.reward
    if group in ("completed", "failed_by_us") and not is_whole:
        return "partial"
    return group


def link_of(person: Participation) -> str:
    """Return the way back for who came from the panel; "" where there is none, or no study."""
    study = PanelStudy.objects.filter(campaign=person.campaign_id).first()
    if study is None:
        return ""
    if not ExternalId.objects.filter(participation=person, platform=PLATFORM).exists():
        return ""
    group = group_of(person, study)
    return f"{COMPLETE}{study.codes[group]}" if group else ""
