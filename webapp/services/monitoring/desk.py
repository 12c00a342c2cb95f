"""The staff desk: people confirm or correct each automatic answer of a bot that names intents.

Source: the nex-cv paper of NLP4CONVAI 2019, sections 1, 3.1 and 4: a bot that is not sure leaves a
question to people; the intents most often taken for each other are looked at first; the automation
rate is watched by day. A bot takes part whose replies have an `intent` in their details, and
`deferred` where it left the question to people. Left open, and ours: a day is one of UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import IntegrityError, transaction
from django.db.models import Case, Count, F, IntegerField, Max, Q, QuerySet, When
from django.db.models.functions import TruncDate
from django.utils.translation import gettext as _

from webapp.models import Conversation, ReplyJob, ReviewedAnswer
from webapp.services.data import reviewed_answers
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import Invalid, shown, storable

PAGE = 25
MOST_CONFUSED = 3  # pairs that are shown
LONGEST = 200  # characters of an intent
LATEST = 200  # replies by which is seen whether the bots of a campaign name intents
DEFERRED = Q(details__bot__deferred=True)
CONFIRMED = Q(review__deferred=False, review__intent=F("review__guess"))


class AlreadyReviewed(Exception):
    """Somebody else was faster."""


@dataclass(frozen=True)
class WaitingAnswer:
    """An answer that nobody has looked at yet; `confidence` is None where the bot told none."""

    pk: int
    conversation: int
    question: str
    answer: str
    guess: str
    confidence: float | None
    deferred: bool


@dataclass(frozen=True)
class AnswerCounts:
    """What came of the questions of a day, or of all; `day` is None for all."""

    day: date | None
    questions: int
    deferred: int
    reviewed: int  # of the automatic answers
    confirmed: int

    @property
    def answered(self) -> int:
        return self.questions - self.deferred

    @property
    def automation_percent(self) -> str:
        """Share of the questions that got an automatic answer."""
        return _percent(self.answered, self.questions)

    @property
    def confirmed_percent(self) -> str:
        """Share of the reviewed automatic answers that were right."""
        return _percent(self.confirmed, self.reviewed)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "—"


@dataclass(frozen=True)
class ConfusedPair:
    """Two intents, and how often one was answered for the other, either way."""

    one: str
    other: str
    times: int


def answers(campaign: AnyCampaign) -> QuerySet[ReplyJob]:
    """Return the delivered replies of the study's conversations that name an intent."""
    rows = ReplyJob.objects.filter(
        conversation__campaign=campaign.pk,
        conversation__purpose=Conversation.Purpose.STUDY,
        state=ReplyJob.State.DONE,
    )
    return rows.filter(details__bot__has_key="intent")


def is_used(campaign: AnyCampaign) -> bool:
    """Tell whether there is anything at the desk, by the latest replies."""
    rows = ReplyJob.objects.filter(conversation__campaign=campaign.pk).order_by("-pk")
    latest = rows.values_list("details", flat=True)[:LATEST]
    return any("intent" in reviewed_answers.about(details) for details in latest)


def waiting(campaign: AnyCampaign, query: Mapping[str, str]) -> Page[Any]:
    """Return a page of the answers that nobody has looked at: those left to people first.

    Then those whose intent is in one of the most confused pairs, each in the order they came.
    """
    suspected = {name for pair in confused(campaign) for name in (pair.one, pair.other)}
    rows = (
        answers(campaign)
        .filter(review=None)
        .annotate(
            is_deferred=_as_number(DEFERRED),
            is_suspected=_as_number(Q(details__bot__intent__in=sorted(suspected))),
        )
    )
    found: Page[Any] = Paginator(
        rows.order_by("-is_deferred", "-is_suspected", "pk"), PAGE
    ).get_page(query.get("page"))
    jobs = list(found.object_list)
    questions = reviewed_answers.questions(jobs)
    found.object_list = [_waiting(job, questions) for job in jobs]
    return found


def _as_number(condition: Q) -> Case:
    return Case(When(condition, then=1), default=0, output_field=IntegerField())


def _waiting(job: ReplyJob, questions: Mapping[tuple[int, int], str]) -> WaitingAnswer:
    about = reviewed_answers.about(job.details)
    confidence = about.get("confidence")
    return WaitingAnswer(
        pk=job.pk,
        conversation=job.conversation_id,
        question=questions.get((job.conversation_id, job.in_reply_to), ""),
        answer=job.text,
        guess=_guess(job),
        confidence=confidence if isinstance(confidence, int | float) else None,
        deferred=about.get("deferred") is True,
    )


