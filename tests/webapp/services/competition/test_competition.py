"""A competition from its rules to its prizes; entries run, and tell nothing of what they saw."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import make_persona, make_staff
from tests.webapp.services.rated import chatted, judged
from tests.webapp.services.studies import make_study
from webapp.models import Campaign, Competition, Entry, Study
from webapp.services.competition import board as competitions
from webapp.services.competition import entry_runs, human_round, prizes
from webapp.services.competition.board import CompetitionRefused
from webapp.services.competition.entry_runs import HiddenTest

pytestmark = pytest.mark.django_db
HIDDEN = "the heron sleeps in the cellar"
WRAPPED = """
import socket
def leak(persona, history):
    raise type(history[-1].text.replace(" ", "_"), (ValueError,), {})(history[-1].text)
def shout(persona, history):
    import os, sys
    print(history[-1].text); print(history[-1].text, file=sys.stderr)
    for number in range(3, 20):
        try: os.write(number, history[-1].text.encode())
        except OSError: pass
    os._exit(3)
def dial(persona, history):
    socket.create_connection(("192.0.2.1", 80), timeout=1)
def spawn(persona, history):
    import subprocess
    subprocess.run(["true"])
def good(persona, history):
    return "the heron likes rain"
def apart(persona, history):
    return "the heron\u2028likes\x85rain"
"""


def rules(now: datetime, **changes: Any) -> dict[str, Any]:
    opens, closes = now - timedelta(days=60), now + timedelta(days=1)
    days = {"opens": str(opens.date()), "closes": str(closes.date())}
    return {**days, "baseline": "baseline", "candidates": 2, **changes}


def submission(team: str, bot: str = "parrot", **changes: Any) -> dict[str, Any]:
    data = [{"name": "small talk", "public": True, "where": "https://example.org"}]
    entry = {"team": team, "bot": bot, "metrics": ["F1"], "data": data, "ensemble": False}
    return {**entry, **changes}


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def row(now: datetime) -> Competition:
    return competitions.announce(study=make_study(), content=rules(now), by=make_staff(), now=now)


@pytest.fixture
def hidden(tmp_path: Path) -> HiddenTest:
    """Return hidden dialogues in which every second message is the same."""
    texts = [HIDDEN, "the heron likes rain"]
    dialogues = [
        {"id": f"d{n}", "turns": [{"speaker": s, "text": texts[k % 2] + f" {n}"} for k, s in
                                  enumerate(("partner", "self", "partner", "self"))]}
        for n in range(3)
    ]  # fmt: skip
    path = tmp_path / "hidden.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in dialogues), "utf-8")
    return HiddenTest(data=(f"jsonl:{path}",), seconds=60)


@pytest.fixture
def wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "team_code.py").write_text(WRAPPED, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("BOT_CALLABLES", "team_code.*")


def scored(row: Competition, now: datetime, **scores: dict[str, float]) -> None:
    """Enter teams with scores, as if they had run."""
    for team, found in scores.items():
        made = competitions.submit(
            competition=row, content=submission(team), by=make_staff(), now=now
        )
        Entry.objects.filter(pk=made.pk).update(scores=found, ran_at=now)


def submitted(row: Competition, now: datetime, function: str) -> Entry:
    options = {"function": f"team_code.{function}"}
    content = submission(function, "callable", options=options)
    return competitions.submit(competition=row, content=content, by=make_staff(), now=now)


def test_a_second_submission_in_a_month_is_refused(row: Competition, now: datetime) -> None:
    take: dict[str, Any] = {"competition": row, "by": make_staff(), "now": now}
    competitions.submit(content=submission("one"), **take)
    with pytest.raises(CompetitionRefused, match="once a month"):
        competitions.submit(content=submission("one"), **take)
    competitions.submit(content=submission("other"), **take)


def test_entries_run_offline_and_tell_nothing_of_the_hidden_data(
    row: Competition, now: datetime, hidden: HiddenTest, wrapped: None
) -> None:
    """Whatever an entry raises, prints, writes or dials: only a kind of error is left of it."""
    for function in ("leak", "shout", "dial", "spawn", "good"):
        submitted(row, now, function)
    entry_runs.run_waiting(competition=row, hidden=hidden, by=make_staff(), now=now)
    said = {team: competitions.result(row, team) for team in ("leak", "shout", "dial", "spawn")}
    assert {team: text.partition("failed ")[2] for team, text in said.items()} == {
        "leak": "(ValueError)",
        "shout": "(Exception)",
        "dial": "(Offline)",
        "spawn": "(Offline)",
    }
    assert "F1 " in competitions.result(row, "good")
    assert (competitions.current(row)["good"].scores or {})["F1"] > 50
    stored = "\n".join(connection_text())
    assert "cellar" not in stored


def test_a_reply_with_line_ends_of_unicode_is_scored(
    row: Competition, now: datetime, hidden: HiddenTest, wrapped: None
) -> None:
    submitted(row, now, "apart")
    (ran,) = entry_runs.run_waiting(competition=row, hidden=hidden, by=make_staff(), now=now)
    assert ran.failure == ""
    assert (ran.scores or {})["F1"] > 50


def connection_text() -> list[str]:
    """Return every text in the database."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 (its own names)
            found += [str(line) for line in cursor.fetchall()]
    return found


