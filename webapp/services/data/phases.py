"""Tables of a study: those of its campaigns one below the other, with the phase of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pandas as pd

from analysis import MessageTable, RatingTable
from webapp.models import Campaign
from webapp.services.campaign import studies
from webapp.services.data import codebook, conversation_records, tables
from webapp.services.data.tables import Row
from webapp.services.rules.access import AnyStudy

RATINGS = (*codebook.RATINGS, "phase")


def ratings(study: AnyStudy) -> RatingTable:
    """Return every current answer of the study's campaigns, those set aside too."""
    parts = [
        tables.ratings(campaign, include_excluded=True).assign(phase=campaign.phase)
        for campaign in studies.phases(study)
    ]
    return RatingTable(_joined(parts, list(RATINGS)))


def rating_rows(study: AnyStudy) -> Iterator[Row]:
    """Yield the same row by row."""
    return rows(study, tables.rating_rows)


def described_messages(study: AnyStudy) -> MessageTable:
    """Return the messages with the sentences of their persona, which are the campaign's own."""
    parts = [
        tables.described_messages(campaign).assign(**of_study(campaign))
        for campaign in studies.phases(study)
    ]
    return MessageTable(_joined(parts, [*codebook.OF_STUDY, *codebook.MESSAGES]))


def participants(study: AnyStudy) -> Iterator[Row]:
    """Yield every participation; a person has one pseudonym per campaign."""
    return rows(study, conversation_records.participants)


def rows(study: AnyStudy, of_one: Callable[[Campaign], Iterable[Row]]) -> Iterator[Row]:
    """Yield the rows of a table that each campaign has."""
    for campaign in studies.phases(study):
        yield from (row | of_study(campaign) for row in of_one(campaign))


def of_study(campaign: Campaign) -> dict[str, str]:
    """Return the cells that tell the campaigns of a study apart."""
    return {"campaign": tables.name_of(campaign), "phase": campaign.phase}


def _joined(parts: Sequence[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)