def _guess(job: ReplyJob) -> str:
    return str(reviewed_answers.about(job.details).get("intent", ""))[:LONGEST]


# --- figures -----------------------------------------------------------------------------------


def days(campaign: AnyCampaign) -> list[AnswerCounts]:
    """Return the counts of each day on which a question was answered, the latest first."""
    by_day = answers(campaign).annotate(day=TruncDate("answered_at", tzinfo=UTC)).values("day")
    rows = by_day.annotate(
        questions=Count("pk"),
        deferred=Count("pk", filter=DEFERRED),
        reviewed=Count("review", filter=Q(review__deferred=False)),
        confirmed=Count("review", filter=CONFIRMED),
    )
    return [AnswerCounts(**row) for row in rows.order_by("-day")]


def total(counted: Sequence[AnswerCounts]) -> AnswerCounts:
    """Return the sum over days."""
    names = ("questions", "deferred", "reviewed", "confirmed")
    return AnswerCounts(None, *(sum(getattr(one, name) for one in counted) for name in names))


def confused(campaign: AnyCampaign) -> list[ConfusedPair]:
    """Return the pairs of intents most often answered for each other (section 4.3)."""
    rows = (
        reviewed_answers.of_campaign(campaign)
        .filter(deferred=False)
        .exclude(intent=F("guess"))
        .exclude(intent="")
    )
    counted: Counter[tuple[str, str]] = Counter()
    for guess, intent, times in (
        rows.order_by().values_list("guess", "intent").annotate(Count("pk"))
    ):
        counted[min(guess, intent), max(guess, intent)] += times
    ranked = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [ConfusedPair(one, other, times) for (one, other), times in ranked[:MOST_CONFUSED]]


def intents(campaign: AnyCampaign) -> list[str]:
    """Return the intents that bots or people have named so far."""
    guessed = answers(campaign).order_by().values_list("details__bot__intent").annotate(Max("pk"))
    named = reviewed_answers.of_campaign(campaign).values_list("intent", flat=True).distinct()
    found = {str(intent)[:LONGEST] for intent, _latest in guessed} | set(named.order_by())
    return sorted(found - {""})


# --- decisions ---------------------------------------------------------------------------------


def read_decision(raw: Mapping[str, str]) -> str | None:
    """Return the intent that was chosen, "" for none of them, None for the bot's own.

    Raises `Invalid`.
    """
    decision, intent = raw.get("decision", ""), " ".join(raw.get("intent", "").split())
    if decision == "confirm":
        return None
    if decision == "none":
        return ""
    if decision != "correct":
        choices = _("%(value)s is not one of confirm, correct and none")
        raise Invalid({"decision": choices % {"value": shown(decision)}})
    if not intent:
        raise Invalid({"intent": _("is empty; type the intent that the question has")})
    if len(intent) > LONGEST or not storable(intent):
        text = _("%(value)s is not an intent: it has %(most)d characters at most, all printable")
        raise Invalid({"intent": text % {"value": shown(intent), "most": LONGEST}})
    return intent


def decide(
    *, campaign: AnyCampaign, pk: int, raw: Mapping[str, str], by: Any, now: datetime
) -> None:
    """Store what a question was about, once, as the form says it.

    Raises `AlreadyReviewed`, `access.NotFound`, and `Invalid`, also where nothing can be confirmed.
    """
    with transaction.atomic():
        job = answers(campaign).select_related("conversation__campaign").filter(pk=pk).first()
        if job is None:
            raise access.NotFound(f"answer {pk} of campaign {campaign.pk}")
        intent = read_decision(raw)
        guess, deferred = _guess(job), reviewed_answers.about(job.details).get("deferred") is True
        if intent is None and deferred:
            text = _("there was no answer to confirm: the bot left this question to people")
            raise Invalid({"decision": text})
        right = guess if intent is None else intent
        _store(job, guess=guess, deferred=deferred, intent=right, decided_at=now, decided_by=by)
        is_confirmed = right == guess and not deferred
        audit.append(
            actor=by.get_username(),
            action="answer confirmed" if is_confirmed else "answer corrected",
            campaign=job.conversation.campaign,
            now=now,
            answer=pk,
            intent=right or "—",
        )


def _store(job: ReplyJob, **decision: Any) -> None:
    try:
        with transaction.atomic():
            ReviewedAnswer.objects.create(job=job, **decision)  # one row a job decides
    except IntegrityError:
        raise AlreadyReviewed from None