def test_a_rerun_gives_the_same_scores(row: Competition, now: datetime, hidden: HiddenTest) -> None:
    competitions.submit(
        competition=row, content=submission("one", "toy_f1"), by=make_staff(), now=now
    )
    (ran,) = entry_runs.run_waiting(competition=row, hidden=hidden, by=make_staff(), now=now)
    assert ran.failure == ""
    (again,) = entry_runs.rerun(competition=row, hidden=hidden)
    assert (again.failure, again.scores) == ("", ran.scores)
    Entry.objects.update(scores={"F1": 1.0})
    (other,) = entry_runs.rerun(competition=row, hidden=hidden)
    assert other.failure.startswith("F1 was 1.0, is ")


def test_hidden_data_that_cannot_be_read_is_no_fault_of_a_team(
    row: Competition, now: datetime
) -> None:
    competitions.submit(competition=row, content=submission("one"), by=make_staff(), now=now)
    with pytest.raises(CompetitionRefused, match="nowhere"):
        entry_runs.run_waiting(
            competition=row,
            hidden=HiddenTest(data=("jsonl:nowhere.jsonl",)),
            by=make_staff(),
            now=now,
        )
    assert Entry.objects.get().ran_at is None


def run_one(row: Competition, now: datetime, hidden: HiddenTest, **changes: Any) -> entry_runs.Ran:
    (ran,) = entry_runs.run_waiting(
        competition=row, hidden=hidden, by=make_staff(), now=now, **changes
    )
    return ran


def test_what_cannot_be_set_up_is_told_in_full_and_waits_until_it_is_mended(
    row: Competition,
    now: datetime,
    hidden: HiddenTest,
    monkeypatch: pytest.MonkeyPatch,
    wrapped: None,
) -> None:
    submitted(row, now, "good")
    monkeypatch.setenv("BOT_CALLABLES", "")
    assert "BOT_CALLABLES" in run_one(row, now, hidden).unready
    assert Entry.objects.get().ran_at is None
    monkeypatch.setenv("BOT_CALLABLES", "team_code.*")
    assert run_one(row, now, hidden).failure == ""
    assert Entry.objects.get().scores is not None
    monkeypatch.setenv("BOT_CALLABLES", "")
    (again,) = entry_runs.rerun(competition=row, hidden=hidden)
    assert "BOT_CALLABLES" in again.unready


def test_what_never_can_be_set_up_may_be_let_fail_and_its_text_is_not_stored(
    row: Competition, now: datetime, hidden: HiddenTest, wrapped: None
) -> None:
    submitted(row, now, "nowhere")
    assert "team_code.nowhere cannot be found" in run_one(row, now, hidden).unready
    run_one(row, now, hidden, fails_unready=True)
    assert Entry.objects.get().failure == "it cannot be set up"
    assert "cannot be found" not in "\n".join(connection_text())


@pytest.mark.parametrize("metric", ["F1", "hits@1"])
def test_a_bot_that_was_never_trained_waits(
    metric: str, row: Competition, now: datetime, hidden: HiddenTest
) -> None:
    content = submission("one", "tfidf", metrics=[metric])
    competitions.submit(competition=row, content=content, by=make_staff(), now=now)
    assert "train" in run_one(row, now, hidden).unready


