"""Rules of a competition on its page: the month, code of teams, and what nobody reads of it."""

from __future__ import annotations

import json
import logging
from datetime import UTC, date, datetime, time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.webapp.services.competition.test_competition import HIDDEN, WRAPPED
from tests.webapp.services.studies import make_study
from tests.webapp.views.staff.test_competition_page import entry, rules, sent
from webapp import clock
from webapp.models import Entry, Study

pytestmark = pytest.mark.django_db
SECRET = "cellar"  # of the hidden dialogues
FAILED = {"leak": "ValueError", "shout": "Exception", "dial": "Offline", "spawn": "Offline"}
ROUND = {"opens": "2018-04-21", "closes": "2018-09-30"}


@pytest.fixture
def study(ann: Client) -> Study:
    """A study whose page has taken the rules of a competition."""
    made = make_study()
    assert "The rules are announced." in sent(ann, made, rules())[1]
    return made


@pytest.fixture
def wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of teams that runs behind a function of the entry."""
    (tmp_path / "team_code.py").write_text(WRAPPED, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("BOT_CALLABLES", "team_code.*")


@pytest.fixture
def hidden(tmp_path: Path) -> str:
    """Hidden dialogues, as the command names them."""
    turns = [{"speaker": "partner", "text": HIDDEN}, {"speaker": "self", "text": "rain, he likes"}]
    (tmp_path / "hidden.jsonl").write_text(json.dumps({"id": "d", "turns": turns}) + "\n")
    return f"jsonl:{tmp_path / 'hidden.jsonl'}"


def code(function: str) -> dict[str, str]:
    options = json.dumps({"function": f"team_code.{function}"})
    return entry(function, bot="callable", options=options)


def command(study: Study, *words: str) -> str:
    out = StringIO()
    call_command("competition", str(study.pk), *words, stdout=out)
    return out.getvalue()


def test_code_runs_offline_and_no_page_log_or_error_holds_a_hidden_item(
    ann: Client,
    study: Study,
    hidden: str,
    wrapped: None,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for function in (*FAILED, "good"):
        assert "waits to be run" in sent(ann, study, code(function))[1]
    with caplog.at_level(logging.DEBUG):
        ran = command(study, "run", "--data", hidden)
    pages = [ann.get(reverse(name, args=[study.pk])) for name in ("competition", "study")]
    pages.append(ann.get(reverse("audit")))
    assert [page.status_code for page in pages] == [200, 200, 200]
    page, *others = (answer.content.decode() for answer in pages)
    for kind in set(FAILED.values()):
        assert page.count(f"failed: {kind}") == [*FAILED.values()].count(kind)
    assert page.count("counts on the board") == 1
    results = [command(study, "result", function) for function in (*FAILED, "good")]
    told = [ran, page, *others, *results, caplog.text, *capfd.readouterr()]
    assert "ran an entry of a competition" in others[-1]
    assert not [text for text in told if SECRET in text]


def test_a_rerun_gives_the_same_scores_and_tells_of_another(
    ann: Client, study: Study, hidden: str, wrapped: None
) -> None:
    sent(ann, study, code("good"))
    command(study, "run", "--data", hidden)
    assert command(study, "rerun", "--data", hidden) == "good: the same\n"
    row = Entry.objects.get()
    Entry.objects.update(scores={"F1": (row.scores or {})["F1"] + 0.01})
    with pytest.raises(CommandError, match="not the same"):
        command(study, "rerun", "--data", hidden)


def test_an_entry_a_month_from_the_first_day_to_the_last(
    ann: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(ann, study, rules() | ROUND)
    outside = "the automatic round is from 2018-04-21 to 2018-09-30"
    for day, refused in (
        ("2018-04-20", outside),
        ("2018-04-21", ""),
        ("2018-04-30", "the next submission is possible from 2018-05-01"),
        ("2018-05-01", ""),
        ("2018-05-02", "the next submission is possible from 2018-06-01"),
        ("2018-09-30", ""),
        ("2018-10-01", outside),
    ):
        at = datetime.combine(date.fromisoformat(day), time(12), UTC)
        monkeypatch.setattr(clock, "now", lambda at=at: at)
        before = Entry.objects.count()
        status, page = sent(ann, study, entry())
        assert (status, refused in page) == (422 if refused else 200, True), day
        assert Entry.objects.count() - before == (not refused), day
