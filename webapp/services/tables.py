"""The tables that analysis reads, from the rows: `answer` by `answer`, `message` by `message`.

Rows are streamed in the order of their numbers, with as many queries for one conversation as for
thousands, and kept as compact frames. What is set aside stays in the table with its reason; only
what people withdrew is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd
from django.db.models import OuterRef, QuerySet, Subquery

from analysis import MessageTable, RatingTable
from analysis.personas import described
from analysis.tables import MESSAGE_COLUMNS, RATING_COLUMNS, SCALE_COLUMNS
from evaluation import PersonaChoice, Question
from webapp.models import Campaign, Conversation, Event, Seat
from webapp.services import answers
from webapp.services.answers import CHUNK
from webapp.services.plans import protocol_of

HUMAN = "human"  # the system that people are, in every table
OWN_RATING_COLUMNS = (
    *SCALE_COLUMNS,
    "conversation",
    "message_seq",
    "outcome",
    "excluded",
    "flags",
    "chosen",
    "follows",
    "given_at",
)
OWN_MESSAGE_COLUMNS = ("partner_of", "excluded")
WHOLE = ("seq", "place", "assignment", "candidate", "asked")
INCOMPLETE = "incomplete: not every question was answered"
PURPOSES = (Conversation.Purpose.STUDY, Conversation.Purpose.CONTEXT)


def ratings(
    campaign: Campaign, *, include_excluded: bool = False, include_flagged: bool = True
) -> RatingTable:
    """Return every current answer of the campaign; by default those that its results rest on."""
    wanted = [*RATING_COLUMNS, *OWN_RATING_COLUMNS, "assignment", "candidate", "asked"]
    frame = _frame(_rating_rows(campaign), wanted)
    _mark_incomplete(frame)
    if not include_excluded:
        frame = frame[frame["excluded"] == ""]
    if not include_flagged:
        frame = frame[frame["flags"] == ""]
    columns = [*RATING_COLUMNS, *OWN_RATING_COLUMNS]
    frame = frame[columns].reset_index(drop=True)
    return RatingTable(frame.assign(value=_values(frame["value"])))


def messages(campaign: Campaign) -> MessageTable:
    """Return every message of the campaign's conversations, in order."""
    columns = [*MESSAGE_COLUMNS, *OWN_MESSAGE_COLUMNS]
    return MessageTable(_frame(message_rows(campaign), columns))


def described_messages(campaign: Campaign) -> MessageTable:
    """Return the messages with the sentences of their persona, as the command reads an export."""
    known = dict(campaign.personas.values_list("key", "sentences"))
    return described(messages(campaign), known) if known else messages(campaign)


def message_rows(campaign: Campaign) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the message table one by one; what was withdrawn is absent."""
    names = system_names(campaign)
    seat = Seat.objects.filter(conversation=OuterRef("conversation"), side=OuterRef("side"))
    found = Event.objects.filter(
        conversation__in=conversations(campaign), kind=Event.Kind.MESSAGE
    ).annotate(
        participation=Subquery(seat.values("participation")),
        persona=Subquery(seat.values("persona__key")),
    )
    rows = found.order_by("conversation_id", "seq").values_list(
        "pk",
        "conversation_id",
        "seq",
        "side",
        "conversation__system_id",
        "participation",
        "persona",
        "content",
        "made_at",
        "conversation__context",
        "in_reply_to",
        "conversation__excluded",
    )
    for (
        pk,
        talk,
        seq,
        side,
        system,
        person,
        persona,
        content,
        at,
        context,
        to,
        excluded,
    ) in rows.iterator(chunk_size=CHUNK):
        if not content.get("withdrawn"):
            is_given = bool(context) and to is None
            author = HUMAN if person is not None else "" if is_given else names[system]
            place = (str(pk), str(talk), seq, str(side))
            words = (author, persona or "", content["text"], at.isoformat())
            yield *place, *words, names[system], excluded


def name_of(campaign: Campaign) -> str:
    """Return what a campaign is called in tables: never its link, which lets people in."""
    return f"campaign-{campaign.pk}"


def system_names(campaign: Campaign) -> dict[int, str]:
    """Return what each system is called in tables: its name, and "human" for people."""
    systems = list(campaign.systems.all())
    people = [system for system in systems if system.is_people]
    taken = {system.name for system in systems if not system.is_people}
    plain = len(people) == 1 and HUMAN not in taken
    return {each.pk: HUMAN if each.is_people and plain else each.name for each in systems}


def conversations(campaign: Campaign) -> QuerySet[Conversation]:
    """Return the conversations that are data; rehearsals and staff's test chats are none."""
    return campaign.conversations.filter(purpose__in=PURPOSES).order_by("pk")


# --- how the rows are read --------------------------------------------------------------------


def _frame(rows: Iterable[Sequence[Any]], columns: list[str]) -> pd.DataFrame:
    """Return rows as a frame, made in pieces, so that Python objects of few rows live at once."""
    pieces, piece = [], []
    for row in rows:
        piece.append(row)
        if len(piece) == CHUNK:
            pieces.append(_piece(piece, columns))
            piece = []
    return pd.concat([*pieces, _piece(piece, columns)], ignore_index=True)


def _piece(rows: list[Sequence[Any]], columns: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({name: _kind(name) for name in columns if name != "value"})


def _kind(column: str) -> str:
    if column in WHOLE:
        return "int64"
    return "float64" if column in SCALE_COLUMNS else "str"


def _values(column: pd.Series) -> pd.Series:
    """Return answers as numbers, or all as text where one of them is a text."""
    texts = any(isinstance(value, str) for value in column)
    return column.astype("str" if texts else "float64")


def _rating_rows(campaign: Campaign) -> Iterator[tuple[Any, ...]]:
    names, flagged = system_names(campaign), answers.flagged(campaign)
    protocol = protocol_of(campaign)
    steps = {"live": protocol.live, "after": protocol.after}
    asked = {when: {q.name: q for q in step.each} for when, step in steps.items() if step}
    label = name_of(campaign)
    for row in answers.read(campaign):
        each = asked["live" if row.item_key.endswith(":live") else "after"]
        question = each[row.question]
        value, chosen = _value(row, question)
        low, high = question.scale or (0.0, 1.0)
        kinds = flagged["person", row.person] | flagged["conversation", row.conversation]
        yield (
            *(str(row.pk), label, campaign.protocol, row.question, question.level, row.item),
            *(names[row.system], row.pseudonym, value, row.place, low, high),
            *(
                str(row.conversation),
                "" if row.seq is None else str(row.seq),
                row.outcome,
                answers.excluded(campaign, row),
            ),
            *(";".join(sorted(kinds)), chosen, str(int(row.follows)), row.made_at.isoformat()),
            *(row.assignment_id, row.candidate_id, len(each)),
        )


def _value(row: answers.Answer, question: Question) -> tuple[Any, str]:
    """Return the number, and the key chosen where right or wrong is what counts."""
    if isinstance(question, PersonaChoice):
        return int(row.value == row.judged_persona), str(row.value)
    return row.value, ""


def _mark_incomplete(frame: pd.DataFrame) -> None:
    """Set aside a session that lacks an answer (PERSONA-CHAT section 5.2: excluded)."""
    answered = frame.groupby(["assignment", "candidate"])["question"].transform("nunique")
    lacking = (answered < frame["asked"]) & (frame["excluded"] == "")
    frame.loc[lacking, "excluded"] = INCOMPLETE
