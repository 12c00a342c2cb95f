"""How ratings came about: an export tells the same flow and methods as the page."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis import rating_table, read
from analysis.output import participant_flow
from analysis.output.methods import methods
from analysis.tables.tidy import tidy
from tests.factories import make_participation, make_staff
from tests.webapp.services import rated
from webapp.models import Campaign
from webapp.services.campaign import launch
from webapp.services.data import exports, study_record, tables
from webapp.services.rules.protocols import protocol_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    made = rated.personachat(each=3)
    rated.rate(made, made.systems.get(name="poor"), outcome="QUIT")
    person, _ = rated.rate(made, made.systems.get(name="fair"))
    person.excluded = "copied"
    person.save()
    make_participation(made, state="ENDED", outcome="FULL")
    made.refresh_from_db()
    made.plan = launch.plan_of(made)
    made.plan_hash = launch.plan_hash(made.plan)
    made.save()
    made.amendments.create(text="Three more people.", made_by=make_staff("ada"))
    return made


def test_page_and_export_tell_the_same_flow_and_methods(campaign: Campaign, tmp_path: Path) -> None:
    path = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    whole = tables.ratings(campaign, include_excluded=True)
    told, here = read(path), study_record.study(campaign, whole)
    assert told.study is not None
    assert told.ratings is not None
    both = [list(participant_flow.sections(each)) for each in (told.study, here)]
    assert [each.key for each in both[1]] == ["flow", "flow-systems", "excluded"]
    for read_back, shown in zip(*both, strict=True):
        assert (read_back.title, read_back.note) == (shown.title, shown.note)
        pd.testing.assert_frame_equal(read_back.frame, shown.frame, check_dtype=False)
    kept = rating_table(whole[whole["excluded"] == ""])
    nothing = tidy("", ())
    assert methods(told.ratings, nothing, told.study) == methods(kept, nothing, here)
    offers = [each.offer() for step in protocol_of(campaign).rates for each in step.each]
    assert len(set(offers)) > 1
    assert all(f"({offer}" in " ".join(methods(kept, nothing, here)) for offer in offers)
    assert "It was amended once: Three more people." in methods(kept, nothing, here)[0]


def test_the_flow_has_the_reviewers_reason_and_who_was_too_late(campaign: Campaign) -> None:
    whole = tables.ratings(campaign, include_excluded=True)
    rows = next(participant_flow.sections(study_record.study(campaign, whole))).frame
    found = dict(zip(rows["step"], rows["people"], strict=True))
    assert found["consented"] == 12
    assert found["– full before any work"] == 1
    assert found["– stopped of their own accord"] == 1
    assert found["– reviewer: copied"] == 1
    assert found["in the results"] == 9


def test_a_draft_tells_the_plan_that_it_would_freeze() -> None:
    made = rated.personachat(each=1)
    found = study_record.study(made, tables.ratings(made))
    assert found.plan_sha256 == ""
    assert found.protocol["name"] == "personachat_bot"
    assert [each["name"] for each in found.systems] == ["good", "fair", "poor"]
