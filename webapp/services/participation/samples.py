"""Samples of what participants see: the protocol's own questions about invented words.

Nothing is stored. Dialogue, characters and contexts are those that come with Parley.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cache

from django.utils.translation import gettext as _

from bots.datasets import contexts, demo
from evaluation import Protocol, Rate, Screening, Shown, Write, letter
from webapp import notices
from webapp.models import Participation
from webapp.services.conversation.briefs import Sheet
from webapp.services.participation import admission, screens, study_info
from webapp.services.participation.screens import End, Screen
from webapp.services.participation.study_info import StudyInfo
from webapp.services.rating.form import FormLine, FormReply, RatingForm
from webapp.services.rules import payment
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of, shown_protocol
from webapp.services.writing import form as writing_form
from webapp.services.writing.form import WritingForm

CODE = "ABCD-EFGH"  # looks like a code, and is nobody's
SPLIT = "test"
MOST_LINES = 6


@dataclass(frozen=True)
class QuestionGroup:
    """Questions about the same thing, with the form in which participants see them."""

    judged: str
    form: RatingForm


def question_groups(protocol: Protocol) -> tuple[QuestionGroup, ...]:
    """Return the questions of a protocol, by what is judged."""
    before = {"screening": _("Before the instructions"), "quiz": _("In a quiz before the work")}
    first = (
        QuestionGroup(before[step.prefix], admission.form_with(step, {}))
        for step in protocol.admissions
    )
    work = (
        QuestionGroup(_judged(rate), rating_form(rate, f"{protocol.name}-{number}"))
        for number, rate in enumerate(protocol.rates, start=1)
    )
    if (step := protocol.attention) is None:
        return *first, *work
    checks = Screening(questions=step.questions, passes=step.passes)  # as their form is drawn
    return *first, *work, QuestionGroup(_("Attention checks"), admission.form_with(checks, {}))


def rating_form(rate: Rate, candidate: str = "sample") -> RatingForm:
    """Return the form of a step, about one candidate."""
    count = {"one": 1, "pairs": 2, "all": 3}[rate.show]
    keys = tuple(f"{candidate}n{n}" for n in range(count)) if count > 1 else (candidate,)
    # So that questions are among them that are asked only of what was meant to be something.
    meant = next((each for question in rate.questions for each in question.intended), "")
    lines = _of_others(whole=rate.over == "conversation") if rate.is_shared else dialogue()
    if rate.over == "speakers":
        lines = _chat(1) if count == 1 else ()
    if rate.over == "contexts":
        most = rate.messages[1] + (count == 1)  # the reply that is judged alone stands among them
        lines = lines[max(0, len(lines) - most) :] if most else ()
    return RatingForm(
        rate=rate,
        shown=Shown(
            keys,
            _drawn(rate),
            together=f"{candidate}-together",
            intended=dict.fromkeys(keys, meant),
        ),
        lines=lines if count == 1 else tuple(replace(line, judged=False) for line in lines),
        about="",
        replies=_replies(keys, chats=rate.over == "speakers") if count > 1 else (),
        of_context=rate.is_shared,
        personas=dict(_personas()),
        draft={},
        number=1,
        total=rate.batch if rate.is_shared else 1,
    )


def _replies(keys: tuple[str, ...], *, chats: bool) -> tuple[FormReply, ...]:
    if chats:
        return tuple(
            FormReply(key=key, letter=str(number), text="", lines=_chat(number))
            for number, key in enumerate(keys, start=1)
        )
    texts = itertools.cycle(_turns())
    return tuple(
        FormReply(key=key, letter=letter(number), text=next(texts))
        for number, key in enumerate(keys)
    )


def _chat(number: int) -> tuple[FormLine, ...]:
    """Return a whole conversation of others, with one speaker marked."""
    marked = _("Speaker %(number)d") % {"number": number}
    return tuple(
        replace(
            line,
            who=marked if line.side == "partner" else _("The other"),
            judged=line.side == "partner",
        )
        for line in dialogue()
    )


def dialogue() -> tuple[FormLine, ...]:
    """Return a conversation of a participant, who began it, and a partner."""
    return tuple(
        FormLine(side=side, who=_("You") if side == "you" else _("Your partner"), text=text)
        for side, text in zip(("you", "partner") * MOST_LINES, _turns(), strict=False)
    )


def pages(protocol: Protocol) -> tuple[str, ...]:
    """Return the names of the pages that a participant comes to, in order."""
    first = ("screening",) if protocol.screening else ()
    quiz = ("quiz",) if protocol.quiz else ()
    chat = ("chat",) if protocol.chat else ()
    write = ("write",) if protocol.write else ()
    rate = ("rate",) if protocol.after else ()
    return ("entry", *first, "ready", *quiz, *chat, *write, *rate, "ended")


def study(campaign: AnyCampaign) -> StudyInfo:
    """Return the study as a newcomer would see it while the campaign is open."""
    return study_info.of(row_of(campaign))


def screen(campaign: AnyCampaign, name: str) -> Screen:
    """Return one of these pages, but for the entry, with everything on it invented."""
    protocol, shown = shown_protocol(campaign), study(campaign)
    steps = {step.prefix: step for step in protocol.admissions}
    has_persona = name in ("ready", "chat") and shown.has_persona
    after = protocol.after
    return Screen(
        name="admission" if name in steps else name,
        study=shown,
        step=screens.step_of("admission" if name == "quiz" else name, protocol),
        notice="",
        round="",
        stop="" if name == "ended" else shown.stopping or notices.text("stop_not_begun"),
        persona=_first_persona(campaign) if has_persona else (),
        sheet=_sheet(campaign, protocol, name) if has_persona else None,
        chat=screens.chat_page("preview", protocol) if name == "chat" else None,
        form=rating_form(after) if name == "rate" and after else None,
        writing=_writing(protocol.write) if name == "write" and protocol.write else None,
        admission=screens.first_admission_page(steps[name]) if name in steps else None,
        end=_end(protocol, shown) if name == "ended" else None,
    )


def _writing(write: Write) -> WritingForm:
    """Return the form of a writer, about a persona or a message that comes with Parley."""
    last = _context()[-1:]
    basis = {"persona": (), "revision": _personas()[0][1]}.get(write.makes, last)
    return writing_form.form(write=write, about="sample", basis=basis, draft={}, total=write.batch)


def lengths(campaign: AnyCampaign) -> tuple[int, ...]:
    """Return the numbers of messages of which a conversation's minimum is drawn."""
    chat = protocol_of(campaign).chat
    return chat.minimum.options if chat else ()


