"""Results pages while something is computed: they say so, never for ever, and cost the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import make_staff
from tests.webapp.services import rated
from tests.webapp.services.computed import computed
from webapp.models import Campaign, StoredResult
from webapp.services.results import computing, stored

pytestmark = pytest.mark.django_db
FEW = 12  # people: from ten endings on the live page looks at what most of them did
FEWEST = {"results": 24, "live": 30, "live-part": 30, "score-part": 20}  # statements of a page


@pytest.fixture
def ada() -> Client:
    """Somebody whose browser does not wait."""
    made = Client()
    made.force_login(make_staff("ada"))
    return made


@pytest.fixture
def rated_campaign() -> Campaign:
    return rated.personachat(each=2)


def old(campaign: Campaign) -> None:
    """Make what is stored an hour old, and one answer newer than it."""
    StoredResult.objects.update(made_at=timezone.now() - timedelta(hours=1))
    rated.rate(campaign, campaign.systems.get(name="poor"))


def test_the_first_look_says_that_it_is_computed_and_a_later_one_shows_it(
    ada: Client, rated_campaign: Campaign
) -> None:
    address = reverse("results", args=[rated_campaign.pk])
    first = ada.get(address)
    page = first.content.decode()
    assert first.status_code == 202
    assert "<progress" in page
    assert 'hx-trigger="every 2s"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    part = reverse("results-progress", args=[rated_campaign.pk])
    assert "HX-Refresh" not in ada.get(part, {"name": "page", "rows": "counted"}).headers
    assert computing.compute_wanted(f"campaign-{rated_campaign.pk}") == 1
    assert ada.get(part, {"name": "page", "rows": "counted"}).headers["HX-Refresh"] == "true"
    shown = ada.get(address)
    assert shown.status_code == 200
    assert "Computed from 24 ratings at" in shown.content.decode()
    assert "<progress" not in shown.content.decode()


def test_the_last_one_is_shown_while_a_newer_one_is_computed(
    ada: Client, rated_campaign: Campaign
) -> None:
    computed(rated_campaign)
    old(rated_campaign)
    address = reverse("results", args=[rated_campaign.pk])
    page = ada.get(address).content.decode()
    assert "Computed from 24 ratings at" in page
    assert "a newer one is being computed" in page
    computing.compute_wanted(f"campaign-{rated_campaign.pk}")
    assert "Computed from 28 ratings at" in ada.get(address).content.decode()


def test_downloads_wait_with_the_page_and_say_their_time(
    ada: Client, rated_campaign: Campaign
) -> None:
    numbers = reverse("results-numbers", args=[rated_campaign.pk])
    first = ada.get(numbers)
    assert (first.status_code, first.json()) == (202, {"computing": True})
    document = reverse("results-document", args=[rated_campaign.pk, "datasheet"])
    assert ada.get(document).status_code == 202
    assert StoredResult.objects.count() == 2
    assert computing.compute_wanted(f"campaign-{rated_campaign.pk}") == 2
    assert ada.get(numbers).status_code == 200
    found = ada.get(document)
    assert found.content.startswith(b"%PDF")
    assert found.headers["Last-Modified"].endswith("GMT")


def test_a_failure_has_a_button_and_no_progress(ada: Client, rated_campaign: Campaign) -> None:
    address = reverse("results", args=[rated_campaign.pk])
    ada.get(address)
    stored.fail_all(f"campaign-{rated_campaign.pk}", "the process <b> was ended")
    told = ada.get(address)
    page = told.content.decode()
    assert told.status_code == 503
    assert "It could not be computed: the process &lt;b&gt; was ended." in page
    assert "<progress" not in page
    assert StoredResult.objects.get().wanted_at is None  # a look does not begin it again
    again = reverse("results-again", args=[rated_campaign.pk])
    assert f'action="{again}"' in page
    answer = ada.post(again, {"name": "page", "rows": "counted"}, follow=True)
    assert answer.status_code == 202
    assert StoredResult.objects.get().wanted_at is not None


@pytest.mark.parametrize(
    ("name", "rows"),
    [("page", "x"), ("scores", "all"), ("report/none", "all"), ("x/summary", "all")],
)
def test_nothing_else_can_be_wanted(
    ada: Client, rated_campaign: Campaign, name: str, rows: str
) -> None:
    again = reverse("results-again", args=[rated_campaign.pk])
    assert ada.post(again, {"name": name, "rows": rows}).status_code == 404
    assert not StoredResult.objects.exists()


def test_the_scores_of_the_live_page_are_told_with_their_time(
    ada: Client, rated_campaign: Campaign
) -> None:
    address = reverse("score-part", args=[rated_campaign.pk])
    assert "Computing …" in ada.get(address).content.decode()
    stored.fail_all(f"campaign-{rated_campaign.pk}", "a child was ended")
    assert "Try again" in ada.get(address).content.decode()
    ada.post(reverse("score-again", args=[rated_campaign.pk]))
    computing.compute_wanted(f"campaign-{rated_campaign.pk}")
    page = ada.get(address).content.decode()
    assert 'id="scores-table"' in page
    assert "Computed from 24 ratings at" in page


@pytest.mark.parametrize("name", FEWEST)
def test_a_page_costs_as_many_statements_at_few_people_as_at_fifty(
    ada: Client, name: str, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    counts = []
    for people in (FEW, 50):
        campaign = rated.personachat(each=people, systems={"good": 1.0})
        if not name.startswith("live"):
            computed(campaign, "scores" if name == "score-part" else "page")
        with django_assert_max_num_queries(FEWEST[name]) as queries:
            assert ada.get(reverse(name, args=[campaign.pk])).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_words_of_a_report_are_counted_by_the_tokenizer_that_was_chosen(
    ada: Client, rated_campaign: Campaign
) -> None:
    name, subject = "dataset_statistics", f"campaign-{rated_campaign.pk}"
    address = reverse("results-report", args=[rated_campaign.pk, name])
    document = reverse("results-document", args=[rated_campaign.pk, name])
    chosen = {"tokenizer": "characters"}
    assert [ada.get(address, chosen).status_code, ada.get(document, chosen).status_code] == [
        202
    ] * 2
    assert ada.get(address, {"tokenizer": "<b>"}).status_code == 202  # as in the paper
    names = set(StoredResult.objects.values_list("name", flat=True))
    assert names == {f"report/{name}@characters", f"document/{name}@characters", f"report/{name}"}
    assert computing.compute_wanted(subject) == 3
    pages = [ada.get(address, query).content.decode() for query in (chosen, {})]
    assert ["characters</td>" in page for page in pages] == [True, False]
    assert [
        'rows=counted&amp;tokenizer=characters" aria-current="page"' in page for page in pages
    ] == [True, False]
    assert ["Notebook" in page for page in pages] == [False, True]  # a notebook keeps none
    assert ada.get(document, chosen).content.startswith(b"%PDF")
    again = {"name": f"report/{name}@characters", "rows": "counted"}
    where = ada.post(reverse("results-again", args=[rated_campaign.pk]), again).headers["Location"]
    assert where == f"{address}?rows=counted&tokenizer=characters"


def test_a_report_without_words_has_no_choice_of_tokenizers(
    ada: Client, rated_campaign: Campaign
) -> None:
    address = reverse("results-report", args=[rated_campaign.pk, "rater_design"])
    assert ada.get(address, {"tokenizer": "words"}).status_code == 202
    assert ada.get(address).status_code == 202
    assert computing.compute_wanted(f"campaign-{rated_campaign.pk}") == 2
    assert ada.get(address, {"tokenizer": "words"}).status_code == 404
    assert "Words are counted by" not in ada.get(address).content.decode()
