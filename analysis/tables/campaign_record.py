"""Campaign record: the frozen plan, who took part, what was set aside and why.

An export holds it as `plan.json`, `manifest.json`, `participants.csv` and `ratings_all.csv`; a bare
table of ratings has none of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import msgspec
import pandas as pd

from analysis.tables.plan_settings import renamed

PEOPLE = ("participant", "system", "outcome", "excluded")
ANSWERS = ("rater", "system", "excluded")
REPLIES = ("system", "calls", "shown", "failed", "troubled")
COMPLETED = "COMPLETED"


class ManifestFile(TypedDict):
    """A file of an export as it was written."""

    sha256: str


class RecordedAmendment(TypedDict):
    """A change after launch, in words."""

    text: str


class PlannedCampaign(TypedDict, total=False):
    """A campaign of a study's export, with the SHA-256 of its frozen plan."""

    campaign: str
    plan_sha256: str | None


class Manifest(TypedDict, total=False):
    """What is read of an export's `manifest.json`; it says more."""

    campaigns: list[PlannedCampaign]
    plan_sha256: str | None
    state: str
    withdrew: int | None
    outcomes: dict[str, str]
    amendments: list[RecordedAmendment]
    datasheet: dict[str, Any]
    files: dict[str, ManifestFile]


def manifest_of(found: Mapping[str, Any]) -> Manifest:
    """Return what is read of a manifest; raise `ValueError` with the field that is none of ours."""
    return msgspec.convert(found, Manifest)


def is_as_frozen(plan: Mapping[str, Any], sha256: str) -> bool:
    """Tell whether a plan has the checksum that was shown, and stored, when it was frozen."""
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest() == sha256


@dataclass(frozen=True, eq=False, kw_only=True)
class CampaignRecord:
    """One campaign as it was planned and as it went.

    `people` has a row for each participation but those withdrawn, `answers` one for each current
    answer, those set aside too, `replies` one for each system that was called; `outcomes` says what
    people's outcomes mean, `datasheet` what a researcher answered to its form, by number.
    """

    plan: Mapping[str, Any]
    plan_sha256: str = ""
    state: str = ""
    people: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(PEOPLE)))
    answers: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(ANSWERS)))
    replies: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(REPLIES)))
    withdrew: int | None = None
    outcomes: Mapping[str, str] = field(default_factory=dict)
    amendments: Sequence[str] = ()
    datasheet: Mapping[str, object] = field(default_factory=dict)

    @property
    def protocol(self) -> Mapping[str, Any]:
        return dict(self.plan.get("protocol", {}))

    @property
    def chat(self) -> Mapping[str, Any] | None:
        """The step of the plan in which people chat, if it has one."""
        return next((step for step in self._steps if step.get("step") == "chat"), None)

    @property
    def rates(self) -> list[Mapping[str, Any]]:
        """The steps of the plan in which people answer questions."""
        return [step for step in self._steps if step.get("step") == "rate"]

    @property
    def rates_nothing(self) -> bool:
        """Whether the plan has people write or talk, and nobody rate."""
        return bool(self.protocol) and not self.rates

    @property
    def writing(self) -> Mapping[str, Any] | None:
        """The step of the plan in which people write, if it has one."""
        return next((step for step in self._steps if step.get("step") == "write"), None)

    @property
    def questions(self) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Yield each question with its step."""
        return ((each, step) for step in self.rates for each in step.get("each", ()))

    @property
    def systems(self) -> list[Mapping[str, Any]]:
        return list(self.plan.get("systems", ()))

    @property
    def control(self) -> str | None:
        """The system that is the worst by design, if one was planned."""
        return next((str(each["name"]) for each in self.systems if each.get("control")), None)

    @property
    def settings(self) -> list[Mapping[str, Any]]:
        return [renamed(row) for row in self.protocol.get("settings", ())]

    @property
    def departures(self) -> list[Mapping[str, Any]]:
        """The settings that are not the source's."""
        return [each for each in self.settings if each.get("departure")]

    @property
    def _steps(self) -> list[Mapping[str, Any]]:
        return list(self.protocol.get("steps", ()))
