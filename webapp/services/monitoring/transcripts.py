"""A conversation as a reviewer reads it: messages, times, labels, ratings, reply details."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Protocol, Question
from webapp import notices
from webapp.models import (
    Campaign,
    Conversation,
    Event,
    Flag,
    Rating,
    ReplyJob,
    Seat,
    TranscriptNote,
)
from webapp.services.rating import transcript_rules
from webapp.services.rules import access
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of

PLATFORM = "platform"
SIDES: Mapping[int | None, str] = {0: "first", 1: "second"}
STATES = {
    "finished": gettext_lazy("Finished the conversation"),
    "left": gettext_lazy("A participant left the conversation"),
    "retried": gettext_lazy("Asked for the reply once more"),
    "failed": gettext_lazy("Gave up on the reply"),
    "stopped": gettext_lazy("The conversation was stopped"),
}


@dataclass(frozen=True)
class TranscriptAnswer:
    """One answer of a rater; `superseded` counts the earlier ones it replaced.

    is_right: whether a choice of persona is right, None for other answers.
    """

    question: str
    value: str
    superseded: int
    follows: bool
    rater: str = ""
    is_right: bool | None = None


@dataclass(frozen=True)
class TranscriptLine:
    """One message, or what the platform noted; `by` is the side whose act it noted."""

    seq: int
    kind: str
    who: str  # first, second, platform
    text: str
    by: str  # first, second, or nobody's
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

    @property
    def replies(self) -> list[TranscriptLine]:
        """The messages with the details of the reply job that made them."""
        return [line for line in self.lines if line.reply]

    @property
    def origins(self) -> list[tuple[str, str]]:
        """The models and the hashes of their parameters that replied, each once."""
        found = [
            (line.reply.get("model", ""), line.reply.get("parameters", "")) for line in self.replies
        ]
        return [pair for pair in dict.fromkeys(found) if any(pair)]


@dataclass(frozen=True)
class ConversationPage:
    """A conversation with its transcript, as a reviewer's page shows it."""

    pk: int
    system: str
    state: str
    ended_because: str
    excluded: str
    transcript: Transcript
    name: str = ""  # of an imported conversation, in its file
    marks: tuple[str, ...] = ()  # in what it departs from the source's rules


def page(*, user: access.User, campaign: AnyCampaign, pk: int) -> ConversationPage:
    """Return one of a campaign's conversations. Raises `access.NotFound`."""
    row = access.conversation(user, campaign.pk, pk)
    note = TranscriptNote.objects.filter(conversation=row).first()
    return ConversationPage(
        pk=row.pk,
        system=row.system.name,
        state=row.get_state_display(),
        ended_because=row.ended_because,
        excluded=row.excluded,
        transcript=transcript(row),
        name=note.name if note else "",
        marks=tuple(str(transcript_rules.WORDS[mark]) for mark in note.marks) if note else (),
    )


def transcript(conversation: Conversation) -> Transcript:
    """Read a conversation; the number of queries does not grow with its length."""
    protocol = protocol_of(conversation.campaign)
    seats = list(conversation.seats.select_related("participation", "persona"))
    jobs = {job.in_reply_to: job for job in conversation.jobs.all()}
    right = {seat.side: seat.persona.key if seat.persona else "" for seat in seats}
    by_seq, whole = _answers(conversation, protocol, right)
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
    is_message = event.kind == Event.Kind.MESSAGE
    job = jobs.get(event.in_reply_to) if event.in_reply_to is not None else None
    side = SIDES.get(event.side, "")
    return TranscriptLine(
        seq=event.seq,
        kind=event.kind,
        who=side or PLATFORM if is_message else PLATFORM,
        text=str(content.get("text", "")) if is_message else _noted(content),
        by=side,
        at=event.made_at,
        answers=tuple(by_seq.get(event.seq, ())),
        reply=_reply(job) if job else {},
    )


def _noted(content: dict[str, Any]) -> str:
    """Return in words what the platform noted: what somebody did, or what they were shown."""
    if "refused" in content:
        about = {"text": content["refused"], "complaint": content.get("complaint", "")}
        return _("A message was refused: “%(text)s” (%(complaint)s)") % about
    if content.get("notice") in notices.NOTICES:
        return _("Notice shown: %(text)s") % {"text": notices.text(content["notice"])}
    if content.get("state") in STATES:
        return str(STATES[content["state"]])
    return ", ".join(f"{name}: {value}" for name, value in content.items())


def _reply(job: ReplyJob) -> dict[str, Any]:
    times = {"took": (job.answered_at - job.queued_at).total_seconds()} if job.answered_at else {}
    wanted = ("model", "parameters", "seed", "seconds", "batch")
    details = {name: job.details[name] for name in wanted if job.details.get(name) is not None}
    return {"attempt": job.attempt, **times, **details}


def _answers(
    conversation: Conversation, protocol: Protocol, right: Mapping[int, str]
) -> tuple[dict[int, list[TranscriptAnswer]], list[TranscriptAnswer]]:
    rows = Rating.objects.filter(candidate__conversation=conversation)
    rows = rows.select_related("candidate", "assignment__participation").order_by("revision", "id")
    latest: dict[tuple[int, int, str], list[Rating]] = defaultdict(list)
    for row in rows:
        latest[row.assignment_id, row.candidate_id, row.question].append(row)
    by_seq: dict[int, list[TranscriptAnswer]] = defaultdict(list)
    whole: list[TranscriptAnswer] = []
    judged = Campaign.objects.filter(items__candidates__conversation=conversation).distinct()
    protocols = [protocol, *map(protocol_of, judged)]
    questions = {q.name: q for each in protocols for rate in each.rates for q in rate.questions}
    for same in latest.values():
        answer = _answer(same, questions, right)
        seq = same[-1].candidate.seq
        whole.append(answer) if seq is None else by_seq[seq].append(answer)
    return by_seq, whole


def _answer(
    same: Sequence[Rating], questions: Mapping[str, Question], right: Mapping[int, str]
) -> TranscriptAnswer:
    last = same[-1]
    question = questions.get(last.question)
    is_choice = question is not None and question.personas_beside() is not None
    persona = right.get(last.candidate.side, "")
    return TranscriptAnswer(
        question=last.question,
        value=question.words(last.value) if question else str(last.value),
        superseded=len(same) - 1,
        follows=last.follows,
        rater=str(last.assignment.participation),
        is_right=last.value == persona if is_choice and persona else None,
    )
