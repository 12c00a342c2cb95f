"""The meaning of each column and question of an export, for programs and readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation import AnsweredExample, Image, Protocol, Question, WorkedExample, Write
from webapp.models import Campaign
from webapp.services.replies import calls
from webapp.services.rules import payment
from webapp.services.rules.protocols import identity_of, original_of, protocol_of
from webapp.services.staff_forms import source_settings

RATINGS = {
    "answer": "number of the answer; a later answer to the same question has replaced earlier ones",
    "campaign": "the campaign",
    "protocol": "name of the protocol that was followed",
    "question": "name of the question; its wording is below",
    "level": "nominal, ordinal or interval: what the values may be used for; rank: a position "
    "among the replies shown together; text: an answer in the rater's own words, which no metric "
    "reads",
    "item": "what agreement is computed over: the conversation whose partner was judged (with its "
    "side, where two people judge each other), conversation:seq of a labeled message, or the "
    "context and reply of a static item; of a rank the context and all replies shown with it, or "
    "the conversations side by side",
    "system": "the system judged; people are “human”",
    "rater": "pseudonym of who answered",
    "value": "the answer: a point of the scale, 1 for yes, 0 for no; of a persona choice 1 where "
    "the partner's own persona was chosen and 0 where another was; of a choice of names the name; "
    "of a rank 1 for the best, the same for those that tie; "
    "a text as it was written, without a row where it was left blank",
    "place": "place of the item, or of the conversation, in its rater's order, from 0; of a rank "
    "the reply's place on the page",
    "scale_low": "lowest possible value; blank where values are no numbers",
    "scale_high": "highest possible value; blank where values are no numbers",
    "better": "which end of the scale is the good one: high, low or none; blank where values are "
    "no numbers, and of ranks, of which 1 is the best",
    "votes": "how many raters the item goes to; until it has so many answers it is open, and no "
    "majority is taken of it",
    "conversation": "number of the conversation, as in conversations.jsonl; where third parties "
    "judge messages, in that of the campaign where it was held",
    "message_seq": "place in the conversation's log of the message judged, as seq in messages.csv; "
    "blank where a whole conversation or partner is judged",
    "outcome": "how the rater's part in the conversation ended; of shared items, how their "
    "participation did",
    "excluded": "why the answer is set aside from the results; blank in ratings.csv",
    "flags": "kinds of oddities that nobody has settled, separated by semicolons; they decide "
    "nothing",
    "chosen": "key of the persona chosen; of a rank the kind of tie",
    "context": "key of the context replied to; blank where no context was given",
    "dataset": "data set or list that the context belongs to, as its import says",
    "character": "what a text was judged by, such as a character, as its import says",
    "intended": "what a reply was meant to be, such as a sentiment, as its import says",
    "follows": "1 where the answer was not asked but follows from another one",
    "given_at": "when it was given, UTC",
}
MESSAGES = {
    "message": "number of the message",
    "conversation": "number of the conversation",
    "seq": "place in the conversation's log",
    "side": "0 the participant who began, 1 the partner",
    "system": "who wrote it: the system, “human” for people, blank for a given context",
    "user": "pseudonym of the person who wrote it, the `rater` of the ratings; blank for a system",
    "persona": "key of the writer's persona",
    "persona_form": "original or revised: which sentences of it the writer had; blank without one",
    "text": "the message",
    "sent_at": "when it was stored, UTC",
    "partner_of": "the system that the conversation is about",
    "excluded": "a reviewer's reason to set the conversation aside",
}
BROKEN_RULES = {
    "rule": "own conversation, judged before, or own text: what a rater must not judge",
    "rater": "pseudonym of who judged it all the same",
    "item": "the item judged",
    "why": "how the rule is broken",
}
PARTICIPANTS = {
    "participant": "pseudonym, the `rater` of the ratings",
    "panel": "worker, volunteer or expert: whom the campaign's link was given to",
    "system": "the system that they were given; after several conversations all of them, in order, "
    "separated by semicolons",
    "arm": "the data set, list or system that the protocol kept them to, of the items they judged; "
    "blank where it keeps nobody, or nothing was judged",
    "conversations": "how many conversations they finished",
    "state": "the step they are on",
    "outcome": "how it ended; SCREENED_OUT and CHECK_FAILED by a check, ONBOARDING by items whose "
    "answers are known",
    "joined_at": "when they consented, UTC",
    "ended_at": "when it ended, UTC",
    "consent_sha256": "SHA-256 of the consent text they agreed to",
    "language": "its language",
    "pay": "what their code is worth",
    "promised": "the full pay of a conversation that they were shown when they consented; a later "
    "change of the campaign's pay does not touch it",
    "currency": "of both amounts",
    "quit_rule": "what they were promised for stopping of their own accord: a SHARE of the pay, as "
    "of the minimum of messages (or of the replies given), FULL, or nothing before the MINIMUM",
    "least_work": "messages or replies below which stopping was to pay nothing",
    "excluded": "a reviewer's reason to set them aside",
    "flags": "kinds of oddities",
}
CONTRIBUTIONS = {
    "contribution": "number of the contribution; the texts of one have the same",
    "campaign": "the campaign",
    "protocol": "name of the protocol that was followed",
    "makes": "persona, revision, reply or paraphrase",
    "participant": "pseudonym of the author",
    "about": "key of the persona that is revised, of the context replied to, or of the message "
    "that is paraphrased; blank for a new persona",
    "conversation": "number of the conversation of the message that is paraphrased, which another "
    "campaign has; blank otherwise",
    "message_seq": "`seq` of that message",
    "split": "split of the persona: train, valid or test",
    "number": "place of the text in its contribution, from 1",
    "original": "the sentence or message that the text rewords; blank where there is none, or its "
    "author has "
    "withdrawn",
    "text": "the text",
    "state": "OFFERED, ACCEPTED or REFUSED",
    "reason": "why it was refused",
    "made_at": "when it was stored, UTC",
    "decided_at": "when it was accepted or refused, UTC",
    "excluded": "a reviewer's reason to set the author aside",
}
REPLIES = {
    "conversation": "number of the conversation",
    "system": "the system that was asked",
    "in_reply_to": "`seq` of the message that it answers; 0 for an opening",
    "number": "number of the call for this reply, from 1: one that failed is followed by another",
    "attempt": "attempt of the reply job",
    "outcome": "SHOWN, REFUSED by a rule of the protocol, FAILED, or UNWANTED: the conversation "
    "was over before the reply was shown",
    "events": "what became of the raw text, separated by semicolons; reply_events.csv has each",
    "error": "why it was refused or failed",
    "raw": "the text as the bot wrote it, as a JSON string",
    "shown": "the text that people got; blank where they got none",
    "reasoning": "reasoning that was set apart and never shown, as a JSON string",
    "prompt": "the prompt or request as it was sent, as JSON; null for a bot that is given the "
    "persona of its seat and the messages up to `in_reply_to` as they are",
    "parameters": "every option of the bot, as JSON",
    "seed": "seed of what was drawn for this call: of system, conversation, message and number",
    "finish_reason": "why the model stopped; `length` is its limit of tokens",
    "prompt_tokens": "tokens of the prompt, where they are known",
    "reply_tokens": "tokens of the reply, where they are known",
    "tries": "requests until a busy server answered",
    "seconds": "duration of the call, with all others of its batch",
    "made_at": "when it was stored, UTC",
}
REPLY_EVENTS = {
    "system": "the system that was asked",
    "calls": "calls in the conversations of the study",
    "shown": "calls whose reply people got",
    "refused": "calls whose reply a rule of the protocol refused",
    "failed": "calls that failed",
    "unwanted": "calls whose reply nobody got, since the conversation was over before",
    "troubled": "calls that failed or met an event that speaks against the system: "
    + ", ".join(calls.TROUBLES),
    **calls.EVENTS,
}
REVIEWED_ANSWERS = {
    "conversation": "number of the conversation",
    "system": "the system that was asked",
    "in_reply_to": "`seq` of the question",
    "question": "the question; blank where its author has withdrawn",
    "guess": "the intent that the bot took it for",
    "confidence": "how sure the bot was, where it told",
    "deferred": "1 where the bot left the question to people, else 0",
    "intent": "the intent that a person gave it; blank where the bot knows none that fits",
    "decided_at": "when, UTC",
}
# Of a study's export, in front of the columns that each table has anyway.
OF_STUDY = {
    "campaign": "the campaign that the row is of",
    "phase": "the campaign's name within the study",
}
ADMISSION = {
    "participant": "pseudonym, as in participants.csv",
    "step": "screening, quiz about the instructions, or attention (checks within the work)",
    "try": "number of the try, from 1; of attention the number of the check",
    "question": "name of the question; its wording is below",
    "value": "the answer, as stored",
    "right": "1 where the answer lets somebody in, or is right; 0 where it is not",
    "passed": "1 where the whole try was passed, 0 where it was not",
    "answered_at": "when the try was sent, UTC",
}
FILES = {
    "broken_rules.csv": BROKEN_RULES,
    "contributions.csv": CONTRIBUTIONS,
    "ratings.csv": RATINGS,
    "ratings.parquet": RATINGS,
    "ratings_all.csv": RATINGS,
    "messages.csv": MESSAGES,
    "replies.csv": REPLIES,
    "reply_events.csv": REPLY_EVENTS,
    "reviewed_answers.csv": REVIEWED_ANSWERS,
    "participants.csv": PARTICIPANTS,
    "admission.csv": ADMISSION,
}


WHEN = {"live": "while chatting", "after": "afterwards"}


def codebook(campaign: Campaign) -> dict[str, Any]:
    """Return every column and question, with wording, scale and provenance."""
    protocol = protocol_of(campaign)
    return {
        "files": FILES,
        "protocol": {
            "name": protocol.name,
            **identity_of(campaign),
            "title": protocol.title,
            "source": protocol.source,
            "instructions": list(protocol.instructions),
            "told": protocol.chat.told if protocol.chat else "",
            "images": [
                *_images(protocol.images),
                *_of_examples(protocol.write.examples if protocol.write else ()),
            ],
            "checks": _checks(protocol),
        },
        "languages": campaign.languages,
        "translations": campaign.translations,
        "stopping": payment.rule_of_stopping(campaign),
        "writing": _writing(protocol.write),
        "questions": [
            *(_question(q, "before the work") for s in protocol.admissions for q in s.questions),
            *(_question(q, WHEN[step.when]) for step in protocol.rates for q in step.questions),
            *(_question(q, "in between") for q in _attention(protocol)),
        ],
        "settings": _settings(campaign),
        "words": _words(campaign),
    }


def _attention(protocol: Protocol) -> tuple[Question, ...]:
    return protocol.attention.questions if protocol.attention else ()


def _writing(write: Write | None) -> dict[str, Any]:
    """Return what was asked of writers; nothing where nobody writes."""
    if write is None:
        return {}
    return {"makes": write.makes, "wording": write.asks.text, "limits": write.limited.limits}


def _settings(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the settings as the plan froze them; a draft's as it would freeze them."""
    if campaign.plan:
        return source_settings.rows_of(campaign.plan)
    return source_settings.rows(original_of(campaign), campaign.changes, campaign.translations)


