"""Every current answer of a campaign as one flat row, and why it is set aside from the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from webapp.models import Campaign, Conversation, Flag, Participation, Rating, Seat
from webapp.services import payment

CHUNK = 5_000
Outcome, State = Participation.Outcome, Conversation.State


@dataclass(frozen=True)
class Answer:
    """What is read of one answer, in the order of the query below."""

    pk: int
    question: str
    value: Any
    follows: bool
    made_at: Any
    assignment_id: int
    candidate_id: int
    place: int
    item_key: str
    person: int
    pseudonym: str
    outcome: str
    person_excluded: str
    conversation: int
    state: str
    purpose: str
    held_in: int  # the campaign of the conversation
    conversation_excluded: str
    system: int
    seq: int | None
    side: int
    judged_person: int | None
    judged_persona: str | None

    @property
    def is_context(self) -> bool:
        return self.purpose == Conversation.Purpose.CONTEXT

    @property
    def item(self) -> str:
        """What agreement is computed over: a reply, a message, or a partner."""
        if self.is_context:
            return self.item_key
        if self.seq is not None:
            return f"{self.conversation}:{self.seq}"
        both = self.judged_person is not None  # each of two people judges the other
        return f"{self.conversation}:side{self.side}" if both else str(self.conversation)


def read(campaign: Campaign) -> Iterator[Answer]:
    """Yield the answer of the highest revision to each question (R20), in the order of numbers."""
    same = {name: OuterRef(name) for name in ("assignment", "candidate", "question")}
    later = Rating.objects.filter(**same, revision__gt=OuterRef("revision"))
    judged = Seat.objects.filter(
        conversation=OuterRef("assignment__item__conversation"), side=OuterRef("candidate__side")
    )
    rows = Rating.objects.filter(
        ~Exists(later),
        assignment__item__campaign=campaign,
        assignment__participation__withdrawn_at=None,
    ).annotate(
        judged_person=Subquery(judged.values("participation")),
        judged_persona=Subquery(judged.values("persona__key")),
    )
    wanted = rows.order_by("pk").values_list(
        "pk",
        "question",
        "value",
        "follows",
        "made_at",
        "assignment_id",
        "candidate_id",
        "assignment__place",
        "assignment__item__key",
        "assignment__participation_id",
        "assignment__participation__pseudonym",
        "assignment__participation__outcome",
        "assignment__participation__excluded",
        "assignment__item__conversation_id",
        "assignment__item__conversation__state",
        "assignment__item__conversation__purpose",
        "assignment__item__conversation__campaign_id",
        "assignment__item__conversation__excluded",
        "candidate__system_id",
        "candidate__seq",
        "candidate__side",
        "judged_person",
        "judged_persona",
    )
    return (Answer(*row) for row in wanted.iterator(chunk_size=CHUNK))


def excluded(campaign: Campaign, row: Answer) -> str:
    """Return why an answer is set aside from the results, or nothing.

    A judged reply to a fixed context, or a message of others, stands by itself: it has used one of
    the item's votes, however its rater's participation ended.
    """
    if row.conversation_excluded or row.person_excluded:
        return f"reviewer: {row.conversation_excluded or row.person_excluded}"
    if row.is_context or row.held_in != campaign.pk:
        return ""
    if not row.outcome:
        return "not finished"
    if not payment.counts(campaign, row.outcome):
        return str(Outcome(row.outcome).label)
    left = row.outcome == Outcome.PARTNER_LEFT and row.state == State.ABANDONED
    if row.state == State.FINISHED or left:
        return ""
    return f"conversation {State(row.state).label}"


def flagged(campaign: Campaign) -> defaultdict[tuple[str, int | None], set[str]]:
    """Return the kinds of flags that nobody has settled, by person and by conversation."""
    found: defaultdict[tuple[str, int | None], set[str]] = defaultdict(set)
    rows = Flag.objects.filter(campaign=campaign, settled_at=None)
    for kind, person, talk in rows.values_list("kind", "participation_id", "conversation_id"):
        found["conversation", talk].add(kind) if talk else found["person", person].add(kind)
    left = campaign.participations.filter(outcome=Outcome.PARTNER_LEFT)
    for person in left.values_list("pk", flat=True):
        found["person", person].add("partner_left")
    return found
