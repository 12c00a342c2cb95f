"""The page of a competition: rules and entries by its forms; code of teams runs by a command."""

from __future__ import annotations

import json
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluation.competition import next_day, rules_of
from tests.factories import make_member
from tests.webapp.services.studies import make_study
from webapp import clock
from webapp.models import AuditEntry, Entry, Study

pytestmark = pytest.mark.django_db
HIDDEN = "the heron sleeps in the cellar"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"sources": "mine | not public | my desk"}, "mine is not public"),
    ({"sources": "mine"}, "with | between"),
    ({"sources": ""}, "list all that the system learned from"),
    ({"ensemble": ""}, "is missing"),
    ({"team": "Team 1"}, "write small letters"),
    ({"metrics": "ppl"}, "list one or more of F1"),
    ({"bot": "nobody"}, "none of"),
    ({"options": "{"}, "is no JSON"),
    ({"options": '{"never": 1}'}, "'never'"),
    ({"bot": "callable", "options": '{"function": "os.system"}'}, "function is 'os.system'"),
    ({"bot": "bm25", "options": '{"weights": "/etc"}'}, "is not a folder of weights here"),
    (
        {"bot": "mmi", "options": '{"backward_options": {"weights": "/etc"}}'},
        "is not a folder of weights here",
    ),
]


def rules() -> dict[str, str]:
    today = clock.now().date()
    days = {"opens": str(today - timedelta(days=60)), "closes": str(today + timedelta(days=60))}
    given = {"action": "announce", "baseline": "baseline", "choice": "F1", "advance": "7"}
    return {**days, **given, "candidates": "2"}


def entry(team: str = "one", **changes: str) -> dict[str, str]:
    data = "small talk | public | https://example.org"
    given = {"action": "submit", "bot": "parrot", "options": "", "metrics": "F1", "team": team}
    return {**given, "sources": data, "ensemble": "no", **changes}


def sent(client: Client, study: Study, raw: dict[str, str]) -> tuple[int, str]:
    """Send a form; return the status, and the page that follows."""
    answer = client.post(reverse("competition", args=[study.pk]), raw, follow=True)
    return answer.status_code, answer.content.decode()


@pytest.fixture
def study(ann: Client) -> Study:
    """A study with the rules of a competition, announced on its page."""
    made = make_study()
    assert "holds no competition yet" in sent(ann, made, entry("early"))[1]
    status, page = sent(ann, made, rules())
    assert (status, "The rules are announced." in page) == (200, True)
    return made


def test_an_entry_waits_on_the_page_until_the_command_has_run_it(
    ann: Client, study: Study, tmp_path: Path
) -> None:
    page = sent(ann, study, entry("one"))[1]
    assert "waits to be run" in page
    assert f"manage.py competition {study.pk} run" in page
    assert Entry.objects.get().ran_at is None
    turns = [{"speaker": "partner", "text": HIDDEN}, {"speaker": "self", "text": HIDDEN}]
    (tmp_path / "hidden.jsonl").write_text(json.dumps({"id": "d", "turns": turns}) + "\n")
    data = f"jsonl:{tmp_path / 'hidden.jsonl'}"
    call_command("competition", str(study.pk), "run", "--data", data)
    page = ann.get(reverse("competition", args=[study.pk])).content.decode()
    assert "F1 100.0000" in page
    assert "counts on the board" in page
    assert "waits to be run" not in page
    assert "cellar" not in page
    actions = AuditEntry.objects.filter(action="entry submitted").values_list("actor", flat=True)
    assert list(actions) == ["ann"]
    Entry.objects.update(scores=None, failure="ValueError")
    assert "failed: ValueError" in ann.get(reverse("competition", args=[study.pk])).content.decode()


def test_a_second_entry_is_refused_with_the_day_of_the_next_and_nothing_typed_is_lost(
    ann: Client, study: Study
) -> None:
    sent(ann, study, entry("one"))
    status, page = sent(ann, study, entry("one", options='{"never": "lost"}', bot="parrot"))
    assert status == 422
    assert "never" in page
    status, page = sent(ann, study, entry("one", sources="another | public | https://two.example"))
    following = next_day(
        rules_of(study.competition.rules), [clock.now().date()], clock.now().date()
    )
    assert status == 422
    assert f"the next submission is possible from {following}" in page
    assert f"next possible from {following}" in page
    assert "https://two.example" in page
    assert Entry.objects.count() == 1


def test_what_is_refused_says_why(ann: Client, study: Study) -> None:
    for changes, says in REFUSED:
        status, page = sent(ann, study, {**entry(), **changes})
        complaint = unescape(page.split('class="error-summary"')[1].split("</div>")[0])
        assert (status, says in complaint) == (422, True), complaint
    assert not Entry.objects.exists()


def test_a_viewer_sees_the_page_and_no_form(study: Study, client: Client) -> None:
    client.force_login(make_member("eve", "viewer", project=study.project))
    page = client.get(reverse("competition", args=[study.pk])).content.decode()
    assert "Nobody has submitted yet." in page
    assert "Submit an entry" not in page
    assert sent(client, study, entry("one"))[0] == 403


@pytest.mark.parametrize(
    ("earlier", "today", "following"),
    [
        ([], "2018-04-20", "2018-04-21"),
        ([], "2018-04-21", "2018-04-21"),
        (["2018-04-21"], "2018-04-30", "2018-05-01"),
        (["2018-04-21"], "2018-05-01", "2018-05-01"),
        (["2018-09-01"], "2018-09-30", None),
        ([], "2018-10-01", None),
    ],
)
def test_the_next_submission_is_in_another_month_of_the_round(
    earlier: list[str], today: str, following: str | None
) -> None:
    held = rules_of({"opens": "2018-04-21", "closes": "2018-09-30", "baseline": "baseline"})
    found = next_day(
        held, [date.fromisoformat(each) for each in earlier], date.fromisoformat(today)
    )
    assert found == (date.fromisoformat(following) if following else None)
