"""Importing personas: read, shown with what is wrong, and stored only when every row is right.

Source of the rules: PERSONA-CHAT section 3.1 (five sentences of at most 15 words each) and its
released code (at least 3 words). Four sentences, or more than five, depart from it but are allowed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bots.datasets import demo
from evaluation import Brief, word_count
from webapp.models import Persona, Seat
from webapp.services.campaign import campaigns
from webapp.services.rules import audit
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid, shown
from webapp.services.staff_forms.pasted import (
    BadRow,
    PastedRow,
    Preview,
    checked,
    content,
    json_rows,
    key_of,
    limited,
    texts_of,
    without_repeats,
)

FEWEST, USUAL, MOST = 4, 5, 10  # sentences
SHORTEST, LONGEST = 3, 15  # words a sentence
LONGEST_SENTENCE = 200  # characters
MOST_SHOWN = 500
LONGEST_SPLIT = 10
MOST_LINES = 40  # of a sheet, its own and those for both
SHEET_FIELDS = {"id", "name", "group", "sentences", "shared", "split"}
CASTS = {  # of two series that nobody has filmed
    "Harbor Street": ("Marta", "Oskar", "Lena", "Tom", "Ruth"),
    "Night Shift": ("Nora", "Hank", "Priya", "Elias", "June"),
}


@dataclass(frozen=True)
class SheetDraft:
    """What a persona has beside its sentences where the protocol has briefs."""

    name: str = ""
    group: str = ""
    shared: tuple[str, ...] = ()


@dataclass(frozen=True)
class PersonaDraft:
    """A persona that is not stored yet."""

    sentences: tuple[str, ...]
    revised: tuple[str, ...]
    split: str
    sheet: SheetDraft = SheetDraft()

    def __str__(self) -> str:
        """Return what no two personas have in common."""
        return "\n".join(filter(None, (self.sheet.group, self.sheet.name, *self.sentences)))


@dataclass(frozen=True)
class StoredPersona:
    """A persona of a campaign as its page lists it; `taken` says how often it was given out."""

    key: str
    split: str
    taken: int
    sentences: tuple[str, ...]
    name: str = ""
    group: str = ""
    shared: tuple[str, ...] = ()


def preview(*, campaign: AnyCampaign, text: str) -> Preview[PersonaDraft]:
    """Read pasted text: JSON Lines, or sentences with a blank line between personas."""
    text = checked(text)
    pool, brief = pool_of(campaign), brief_of(campaign)
    is_json = text.lstrip().startswith(("{", "["))
    if brief is not None:
        rows = json_rows(text, lambda record: _sheet(record, pool, brief))
    elif is_json:
        rows = json_rows(text, lambda record: _parse(record, pool))
    else:
        rows = _blocks(text, pool)
    return limited(list(without_repeats(rows, _known(campaign))))


def store(*, campaign: AnyCampaign, text: str, by: Any, now: datetime) -> int:
    """Store what a preview found right; refuses all where one row is wrong."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        found = preview(campaign=row, text=text)
        if not found.good:
            raise Invalid({"text": _("has rows that are wrong; correct them first")})
        Persona.objects.bulk_create(
            [_persona(row, each.key, each.value) for each in found.rows if each.value],
            batch_size=500,
        )
        _note(row, by, "personas imported", now, len(found.rows))
        return len(found.rows)


