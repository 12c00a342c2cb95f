"""NL-P6 and NL-P7 on pages: what is inconsistent by itself, ties, what is not asked, and tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.asking import imported
from tests.webapp.views.judging import (
    Answer,
    Asked,
    arrived,
    asked,
    judge,
    judge_without_pages,
    rate,
    report_of,
)
from webapp.models import Campaign, Rating

pytestmark = pytest.mark.django_db
SYSTEMS = ("proposed", "baseline")
INTENTS = ("positive", "negative", "neutral")
ANNOTATORS, UTTERANCES = 3, 72
# Of 72 utterances the proposed reply is preferred so often, in one respect and in both.
DOMAIN, SENTIMENT, BOTH = 57, 58, 49
JOINT = "both domain-aware and sentiment-rich"


def replies(count: int, *intents: str) -> list[dict[str, Any]]:
    """Return utterances, each with the replies of two systems and what these were meant to be."""
    return [
        {
            "id": f"u{n}",
            "messages": [f"Utterance {n}."],
            "replies": {
                name: {"text": f"Reply {n} {place}.", "intended": intents[n % len(intents)]}
                for place, name in enumerate(SYSTEMS)
            },
        }
        for n in range(count)
    ]


def pair(intent: str = "positive") -> Campaign:
    return imported("reply_quality", replies(1, intent))


def preferred(one: Asked) -> str | None:
    """Return what somebody answers who finds everything good, and the first reply better."""
    return "1" if one.system else one.keys["proposed"]


def values(question: str) -> dict[str, Any]:
    """Return what is stored of a question, by system."""
    rows = Rating.objects.filter(question=question).select_related("candidate__system")
    return {row.candidate.system.name: row.value for row in rows}


def test_an_influent_reply_is_inconsistent_and_cannot_be_sent_as_consistent() -> None:
    visit = arrived(pair())
    questions = asked(visit.get())
    fields = {(one.system, one.question): name for name, one in questions.items()}
    answers = {name: preferred(one) for name, one in questions.items()}
    answers[fields["baseline", "fluency"]] = "0"  # and its consistency goes on saying 1
    assert rate(visit, answers).context["screen"].name == "rate"
    assert not Rating.objects.exists()
    answers[fields["baseline", "consistency"]] = None
    assert rate(visit, answers).context["screen"].name == "ended"
    assert values("fluency") == {"proposed": 1, "baseline": 0}
    assert values("consistency") == {"proposed": 1, "baseline": 0}


@pytest.mark.parametrize("fluent", ["1", "0"])
def test_consistency_is_asked_for_only_of_what_is_fluent(fluent: str) -> None:
    visit = arrived(pair())
    questions = asked(visit.get())
    answers = {name: preferred(one) for name, one in questions.items()}
    for name, one in questions.items():
        if one.system == "baseline":
            answers[name] = fluent if one.question == "fluency" else None
    page = rate(visit, answers)
    assert page.context["screen"].name == ("rate" if fluent == "1" else "ended")
    assert Rating.objects.exists() is (fluent == "0")


@pytest.mark.parametrize("answer", [None, "", "tie", "none", "both"])
@pytest.mark.parametrize("question", ["domain_awareness", "sentiment_richness"])
def test_one_of_two_replies_has_to_be_chosen(question: str, answer: str | None) -> None:
    visit = arrived(pair())
    answers = {
        name: answer if one.question == question else preferred(one)
        for name, one in asked(visit.get()).items()
    }
    assert rate(visit, answers).context["screen"].name == "rate"
    assert not Rating.objects.exists()


@pytest.mark.parametrize(
    ("intent", "is_asked"), [("positive", True), ("negative", True), ("neutral", False)]
)
def test_richness_is_asked_where_a_sentiment_was_intended(intent: str, is_asked: bool) -> None:
    page = arrived(pair(intent)).get()
    questions = {one.question for one in asked(page).values()}
    wanted = {"fluency", "consistency", "domain_awareness"}
    assert questions == wanted | ({"sentiment_richness"} if is_asked else set())


@pytest.mark.parametrize("protocol", ["reply_quality", "perceived_sentiment"])
def test_nobody_who_labels_reads_whose_a_reply_is_or_what_it_was_meant_to_be(
    protocol: str,
) -> None:
    for intent in ("meantso", "otherwise"):
        page = arrived(imported(protocol, replies(1, intent))).get().content.decode()
        assert "Reply 0" in page
        assert not [word for word in (*SYSTEMS, intent, "intended") if word in page]


@pytest.mark.parametrize("answer", [None, "happy", "1"])
def test_a_sentiment_that_is_none_of_the_three_is_refused(answer: str | None) -> None:
    visit = arrived(imported("perceived_sentiment", replies(1, "positive")))
    answers = dict.fromkeys(asked(visit.get()), answer)
    assert rate(visit, answers).context["screen"].name == "rate"
    assert not Rating.objects.exists()


# --- tables that are planted through pages --------------------------------------------------------


def annotate(campaign: Campaign, answers: list[Answer]) -> None:
    """Let one annotator answer at pages, and the others send the same forms without looking."""
    judge(campaign, answers[0])
    for answer in answers[1:]:
        judge_without_pages(campaign, answer)


def turned(one: Asked, rater: int) -> int:
    """Return where an utterance stands for a rater; each begins elsewhere, so that they differ."""
    return (int(one.context[1:]) + 3 * rater) % UTTERANCES


def both(one: Asked, rater: int) -> str:
    """Prefer the proposed reply in both respects 49 times, in one 8 and 9 times, else never."""
    if one.system:
        return "1"
    here = turned(one, rater)
    alone = here - BOTH < DOMAIN - BOTH
    richer = here < BOTH or 0 <= here - DOMAIN < SENTIMENT - BOTH
    wins = (here < BOTH or alone) if one.question == "domain_awareness" else richer
    return one.keys["proposed" if wins else "baseline"]


@pytest.mark.timeout(400)
def test_the_share_that_is_both_is_of_joint_labels_not_of_margins(tmp_path: Path) -> None:
    campaign = imported("reply_quality", replies(UTTERANCES, "positive", "negative"))
    annotate(campaign, [partial(both, rater=rater) for rater in range(ANNOTATORS)])
    own = report_of(campaign, tmp_path, "chikai_quality")[0]
    mean = own.set_index(["label", "system"])["mean"]
    compared = ("domain-awareness", "sentiment-richness")
    shares = [mean[name, "proposed"] for name in (*compared, JOINT)]
    domain, sentiment, joint = shares
    assert shares == pytest.approx([n / UTTERANCES for n in (DOMAIN, SENTIMENT, BOTH)])
    assert (round(100 * joint, 1), round(100 * domain * sentiment, 1)) == (68.1, 63.8)
    for name in compared:
        assert mean[name, "proposed"] + mean[name, "baseline"] == pytest.approx(1)
    assert set(own["annotators"]) == {ANNOTATORS}


SEEN_AS = {  # of ten replies of each intention: perceived as positive, negative, neutral
    "positive": (7, 1, 2),
    "negative": (2, 5, 3),
    "neutral": (1, 0, 9),
}


def perceived(one: Asked) -> str:
    number = int(one.context[1:])
    intent, here = INTENTS[number % 3], number // 3
    ends = [sum(SEEN_AS[intent][: place + 1]) for place in range(3)]
    return next(name for name, end in zip(INTENTS, ends, strict=True) if here < end)


@pytest.mark.timeout(400)
def test_the_matrix_has_rows_intended_and_columns_perceived(tmp_path: Path) -> None:
    rows = replies(30, *INTENTS)
    for row in rows:
        del row["replies"]["baseline"]
    campaign = imported("perceived_sentiment", rows)
    annotate(campaign, [perceived] * ANNOTATORS)
    figures, shares, counts = report_of(campaign, tmp_path, "chikai_sentiment")[:3]
    found = shares.set_index("intended")
    assert {name: tuple(found.loc[name, list(INTENTS)]) for name in INTENTS} == {
        name: tuple(10.0 * count for count in row) for name, row in SEEN_AS.items()
    }
    wanted = [[ANNOTATORS * n for n in SEEN_AS[name]] for name in INTENTS]
    assert (
        counts.set_index("intended").loc[list(INTENTS), list(INTENTS)].to_numpy().tolist() == wanted
    )
    agreement = figures.set_index("figure").loc["agreement"]
    assert agreement["estimate"] == pytest.approx((7 + 5 + 9) / 30)
