"""Reports in their papers' layouts, made of exports of campaigns that people went through."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import Report
from analysis.__main__ import main
from analysis.text.vectors import PACKAGE, glove
from tests.acceptance.protocols.nlp4convai_tables import printed_tables
from tests.factories import NOW
from tests.webapp.services.judged import exported, judge, replies_campaign, report_of
from webapp.models import Campaign, Rating
from webapp.services.campaign.checklist import checklist
from webapp.services.data import exports, tables

pytestmark = pytest.mark.django_db


def table(report: Report, title: str) -> Any:
    """Return the table of the section whose title begins so."""
    (frame,) = (
        each.frame
        for each in report.sections
        if each.title == title or each.title.startswith(f"{title} ")
    )
    return frame


# --- THRED: grades and side by side -----------------------------------------------------------

GRADES = {"thred": 3, "seq2seq": 1, "hred": 0}
PREFERRED = {  # of the contexts, in order, by two raters
    "seq2seq": [("thred", "thred"), ("seq2seq", "thred"), ("equally good", "equally bad")],
    "hred": [("thred", "thred"), ("thred", "thred"), ("equally bad", "equally bad")],
}


def test_thred_tables_come_from_an_export(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"k{n}",
            "messages": ["Hi.", f"Hello {n}."],
            "dataset": "Reddit",
            "replies": {name: f"I am {name} {n}." for name in GRADES},
        }
        for n in range(3)
    ]
    campaign = replies_campaign("graded_pairs", rows, votes=2, batch=6)
    assert campaign.items.count() == 6, "the first system beside each of the others"

    def answer(question: str, context: str, systems: tuple[str, ...], rater: int) -> str:
        if question == "grade":
            return str(GRADES[systems[0]])
        (other,) = set(systems) - {"thred"}
        return PREFERRED[other][int(context[1:])][rater]

    judge(campaign, 2, answer)
    assert len(exported(campaign, tmp_path)) == 2 * 6 * 4
    report = report_of("thred_human", campaign, tmp_path)
    scale = table(report, "thred has").set_index("system")
    assert list(scale["dataset"].unique()) == ["Reddit"]
    assert scale["MER"].to_dict() == GRADES
    assert scale["ratings"].to_dict() == {"thred": 12, "seq2seq": 6, "hred": 6}
    pairs = table(report, "Side by side")
    own = pairs[pairs["system"] == "thred"].set_index("against")
    shares = own[["wins", "losses", "equally good", "equally bad"]].map(
        lambda cell: float(cell.split(" ")[0])
    )
    assert shares.loc["seq2seq"].tolist() == [50.0, 16.7, 16.7, 16.7]
    assert shares.loc["hred"].tolist() == [66.7, 0.0, 0.0, 33.3]
    assert shares.sum(axis=1).tolist() == pytest.approx([100, 100], abs=0.2)


CONTEXTS = (  # the message before the last, the last one, and the three systems' replies
    ("My kitchen is cold.", "We sold the piano.", "The piano we sold.", "A cold kitchen.", "Hi."),
    ("The rain never stops.", "Birds eat cherries.", "Cherries eat birds.", "Stops rain?", "Hi."),
    ("I study law.", "Our train was late.", "Was our train late?", "Law, I study.", "My dog."),
    ("She plays chess.", "They paint walls.", "They paint walls.", "Chess she plays.", "A river."),
)
REPLIED = ("last", "before", "echo")
LEARNED = [["My dog swims in the river."] * 20]  # a tenth of it, drawn by chance, is all of it
ECHOES = {"Hi.": 0.0, "My dog.": 1 / 3, "A river.": 1 / 3}  # words of dog, swim, river
GIVEN = {"last": (3, 3), "before": (2, 1), "echo": (0, 1)}  # by two raters


def replies_of_two_data_sets(folder: Path) -> Path:
    """Let two people grade planted replies; returns the export."""
    rows = [
        {
            "id": f"k{number}",
            "messages": [first, last],
            "dataset": ("Reddit", "OpenSubtitles")[number % 2],
            "replies": dict(zip(REPLIED, replies, strict=True)),
        }
        for number, (first, last, *replies) in enumerate(CONTEXTS)
    ]
    campaign = replies_campaign("graded_pairs", rows, votes=2, batch=8)
    judge(
        campaign,
        2,
        lambda question, context, systems, rater: (
            str(GIVEN[systems[0]][rater]) if question == "grade" else "equally bad"
        ),
    )
    return exports.write_to(campaign=campaign, path=folder / "export.zip")


def distances_by_hand() -> dict[str, np.ndarray]:
    """Return 1 - cos of each system's replies with the last message and the one before."""
    vectors = glove()
    assert vectors is not None

    def mean(text: str) -> np.ndarray:
        found = [vectors.of([word])[0] for word in re.findall(r"\w+", text.lower())]
        mean_of_words: np.ndarray = np.stack(found).mean(axis=0)
        return mean_of_words

    def apart(one: str, other: str) -> float:
        a, b = mean(one), mean(other)
        return 1 - float(a @ b) / float(np.linalg.norm(a) * np.linalg.norm(b))

    return {
        name: np.array([[apart(m, row[2 + k]) for m in row[:2]] for row in CONTEXTS])
        for k, name in enumerate(REPLIED)
    }


