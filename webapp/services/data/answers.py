"""Every current answer of a campaign as one flat row, and why it is set aside from the results.

Apart because the query and its columns are one thing, the table made of them another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from webapp.models import Campaign, Conversation, Flag, Participation, Rating, Seat
from webapp.services.data import query_rows
from webapp.services.data.query_rows import From
from webapp.services.rules import payment

CHUNK = 5_000
Outcome, State = Participation.Outcome, Conversation.State
KNOWN = "onboarding: the answer was known"
NOT_ONBOARD = (Outcome.ONBOARDING, Outcome.CHECK_FAILED)


class AnswerRow(NamedTuple):
    """One answer as the query reads it.

    A field that the codebook of ratings names is that column of every table of ratings.
    """

    pk: int
    question: str
    stored: Annotated[Any, From("value")]
    is_implied: Annotated[bool, From("follows")]
    made_at: Any
    assignment_id: int
    candidate_id: int
    place: Annotated[int, From("assignment__place")]
    item_key: Annotated[str, From("assignment__item__key")]
    known: Annotated[bool, From("assignment__item__known")]
    votes: Annotated[int, From("assignment__item__target")]
    person: Annotated[int, From("assignment__participation_id")]
    rater: Annotated[str, From("assignment__participation__pseudonym")]
    outcome: str  # of the rater's part in their own conversation, else of their participation
    person_excluded: Annotated[str, From("assignment__participation__excluded")]
    conversation_id: Annotated[int, From("candidate__conversation_id")]
    state: Annotated[str, From("candidate__conversation__state")]
    purpose: Annotated[str, From("candidate__conversation__purpose")]
    # The conversation's own campaign, which third parties may not be of.
    held_in: Annotated[int, From("candidate__conversation__campaign_id")]
    conversation_excluded: Annotated[str, From("candidate__conversation__excluded")]
    context: Annotated[str, From("candidate__conversation__context")]
    dataset: Annotated[str | None, From("assignment__item__context__group")]
    character: Annotated[str | None, From("assignment__item__context__about")]
    intended: Annotated[str, From("candidate__conversation__intended")]
    shown: Annotated[list[str], From("assignment__shown")]
    candidate_key: Annotated[str, From("candidate__key")]
    system_id: Annotated[int, From("candidate__system_id")]
    seq: Annotated[int | None, From("candidate__seq")]
    side: Annotated[int, From("candidate__side")]
    judged_person: int | None
    judged_persona: str | None
    answered: int  # questions of the same rater about the same candidate that have an answer

    @property
    def is_context(self) -> bool:
        return self.purpose == Conversation.Purpose.CONTEXT

    @property
    def stands_alone(self) -> bool:
        """Whether the answer counts however its rater's participation ended."""
        return self.purpose != Conversation.Purpose.STUDY

    @property
    def page_position(self) -> int:
        """Where on the page the reply stood among those shown with it, from 0."""
        return self.shown.index(self.candidate_key) if self.shown else 0

    @property
    def item(self) -> str:
        """What agreement is computed over: a reply, a message, or a partner."""
        if self.shown:
            return f"{self.item_key}:{self.conversation_id}"
        if self.is_context:
            return self.item_key
        if self.seq is not None:
            return f"{self.conversation_id}:{self.seq}"
        both = self.judged_person is not None  # each of two people judges the other
        return f"{self.conversation_id}:side{self.side}" if both else str(self.conversation_id)


def answer_rows(campaign: Campaign) -> Iterator[AnswerRow]:
    """Yield the answer of the highest revision to each question (R20), in the order of numbers."""
    same = {name: OuterRef(name) for name in ("assignment", "candidate", "question")}
    later = Rating.objects.filter(**same, revision__gt=OuterRef("revision"))
    judged = Seat.objects.filter(
        conversation=OuterRef("candidate__conversation"), side=OuterRef("candidate__side")
    )
    own = Seat.objects.filter(
        conversation=OuterRef("candidate__conversation"),
        participation=OuterRef("assignment__participation"),
    )
    # Looked up for each row: a window would sort all of them once more before it gives the first.
    session = Rating.objects.filter(
        assignment=OuterRef("assignment"), candidate=OuterRef("candidate")
    ).order_by()
    counted = session.values("assignment").annotate(answered=Count("question", distinct=True))
    found = Rating.objects.filter(
        ~Exists(later),
        assignment__item__campaign=campaign,
        assignment__participation__withdrawn_at=None,
    ).annotate(
        judged_person=Subquery(judged.values("participation")),
        judged_persona=Subquery(judged.values("persona__key")),
        outcome=Coalesce(Subquery(own.values("outcome")), F("assignment__participation__outcome")),
        answered=Subquery(counted.values("answered")),
    )
    return query_rows.rows(AnswerRow, found.order_by("pk"), chunk=CHUNK)


def excluded(campaign: Campaign, row: AnswerRow) -> str:
    """Return why an answer is set aside from the results, or nothing.

    A judged reply to a fixed context, or what others said, stands by itself: it has used one of the
    item's votes, however its rater's participation ended. Items with known answers are no data.
    """
    if row.conversation_excluded or row.person_excluded:
        return f"reviewer: {row.conversation_excluded or row.person_excluded}"
    if row.known:
        return KNOWN
    if row.outcome in NOT_ONBOARD:
        return str(Outcome(row.outcome).label)
    if row.stands_alone or row.held_in != campaign.pk:
        return ""
    if not row.outcome:
        return "not finished"
    if not payment.counts(campaign, row.outcome):
        return str(Outcome(row.outcome).label)
    left = row.outcome == Outcome.PARTNER_LEFT and row.state == State.ABANDONED
    if row.state == State.FINISHED or left:
        return ""
    return f"conversation {State(row.state).label}"


def flagged(campaign: Campaign) -> dict[tuple[str, int | None], set[str]]:
    """Return the kinds of flags that nobody has settled, by person and by conversation."""
    found: defaultdict[tuple[str, int | None], set[str]] = defaultdict(set)
    rows = Flag.objects.filter(campaign=campaign, settled_at=None)
    for kind, person, conversation in rows.values_list(
        "kind", "participation_id", "conversation_id"
    ):
        key = ("conversation", conversation) if conversation else ("person", person)
        found[key].add(kind)
    left = Seat.objects.filter(conversation__campaign=campaign, outcome=Outcome.PARTNER_LEFT)
    for conversation in left.values_list("conversation", flat=True):
        found["conversation", conversation].add("partner_left")
    return dict(found)