def bundled(campaign: AnyCampaign) -> str:
    """Return the personas that come with Parley, those of the protocol's split, as JSON Lines."""
    pool = pool_of(campaign)
    chosen = demo.personas(pool if pool in demo.SPLITS else "all")
    if brief_of(campaign) is not None:
        written = [vars(each) | {"split": pool} for each in demo.sheets(protocol_of(campaign).name)]
        found = written or _bundled_cast(chosen, pool)
        return "\n".join(json.dumps(each) for each in found)
    records = (
        {
            "id": each.id,
            "sentences": each.original,
            "revised": each.revised,
            "split": pool or each.split,
        }
        for each in chosen
    )
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def clear(*, campaign: AnyCampaign, by: Any, now: datetime) -> int:
    """Remove a draft's personas; those that a test chat showed stay."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        used = Seat.objects.filter(conversation__campaign=row, persona__isnull=False)
        count, _kinds = row.personas.exclude(pk__in=used.values("persona")).delete()
        _note(row, by, "personas removed", now, count)
        return count


def stored(campaign: AnyCampaign) -> list[StoredPersona]:
    """Return the campaign's personas, the first ones of many."""
    rows = Persona.objects.filter(campaign=campaign.pk).order_by("id")[:MOST_SHOWN]
    return [
        StoredPersona(
            key=row.key,
            split=row.split,
            taken=row.taken,
            sentences=tuple(row.sentences),
            name=row.name,
            group=row.group,
            shared=tuple(row.shared),
        )
        for row in rows
    ]


def count(campaign: AnyCampaign) -> int:
    """Count the campaign's personas."""
    return Persona.objects.filter(campaign=campaign.pk).count()


def pool_of(campaign: AnyCampaign) -> str:
    """Return the split that the campaign's sides get their personas from."""
    chat = protocol_of(campaign).chat
    return chat.pool if chat else ""


def brief_of(campaign: AnyCampaign) -> Brief | None:
    """Return the brief of the campaign's protocol, whose personas are sheets."""
    chat = protocol_of(campaign).chat
    return chat.brief if chat else None


def _bundled_cast(personas: Sequence[demo.DemoPersona], pool: str) -> Iterator[dict[str, Any]]:
    """Yield invented characters of two series, as lines of an import."""
    names = [(series, name) for series, cast in CASTS.items() for name in cast]
    for (series, name), persona in zip(names, personas, strict=False):
        key = name.lower()
        record = {"id": key, "name": name, "group": series, "sentences": persona.original}
        yield record | {"split": pool}


def splits(campaign: AnyCampaign | None) -> set[str]:
    """Return the splits that personas can be drawn from: the built-in ones, and the imported."""
    rows = Persona.objects.filter(campaign=campaign.pk) if campaign else Persona.objects.none()
    imported = rows.exclude(split="").values_list("split", flat=True).distinct().order_by()
    return {*demo.SPLITS, *imported}


def digest(persona: Persona) -> str:
    """Return a hash of a persona's texts, for the plan."""
    parts: list[Any] = [persona.sentences, persona.revised]
    if persona.name:
        parts += [persona.name, persona.group, persona.shared]
    texts = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(texts.encode()).hexdigest()


def _known(campaign: AnyCampaign) -> dict[str, str]:
    here = _("in this campaign")
    known: dict[str, str] = {}
    for persona in row_of(campaign).personas.all():
        known[persona.key] = here
        draft = PersonaDraft(
            tuple(persona.sentences), (), "", SheetDraft(persona.name, persona.group)
        )
        known[content(str(draft))] = here
    return known


def _blocks(text: str, pool: str) -> list[PastedRow[PersonaDraft]]:
    rows: list[PastedRow[PersonaDraft]] = []
    lines: list[str] = []
    numbered = enumerate([*text.split("\n"), ""], start=1)
    for number, line in numbered:
        if line.strip():
            lines.append(line)
        elif lines:
            rows.append(_block(number - len(lines), lines, pool))
            lines = []
    return rows


def _block(number: int, lines: list[str], pool: str) -> PastedRow[PersonaDraft]:
    key = "t" + hashlib.sha256("\n".join(lines).encode(errors="replace")).hexdigest()[:8]
    try:
        row = _parse({"id": key, "sentences": lines}, pool)
    except BadRow as problem:
        return PastedRow(number, key, None, str(problem))
    return PastedRow(number, row.key, row.value, "", row.note)