def test_distances_and_echoes_of_thred_come_from_an_export_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(PACKAGE)
    export, training = replies_of_two_data_sets(tmp_path), tmp_path / "learned.jsonl"
    training.write_text("\n".join(map(json.dumps, LEARNED)) + "\n")
    words = [str(export), "--report", "thred_metrics", "--training", str(training)]
    assert main(words) == 0
    scale, _boxes, tests, with_people, data_sets, *_ = printed_tables(capsys.readouterr().out)
    known = distances_by_hand()
    assert known["last"][:, 1] == pytest.approx(0, abs=1e-6), "planted: the words of the last one"
    assert {row["system"]: row["responses"] for row in scale} == dict.fromkeys(REPLIED, "2")
    for row in scale:
        of = [k for k in range(4) if ("Reddit", "OpenSubtitles")[k % 2] == row["dataset"]]
        apart = known[row["system"]][of]
        assert number(row["SS Utt.1"]) == pytest.approx(apart[:, 0].mean(), abs=1e-3)
        assert number(row["SS Utt.2"]) == pytest.approx(apart[:, 1].mean(), abs=1e-3)
        echoes = [ECHOES.get(CONTEXTS[k][4], 0.0) for k in of] if row["system"] == "echo" else [0.0]
        assert number(row["REI"]) == pytest.approx(np.mean(echoes), abs=1e-3)
    lowest = {row["measure"]: row["lowest"] for row in tests if row["dataset"] == "Reddit"}
    assert (lowest["SS Utt.1"], lowest["SS Utt.2"]) == ("before", "last")
    mean_grades = np.repeat([np.mean(GIVEN[name]) for name in REPLIED], 4)
    found = {row["measure"]: row for row in with_people}
    for column, measure in enumerate(("SS Utt.1", "SS Utt.2")):
        values = np.concatenate([known[name][:, column] for name in REPLIED])
        by_hand = np.corrcoef(values, mean_grades)[0, 1]
        assert float(found[measure]["Pearson"]) == pytest.approx(by_hand, abs=1e-3)
    assert found["SS Utt.2"]["n"] == "12"
    # Two contexts each: grades of 3, 1.5 and .5, and one echo of a third among six replies.
    assert {row["measure"]: row["Reddit"] for row in data_sets}["MER, grade"] == "1.667 (1.125)"
    assert {row["measure"]: row["OpenSubtitles"] for row in data_sets}["REI"] == "0.056 (0.136)"


def number(cell: str) -> float:
    """Return a figure of a printed table, where a small one may be a bound."""
    return 0.0 if cell.startswith("<") else float(cell)


# --- ASAPP: grades of five sources ------------------------------------------------------------

SOURCES = {  # the grades of each context, by three annotators
    "frequency_10k": [(2, 2, 1), (0, 1, 2)],
    "frequency_1k": [(1, 1, 1), (0, 0, 1)],
    "clustering_10k": [(2, 2, 2), (1, 2, 2)],
    "clustering_1k": [(0, 0, 0), (1, 1, 0)],
    "agent": [(2, 2, 2), (2, 2, 1)],
}


