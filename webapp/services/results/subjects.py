"""Subject of results: a campaign, or a study whose campaigns are read together.

Apart because what the numbers are of is one question, and how a page arranges them another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd

from analysis import MessageTable, RatingTable
from analysis.registry import get_report, of_studies, report_names, tables_of
from analysis.tables.campaign_record import COMPLETED, CampaignRecord
from analysis.tables.system_settings import with_settings
from webapp.models import Study
from webapp.services.campaign import studies
from webapp.services.data import phases, study_exports, tables
from webapp.services.data.study_record import study as record_of
from webapp.services.rules.access import AnyCampaign, AnyStudy, StaffStudy, row_of
from webapp.services.rules.protocols import protocol_of

HELD = {"ratings", "messages"}  # the tables that a campaign has
PHASES = ("phase", "campaign", "protocol", "panel", "people", "completed", "answers")
Evaluated = AnyCampaign | AnyStudy


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """Tables that results are of. file: its export's name. record: a study has none.

    author: the owner's name; empty where the account has none.
    """

    name: str
    title: str
    file: str
    words: str
    whole: RatingTable  # answers that are set aside too
    messages: Callable[[], MessageTable]
    record: CampaignRecord | None
    reports: tuple[str, ...]
    author: str = ""
    phases: pd.DataFrame | None = None  # of a study: each campaign, who came and what they answered


def subject_of(of: Evaluated | Subject) -> Subject:
    """Return the tables of a campaign or of a study; they may have been read already."""
    if isinstance(of, Subject):
        return of
    if isinstance(of, Study | StaffStudy):
        return _of_study(of)
    campaign = row_of(of)
    plans = {"": campaign.plan or {}}
    whole = with_settings(tables.ratings(campaign, include_excluded=True), plans)
    return Subject(
        name=campaign.name,
        title=protocol_of(campaign).title,
        file=tables.name_of(campaign),
        words=f"campaign {campaign.pk}",
        whole=whole,
        messages=lambda: tables.described_messages(campaign),
        record=record_of(campaign, whole),
        reports=readable(),
        author=campaign.owner.get_full_name(),
    )


def _of_study(study: AnyStudy) -> Subject:
    campaigns = studies.phases(study)
    plans = {phases.of_study(each)["campaign"]: each.plan or {} for each in campaigns}
    several, whole = of_studies(), with_settings(phases.ratings(study), plans)
    return Subject(
        name=study.name,
        title=", ".join(dict.fromkeys(protocol_of(each).title for each in studies.phases(study))),
        file=study_exports.name_of(study),
        words=f"study {study.pk}",
        whole=whole,
        messages=lambda: phases.described_messages(study),
        record=None,
        reports=tuple(sorted(readable(), key=lambda name: name not in several)),
        author=Study.objects.get(pk=study.pk).owner.get_full_name(),
        phases=pd.DataFrame(_phase_rows(study, whole), columns=list(PHASES)),
    )


def _phase_rows(study: AnyStudy, whole: RatingTable) -> Iterator[tuple[object, ...]]:
    """Yield a row per campaign: who took part but for those who withdrew, and their answers."""
    people = pd.DataFrame(phases.participants(study), columns=["campaign", "outcome"])
    counts = people.groupby("campaign")["outcome"]
    came, completed = counts.size(), counts.agg(lambda column: (column == COMPLETED).sum())
    kept = whole[whole["excluded"] == ""].groupby("campaign").size()
    for each in studies.phases(study):
        name = phases.of_study(each)["campaign"]
        numbers = (int(found.get(name, 0)) for found in (came, completed, kept))
        yield each.phase, name, protocol_of(each).title, each.get_panel_display(), *numbers


def readable() -> tuple[str, ...]:
    """Return the reports that read what a campaign has: ratings and messages."""
    return tuple(name for name in report_names() if tables_of(get_report(name)) <= HELD)
