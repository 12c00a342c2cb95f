"""Source settings and words as rows: the source's, where each comes from, what departs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from analysis.tables.plan_settings import renamed
from evaluation import TAGS, Draw, Protocol, Setting
from evaluation.words import words_of

PREFIX = "setting."


def departures(protocol: Protocol, changes: Mapping[str, Any]) -> list[tuple[Setting, str, str]]:
    """Return each setting that departs, with the source's value and the campaign's, in words."""
    kept = {row["setting"]: row for row in rows(protocol, changes) if row["departure"]}
    return [
        (setting, _shown(plain(setting.value)), _shown(kept[setting.name]["value"]))
        for setting in protocol.settings()
        if setting.name in kept
    ]


def rows(protocol: Protocol, changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each setting of a source's protocol as plan and codebook have it."""
    now = {setting.name: setting.value for setting in protocol.change(changes).settings()}
    return [_row(setting, plain(now[setting.name])) for setting in protocol.settings()]


def rows_of(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the same of a frozen plan, also of one that was frozen when rows had other names."""
    found = map(renamed, plan["protocol"]["settings"])
    return [{**row, "provenance_text": TAGS[row["provenance"]]} for row in found]


def word_rows(protocol: Protocol) -> list[dict[str, Any]]:
    """Return each text that a campaign's protocol shows as plan and codebook have it."""
    return [
        {
            "field": field,
            "text": str(words),
            "provenance": words.tag,
            "provenance_text": TAGS[words.tag],
            "where": words.where,
            "quoted": words.quoted,
            "exact": list(words.exact),
        }
        for field, words in words_of(protocol)
    ]


def word_rows_of(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the same of a frozen plan; one of schema 2 or older has none."""
    return list(plan["protocol"].get("words", ()))


def in_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its values as a page shows them."""
    values = {"value_words": row["value"], "source_words": row["source_value"]}
    return {**row, **{name: _shown(value) for name, value in values.items()}}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return written(value)


def written(value: Any) -> str:
    """Return a value as it is typed."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        texts = any(isinstance(each, str) for each in value)
        return ("\n" if texts else ", ").join(str(each) for each in value)
    return "" if value is None else str(value)


def plain(value: Any) -> Any:
    """Return a value as JSON holds it."""
    if isinstance(value, Draw):
        return list(value.options)
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, str) else value


def _row(setting: Setting, value: Any) -> dict[str, Any]:
    source_value = plain(setting.value)
    return {
        "setting": setting.name,
        "label": setting.label,
        "value": value,
        "source_value": source_value,
        "departure": value != source_value,
        "provenance": setting.source.tag,
        "provenance_text": TAGS[setting.source.tag],
        "where": setting.source.where,
    }