def test_asapp_table_comes_from_an_export(tmp_path: Path) -> None:
    replies = {name: f"This is {name}." for name in SOURCES}
    rows = [
        {"id": f"k{n}", "messages": [f"My phone {n} is broken."], "replies": replies}
        for n in range(2)
    ]
    campaign = replies_campaign("reply_grades", rows)
    judge(
        campaign,
        3,
        lambda question, context, systems, rater: str(SOURCES[systems[0]][int(context[1:])][rater]),
    )
    frame = table(report_of("asapp_human", campaign, tmp_path), "agent has").set_index("source")
    for name, given in SOURCES.items():
        grades = [grade for votes in given for grade in votes]
        shares = [100 * grades.count(grade) / 6 for grade in (2, 1, 0)]
        assert frame.loc[name, ["great", "good", "bad"]].tolist() == pytest.approx(shares)
        assert frame.loc[name, "accept"] == pytest.approx(shares[0] + shares[1])
    assert set(frame["contexts"]) == {2}
    assert set(frame["raters"]) == {3}


# --- L2E: ranks by data set -------------------------------------------------------------------

RANKED = {"COPA": ("lm", "ours", "chat"), "NC": ("ours", "lm")}  # the best first


def test_ranks_of_explanations_come_from_an_export(tmp_path: Path) -> None:
    """`chat` gave nothing on NC, so a dash stands there."""
    rows = [
        {
            "id": f"{dataset}{n}",
            "messages": [f"{dataset}: they refused {n} because ?"],
            "dataset": dataset,
            "replies": {name: f"{name} explains {n}." for name in models},
        }
        for dataset, models in RANKED.items()
        for n in range(2)
    ]
    campaign = replies_campaign("explanation_ranking", rows, votes=2, batch=2)

    def answer(question: str, context: str, systems: tuple[str, ...], rater: int) -> str:
        order = RANKED[context[:-1]]
        place = order.index(systems[0])
        return str(1 + (place if rater < 2 else len(order) - 1 - place))

    judge(campaign, 4, answer)
    ratings = exported(campaign, tmp_path)
    report = report_of("explanation_models", campaign, tmp_path)
    shown = table(report, "Scores, and").set_index("model")
    told = ratings.groupby("dataset")["rater"].nunique().to_dict()
    assert told == {"COPA": 2, "NC": 2}, "each ranks prompts of one data set"
    assert shown.loc["chat", "rank, NC"] == "-"
    ranks = table(report, "Ranks with their").set_index(["dataset", "model"])["estimate"]
    assert ranks.between(0, 1).all()
    assert ranks.groupby("dataset").mean().tolist() == [0.5, 0.5]
    assert float(shown.loc["lm", "rank, COPA"]) == pytest.approx(ranks["COPA", "lm"], abs=5e-4)


# --- event causality: two criteria ------------------------------------------------------------

NEITHER = "neither"
VOTES = {  # on the two contexts of each pair, by two workers
    ("word_coherency", "best", "rerank"): [("best", NEITHER), ("rerank", NEITHER)],
    ("word_coherency", "best", "emb"): [(NEITHER, NEITHER), ("best", "best")],
    ("word_coherency", "emb", "rerank"): [("emb", "emb"), ("emb", "emb")],
    ("dialogue_continuity", "best", "rerank"): [("best", "best"), ("rerank", "best")],
    ("dialogue_continuity", "best", "emb"): [("emb", "emb"), (NEITHER, "emb")],
    ("dialogue_continuity", "emb", "rerank"): [("rerank", NEITHER), (NEITHER, NEITHER)],
}


def test_event_causality_tables_come_from_an_export(tmp_path: Path) -> None:
    names = ("best", "rerank", "emb")
    rows = [
        {"id": f"k{n}", "messages": [f"I fell {n}."], "replies": {s: f"{s}?" for s in names}}
        for n in range(2)
    ]
    campaign = replies_campaign("coherency_pairs", rows, votes=2, batch=6)
    judge(
        campaign,
        2,
        lambda question, context, systems, rater: VOTES[question, systems[0], systems[1]][
            int(context[1:])
        ][rater],
    )
    frame = table(report_of("event_preferences", campaign, tmp_path), "dialogue continuity:")
    found = frame.set_index(["criterion", "system A", "system B"])
    assert len(found) == 6
    for key, votes in VOTES.items():
        given = [vote for each in votes for vote in each]
        shares = [100 * given.count(option) / 4 for option in (*key[1:], NEITHER)]
        assert found.loc[key, ["A", "B", "neither"]].tolist() == shares
    assert found["sum"].tolist() == [100.0] * 6