def test_data_are_named_from_the_folder_one_is_in(
    row: Competition, now: datetime, hidden: HiddenTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    competitions.submit(
        competition=row, content=submission("one", "toy_f1"), by=make_staff(), now=now
    )
    monkeypatch.chdir(Path(hidden.data[0].partition(":")[2]).parent)
    assert run_one(row, now, HiddenTest(data=("jsonl:hidden.jsonl",), seconds=60)).failure == ""


def test_the_command_tells_what_waits_and_ends_with_an_error(
    row: Competition, now: datetime, hidden: HiddenTest, wrapped: None
) -> None:
    submitted(row, now, "nowhere")
    said = ("run", "--data", hidden.data[0])
    with pytest.raises(CommandError, match="1 cannot be set up and still wait"):
        command(row.study, *said)
    assert "cannot be set up here: " in (printed := command(row.study, *said, "--fail-unready"))
    assert "1 entries ran" in printed


def test_a_metric_without_the_ability_fails(
    row: Competition, now: datetime, hidden: HiddenTest
) -> None:
    content = submission("one", metrics=["hits@1"])
    competitions.submit(competition=row, content=content, by=make_staff(), now=now)
    (ran,) = entry_runs.run_waiting(competition=row, hidden=hidden, by=make_staff(), now=now)
    assert ran.failure == "CannotDo"


def test_the_board_is_of_the_smallest_rank_and_the_baseline_must_be_beaten(
    row: Competition, now: datetime
) -> None:
    scored(
        row,
        now,
        baseline={"ppl": 40.0, "F1": 10.0},
        both={"ppl": 30.0, "F1": 11.0},
        first={"F1": 20.0},
        poor={"ppl": 50.0, "F1": 9.0},
    )
    lines = competitions.board(row)
    assert [(each.rank, each.team, each.advances) for each in lines] == [
        (1, "both", True),
        (1, "first", True),  # equal: what it did not enter stands in the middle
        (3, "poor", False),
        (None, "baseline", False),
    ]


def test_so_many_advance_as_the_rules_say_and_a_tie_at_the_end_too(
    row: Competition, now: datetime
) -> None:
    for number in (7, 8):
        score = {"F1": 20.0 if number == 8 else 30.0}
        scored(row, now, **{f"t{number}": score})
    scored(row, now, **{f"s{n}": {"F1": 90.0 - n} for n in range(6)}, baseline={"F1": 1.0})
    assert len(competitions.advancing(row)) == 7
    Entry.objects.filter(team="t8").update(scores={"F1": 30.0})
    assert len(competitions.advancing(row)) == 8


def test_the_newest_entry_that_ran_counts(row: Competition, now: datetime) -> None:
    before = now - timedelta(days=40)
    scored(row, before, one={"F1": 5.0})
    scored(row, now, one={"F1": 4.0})
    assert competitions.current(row)["one"].scores == {"F1": 4.0}
    competitions.submit(competition=row, content=submission("two"), by=make_staff(), now=now)
    assert "two" not in competitions.current(row)


def people(row: Competition, now: datetime) -> Campaign:
    values = {"name": "people", "consent": "Yes.", "contact": "a@b.org", "pay": "2.00", "seed": 1}
    return human_round.start_human_round(
        competition=row, values=values, by=row.study.owner, now=now
    )


def test_people_meet_those_who_advance_and_the_baseline(row: Competition, now: datetime) -> None:
    scored(row, now, one={"F1": 9.0}, two={"F1": 8.0}, three={"F1": 7.0}, baseline={"F1": 1.0})
    later = now + timedelta(days=2)
    with pytest.raises(CompetitionRefused, match="open until"):
        people(row, now + timedelta(days=1))
    human_round.decline(competition=row, team="two", by=make_staff(), now=later)
    made = people(row, later)
    assert list(made.systems.order_by("pk").values_list("name", flat=True)) == [
        "one",
        "three",
        "baseline",
    ]
    assert (made.phase, made.study_id, made.state) == ("human round", row.study_id, "DRAFT")
    assert {cell.target for cell in (s.cell for s in made.systems.all())} == {100}
    with pytest.raises(CompetitionRefused, match="there already"):
        people(row, later)


def test_people_are_not_asked_while_an_entry_has_not_run(row: Competition, now: datetime) -> None:
    scored(row, now, one={"F1": 9.0})
    competitions.submit(competition=row, content=submission("two"), by=make_staff(), now=now)
    with pytest.raises(CompetitionRefused, match="have not run"):
        people(row, now + timedelta(days=2))


def test_nobody_closes_a_competition_before_the_human_round_is_over(
    row: Competition, now: datetime
) -> None:
    scored(row, now, one={"F1": 9.0})
    later = now + timedelta(days=2)
    people(row, later)
    with pytest.raises(CompetitionRefused, match="is not over"):
        prizes.close(competition=row, by=make_staff(), now=later)


def test_rules_stay_once_a_team_has_submitted(row: Competition, now: datetime) -> None:
    competitions.announce(study=row.study, content=rules(now, advance=3), by=make_staff(), now=now)
    competitions.submit(competition=row, content=submission("one"), by=make_staff(), now=now)
    with pytest.raises(CompetitionRefused, match="stay as they are"):
        competitions.announce(study=row.study, content=rules(now), by=make_staff(), now=now)


def test_the_studys_page_shows_rules_board_and_no_hidden_reply(
    row: Competition, now: datetime, client: Client
) -> None:
    scored(row, now, one={"F1": 9.0}, baseline={"F1": 1.0})
    client.force_login(row.study.owner)
    page = client.get(reverse("study", args=[row.study.pk])).content.decode()
    assert "Automatic round" in page
    assert "9.00" in page


def command(study: Study, *words: str) -> str:
    out = StringIO()
    call_command("competition", str(study.pk), *words, stdout=out)
    return out.getvalue()


def test_the_command_takes_a_competition_to_its_human_round(
    tmp_path: Path, now: datetime, hidden: HiddenTest
) -> None:
    study, file = make_study(), tmp_path / "said.json"
    file.write_text(json.dumps(rules(now)))
    assert "2 entries" not in command(study, "announce", str(file))
    for team, bot in (("baseline", "parrot"), ("toy", "toy_f1")):
        file.write_text(json.dumps(submission(team, bot)))
        command(study, "submit", str(file))
    with pytest.raises(CommandError, match="once a month"):
        command(study, "submit", str(file))
    predictions = tmp_path / "predictions.jsonl"
    said = command(study, "run", "--data", hidden.data[0], "--out", str(predictions))
    assert "2 entries ran" in said
    assert {json.loads(line)["system"] for line in predictions.read_text().splitlines()} == {
        "baseline",
        "toy",
    }
    assert command(study, "board").splitlines()[0] == "rank\tteam\tppl\thits@1\tF1\tgoes on"
    with pytest.raises(CommandError, match="holds no competition"):
        command(make_study(name="other"), "board")


def rated(made: Campaign, liked: dict[str, int]) -> None:
    """Let eight people meet each system once, and enjoy it so much; then the round is over."""
    for number in range(2):
        make_persona(made, number)
    for team, level in liked.items():
        system = made.systems.get(name=team)
        for _ in range(8):
            person, talk = chatted(made, system)
            judged(person, talk, {"enjoyment": level, "persona": "p1"})
    Campaign.objects.filter(pk=made.pk).update(state=Campaign.State.CLOSED)


def test_people_alone_decide_the_grand_prize_and_the_winners_code_has_to_be_there(
    row: Competition, now: datetime
) -> None:
    scored(row, now, one={"F1": 9.0}, two={"F1": 8.0}, baseline={"F1": 1.0})
    later, by = now + timedelta(days=2), make_staff()
    rated(people(row, later), {"one": 2, "two": 3, "baseline": 4})
    row.refresh_from_db()
    with pytest.raises(CompetitionRefused, match="two won; its training code is not there"):
        prizes.close(competition=row, by=by, now=later)
    code = {"competition": row, "sha256": "a" * 64, "by": by, "now": later}
    human_round.release_code(team="one", **code)
    with pytest.raises(CompetitionRefused, match="two won"):
        prizes.close(competition=row, by=by, now=later)
    human_round.release_code(team="two", **code)
    won = prizes.close(competition=row, by=by, now=later)
    assert (won.automatic, won.grand) == ("one", "two")
    with pytest.raises(CompetitionRefused, match="was closed"):
        competitions.submit(competition=row, content=submission("new"), by=by, now=later)


def test_equal_teams_have_no_single_winner(row: Competition, now: datetime) -> None:
    scored(row, now, one={"F1": 9.0}, two={"F1": 9.0}, baseline={"F1": 1.0})
    with pytest.raises(CompetitionRefused, match="no single winner: one and two"):
        prizes.prizes(row)
