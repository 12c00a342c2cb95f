"""Pages of studies: phases come and go, a phase is repeated, results of all are on one page."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import make_campaign
from tests.webapp.services import rated
from tests.webapp.services.studies import make_study
from tests.webapp.views.visiting import text_of
from webapp.models import Campaign, Study

pytestmark = pytest.mark.django_db


def post(client: Client, study: Study, **raw: object) -> str:
    """Send a form of a study's page and return the page that follows."""
    answer = client.post(reverse("study", args=[study.pk]), raw, follow=True)
    assert answer.status_code in (200, 422)
    return answer.content.decode()


def phases(study: Study) -> list[str]:
    return list(study.phases.order_by("pk").values_list("phase", flat=True))


def test_a_study_is_made_renamed_and_listed(ann: Client) -> None:
    made = ann.post(reverse("studies"), {"name": " Humans & bots ", "note": "Two\nlines"})
    study = Study.objects.get()
    assert made["Location"] == reverse("study", args=[study.pk])
    stored = (study.name, study.note, study.owner.get_username())
    assert stored == ("Humans & bots", "Two\nlines", "ann")
    post(ann, study, action="change", name="Later", note="")
    assert ">Later<" in text_of(ann, "studies")


@pytest.mark.parametrize(
    ("name", "refused"), [("", True), ("n", False), ("n" * 120, False), ("n" * 121, True)]
)
def test_a_name_has_1_to_120_characters_and_nothing_typed_is_lost(
    ann: Client, name: str, refused: bool
) -> None:
    answer = ann.post(reverse("studies"), {"name": name, "note": "Keep me."})
    assert Study.objects.exists() is not refused
    assert answer.status_code == (422 if refused else 302)
    assert ("Keep me." in answer.content.decode()) is refused


def test_campaigns_join_and_leave(ann: Client) -> None:
    study, one, two = make_study(), make_campaign(name="One"), make_campaign(name="Two")
    post(ann, study, action="add", source=one.pk, phase="bots")
    post(ann, study, action="add", source=two.pk, phase="")
    assert phases(study) == ["bots", "Two"]
    page = text_of(ann, "study", study.pk)
    assert "There is no campaign that could be added." in page
    assert page.count("Take out") == 2 * 1 + 1
    post(ann, study, action="remove", source=one.pk)
    one.refresh_from_db()
    assert (phases(study), one.study, one.phase) == (["Two"], None, "")


def test_two_phases_of_a_study_have_two_names_and_a_campaign_is_in_one_study(ann: Client) -> None:
    first, other = make_study(make_campaign()), make_study()
    page = post(ann, first, action="add", source=make_campaign().pk, phase="p1")
    assert "“p1” is the name of another phase here; choose another" in page
    taken = first.phases.get()
    page = post(ann, other, action="add", source=taken.pk, phase="again")
    assert "is not one of the campaigns listed" in page
    assert (phases(first), phases(other)) == (["p1"], [])


@pytest.mark.parametrize(("times", "made"), [("0", 0), ("1", 1), ("7", 7), ("20", 20), ("21", 0)])
def test_a_phase_is_repeated_with_seeds_of_their_own(ann: Client, times: str, made: int) -> None:
    source = make_campaign("meena_static", personas=0, panel="volunteer")
    study = make_study(source)
    page = post(ann, study, action="repeat", source=source.pk, times=times, first="2")
    assert ("is not a whole number from 1 to 20" in page) is (made == 0)
    repeats = Campaign.objects.filter(study=study).exclude(pk=source.pk)
    assert repeats.count() == made
    assert len({each.seed for each in (*repeats, source)}) == made + 1
    assert {each.state for each in repeats} <= {"DRAFT"}
    assert {(each.protocol, each.panel) for each in repeats} <= {("meena_static", "volunteer")}
    assert {each.systems.get().name for each in repeats} <= {"alpha"}


def test_a_second_click_repeats_nothing_and_numbers_go_on(ann: Client) -> None:
    source = make_campaign("meena_static", personas=0)
    study = make_study(source)
    for _ in range(2):
        post(ann, study, action="repeat", source=source.pk, times="2", first="2")
    assert phases(study) == ["p1", "p1 (2)", "p1 (3)"]
    assert 'name="first" value="4"' in text_of(ann, "study", study.pk)


def test_only_a_phase_of_the_study_is_repeated(ann: Client) -> None:
    study, other = make_study(), make_campaign()
    page = post(ann, study, action="repeat", source=other.pk, times="2", first="1")
    assert "is not a phase of this study" in page
    assert Campaign.objects.count() == 1


def test_results_of_all_phases_are_on_one_page_with_their_files(ann: Client) -> None:
    study = make_study(rated.meena(each=2), rated.meena(each=2))
    page = text_of(ann, "study-results", study.pk)
    assert page.index("SD of SSA over 2 evaluations") < page.index("ratings together")
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    report = text_of(ann, "study-results-report", study.pk, "meena_repeatability")
    assert "As printed" in report
    value = ann.get(
        reverse("study-results-values", args=[study.pk, "section-1"]),
        {"report": "meena_repeatability"},
    )
    assert value.content.decode().startswith("protocol,evaluation,system,evaluations,mean,sd")
    assert ann.get(reverse("study-results-numbers", args=[study.pk])).json()
    answer = ann.post(reverse("study-results-export", args=[study.pk]))
    assert answer["Content-Disposition"] == f'attachment; filename="study-{study.pk}.zip"'
