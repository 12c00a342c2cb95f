"""Staff input about a study at the panel, as checked values."""

from __future__ import annotations

from typing import Any

from webapp.services.recruiting import reviewing
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import (
    BadField,
    Invalid,
    Raw,
    money,
    parse_all,
    text,
    whole,
    yes_no,
)

MOST_OPENINGS = 100_000
LEAST_REASON = 100  # characters: the panel refuses a shorter one


def first_values(campaign: AnyCampaign, openings: int) -> dict[str, str]:
    """Return what the form of a new study shows first."""
    return {
        "title": campaign.name[:120],
        "description": "",
        "openings": str(max(1, openings)),
        "minutes": str(campaign.minutes),
        "reward": f"{campaign.pay:.2f}",
        "screening_openings": str(max(1, openings // 4)),
    }


def read_study(campaign: AnyCampaign, raw: Raw) -> dict[str, Any]:
    """Return a new study's values, the reward in cents. Raises `Invalid`.

    A reward above the pay that the pages promise would make everybody's pay a part of it.
    """
    found = parse_all(
        raw,
        {
            "title": text(most=120),
            "description": text(most=5_000),
            "openings": whole(least=1, most=MOST_OPENINGS),
            "minutes": whole(least=1, most=600),
            "reward": money(positive=True),
            "screening_openings": whole(least=1, most=MOST_OPENINGS),
        },
    )
    if found["reward"] > campaign.pay:
        about = f"is more than the pay that participants are promised; write at most {campaign.pay}"
        raise Invalid({"reward": about})
    pays_parts = yes_no(raw.get("pays_parts", ""))
    return found | {"reward": round(found["reward"] * 100), "pays_parts": pays_parts}


def read_openings(raw: Raw, now: int) -> int:
    """Return a larger number of places. Raises `Invalid`."""
    found = parse_all(raw, {"openings": whole(least=now + 1, most=MOST_OPENINGS)})
    openings: int = found["openings"]
    return openings


def read_rejection(raw: Raw) -> dict[str, str]:
    """Return a rejection's category, words and evidence, all required. Raises `Invalid`."""
    return parse_all(
        raw,
        {
            "category": _category,
            "message": text(least=LEAST_REASON, most=2_000),
            "evidence": text(least=20, most=2_000),
        },
    )


def _category(raw: str) -> str:
    if raw not in reviewing.CATEGORIES:
        raise BadField("choose one of the list")
    return raw


def read_words(raw: Raw, name: str) -> str:
    """Return one text that is required. Raises `Invalid`."""
    words: str = parse_all(raw, {name: text(most=2_000)})[name]
    return words


def check_publishing(raw: Raw, is_underpaying: bool) -> None:
    """Refuse to publish what the panel calls underpaid, unless it was ticked. Raises `Invalid`."""
    if is_underpaying and raw.get("underpaid") != "yes":
        raise Invalid({"underpaid": "tick the box, or raise the reward at the panel first"})