# --- Chikai: labels and comparisons -----------------------------------------------------------

FLUENT = {"proposed": (1, 1, 0), "seq2seq": (1, 1, 1)}  # of the utterances, in order
CONSISTENT = {"proposed": (1, 0, None), "seq2seq": (0, 1, 1)}  # not asked of the influent one
DOMAIN = ("proposed", "proposed", "seq2seq")
RICH = ("proposed", "seq2seq", None)  # not asked of a neutral intent
INTENDED = ("positive", "negative", "neutral")


def chikai(*, people: int = 5) -> Campaign:
    """Return a campaign that all annotators went through, of one mind."""
    rows: list[dict[str, Any]] = [
        {
            "id": f"k{n}",
            "messages": [f"I lost my ball {n}."],
            "replies": {
                "proposed": {"text": f"Oh no {n}!", "intended": intended},
                "seq2seq": f"I see {n}.",
            },
        }
        for n, intended in enumerate(INTENDED)
    ]
    campaign = replies_campaign("reply_quality", rows)
    by_question: dict[str, tuple[str | None, ...]] = {
        "domain_awareness": DOMAIN,
        "sentiment_richness": RICH,
    }

    def answer(question: str, context: str, systems: tuple[str, ...], rater: int) -> str | None:
        number = int(context[1:])
        if question in by_question:
            return by_question[question][number]
        labels: dict[str, Any] = {"fluency": FLUENT, "consistency": CONSISTENT}
        found = labels[question][systems[0]][number]
        return None if found is None else str(found)

    judge(campaign, people, answer)
    return campaign


def test_chikai_tables_come_from_an_export(tmp_path: Path) -> None:
    report = report_of("chikai_quality", chikai(), tmp_path)
    frame = table(report, "proposed is").set_index(["label", "system"])
    means = frame["mean"]
    assert means["fluency", "proposed"] == pytest.approx(2 / 3)
    assert means["consistency", "proposed"] == pytest.approx(1 / 3), "the influent counts as 0"
    assert means["consistency", "seq2seq"] == pytest.approx(2 / 3)
    assert means["domain-awareness"].to_dict() == pytest.approx(
        {"proposed": 2 / 3, "seq2seq": 1 / 3}
    )
    assert means["sentiment-richness"].to_dict() == {"proposed": 0.5, "seq2seq": 0.5}
    assert means["both domain-aware and sentiment-rich"].to_dict() == {
        "proposed": 0.5,
        "seq2seq": 0.0,
    }
    assert set(frame["annotators"]) == {5}
    assert frame.loc[("sentiment-richness", "proposed"), "judgments"] == 10
    assert frame.loc[("domain-awareness", "proposed"), "kappa"] == 1


def test_a_session_is_complete_without_what_was_not_asked_and_not_without_an_answer() -> None:
    campaign = chikai(people=1)
    rows = tables.ratings(campaign, include_excluded=True)
    assert len(rows) == 2 * (4 + 4 + 3)
    assert set(rows["excluded"]) == {""}
    assert set(rows[rows["question"] == "sentiment_richness"]["context"]) == {"k0", "k1"}
    lost = Rating.objects.filter(question="domain_awareness", candidate__item__context__key="k2")
    Rating.objects.filter(pk=lost[0].pk).delete()
    rows = tables.ratings(campaign, include_excluded=True)
    wrong = rows[rows["excluded"] != ""]
    assert wrong["excluded"].unique().tolist() == ["incomplete: not every question was answered"]
    assert (set(wrong["context"]), len(wrong)) == ({"k2"}, 2)


def test_a_question_that_no_reply_is_for_stops_the_launch() -> None:
    campaign = chikai(people=0)
    (line,) = [each for each in checklist(campaign, NOW) if each.name == "Replies as intended"]
    assert (line.ok, line.text) == (
        True,
        "2 replies were meant to be positive or negative; sentiment_richness is asked of them.",
    )
    campaign.conversations.exclude(intended="").update(intended="neutral")
    (line,) = [each for each in checklist(campaign, NOW) if each.name == "Replies as intended"]
    assert not line.ok
    assert "sentiment_richness is asked only of replies that were meant to be" in line.text
