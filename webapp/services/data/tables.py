"""The tables that analysis reads, from the rows: `answer` by `answer`, `message` by `message`.

Rows are streamed in the order of their numbers, with as many queries for one conversation as for
thousands, and kept as compact frames. What is set aside stays in the table with its reason; only
what people withdrew is absent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from operator import itemgetter
from typing import Annotated, Any, NamedTuple, get_type_hints

import pandas as pd
from django.db.models import F, FilteredRelation, Q, QuerySet

from analysis import MessageTable, RatingTable
from analysis.tables.columns import SCALE_COLUMNS
from analysis.tables.personas import described
from evaluation import FORMS, Question
from webapp.models import Campaign, Candidate, Conversation, Event
from webapp.services.data import answers, codebook, query_rows
from webapp.services.data.answers import CHUNK, AnswerRow
from webapp.services.data.query_rows import From
from webapp.services.rules.protocols import protocol_of

Row = dict[str, Any]  # cells by column
HUMAN = "human"  # the system that people are, in every table
# Types of columns: of a field by its declared type, of what is worked out here by its name; any
# other is text. A value's type is known once all are (`_values`).
BY_TYPE: dict[Any, str] = {
    int: "int64",
    int | None: "float64",
    float: "float64",
    float | None: "float64",
}
BY_NAME = {**dict.fromkeys(SCALE_COLUMNS, "float64"), "value": "object"}
INCOMPLETE = "incomplete: not every question was answered"
Purpose = Conversation.Purpose
PURPOSES = (Purpose.STUDY, Purpose.CONTEXT, Purpose.IMPORTED)


def ratings(
    campaign: Campaign, *, include_excluded: bool = False, include_flagged: bool = True
) -> RatingTable:
    """Return every current answer of the campaign; by default those that its results rest on."""
    rows = (
        row
        for row in rating_rows(campaign)
        if (include_excluded or not row["excluded"]) and (include_flagged or not row["flags"])
    )
    frame = compact(rows, types_of(codebook.RATINGS, AnswerRow))
    return RatingTable(frame.assign(value=_values(frame["value"])))


def messages(campaign: Campaign) -> MessageTable:
    """Return every message of the campaign's conversations, in order."""
    types = types_of(codebook.MESSAGES, MessageRow)
    return MessageTable(compact(message_rows(campaign), types))


def described_messages(campaign: Campaign) -> MessageTable:
    """Return the messages with the sentences of their persona, as the command reads an export."""
    known = {
        ("", each.key, form): each.sentences_in(form)
        for each in campaign.personas.all()
        for form in FORMS
    }
    return described(messages(campaign), known) if known else messages(campaign)


class MessageRow(NamedTuple):
    """One message as the query reads it.

    A field that the codebook of messages names is that column of every table of messages.
    """

    pk: int
    conversation_id: int
    seq: int
    speaker: Annotated[int, From("side")]
    person: Annotated[int | None, From("seat__participation_id")]
    pseudonym: Annotated[str | None, From("seat__participation__pseudonym")]
    persona_key: Annotated[str | None, From("seat__persona__key")]
    form: Annotated[str | None, From("seat__persona_form")]
    content: dict[str, Any]
    made_at: datetime
    in_reply_to: int | None
    system_id: Annotated[int, From("conversation__system_id")]
    context: Annotated[str, From("conversation__context")]
    excluded: Annotated[str, From("conversation__excluded")]
    purpose: Annotated[str, From("conversation__purpose")]

    @property
    def is_of_people(self) -> bool:
        """Whether a person wrote the message, here or where an imported conversation was held."""
        return self.person is not None or (self.purpose == Purpose.IMPORTED and not self.speaker)

    @property
    def is_context(self) -> bool:
        """Whether the message came with the campaign: nobody wrote it here."""
        return bool(self.context) and self.in_reply_to is None


def message_rows(campaign: Campaign) -> Iterator[Row]:
    """Yield the rows of the message table one by one; what was withdrawn is absent."""
    names = system_names(campaign)
    mine = Q(conversation__seats__side=F("side"))  # a join: one row is read, not four looked up
    found = Event.objects.filter(
        conversation__in=conversations(campaign), kind=Event.Kind.MESSAGE
    ).annotate(seat=FilteredRelation("conversation__seats", condition=mine))
    ordered = found.order_by("conversation_id", "seq")
    cells = query_rows.picked(MessageRow, codebook.MESSAGES)
    for row in query_rows.rows(MessageRow, ordered, chunk=CHUNK):
        if not row.content.get("withdrawn"):
            system = names[row.system_id]
            yield {
                **cells(row),
                "message": str(row.pk),
                "conversation": str(row.conversation_id),
                "side": str(row.speaker),
                "system": HUMAN if row.is_of_people else "" if row.is_context else system,
                "user": row.pseudonym or "",
                "persona": row.persona_key or "",
                "persona_form": (row.form or "") if row.persona_key else "",
                "text": row.content["text"],
                "sent_at": row.made_at.isoformat(),
                "partner_of": system,
            }


