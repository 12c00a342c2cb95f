"""What each column and each question of an export means, for programs and for readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaluation import Likert, PersonaChoice, Protocol, Question, YesNo
from evaluation.settings import TAGS
from webapp.models import Campaign
from webapp.services import source_settings
from webapp.services.plans import protocol_of

RATINGS = {
    "answer": "number of the answer; a later answer to the same question has replaced earlier ones",
    "campaign": "the campaign",
    "protocol": "name of the protocol that was followed",
    "question": "name of the question; its wording is below",
    "level": "nominal, ordinal or interval: what the numbers may be used for",
    "item": "what agreement is computed over: the conversation whose partner was judged (with its "
    "side, where two people judge each other), conversation:seq of a labeled message, or the "
    "context and reply of a static item",
    "system": "the system judged; people are “human”",
    "rater": "pseudonym of who answered",
    "value": "the answer: a point of the scale, 1 for yes, 0 for no; of a persona choice 1 where "
    "the partner's own persona was chosen and 0 where another was",
    "place": "place of the item in its rater's order, from 0",
    "scale_low": "lowest possible value",
    "scale_high": "highest possible value",
    "conversation": "number of the conversation, as in conversations.jsonl; where third parties "
    "judge messages, in that of the campaign where it was held",
    "message_seq": "place in the conversation's log of the message judged, as seq in messages.csv; "
    "blank where a whole conversation or partner is judged",
    "outcome": "how the rater's participation ended",
    "excluded": "why the answer is set aside from the results; blank in ratings.csv",
    "flags": "kinds of oddities that nobody has settled, separated by semicolons; they decide "
    "nothing",
    "chosen": "key of the persona chosen",
    "follows": "1 where the answer was not asked but follows from another one",
    "given_at": "when it was given, UTC",
}
MESSAGES = {
    "message": "number of the message",
    "conversation": "number of the conversation",
    "seq": "place in the conversation's log",
    "side": "0 the participant who began, 1 the partner",
    "system": "who wrote it: the system, “human” for people, blank for a given context",
    "persona": "key of the writer's persona",
    "text": "the message",
    "sent_at": "when it was stored, UTC",
    "partner_of": "the system that the conversation is about",
    "excluded": "a reviewer's reason to set the conversation aside",
}
PARTICIPANTS = {
    "participant": "pseudonym, the `rater` of the ratings",
    "system": "the system that they were given",
    "state": "the step they are on",
    "outcome": "how it ended",
    "joined_at": "when they consented, UTC",
    "ended_at": "when it ended, UTC",
    "consent_sha256": "SHA-256 of the consent text they agreed to",
    "language": "its language",
    "pay": "what their code is worth, in the campaign's currency",
    "excluded": "a reviewer's reason to set them aside",
    "flags": "kinds of oddities",
}
FILES = {
    "ratings.csv": RATINGS,
    "ratings.parquet": RATINGS,
    "ratings_all.csv": RATINGS,
    "messages.csv": MESSAGES,
    "participants.csv": PARTICIPANTS,
}


def codebook(campaign: Campaign) -> dict[str, Any]:
    """Return every column and question, with wording, scale and provenance."""
    protocol = protocol_of(campaign)
    return {
        "files": FILES,
        "protocol": {
            "name": protocol.name,
            "title": protocol.title,
            "source": protocol.source,
            "instructions": list(protocol.instructions),
            "told": protocol.chat.told if protocol.chat else "",
        },
        "questions": [_question(q, step.when) for step in protocol.rates for q in step.each],
        "settings": list(_settings(protocol, campaign.changes)),
    }


def _settings(protocol: Protocol, changes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for setting in protocol.settings():
        departs = setting.name in changes
        yield {
            "name": setting.name,
            "label": setting.label,
            "value": source_settings.plain(setting.value),
            "departs_from_source": departs,
            "provenance": TAGS[setting.source.tag],
            "where": setting.source.where,
        }


def _question(question: Question, when: str) -> dict[str, Any]:
    return {
        "name": question.name,
        "wording": question.text,
        "help": question.help,
        "kind": question.kind,
        "level": question.level,
        "asked": "while chatting" if when == "live" else "afterwards",
        "points": _points(question),
        "scale": list(question.scale or ()),
        "only_if": question.only_if,
        "otherwise": question.otherwise,
    }


def _points(question: Question) -> dict[str, str]:
    """Return what each value means, "" where the source has no word for it."""
    if isinstance(question, Likert | YesNo):
        return {str(value): word for value, word in question.options}
    if isinstance(question, PersonaChoice):
        return {"1": "the partner's own persona", "0": "a random other persona"}
    return {}


def as_markdown(book: dict[str, Any]) -> str:
    """Return the codebook for readers."""
    return "\n".join(_lines(book)) + "\n"


def _lines(book: dict[str, Any]) -> Iterator[str]:
    protocol = book["protocol"]
    yield from ("# Codebook", "", f"{protocol['title']}. Source: {protocol['source']}.", "")
    yield from ("## Questions", "")
    for question in book["questions"]:
        yield f"- **{question['name']}** ({question['kind']}, {question['level']}, asked "
        yield f"  {question['asked']}): {question['wording']} {question['help']}".rstrip()
        worded = [f"{value} = {word}" for value, word in question["points"].items() if word]
        yield f"  Values: {'; '.join(worded)}." if worded else "  Values: as stored."
        if question["only_if"]:
            yield f"  Asked only if {question['only_if']} is 1; else {question['otherwise']}."
    yield from ("", "## Settings", "", "| setting | value | from |", "|---|---|---|")
    for setting in book["settings"]:
        whose = "changed by the requester" if setting["departs_from_source"] else setting["where"]
        yield f"| {setting['name']} | {setting['value']} | {setting['provenance']}: {whose} |"
    for name, columns in book["files"].items():
        yield from ("", f"## {name}", "", "| column | means |", "|---|---|")
        yield from (f"| {column} | {meaning} |" for column, meaning in columns.items())
