"""Reports that compare campaigns, made of their exports: one table with a column `campaign`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import Report, Tables, get_report, rating_table, read_all
from analysis.output.all_metrics import run
from tests.analysis.reports.test_meena_ssa_perplexity import likely
from tests.factories import NOW, make_campaign, make_system
from tests.webapp.services.judged import judge, replies_campaign
from tests.webapp.services.rated import chatted, judged
from webapp.models import Campaign, Context, Event, QuotaCell
from webapp.services.campaign import launch
from webapp.services.data import exports
from webapp.services.rating import contexts
from webapp.services.rules import events

pytestmark = pytest.mark.django_db

Labels = tuple[int, int]  # sensible, specific
BAD, VAGUE, GOOD = (0, 0), (1, 0), (1, 1)


def study(folder: Path, *campaigns: Campaign) -> Tables:
    """Return the tables of all their exports, as the command reads several files."""
    paths = []
    for campaign in campaigns:
        row = Campaign.objects.get(pk=campaign.pk)
        row.plan = launch.plan_of(row)
        row.save()
        paths.append(exports.write_to(campaign=row, path=folder / f"{row.pk}.zip"))
    return read_all(paths)


def report_of(name: str, tables: Tables, **options: object) -> Report:
    made = run(get_report(name), tables, options)
    assert made is not None
    return made


def frames(report: Report) -> list[Any]:
    return [section.frame for section in report.sections]


def talks(
    systems: Mapping[str, list[Labels]], *, each: int = 4, said: Mapping[int, str] | None = None
) -> Campaign:
    """Return conversations in which the turns of every system were labeled so."""
    bots = dict.fromkeys(systems, "parrot")
    campaign = make_campaign("meena_interactive", systems=bots, personas=0)
    for system in campaign.systems.all():
        labels = systems[system.name]
        for _ in range(each):
            person, talk = chatted(campaign, system, messages=2 * len(labels))
            for seq, text in (said or {}).items():
                Event.objects.filter(conversation=talk, seq=seq).update(content={"text": text})
            answers = {
                f"{2 * turn}.{question}": label
                for turn, pair in enumerate(labels, start=1)
                for question, label in zip(("sensible", "specific"), pair, strict=True)
            }
            judged(person, talk, answers, when="live")
    return campaign


def replies(systems: Mapping[str, list[Labels]], *, votes: int = 3) -> Campaign:
    """Return replies to contexts, labeled so by people of one mind."""
    count = len(next(iter(systems.values())))
    rows: list[dict[str, Any]] = [
        {
            "id": f"k{n}",
            "messages": [f"Do you like number {n}?"],
            "replies": {name: f"{name} says {n}." for name in systems},
        }
        for n in range(count)
    ]
    campaign = replies_campaign("meena_static", rows, votes=votes, batch=count * len(systems))
    judge(campaign, votes, labeled(systems))
    return campaign


def labeled(systems: Mapping[str, list[Labels]]) -> Callable[..., str | None]:
    def answer(question: str, context: str, names: tuple[str, ...], _rater: int) -> str | None:
        sensible, specific = systems[names[0]][int(context[1:])]
        if question == "sensible":
            return str(sensible)
        return str(specific) if sensible else None

    return answer


def test_static_and_interactive_are_paired_from_two_exports(tmp_path: Path) -> None:
    live = talks(
        {"a": [GOOD, GOOD, VAGUE, BAD], "b": [BAD, VAGUE, BAD, BAD]},
        said={2: "Hello!", 8: "It was nice, goodbye"},
    )
    still = replies({"a": [GOOD, VAGUE, BAD, BAD], "c": [GOOD, GOOD, BAD, BAD]})
    report = report_of("meena_static_interactive", study(tmp_path, live, still))
    pairs, left_out, polite = frames(report)[:3]
    rows = pairs.set_index("score")
    assert rows["difference"].to_dict() == pytest.approx(
        {"sensibleness": 25, "specificity": 25, "ssa": 25}
    )
    assert (rows["low"] < 25).all()
    assert (rows["high"] > 25).all()
    assert left_out.to_numpy().tolist() == [
        ["b", "no static evaluation"],
        ["c", "no interactive evaluation"],
    ]
    shares = polite.set_index(["system", "evaluation"])
    assert shares.loc[("a", "interactive"), ["greeting", "goodbye", "either"]].tolist() == [
        25,
        25,
        50,
    ]
    assert shares.loc[("a", "static"), ["either", "turns"]].tolist() == [0, 4]
    assert shares.loc[("a", "interactive"), "turns"] == 16


def test_settings_in_the_plan_keep_systems_apart(tmp_path: Path) -> None:
    live, other = (talks({"a": [GOOD, BAD]}) for _ in range(2))
    other.systems.update(options={"temperature": 0.5})
    tables = study(tmp_path, live, other)
    assert tables.ratings is not None
    told = tables.ratings.groupby("campaign")["settings"].unique()
    assert [json.loads(each)["options"] for found in told for each in found] == [
        {},
        {"temperature": 0.5},
    ]
    both = rating_table(
        tables.ratings.assign(
            protocol=tables.ratings["campaign"],
            context=["k" if "0.5" in each else "" for each in tables.ratings["settings"]],
        )
    )
    (row,) = (
        report_of("meena_static_interactive", Tables(ratings=both)).sections[0].frame
    ).to_dict("records")
    assert row["reason"].startswith("settings differ")


def test_agreement_over_evaluations_comes_from_three_exports(tmp_path: Path) -> None:
    """Two raters of one mind, but for the second: so many of four replies in each evaluation."""
    campaigns = []
    for split in (0, 1, 2):
        rows = [
            {"id": f"k{n}", "messages": [f"Hi {n}."], "replies": {"a": f"I am a {n}."}}
            for n in range(4)
        ]
        campaign = replies_campaign("meena_static", rows, votes=2, batch=4)

        def answer(
            question: str, context: str, _names: tuple[str, ...], rater: int, odd: int = split
        ) -> str | None:
            number = int(context[1:])
            sensible = number < 2 or (rater == 1 and number < 2 + odd)
            if question == "sensible":
                return str(int(sensible))
            return str(int(number == 0)) if sensible else None

        judge(campaign, 2, answer)
        campaigns.append(campaign)
    report = report_of("meena_agreement", study(tmp_path, *campaigns))
    spread = frames(report)[0].set_index(["label", "measure"])
    percents = spread.loc[("sensibleness", "agreement, percent")]
    assert (percents["mean"], percents["sd"], percents["n"]) == (75.0, 25.0, 3)
    assert spread.loc[("specificity", "agreement, percent"), "mean"] == 100.0


def test_six_charts_by_perplexity_come_from_two_exports(tmp_path: Path) -> None:
    """`human` has no perplexity; of the three others' labels, only the planted line is left."""
    live = {
        "large": [GOOD, GOOD, GOOD, BAD],
        "middle": [GOOD, GOOD, BAD, BAD],
        "small": [VAGUE, GOOD, BAD, BAD],
        "human": [GOOD] * 4,
    }
    tables = study(tmp_path, talks(live, each=2), replies(live, votes=1))
    report = report_of("meena_ssa_perplexity", replace(tables, predictions=likely()))
    drawn = [section for section in report.sections if section.chart is not None]
    assert [section.title.split(" by ")[0] for section in drawn[::3]] == [
        "Interactive SSA",
        "Static SSA",
    ]
    assert len(drawn) == 6
    for section in drawn:
        assert section.chart is not None
        flat = [row["y"] for row in section.chart.rows if row["series"] == "human"]
        assert flat == [100, 100]
    fits = report.sections[0].frame.set_index(["evaluation", "score"])
    by_hand = np.corrcoef([10, 14, 20], [75, 50, 37.5])[0, 1] ** 2
    assert fits.loc[("interactive", "ssa"), "R²"] == pytest.approx(by_hand)
    assert fits.loc[("static", "ssa"), "R²"] == pytest.approx(by_hand)