def _end(protocol: Protocol, shown: StudyInfo) -> End:
    rule = payment.RULES[Participation.Outcome.COMPLETED]
    return End(
        heading=str(screens.HEADINGS[Participation.Outcome.COMPLETED]),
        text=notices.text(rule.notice, pay=shown.pay if shown.is_paid else ""),
        code=CODE,
        amount=shown.pay if shown.is_paid else "",
        debrief=protocol.chat.debrief if protocol.chat else "",
        return_url="",
        withdraw="preview",
        receipt="",
        may_return=False,
    )


def _sheet(campaign: AnyCampaign, protocol: Protocol, name: str) -> Sheet | None:
    """Return what stands around the first sheets, where the protocol has briefs."""
    brief = protocol.chat.brief if protocol.chat else None
    if brief is None:
        return None
    rows = list(row_of(campaign).personas.order_by("order").values_list("name", flat=True)[:2])
    names = rows if len(rows) == 2 else ["Ann", "Ben"]
    is_chat = name == "chat"
    return Sheet(
        heading=brief.yours,
        name=names[0],
        partner_heading=brief.theirs,
        partner=(names[1],) if is_chat else (),
        topic=next(iter(brief.topics), "") if is_chat else "",
    )


def _first_persona(campaign: AnyCampaign) -> tuple[str, ...]:
    row = row_of(campaign).personas.order_by("order").first()
    return tuple(row.sentences) if row else _personas()[0][1]


def _judged(rate: Rate) -> str:
    known = {
        ("partner", "after"): _("The partner, after the conversation"),
        ("messages", "live"): _("Each message of the partner, while chatting"),
        ("messages", "after"): _("Each message of other people's conversations"),
        ("conversation", "after"): _("Each conversation of other people, as a whole"),
        ("contexts", "after"): _("Each reply to a context"),
        ("speakers", "after"): _("A speaker of each conversation of others"),
    }
    if rate.over == "speakers" and rate.show == "pairs":
        return _("Speakers of two conversations, side by side")
    together = {"pairs": _("Two replies, side by side"), "all": _("All replies, on one page")}
    if rate.show in together:
        return together[rate.show]
    return known.get((rate.over, rate.when), rate.over)


def _drawn(rate: Rate) -> dict[str, tuple[str, ...]]:
    """Return the characters to choose from, for the questions that ask for one."""
    keys = tuple(key for key, _sentences in _personas())
    beside = {question.name: question.personas_beside() for question in rate.each}
    return {name: keys[: count + 1] for name, count in beside.items() if count is not None}


def _of_others(*, whole: bool) -> tuple[FormLine, ...]:
    """Return a conversation of others, which or whose last message is to be judged."""
    texts = _context()
    speakers = {True: ("partner", _("Speaker B")), False: ("you", _("Speaker A"))}
    lines = []
    for number, text in enumerate(texts, start=1):
        side, who = speakers[(len(texts) - number) % 2 == 0]
        is_judged = number == len(texts) and not whole
        lines.append(FormLine(side=side, who=who, text=text, judged=is_judged))
    return tuple(lines)


@cache
def _personas() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((each.id, each.original) for each in demo.personas(SPLIT))


@cache
def _turns() -> tuple[str, ...]:
    turns = demo.read(SPLIT)[0].turns
    return tuple(turn.text for turn in turns[:MOST_LINES])


@cache
def _context() -> tuple[str, ...]:
    longest = max(contexts.read(""), key=lambda each: len(each.turns))
    return tuple(turn.text for turn in longest.turns)