def _words(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the words as the plan froze them; a draft's as it would freeze them."""
    if campaign.plan:
        return source_settings.word_rows_of(campaign.plan)
    return source_settings.word_rows(protocol_of(campaign))


def _checks(protocol: Protocol) -> dict[str, list[str]]:
    """Return the names of the rules for messages and texts; their limits are settings."""
    chat, write = protocol.chat, protocol.write
    found = {
        "participants": (chat.checks if chat else ()) + (write.checks if write else ()),
        "bots": chat.partner_checks if chat else (),
    }
    return {who: [check.name for check in checks] for who, checks in found.items()}


def _images(images: Sequence[Image]) -> list[dict[str, Any]]:
    return [{"sha256": image.sha256, "shows": image.alt} for image in images]


def _of_examples(examples: Sequence[AnsweredExample | WorkedExample]) -> Iterator[dict[str, Any]]:
    """Yield the images within examples, with the number of the example."""
    for number, example in enumerate(examples, start=1):
        yield from (each | {"example": number} for each in _images(example.images))


def _question(question: Question, when: str) -> dict[str, Any]:
    return {
        "name": question.name,
        "wording": question.text,
        "help": question.help,
        "examples": [[each.text, each.answer, each.why] for each in question.examples],
        "images": [*_of_examples(question.examples), *_images(question.images)],
        "kind": question.kind,
        "level": question.level,
        "asked": when,
        "points": question.meanings(),
        "scale": list(question.scale or ()),
        "only_if": question.only_if.question if question.only_if else None,
        "only_if_values": list(question.only_if.values) if question.only_if else [],
        "otherwise": question.otherwise,
        "intended": list(question.intended),
    }


def as_markdown(book: dict[str, Any]) -> str:
    """Return the codebook for readers."""
    return "\n".join(_lines(book)) + "\n"


def _lines(book: dict[str, Any]) -> Iterator[str]:
    protocol = book["protocol"]
    yield from ("# Codebook", "", f"{protocol['title']}. Source: {protocol['source']}.", "")
    version = f"version {protocol['version']}, " if protocol["version"] else ""
    yield from (f"Protocol `{protocol['name']}`, {version}SHA-256 {protocol['sha256']}.", "")
    yield from _image_lines(protocol["images"])
    for who, checks in protocol["checks"].items():
        yield from (f"Rules for what {who} write: {', '.join(checks)}.", "") if checks else ()
    yield from ("## Questions", "")
    yield from _question_lines(book["questions"])
    yield from ("", "## Settings", "", "| setting | value | from |", "|---|---|---|")
    for setting in book["settings"]:
        where = f"{setting['provenance_text']}: {setting['where']}"
        if setting["departure"]:
            where = f"changed by the requester from {setting['source_value']} ({where})"
        yield f"| {setting['setting']} | {setting['value']} | {where} |"
    yield from _word_lines(book["words"])
    yield from _translation_lines(book["translations"])
    stopping = book["stopping"]
    yield from ("", "## Stopping early", "")
    yield f"Who stops of their own accord is paid {stopping['means']} ({stopping['rule']});"
    yield f"nothing below {stopping['least_work']} messages or replies; {stopping['rounding']}."
    for name, columns in book["files"].items():
        yield from ("", f"## {name}", "", "| column | means |", "|---|---|")
        yield from (f"| {column} | {meaning} |" for column, meaning in columns.items())


def _question_lines(questions: list[dict[str, Any]]) -> Iterator[str]:
    """Return the list of questions, each with what its values mean and when it is asked."""
    for question in questions:
        yield f"- **{question['name']}** ({question['kind']}, {question['level']}, asked "
        yield f"  {question['asked']}): {question['wording']} {question['help']}".rstrip()
        worded = [f"{value} = {word}" for value, word in question["points"].items() if word]
        yield f"  Values: {'; '.join(worded)}." if worded else "  Values: as stored."
        yield from (f"  {line}" for line in _image_lines(question["images"]) if line)
        if question["only_if"]:
            values = " or ".join(map(str, question["only_if_values"]))
            gate, otherwise = question["only_if"], question["otherwise"]
            yield f"  Asked only if {gate} is {values}; else {otherwise}."
        if question["intended"]:
            meant = " or ".join(question["intended"])
            yield f"  Asked only of replies that were meant to be {meant} (column intended)."


def _image_lines(images: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Return what is shown beside the words; their bytes are in protocol.json."""
    for image in images:
        within = f" within example {image['example']}" if "example" in image else ""
        yield f"Image {image['sha256']}{within}: {cell(image['shows'])}"
    yield from [""] if images else []


def _word_lines(words: list[dict[str, Any]]) -> Iterator[str]:
    """Return the table of words; a plan that was frozen without them has none."""
    if words:
        yield from ("", "## Words", "", "| shown as | words | from |", "|---|---|---|")
    for row in words:
        where = f"{row['provenance_text']}: {row['where']}"
        exact = "; ".join(f"“{each}”" for each in row["exact"])
        if exact:
            where = f"{where}, {'quoted' if row['quoted'] else 'to the letter'}: {exact}"
        yield f"| {row['field']} | {cell(row['text'])} | {cell(where)} |"


def _translation_lines(translations: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Return the table of words that the requester translated."""
    if translations:
        yield from ("", "## Translations by the requester", "")
        yield from ("| language | shown as | words |", "|---|---|---|")
    for code, texts in sorted(translations.items()):
        yield from (f"| {code} | {field} | {cell(text)} |" for field, text in texts.items())


def cell(text: str) -> str:
    """Return a text that stays within its cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")