def _parse(record: Mapping[str, Any], pool: str) -> PastedRow[PersonaDraft]:
    sentences, revised = texts_of(record, "sentences"), texts_of(record, "revised")
    split = record.get("split", pool or "")
    if not isinstance(split, str) or len(split) > LONGEST_SPLIT:
        raise BadRow(
            _("split is %(value)s; it must be a text of at most %(most)d characters")
            % {"value": shown(split), "most": LONGEST_SPLIT}
        )
    if not FEWEST <= len(sentences) <= MOST:
        raise BadRow(
            ngettext(
                "has %(count)d sentence; it must have %(usual)d (or %(fewest)d to %(most)d)",
                "has %(count)d sentences; it must have %(usual)d (or %(fewest)d to %(most)d)",
                len(sentences),
            )
            % {"count": len(sentences), "usual": USUAL, "fewest": FEWEST, "most": MOST}
        )
    if revised and len(revised) != len(sentences):
        raise BadRow(
            _("revised has %(count)d sentences; it must have one for each of the %(wanted)d")
            % {"count": len(revised), "wanted": len(sentences)}
        )
    for sentence in (*sentences, *revised):
        _check(sentence)
    note = _departure(len(sentences))
    return PastedRow(0, key_of(record), PersonaDraft(sentences, revised, split), "", note)


def _sheet(record: Mapping[str, Any], pool: str, brief: Brief) -> PastedRow[PersonaDraft]:
    """Read a sheet: it has a name, and as many lines of its own and for both as are needed."""
    if unknown := sorted(set(record) - SHEET_FIELDS):
        raise BadRow(
            _("has a field %(name)s; there are %(known)s")
            % {"name": shown(unknown[0]), "known": ", ".join(sorted(SHEET_FIELDS))}
        )
    sentences, shared = texts_of(record, "sentences"), texts_of(record, "shared")
    name, group = _label(record, "name", 80), _label(record, "group", 40)
    split = _label(record, "split", LONGEST_SPLIT) or pool
    if not name:
        raise BadRow(_("has no name; write whose sheet it is"))
    if brief.one_group and not group:
        raise BadRow(_("has no group; both sheets of a conversation are of one, such as a series"))
    for lines, field in ((sentences, "sentences"), (shared, "shared")):
        if len(lines) > MOST_LINES or any(len(line) > LONGEST_SENTENCE for line in lines):
            raise BadRow(
                _("%(field)s must have at most %(lines)d texts of %(most)d characters")
                % {"field": field, "lines": MOST_LINES, "most": LONGEST_SENTENCE}
            )
    draft = PersonaDraft(sentences, (), split, SheetDraft(name, group, shared))
    return PastedRow(0, key_of(record), draft)


def _label(record: Mapping[str, Any], name: str, most: int) -> str:
    value = record.get(name, "")
    if isinstance(value, str) and len(value) <= most:
        return " ".join(value.split())
    complaint = _("%(name)s is %(value)s; it must be a text of at most %(most)d characters")
    raise BadRow(complaint % {"name": name, "value": shown(value), "most": most})


def _check(sentence: str) -> None:
    words = word_count(sentence)
    if not SHORTEST <= words <= LONGEST or len(sentence) > LONGEST_SENTENCE:
        raise BadRow(
            ngettext(
                "%(sentence)s has %(words)d word; it must have %(least)d to %(most)d",
                "%(sentence)s has %(words)d words; it must have %(least)d to %(most)d",
                words,
            )
            % {"sentence": shown(sentence), "words": words, "least": SHORTEST, "most": LONGEST}
        )


def _departure(count: int) -> str:
    if count == USUAL:
        return ""
    return _("%(count)d sentences; the source has %(usual)d") % {"count": count, "usual": USUAL}


def _persona(campaign: AnyCampaign, key: str, draft: PersonaDraft) -> Persona:
    return Persona(
        campaign_id=campaign.pk,
        key=key,
        split=draft.split,
        sentences=list(draft.sentences),
        revised=list(draft.revised),
        name=draft.sheet.name,
        group=draft.sheet.group,
        shared=list(draft.sheet.shared),
        order=campaigns.persona_order(campaign.seed, key),
    )


def _note(campaign: AnyCampaign, by: Any, action: str, now: datetime, count: int) -> None:
    audit.append(actor=by.get_username(), action=action, campaign=campaign, now=now, count=count)
