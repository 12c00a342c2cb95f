"""Judge models: the protocol's questions by a real server, both orders, refusals, planted truth."""

from __future__ import annotations

import csv
import json
import math
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from analysis.__main__ import main as analyze
from tests.bots.chat_completions import Fake, running
from tests.factories import make_campaign
from tests.webapp.services import rated
from tests.webapp.services.judged import judge, replies_campaign
from webapp.models import Campaign
from webapp.services.data import exports
from webapp.services.results import judge_items, judging

pytestmark = pytest.mark.django_db
LENIENT = 1  # points that the judge of chats gives too much
NAMED = re.compile(r"quality (\d)")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    with running() as found:
        monkeypatch.setenv("BOT_PRIVATE_HOSTS", f"127.0.0.1:{found.port}")
        yield found


def chats(rated_each: int = 20, others: int = 30) -> tuple[Campaign, dict[str, float]]:
    """Return a campaign whose messages name their quality, and each system's mean of it."""
    campaign, draw = make_campaign(systems={"alpha": "parrot", "beta": "parrot"}), random.Random(1)
    truth = {}
    for system, most in zip(campaign.systems.order_by("name"), (4, 3), strict=True):
        marks = [draw.randint(1, most) for _ in range(rated_each + others)]
        truth[system.name] = sum(marks) / len(marks)
        for number, mark in enumerate(marks):
            person, talk = rated.chatted(campaign, system, said=f"quality {mark}")
            if number < rated_each:
                seen = min(5, max(1, mark + draw.choice((-1, 0, 0, 1))))
                answers = dict.fromkeys(rated.SCALES, seen)
                rated.judged(person, talk, answers | {"persona": "p1"})
    return campaign, truth


def pairs() -> Campaign:
    rows = [
        {
            "id": f"k{n}",
            "messages": [f"Tea number {n}?"],
            "replies": {"alpha": f"quality {2 + n % 2}", "beta": "quality 1"},
        }
        for n in range(12)
    ]
    campaign = replies_campaign("coherency_pairs", rows, votes=1, batch=12)
    judge(campaign, 1, lambda question, context, systems, number: systems[0])
    return campaign


def export(campaign: Campaign, folder: Path) -> str:
    return str(exports.write_to(campaign=campaign, path=folder / "export.zip"))


def run(fake: Fake, path: str, out: Path, *more: str, answering: Callable[[str], str]) -> str:
    fake.answering = answering
    printed = StringIO()
    server = ["--url", fake.url, "--model", "answers", "--name", "gauge", "--out", str(out)]
    call_command("judge", path, *server, *more, stdout=printed)
    return printed.getvalue()