DECODINGS = {"whole": {"temperature": 0.88, "top_k": 0}, "top": {"temperature": 1.0, "top_k": 40}}
SENSIBLE = {1: 1, 20: 3, 400: 2}  # of four replies, by N; those of top-k are specific too


def decoded() -> Campaign:
    """Return a static campaign of six ways to draw replies, given by bots and judged by all."""
    campaign = make_campaign(
        "meena_static", personas=0, changes={"rate.votes": 3, "rate.batch": 24}
    )
    QuotaCell.objects.filter(system__campaign=campaign).delete()
    campaign.systems.all().delete()
    labels: dict[str, list[Labels]] = {}
    for name, drawn in DECODINGS.items():
        for number, right in SENSIBLE.items():
            options = {"bot": "markov", "options": {}, "number": number, **drawn}
            make_system(campaign, f"{name}-{number}", bot="sample_and_rank", options=options)
            given = GOOD if name == "top" else VAGUE
            labels[f"{name}-{number}"] = [given] * right + [BAD] * (4 - right)
    for number in range(4):
        Context.objects.create(campaign=campaign, key=f"k{number}", messages=[f"Hi {number}."])
    contexts.build(campaign=campaign, now=NOW)
    for talk in campaign.conversations.all():
        said = {"text": f"{talk.system.name} says {talk.context}."}
        message = Event.Kind.MESSAGE
        events.append(
            conversation=talk, kind=message, side=contexts.BOT, content=said, in_reply_to=1
        )
    contexts.settle(campaign=campaign, now=NOW)
    judge(campaign, 3, labeled(labels))
    return campaign