def name_of(campaign: Campaign) -> str:
    """Return the name of a campaign in tables: never its link, which lets people in."""
    return f"campaign-{campaign.pk}"


def system_names(campaign: Campaign) -> dict[int, str]:
    """Return the name of each system in tables: its name, and "human" for people."""
    systems = list(campaign.systems.all())
    people = [system for system in systems if system.is_people]
    taken = {system.name for system in systems if not system.is_people}
    plain = len(people) == 1 and HUMAN not in taken
    return {each.pk: HUMAN if each.is_people and plain else each.name for each in systems}


def conversations(campaign: Campaign) -> QuerySet[Conversation]:
    """Return the conversations that are data; rehearsals and staff's test chats are none."""
    return campaign.conversations.filter(purpose__in=PURPOSES).order_by("pk")


# --- how the rows are read --------------------------------------------------------------------


def compact(rows: Iterable[Row], types: dict[str, str]) -> pd.DataFrame:
    """Return rows as a frame, made in pieces, so that Python objects of few rows live at once.

    types: pandas' name of each column's type, in their order.
    """
    pick = itemgetter(*types)
    pieces, piece = [], []
    for row in rows:
        piece.append(pick(row))
        if len(piece) == CHUNK:
            pieces.append(_piece(piece, types))
            piece = []
    return pd.concat([*pieces, _piece(piece, types)], ignore_index=True)


def types_of(columns: Iterable[str], kind: type) -> dict[str, str]:
    """Return the type of each column, as pandas names it."""
    declared = get_type_hints(kind)
    by_type = {name: BY_TYPE[each] for name, each in declared.items() if each in BY_TYPE}
    return {name: BY_NAME.get(name) or by_type.get(name, "str") for name in columns}


def _piece(rows: list[tuple[Any, ...]], types: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _values(column: pd.Series) -> pd.Series:
    """Return answers as numbers; where some are texts, those beside the numbers as they are."""
    if not any(isinstance(value, str) for value in column):
        return column.astype("float64")
    values = [value if isinstance(value, str) else float(value) for value in column]
    return pd.Series(values, index=column.index, dtype=object)


def _is_off(scale: tuple[float, float] | None, value: Any) -> bool:
    """Tell what stands in place of an answer and is none of its scale; new protocols have none."""
    return scale is not None and (isinstance(value, str) or not scale[0] <= value <= scale[1])


def rating_rows(campaign: Campaign) -> Iterator[Row]:
    """Yield a row per current answer, with the reason where it is set aside; blank texts are none.

    A session that lacks an answer is set aside, as PERSONA-CHAT's released code does.
    """
    names, flagged = system_names(campaign), answers.flagged(campaign)
    protocol = protocol_of(campaign)
    intended = _intended(campaign)
    questions = {
        (when, each.name): (each, _about(campaign, each), step)
        for when, step in (("live", protocol.live), ("after", protocol.after))
        if step
        for each in step.questions
    }
    cells = query_rows.picked(AnswerRow, codebook.RATINGS)
    for row in answers.answer_rows(campaign):
        when = "live" if row.item_key.endswith(":live") else "after"
        question, about, step = questions[when, row.question]
        value, chosen = question.cells(row.stored, row.judged_persona or "")
        if value == "" or row.stored == "" or (row.is_implied and _is_off(question.scale, value)):
            continue  # left blank, or not asked
        is_rank = question.level == "rank"
        wanted = step.questions_about(row.intended, intended.get(row.item_key, ()))
        of_person = flagged.get(("person", row.person), set())
        kinds = of_person | flagged.get(("conversation", row.conversation_id), set())
        yield {
            **cells(row),
            **about,
            "answer": str(row.pk),
            "item": row.item_key if is_rank else row.item,
            "place": row.page_position if is_rank else row.place,
            "dataset": row.dataset or "",
            "character": row.character or "",
            "system": names[row.system_id],
            "value": value,
            "conversation": str(row.conversation_id),
            "message_seq": "" if row.seq is None else str(row.seq),
            "excluded": answers.excluded(campaign, row)
            or ("" if row.answered >= wanted else INCOMPLETE),
            "flags": ";".join(sorted(kinds)),
            "chosen": chosen,
            "follows": str(int(row.is_implied)),
            "given_at": row.made_at.isoformat(),
        }


def _intended(campaign: Campaign) -> dict[str, list[str]]:
    """Return what the replies of each item were meant to be, where their import says so."""
    found: dict[str, list[str]] = {}
    rows = Candidate.objects.filter(item__campaign=campaign).exclude(conversation__intended="")
    for key, intended in rows.values_list("item__key", "conversation__intended"):
        found.setdefault(key, []).append(intended)
    return found


def _about(campaign: Campaign, question: Question) -> Row:
    """Return the cells that all answers to a question share."""
    low, high = question.cell_scale or (math.nan, math.nan)
    return {
        "campaign": name_of(campaign),
        "protocol": campaign.protocol,
        "level": question.level,
        "scale_low": low,
        "scale_high": high,
        "better": question.better if not math.isnan(low) and question.level != "rank" else "",
    }