def table(out: Path) -> list[dict[str, str]]:
    with (out / "ratings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lenient(page: str) -> str:
    mark = min(5, int(NAMED.findall(page)[0]) + LENIENT)
    return "Sure: ```" + json.dumps(dict.fromkeys(rated.SCALES, mark)) + "```"


def better(page: str) -> str:
    """Prefer the higher mark, wherever it stands."""
    one, other = (int(mark) for mark in NAMED.findall(page))
    return json.dumps(
        dict.fromkeys(("word_coherency", "dialogue_continuity"), "A" if one > other else "B")
    )


def first(_page: str) -> str:
    return json.dumps({"word_coherency": "Response A", "dialogue_continuity": "A"})


def test_a_lenient_judge_and_people_bring_planted_means_back(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, truth = chats()
    path = export(campaign, tmp_path)
    printed = run(fake, path, tmp_path / "j", "--samples", "1", answering=lenient)
    assert "100 calls, 0 left; 900 prompt and 500 reply tokens" in printed
    assert "Not asked of a model: persona." in printed
    assert "most frequent" not in printed  # each was asked once
    question = fake.asked[0]["messages"][0]["content"]
    assert "How fluent" in question or "fluen" in question
    assert "parrot" not in question + fake.asked[0]["messages"][1]["content"]
    rows = table(tmp_path / "j")
    assert {row["rater"] for row in rows} == {"gauge"}
    assert len(rows) == 100 * len(rated.SCALES)
    capsys.readouterr()
    scores = str(tmp_path / "j" / "ratings.csv")
    chosen = ["--judge", "gauge", "--question", "fluency", "--json"]
    assert analyze(["judge", path, "--scores", scores, *chosen]) == 0
    found = {each["system"]: each for each in json.loads(capsys.readouterr().out)["systems"]}
    for name, mean in truth.items():
        low, high = found[name]["mean"]["interval"]
        assert low <= mean <= high
        alone = found[name]["mean"]["people_interval"]
        assert high - low < 0.85 * (alone[1] - alone[0])
        assert found[name]["judge"] == pytest.approx(mean + LENIENT)
        assert not low <= found[name]["judge"] <= high
        assert (found[name]["mean"]["rated"], found[name]["mean"]["others"]) == (20, 30)


def test_what_is_compared_is_shown_in_both_orders_and_a_bias_for_the_first_is_told(
    fake: Fake, tmp_path: Path
) -> None:
    path = export(pairs(), tmp_path)
    printed = run(fake, path, tmp_path / "fair", answering=better)
    assert "48 calls" in printed
    assert "in 50% of pages, 95 % 50% to 50% (12 items" in printed
    assert "no position bias is shown; both orders contradict each other in 0%." in printed
    wins = {(row["system"], row["value"]) for row in table(tmp_path / "fair")}
    assert wins == {("alpha", "1"), ("beta", "2")}
    orders = {tuple(NAMED.findall(each["messages"][1]["content"])) for each in fake.asked}
    assert orders == {("2", "1"), ("1", "2"), ("3", "1"), ("1", "3")}
    printed = run(fake, path, tmp_path / "biased", answering=first)
    assert "What stood first beat another in 100% of pages" in printed
    assert "a position bias is shown; both orders contradict each other in 100%." in printed
    values = [float(r["value"]) for r in table(tmp_path / "biased") if r["system"] == "alpha"]
    assert sum(values) / len(values) == 1.5  # the orders make up for it


@pytest.mark.parametrize("kind", ["contexts", "messages"])
def test_what_people_rated_bears_their_items(kind: str, tmp_path: Path) -> None:
    campaign = rated.static(3, 2) if kind == "contexts" else rated.meena(2)
    path = Path(export(campaign, tmp_path))
    with zipfile.ZipFile(path) as archive:
        rows = list(csv.DictReader(StringIO(archive.read("ratings.csv").decode())))
    found = judge_items.read([path]).items
    candidates = [each for item in found for each in item.candidates]
    assert {(each.system, each.item, each.message_seq) for each in candidates} == {
        (row["system"], row["item"], row["message_seq"]) for row in rows
    }
    if kind == "contexts":
        assert {(item.before, item.candidates[0].text) for item in found} == {
            (("Speaker 1: message 1",), "message 2")
        }
    else:
        assert {each.split(": ")[0] for item in found for each in item.before} == {"Partner", "You"}
        assert found[0].before[-1].startswith("You: line 1")


def test_what_no_form_would_take_is_refused_and_counted(fake: Fake, tmp_path: Path) -> None:
    bad = {
        "A, I think.": "there is no JSON object",
        '{"word_coherency": "C", "dialogue_continuity": "A"}': "Choose one of the three.",
        '{"word_coherency": "A"}': "Choose one of the three.",
        '{"word_coherency": "A", "dialogue_continuity": "A", "style": 3}': "no field 'style'",
    }

    def answer(page: str) -> str:
        number = int(page.partition("Tea number ")[2].partition("?")[0])
        return [*bad, better(page)][min(number, len(bad))]

    path = export(pairs(), tmp_path)
    printed = run(fake, path, tmp_path / "j", "--samples", "1", answering=answer)
    assert "8 answers could not be used." in printed  # four contexts, in both orders
    for why in bad.values():
        assert why in printed
    assert len(table(tmp_path / "j")) == 16 * 4  # pages that could be used, candidates, questions


def ranks(item: str, order: str, first: int, second: int) -> list[dict[str, Any]]:
    """Return the rows of one page: the ranks of what stood first and second, 1 is the best."""
    page = {"item": item, "level": "rank", "question": "q", "sample": 0, judging.ORDER: list(order)}
    both = enumerate(zip(order, (first, second), strict=True))
    return [page | {"place": place, "conversation": c, "value": rank} for place, (c, rank) in both]


def test_the_bias_of_a_place_is_a_mean_of_items_with_an_interval_of_theirs() -> None:
    found = judging.position_bias(
        [
            *ranks("a", "xy", 1, 2),  # the first in both orders: 1, and they contradict each other
            *ranks("a", "yx", 1, 2),
            *ranks("b", "xy", 1, 2),  # x in both orders: .5
            *ranks("b", "yx", 2, 1),
            *ranks("c", "xy", 1, 1),  # a tie, and the first: .75
            *ranks("c", "yx", 1, 2),
        ]
    )
    assert found is not None
    assert (found.share, found.items) == (0.75, 3)
    half = 4.302652729911275 * 0.25 / math.sqrt(3)  # t of two degrees of freedom; SD .25
    assert found.interval == pytest.approx((0.75 - half, 0.75 + half))
    assert found.contradicted == pytest.approx(1 / 3)
    assert not found.is_shown


@pytest.mark.parametrize(
    ("usable", "told"),
    [
        (0, "No answer could be used, so the table has no row."),
        (1, "What stood first beat another in 100% of pages of 1 item: too few to tell a position"),
        (2, "95 % 100% to 100% (2 items, each in both orders): a position bias is shown"),
    ],
)
def test_what_few_answers_cannot_tell_is_not_told(
    fake: Fake, tmp_path: Path, usable: int, told: str
) -> None:
    def answer(page: str) -> str:
        number = int(page.partition("Tea number ")[2].partition("?")[0])
        return first(page) if number < usable else "No."

    printed = run(fake, export(pairs(), tmp_path), tmp_path / "j", answering=answer)
    assert told in printed
    assert "nan" not in printed
    assert ("a position bias is shown" in printed) == (usable > 1)
    assert ("of answers are the most frequent" in printed) == (usable > 0)
    once = run(
        fake, str(tmp_path / "export.zip"), tmp_path / "o", "--samples", "1", answering=first
    )
    assert "of answers are the most frequent" in once  # each in both orders
    assert "NaN" not in (tmp_path / "j" / "judge.json").read_text("utf-8")


def test_a_run_that_stops_at_its_tokens_goes_on_and_pays_nothing_twice(
    fake: Fake, tmp_path: Path
) -> None:
    path, out = export(pairs(), tmp_path), tmp_path / "j"
    more = ["--samples", "3", "--most-tokens", "500", "--set", "prompt_price=1000"]
    printed = run(fake, path, out, *more, "--set", "reply_price=2000", answering=better)
    assert "64 calls, 8 left" in printed
    assert "cost 1.2160" in printed  # 64 x (9 x 1000 + 5 x 2000) / 1,000,000
    with (out / "calls.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 0, "it')  # as a run leaves it that is killed while it writes
    run(fake, path, out, *more[:2], *more[4:], "--set", "reply_price=2000", answering=better)
    assert len(fake.asked) == 72
    seeds = {(each["messages"][1]["content"], each["seed"]) for each in fake.asked}
    assert len(seeds) == 72  # no two samples are drawn alike
    kept = [json.loads(line) for line in (out / "calls.jsonl").read_text("utf-8").splitlines()]
    assert len(kept) == 72
    noted = json.loads((out / "judge.json").read_text("utf-8"))
    assert (noted["samples"], noted["result"]["calls"], noted["result"]["left"]) == (3, 72, 0)
    assert kept[0]["raw"] == better(kept[0]["request"]["messages"][1]["content"])
    with pytest.raises(CommandError, match="holds another run: its samples is 3, not 1"):
        run(fake, path, out, "--samples", "1", answering=better)


def test_a_server_that_fails_is_asked_again_by_the_next_run(fake: Fake, tmp_path: Path) -> None:
    path, out = export(pairs(), tmp_path), tmp_path / "j"
    fake.answering = lambda page: 1 / 0  # type: ignore[return-value, assignment]  # it hangs up
    more: list[Any] = ["--set", "tries=1"]
    printed = run(fake, path, out, *more, answering=lambda page: "x" * 300_000)
    assert "48 answers failed." in printed
    assert "no position" not in printed
    assert "0 answers failed." in run(fake, path, out, *more, answering=better)


def test_wrong_settings_are_refused_by_name(fake: Fake, tmp_path: Path) -> None:
    path = export(chats(1, 0)[0], tmp_path)
    for change, why in (
        (("--url", "http://example.org/v1"), "is not among the servers that bots may call"),
        (("--samples", "0"), "--samples is 0, but must be 1 or more"),
        (("--set", "temperature=hot"), "temperature is 'hot', but must be a number"),
        (("--set", "temperature"), "must be option=value"),
    ):
        with pytest.raises(CommandError, match=re.escape(why)):
            run(fake, path, tmp_path / "j", *change, answering=better)


def test_a_file_that_is_no_export_is_refused(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no")
    with pytest.raises(CommandError, match="must be the zip of a campaign's export"):
        run(fake, str(tmp_path / "x.zip"), tmp_path / "j", answering=better)


@pytest.mark.parametrize("text", ["=1+1", "-1", "'tis", "@you", "+1", "plain"])
def test_a_text_that_looks_like_a_formula_is_judged_as_it_was_said(
    text: str, tmp_path: Path
) -> None:
    campaign = make_campaign(systems={"alpha": "parrot"})
    person, talk = rated.chatted(campaign, campaign.systems.get(), said=text)
    rated.judged(person, talk, dict.fromkeys(rated.SCALES, 3) | {"persona": "p1"})
    found = judge_items.read([Path(export(campaign, tmp_path))]).items
    lines = [line.partition(": ")[2] for line in found[0].before]
    assert text in lines
    assert f"'{text}" not in lines


@pytest.mark.parametrize(
    ("name", "changed", "why"),
    [
        *((name, ",".join(columns[1:]) + "\n", f"{name} lacks the columns {columns[0]}")
          for name, columns in (("messages.csv", judge_items.MESSAGES),
                                ("ratings_all.csv", judge_items.RATINGS))),
        ("messages.csv", f"{','.join(judge_items.MESSAGES)}\n1,1,2,s,s,,Hi\n", "side is '2'"),
        ("messages.csv", f"{','.join(judge_items.MESSAGES)}\n1,1,1,s,s,,Hi,Ho\n", "more or fewer"),
        ("messages.csv", f"{','.join(judge_items.MESSAGES)}\n1,1,1,s\n", "row 1: has more"),
        ("messages.csv", f"{','.join(judge_items.MESSAGES)}\n1,1,1,s,s,,\"Hi\n", "no CSV"),
        ("protocol.json", "[1]", "protocol.json cannot be read"),
        ("protocol.json", "{", "protocol.json cannot be read"),
    ],
)  # fmt: skip
def test_what_was_changed_in_an_export_is_named(
    name: str, changed: str, why: str, tmp_path: Path
) -> None:
    path = Path(export(chats(1, 0)[0], tmp_path))
    with zipfile.ZipFile(path) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in (files | {name: changed.encode()}).items():
            archive.writestr(each, content)
    with pytest.raises(judge_items.UnreadableExport, match=re.escape(why)):
        judge_items.read([path])
