"""Arms over a study: whoever comes back in another campaign keeps the kind they were drawn into.

Rules V9.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from tests.factories import NOW, make_campaign, make_project, make_staff
from tests.webapp.services.judged import judge_page, replies_campaign
from tests.webapp.services.people import after, join
from webapp.models import Assignment, Campaign, ExternalId, Item, Participation, Study
from webapp.services.campaign import launch
from webapp.services.data import assignment_rules, exports
from webapp.services.participation import enrolment
from webapp.services.rating import one_kind

pytestmark = pytest.mark.django_db
ARMS = ("first", "second")


def phase(
    study: Study | None, name: str, *groups: str, protocol: str = "explanation_ranking"
) -> Campaign:
    """Return an open campaign with three prompts of each data set, of which a rater gets two."""
    rows = [
        {
            "id": f"{group}{number}",
            "messages": [f"Prompt {number} of {group} because ?"],
            "replies": {"alpha": f"A{number}", "beta": f"B{number}"},
            "dataset": group,
        }
        for group in groups
        for number in range(3)
    ]
    made = replies_campaign(protocol, rows, votes=4, batch=2)
    Campaign.objects.filter(pk=made.pk).update(study=study, phase=name if study else "")
    made.refresh_from_db()
    return made


def came(campaign: Campaign, name: str, seconds: float = 0) -> str:
    """Let somebody come; return the arm they are in, "" for no place."""
    person = enrolment.start(person=join(campaign, name), now=after(seconds))
    held = Assignment.objects.filter(participation=person)
    return "".join(set(held.values_list("item__context__group", flat=True)))


@pytest.fixture
def study() -> Study:
    return Study.objects.create(
        name="arms", owner=make_staff(), project=make_project(), created_at=NOW
    )


def test_a_participant_keeps_the_arm_over_the_campaigns_of_a_study(study: Study) -> None:
    one, two = phase(study, "one", *ARMS), phase(study, "two", *ARMS)
    alone = phase(None, "", *ARMS)
    names = [f"p{n}" for n in range(4)]
    before = [came(one, name) for name in names]
    assert set(before) == set(ARMS)
    assert [came(two, name, 60) for name in names] == before
    assert [came(alone, name, 90) for name in names] != before, "another study's, or nobody's"


def test_who_has_no_id_or_no_such_arm_here_is_drawn_and_a_full_arm_stays_full(study: Study) -> None:
    one, two, three = (
        phase(study, n, *groups) for n, groups in (("1", ARMS), ("2", ARMS), ("3", ("third",)))
    )
    arm = came(one, "ann")
    assert came(three, "ann", 60) == "third"
    Item.objects.filter(campaign=two, context__group=arm).update(reserved=4)
    assert came(two, "ann", 90) == ""
    assert Participation.objects.get(campaign=two).outcome == "FULL"
    person, _secret = enrolment.join(
        campaign=two, platform="", external_id="", language="en", now=after(99)
    )
    assert one_kind.drawn_before(person) is None


def test_nobody_was_drawn_where_nothing_is_kept_or_no_id_is_known(study: Study) -> None:
    one, two = phase(study, "one", *ARMS), phase(study, "two", *ARMS)
    came(one, "ann")
    person = join(two, "ann")
    assert one_kind.drawn_before(person) is not None
    ExternalId.objects.filter(participation=person).delete()
    assert one_kind.drawn_before(person) is None
    others = [make_campaign(study=study, phase=name) for name in ("three", "four")]
    for campaign in others:
        assert one_kind.drawn_before(join(campaign, "ann")) is None


def test_kinds_are_of_what_was_judged() -> None:
    campaign = phase(None, "", *ARMS)
    arm = came(campaign, "ann")
    assert one_kind.kinds_of(campaign) == {}
    Assignment.objects.update(state="DONE")
    assert one_kind.kinds_of(campaign) == {campaign.participations.get().pk: [arm]}
    assert one_kind.kinds_of(make_campaign()) == {}


def test_an_item_with_a_known_answer_is_of_no_arm(study: Study) -> None:
    one, two = phase(study, "one", *ARMS), phase(study, "two", *ARMS)
    arm = came(one, "ann", 30)
    other = one.contexts.exclude(group=arm)[0]
    item = Item.objects.create(campaign=one, key="known", context=other, target=0, known=True)
    Assignment.objects.create(
        item=item, participation=one.participations.get(), place=9, made_at=NOW, state="DONE"
    )
    assert came(two, "ann", 60) == arm


def test_the_plan_and_the_export_state_it_and_the_checker_tells_who_changed(
    study: Study, tmp_path: Path
) -> None:
    one, two = phase(study, "one", *ARMS), phase(study, "two", *ARMS)
    assert launch.plan_of(two)["arms"] == {"by": "group", "rule": one_kind.RULE}
    for campaign in (one, two):
        person = enrolment.start(person=join(campaign, "ann"), now=after(campaign.pk))
        while judge_page(
            person, 0, lambda question, context, names, n: str(1 + (names[0] == "beta"))
        ):
            pass
    arm = came(one, "ann")
    path = exports.write_to(campaign=two, path=tmp_path / "export.zip")
    with zipfile.ZipFile(path) as archive:
        people = list(csv.DictReader(io.StringIO(archive.read("participants.csv").decode())))
        manifest = json.loads(archive.read("manifest.json"))
    assert [row["arm"] for row in people] == [arm]
    assert manifest["arms"]["rule"] == one_kind.RULE
    assert _arms(two) == []
    other = next(each for each in ARMS if each != arm)
    judged = Item.objects.filter(campaign=two, assignments__state="DONE")
    judged.update(context=two.contexts.filter(group=other)[0])
    assert _arms(one) == []
    assert [(each.rule, each.rater, each.item) for each in _arms(two)] == [
        ("arm", people[0]["participant"], other)
    ]


def _arms(campaign: Campaign) -> list[assignment_rules.Violation]:
    found = assignment_rules.of_campaign(campaign).broken
    return [each for each in found if each.rule == "arm"]
