"""Source settings and words as rows: the source's, where each comes from, what departs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from analysis.tables.plan_settings import renamed
from evaluation import TAGS, Draw, Protocol, Setting
from evaluation.words import words_of
from webapp import languages

PREFIX = "setting."


Translations = Mapping[str, Mapping[str, str]]  # by language and field
NOT_TRANSLATED: Translations = {}


def departures(
    protocol: Protocol, changes: Mapping[str, Any], translations: Translations = NOT_TRANSLATED
) -> list[dict[str, Any]]:
    """Return the row of each setting that departs, with its values in words."""
    found = rows(protocol, changes, translations)
    return [in_words(row) for row in found if row["departure"]]


def rows(
    protocol: Protocol, changes: Mapping[str, Any], translations: Translations = NOT_TRANSLATED
) -> list[dict[str, Any]]:
    """Return each setting of a source's protocol as plan and codebook have it.

    Words that a requester translated are a departure like any other.
    """
    now = {setting.name: setting.value for setting in protocol.change(changes).settings()}
    return [
        *(_row(setting, plain(now[setting.name])) for setting in protocol.settings()),
        *_translation_rows(protocol, translations),
    ]


def _translation_rows(protocol: Protocol, translations: Translations) -> Iterator[dict[str, Any]]:
    fields = [field for field, _ in words_of(protocol)]
    for code, texts in sorted(translations.items()):
        if done := [field for field in fields if texts.get(field)]:
            yield {
                "setting": f"words.{code}",
                "label": f"Words in {languages.ENGLISH_NAMES[code]}",
                "value": f"{len(done)} of {len(fields)} texts translated by the requester",
                "source_value": "the source's words",
                "departure": True,
                "provenance": "D",
                "provenance_text": TAGS["D"],
                "where": "entered for this campaign",
            }


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
