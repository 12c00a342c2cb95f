"""Settings that a system ran with, in the optional column `settings` of ratings.

It is a JSON object: of an export the bot, its options and whether it saw its persona, as the plan
froze them; in one's own table whatever tells two settings apart. Blank is not known, which people
and imported replies are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.tables import cell_values
from analysis.tables.schema import RatingTable

COLUMN = "settings"
UNSET = ("people", "imported")  # bots that are none: nothing here ran them
# Plans leave out what is left at its default; of these bots a report asks for it.
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "sample_and_rank": {"number": 20, "temperature": 0.88, "top_k": 0}
}
SETTINGS = ("bot", "options", "sees_persona")


def with_settings(ratings: RatingTable, plans: Mapping[str, Mapping[str, Any]]) -> RatingTable:
    """Return the ratings of an export with each system's settings in its frozen plan.

    Of several campaigns plans are told apart by the column `campaign`; a single one has no name.
    """
    texts = {
        (campaign, str(system["name"])): json.dumps(
            {name: system.get(name) for name in SETTINGS}, sort_keys=True, ensure_ascii=False
        )
        for campaign, plan in plans.items()
        for system in plan.get("systems", ())
        if system.get("bot") not in UNSET
    }
    found = [
        texts.get((str(campaign), str(system)), texts.get(("", str(system)), ""))
        for campaign, system in zip(ratings["campaign"], ratings["system"], strict=True)
    ]
    return RatingTable(ratings.assign(**{COLUMN: pd.Series(found, ratings.index, dtype="str")}))


def settings_by_system(rows: pd.DataFrame) -> dict[str, set[str]]:
    """Return the settings that each system's rows name, none where they are not known."""
    if COLUMN not in rows.columns:
        return {}
    pairs = rows[["system", COLUMN]].drop_duplicates()
    found: dict[str, set[str]] = {}
    for system, text in zip(pairs["system"], pairs[COLUMN], strict=True):
        if not cell_values.is_blank(text):
            found.setdefault(str(system), set()).add(str(text))
    return found


def options(text: str) -> dict[str, Any]:
    """Return the options in a cell; those of a wrapper stand before those of what it wraps."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return _flat(found) if isinstance(found, dict) else {}


def _flat(found: Mapping[str, Any]) -> dict[str, Any]:
    inner = found.get("options")
    own = {name: value for name, value in found.items() if name != "options"}
    usual = DEFAULTS.get(str(found.get("bot")), {})
    # Defaults stand with a bot's own options, before those of what it wraps.
    return (_flat({**usual, **inner}) if isinstance(inner, dict) else {}) | own