def test_decodings_come_from_the_export_of_a_static_campaign(tmp_path: Path) -> None:
    tables = study(tmp_path, decoded())
    report = report_of("meena_ssa_decoding", tables)
    assert report.findings == ("N = 20, T = 1, top-k 40 has the highest SSA: 75.0 %",)
    sensible = report.sections[1].frame.set_index(["decoding", "N"])["estimate"]
    for decoding in ("T = 0.88, whole vocabulary", "T = 1, top-k 40"):
        assert sensible[decoding].to_dict() == pytest.approx({1: 25, 20: 75, 400: 50})
    specific = report.sections[2].frame.set_index(["decoding", "N"])["estimate"]
    assert specific["T = 0.88, whole vocabulary"].tolist() == [0, 0, 0]
    assert report.sections[0].chart is not None
    assert tables.ratings is not None
    fewer = tables.ratings[tables.ratings["system"] != "top-400"]
    report = report_of("meena_ssa_decoding", Tables(ratings=rating_table(fewer)))
    assert report.findings[1] == "Missing: N = 400, T = 1, top-k 40."


# --- PERSONA-CHAT: people, writers, rankers, and a model of other data ------------------------

BOTS = {
    "seq2seq": "seq2seq",
    "profile-memory": "generative_profile_memory",
    "kv": "kv_profile_memory",
    "star": "starspace",
    "outside-lm": "language_model",
}
PLANTED = {"human": 4, "seq2seq": 3, "profile-memory": 2, "kv": 3, "star": 4, "outside-lm": 2}
AROUND = (-1, 0, 1, 0)  # what single people say beside the planted mean
SCORED = ("fluency", "engagingness", "consistency")


def scored(protocol: str, systems: Mapping[str, str]) -> Campaign:
    """Return a campaign in which eight people rated each system around its planted mean."""
    campaign = make_campaign(protocol, systems=dict(systems))
    campaign.systems.filter(name__in=["seq2seq", "outside-lm"]).update(sees_persona=False)
    for system in campaign.systems.all():
        for number in range(8):
            person, talk = chatted(campaign, system)
            mean = PLANTED[system.name]
            scores = {
                name: mean + AROUND[(number + shift) % 4] for shift, name in enumerate(SCORED)
            }
            judged(person, talk, scores | {"persona": "p1" if number < 2 * mean else "p5"})
    return campaign


def test_the_table_of_people_in_four_groups_comes_from_two_exports(tmp_path: Path) -> None:
    tables = study(
        tmp_path, scored("personachat_bot", BOTS), scored("personachat_human", {"human": "people"})
    )
    report = report_of("personachat_human", tables)
    own, ends = (section.frame for section in report.sections[:2])
    assert own[["group", "system", "profile"]].to_numpy().tolist() == [
        ["human", "human", "self"],
        ["generative", "seq2seq", "none"],
        ["generative", "profile-memory", "self"],
        ["ranking", "star", "self"],
        ["ranking", "kv", "self"],
        ["other data", "outside-lm", "none"],
    ]
    assert set(own["n"]) == {8}
    assert own["persona detection"].tolist()[:2] == ["1.00 (0.00)", "0.75 (0.43)"]
    for row in ends.to_dict("records"):
        mean = PLANTED[row["system"]]
        planted = min(2 * mean / 8, 1) if row["question"] == "persona detection" else mean
        assert row["low"] <= planted <= row["high"], row
        assert row["estimate"] == pytest.approx(planted)
    assert own["fluency"].tolist()[0] == "4.00 (0.71)"
