"""A conversation as a reviewer reads it: messages, times, labels, ratings, reply details."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evaluation import Protocol, Question
from webapp.models import Campaign, Conversation, Event, Flag, Rating, ReplyJob, Seat
from webapp.services.rules import access
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of


@dataclass(frozen=True)
class TranscriptAnswer:
    """One answer of a rater; `superseded` counts the earlier ones it replaced."""

    question: str
    value: str
    superseded: int
    follows: bool
    rater: str = ""


@dataclass(frozen=True)
class TranscriptLine:
    """One message, or a notice of the platform."""

    seq: int
    kind: str
    who: str  # first, second, platform
    text: str
    at: datetime
    answers: tuple[TranscriptAnswer, ...] = ()
    reply: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """Who sat on a side."""

    number: int
    who: str
    person: int | None
    persona: tuple[str, ...]
    persona_key: str
    sees_persona: bool


@dataclass(frozen=True)
class Transcript:
    """Everything about one conversation."""

    sides: tuple[Side, ...]
    lines: tuple[TranscriptLine, ...]
    answers: tuple[TranscriptAnswer, ...]  # about the partner as a whole
    flags: tuple[Flag, ...]


@dataclass(frozen=True)
class ConversationPage:
    """A conversation with its transcript, as a reviewer's page shows it."""

    pk: int
    system: str
    state: str
    ended_because: str
    excluded: str
    transcript: Transcript


def page(*, user: access.User, campaign: AnyCampaign, pk: int) -> ConversationPage:
    """Return one of a campaign's conversations. Raises `access.NotFound`."""
    row = access.conversation(user, campaign.pk, pk)
    return ConversationPage(
        pk=row.pk,
        system=row.system.name,
        state=row.get_state_display(),
        ended_because=row.ended_because,
        excluded=row.excluded,
        transcript=transcript(row),
    )


def transcript(conversation: Conversation) -> Transcript:
    """Read a conversation; the number of queries does not grow with its length."""
    protocol = protocol_of(conversation.campaign)
    seats = list(conversation.seats.select_related("participation", "persona"))
    jobs = {job.in_reply_to: job for job in conversation.jobs.all()}
    by_seq, whole = _answers(conversation, protocol)
    log = conversation.events.exclude(kind=Event.Kind.LABEL).order_by("seq")
    return Transcript(
        sides=tuple(_side(seat, conversation) for seat in seats),
        lines=tuple(_line(event, jobs, by_seq) for event in log),
        answers=tuple(whole),
        flags=tuple(conversation.flags.all()),
    )


def _side(seat: Seat, conversation: Conversation) -> Side:
    person, persona = seat.participation, seat.persona
    return Side(
        number=seat.side,
        who=str(person) if person else (conversation.system.name if seat.side == 1 else ""),
        person=person.pk if person else None,
        persona=seat.sentences,
        persona_key=persona.key if persona else "",
        sees_persona=seat.sees_persona,
    )


def _line(
    event: Event, jobs: dict[int, ReplyJob], by_seq: dict[int, list[TranscriptAnswer]]
) -> TranscriptLine:
    content = event.content if isinstance(event.content, dict) else {}
    words = content.get("text") or content.get("notice") or content.get("state") or ""
    job = jobs.get(event.in_reply_to) if event.in_reply_to is not None else None
    return TranscriptLine(
        seq=event.seq,
        kind=event.kind,
        who={0: "first", 1: "second"}.get(-1 if event.side is None else event.side, "platform"),
        text=str(words) if event.kind == Event.Kind.MESSAGE else _words(content),
        at=event.made_at,
        answers=tuple(by_seq.get(event.seq, ())),
        reply=_reply(job) if job else {},
    )


def _words(content: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in content.items())


def _reply(job: ReplyJob) -> dict[str, Any]:
    times = {"took": (job.answered_at - job.queued_at).total_seconds()} if job.answered_at else {}
    wanted = ("model", "parameters", "seed", "seconds", "batch")
    details = {name: job.details[name] for name in wanted if job.details.get(name) is not None}
    return {"attempt": job.attempt, **times, **details}


def _answers(
    conversation: Conversation, protocol: Protocol
) -> tuple[dict[int, list[TranscriptAnswer]], list[TranscriptAnswer]]:
    rows = Rating.objects.filter(candidate__item__conversation=conversation)
    rows = rows.select_related("candidate", "assignment__participation").order_by("revision", "id")
    latest: dict[tuple[int, int, str], list[Rating]] = defaultdict(list)
    for row in rows:
        latest[row.assignment_id, row.candidate_id, row.question].append(row)
    by_seq: dict[int, list[TranscriptAnswer]] = defaultdict(list)
    whole: list[TranscriptAnswer] = []
    judged = Campaign.objects.filter(items__conversation=conversation).distinct()
    protocols = [protocol, *map(protocol_of, judged)]
    questions = {q.name: q for each in protocols for rate in each.rates for q in rate.each}
    for same in latest.values():
        answer = _answer(same, questions)
        seq = same[-1].candidate.seq
        whole.append(answer) if seq is None else by_seq[seq].append(answer)
    return by_seq, whole


def _answer(same: Sequence[Rating], questions: dict[str, Question]) -> TranscriptAnswer:
    last = same[-1]
    question = questions.get(last.question)
    return TranscriptAnswer(
        question=last.question,
        value=question.words(last.value) if question else str(last.value),
        superseded=len(same) - 1,
        follows=last.follows,
        rater=str(last.assignment.participation),
    )
