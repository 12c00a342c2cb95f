"""The page a participation is on, as blinded values, never rows (S11).

Nothing here carries the name of a campaign, a protocol or a system, or tells a program from a
person: a page can only show what these values hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from urllib.parse import quote

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from evaluation import Admission, MaxWords, Protocol, Question, Quiz, Screening
from webapp import notices
from webapp.models import Campaign, CompletionCode, ExternalId, Participation, PayHold, Seat
from webapp.services.conversation import briefs
from webapp.services.participation import (
    admission,
    invitations,
    privacy,
    return_pay,
    stopping,
    study_info,
    waiting_list,
)
from webapp.services.participation.study_info import StudyInfo, money, pay_words
from webapp.services.rating import form
from webapp.services.rating.form import RatingForm
from webapp.services.receipts import files, issuing, signed_file
from webapp.services.recruiting import codes
from webapp.services.rules import access, identity, payment, rounds, uptime
from webapp.services.rules.protocols import protocol_of, shown_protocol
from webapp.services.writing import form as writing_form
from webapp.services.writing.form import WritingForm

Outcome, State = Participation.Outcome, Participation.State
Claim = Mapping[str, str]  # what a link's form holds: an invitation, or a platform and an id
NAMES: dict[str, str] = {
    State.ADMISSION: "admission",
    State.READY: "ready",
    State.WAITING: "waiting",
    State.MATCHED: "waiting",
    State.CHATTING: "chat",
    State.RATING: "rate",
    State.WRITING: "write",
    State.ENDED: "ended",
}
HEADINGS: dict[str, Promise] = {
    Outcome.COMPLETED: gettext_lazy("You are done"),
    Outcome.PARTNER_LEFT: gettext_lazy("You are done"),
    Outcome.FAILED: gettext_lazy("Something went wrong on our side"),
    Outcome.STOPPED: gettext_lazy("The study ended early"),
    Outcome.QUIT: gettext_lazy("You have stopped"),
    Outcome.NOBODY: gettext_lazy("No partner was found"),
    Outcome.FULL: gettext_lazy("The study is full"),
    Outcome.DECLINED: gettext_lazy("You have left the study"),
    Outcome.SCREENED_OUT: gettext_lazy("The study is for other people"),
    Outcome.CHECK_FAILED: gettext_lazy("The check was not passed"),
    Outcome.ONBOARDING: gettext_lazy("You are done"),
    Outcome.LEFT: gettext_lazy("You were away for long"),
}
# What stopping is said to mean, by the outcome it has, with a code and without one.
STOPS: dict[str, str] = {
    Outcome.QUIT: "stop_paid",
    Outcome.COMPLETED: "stop_paid",
    Outcome.NOBODY: "stop_waited",
}
UNPAID: dict[str, str] = {Outcome.QUIT: "stop_unpaid", Outcome.DECLINED: "stop_not_begun"}


@dataclass(frozen=True, kw_only=True)
class ChatPageData:
    """Data of the chat page before its first frame."""

    key: str  # names this conversation in the browser's storage
    word_limit: int | None
    questions: tuple[Question, ...]
    are_optional: bool = False  # those questions
    is_endless: bool = False


@dataclass(frozen=True, kw_only=True)
class AdmissionPage:
    """Questions before the work: of a screening, or a quiz after a try with what was wrong."""

    form: RatingForm
    is_quiz: bool
    try_name: str
    note: str
    complaints: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class End:
    """The end of a participation; `code` is empty where nothing is paid."""

    heading: str
    text: str
    code: str
    amount: str
    debrief: str
    return_url: str
    withdraw: str  # the token of the private link
    receipt: str
    may_return: bool
    owed: str = ""  # what a code would stand for that is not given yet
    held: str = ""  # that the payment waits, or why it was refused


@dataclass(frozen=True, kw_only=True)
class Screen:
    """One page. `stop` says what stopping now means, "" where there is nothing to stop."""

    name: str  # admission, ready, waiting, chat, rate, write, ended
    study: StudyInfo
    step: int
    notice: str
    round: str  # which conversation comes next, "" before the first
    stop: str
    persona: tuple[str, ...] = ()
    character: int = 0  # the number of that persona
    sheet: briefs.Sheet | None = None  # what stands around it, where the protocol has briefs
    kept: str = ""  # what keeps the place that comes next, for who is not proven
    unkept: str = ""  # said before the time that is left, while somebody waits for their place
    listed: str = ""  # why they wait for a place, where there is none for the moment
    matched: bool = False
    answered: bool = False  # the ready check
    chat: ChatPageData | None = None
    form: RatingForm | None = None
    writing: WritingForm | None = None
    admission: AdmissionPage | None = None
    end: End | None = None
    private: str = ""  # the token of the private link


def show(*, person: Participation, now: datetime) -> Screen:
    """Return the screen of the participation's state; nothing is changed."""
    protocol = shown_protocol(person.campaign)
    name = NAMES[person.state]
    seat = _seat(person)
    character = seat.persona_id if seat else person.persona_id
    return Screen(
        name=name,
        private=privacy.withdraw_token(person),
        study=study_info.of(person.campaign, payment.promised(person)),
        step=step_of(name, protocol) - _is_screening(person),
        notice=_notice(person),
        round=_round(person),
        stop=_stop(person, protocol, now),
        persona=seat.sentences if seat else _held(person, protocol),
        character=character or 0,
        sheet=_sheet(person, seat, protocol),
        listed=notices.text("crowded_wait") if waiting_list.is_on(person) else "",
        kept=_kept(person, protocol),
        unkept=_unkept(person, seat),
        matched=person.state == State.MATCHED,
        answered=bool(seat and seat.ready_at),
        chat=chat_page(access.conversation_key(seat), protocol)
        if seat and name == "chat"
        else None,
        form=form.of(person) if name == "rate" else None,
        writing=writing_form.of(person) if name == "write" else None,
        admission=admission_page(person) if name == "admission" else None,
        end=_end(person, protocol, has_chatted=seat is not None) if name == "ended" else None,
    )


def _seat(person: Participation) -> Seat | None:
    if person.state in (State.ADMISSION, State.READY, State.WAITING):
        return None  # the seat of an earlier conversation
    try:
        return access.seat(person)
    except access.NotFound:
        return None


def _kept(person: Participation, protocol: Protocol) -> str:
    """Return how a place becomes one's own: said before it is given, to who is not proven."""
    if person.state != State.READY or person.is_proven or rounds.done(person):
        return ""
    first = State.CHATTING if protocol.chat else State.RATING
    minutes = int(waiting_list.FIRST_WORK[first].total_seconds() // 60)
    sooner = minutes // waiting_list.SOONER
    name = "kept_chat" if protocol.chat else "kept_form"
    return notices.text(name, minutes=minutes, sooner=sooner)


def _unkept(person: Participation, seat: Seat | None) -> str:
    """Return what keeps a place that somebody else may wait for, "" where it is surely theirs."""
    if person.state not in waiting_list.FIRST_WORK or person.is_proven or person.drafted_at:
        return ""
    if person.state == State.CHATTING:
        return notices.text("unkept_chat")
    return "" if seat else notices.text("unkept_form")  # who has chatted has begun


def _held(person: Participation, protocol: Protocol) -> tuple[str, ...]:
    """Return the character that a person has until the next conversation begins."""
    if person.persona is None or protocol.chat is None:
        return ()
    return person.persona.sentences_in(protocol.chat.form)


def admission_page(person: Participation) -> AdmissionPage | None:
    """Return what is to be answered now; None where it was answered a moment ago."""
    step = admission.pending(person)
    if step is None:
        return None
    return replace(
        first_admission_page(step),
        form=admission.form_after(person, step),
        try_name=admission.try_name(person, step),
        note=_tries(admission.tries_left(person, step)),
        complaints=admission.complaints(person, step),
    )


def _sheet(person: Participation, seat: Seat | None, protocol: Protocol) -> briefs.Sheet | None:
    brief = protocol.chat.brief if protocol.chat else None
    if brief is None or person.state == State.ENDED:
        return None
    return briefs.sheet_of(brief, seat) if seat else briefs.held_sheet(brief, person.persona)


def first_admission_page(step: Admission) -> AdmissionPage:
    """Return the page of a step that nobody has answered yet."""
    return AdmissionPage(
        form=admission.form_with(step, {}),
        is_quiz=isinstance(step, Quiz),
        try_name="",
        note="",
        complaints={},
    )


def _tries(left: int | None) -> str:
    if left is None:
        return ""
    return notices.text("last_try" if left == 1 else "tries_left")


def _is_screening(person: Participation) -> bool:
    """Tell whether the page is that of the screening, a step before the instructions."""
    return person.state == State.ADMISSION and isinstance(admission.pending(person), Screening)


def step_of(name: str, protocol: Protocol) -> int:
    """Return the number of the step: the same for every system, or the steps would tell which."""
    last, first = len(study_info.steps_of(protocol)), 3 if protocol.screening else 2
    return {
        "screening": 2,
        "admission": first,
        "ready": first,
        "rate": last - 1,
        "write": last - 1,
        "ended": last,
    }.get(name, first + 1)


def _notice(person: Participation) -> str:
    if person.state == State.ENDED:
        return ""
    own = person.notice
    texts = [notices.text(own, pay=pay_words(person.pay, person))] if own else []
    if person.state != State.CHATTING and uptime.was_away(person):  # a chat's log says so itself
        texts.append(notices.text("we_were_away"))
    return " ".join(texts)


def _round(person: Participation) -> str:
    over = rounds.done(person) if person.state == State.READY else 0
    if not over:
        return ""
    return notices.text(
        "next_conversation",
        number=over + 1,
        most=rounds.most(person.campaign),
        pay=pay_words(over * person.pay, person),
    )


def stop_means(*, person: Participation, now: datetime) -> str:
    """Return what stopping now means for the pay; a chat's page asks while it stays (S13)."""
    return _stop(person, protocol_of(person.campaign), now)


def _stop(person: Participation, protocol: Protocol, now: datetime) -> str:
    if person.state == State.ENDED:
        return ""
    outcome, owed = stopping.if_stopped(person, now)
    pay = pay_words(owed.amount if owed else Decimal(), person)
    meaning = notices.text(STOPS[outcome] if owed else UNPAID[outcome], pay=pay)
    if person.state not in (State.CHATTING, State.RATING, State.WRITING):
        return meaning
    return f"{meaning} {study_info.stopping_words(payment.promised(person), protocol)}".rstrip()


def chat_page(key: str, protocol: Protocol) -> ChatPageData:
    """Return what the page of a chat is drawn from."""
    checks = protocol.chat.checks if protocol.chat else ()
    limits = [check.limit for check in checks if isinstance(check, MaxWords)]
    return ChatPageData(
        key=key,
        word_limit=min(limits, default=None),
        questions=protocol.live.each if protocol.live else (),
        are_optional=bool(protocol.live and protocol.live.optional),
        is_endless=bool(protocol.chat and protocol.chat.endless),
    )


def _end(person: Participation, protocol: Protocol, *, has_chatted: bool) -> End:
    rule = payment.RULES[person.outcome]
    code = payment.code_of(person)
    amount = pay_words(code.amount if code else Decimal(), person)
    due = return_pay.owed(person)
    owed = money(due.amount, person.currency) if due else ""
    text = notices.text(rule.notice if code else rule.unpaid or rule.notice, pay=amount)
    return End(
        heading=str(HEADINGS[person.outcome]),
        text=notices.text("left_owed", pay=owed) if owed else text,
        code=code.code if code else "",
        amount=amount if code else "",
        debrief=protocol.chat.debrief if protocol.chat and has_chatted else "",
        return_url=_return_url(person, code.code if code else ""),
        withdraw=privacy.withdraw_token(person),
        receipt=issuing.latest(person),
        may_return=payment.may_return_with(person, code) and not owed,
        owed=owed,
        held=_hold_words(code, person.campaign.contact) if code else "",
    )


def _hold_words(code: CompletionCode, contact: str) -> str:
    """Return what is to be said of a payment that waits, or was refused; "" for most."""
    hold = PayHold.objects.filter(code=code).first()
    if hold is None or (hold.decided_at is not None and not hold.refused):
        return ""
    if hold.refused:
        return notices.text("pay_refused", reason=hold.reason, contact=contact)
    return notices.text("pay_held", until=date_format(hold.until, "DATE_FORMAT"))


def _return_url(person: Participation, code: str) -> str:
    """Return where the last page leads: who failed a check has an address of their own, or none."""
    fixed = codes.link_of(person)
    if fixed:
        return fixed
    screened = person.campaign.screened_url
    if person.outcome in payment.NOT_ADMITTED and screened:
        return screened.replace("{code}", quote(code))
    return return_address(person.campaign.return_url, code) if code else ""


def return_address(url: str, code: str) -> str:
    """Return the panel's address with the code in place of "{code}", else as its parameter cc."""
    if not url or "{code}" in url:
        return url.replace("{code}", quote(code))
    return f"{url}{'&' if '?' in url else '?'}cc={quote(code)}"


def returning(*, person: Participation, claim: invitations.Claim, who: Claim) -> Claim | None:
    """Return the newcomer where a browser knows somebody; None: the same person, who continues.

    Another id in the link is another person at the same browser. A person who may begin anew
    is asked for consent again, under the id they had; their cookie proves it.
    """
    is_volunteer = claim.platform == identity.VOLUNTEER
    names = identity.pseudonyms(person.campaign, claim.platform, claim.external_id)
    if not is_volunteer and person.pseudonym not in names:
        return who
    if person.state != State.ENDED or not payment.may_return(person) or return_pay.owed(person):
        return None  # their page has the code, or the way to it
    known = ExternalId.objects.filter(participation=person).first()
    if not is_volunteer or known is None:
        return who
    return {"platform": known.platform, "external_id": known.value}


def offered(
    *, campaign: Campaign, person: Participation | None, claim: invitations.Claim, now: datetime
) -> StudyInfo:
    """Return the study as an entry page shows it; a person who comes back keeps the former promise.

    `person` is whom the browser's cookie knows, `claim` whom the link names.
    """
    names = identity.pseudonyms(campaign, claim.platform, claim.external_id)
    if person is None or person.pseudonym not in names:
        return study_info.offered(campaign, now)
    return study_info.offered(campaign, now, payment.renewed(person))


def private(token: str, slug: str) -> Participation:
    """Return whose private link this is. Raises `privacy.BadToken` and `access.NotFound`."""
    person = privacy.holder(token)
    if person.campaign.slug != slug:
        raise access.NotFound(f"private link in {slug}")
    return person


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """The pages of a private link."""

    is_done: bool
    code: str
    amount: str
    contact: str
    held: str


def receipts(*, person: Participation, now: datetime) -> list[str]:
    """Return a person's receipts, that of the end first, and a line that signs the others.

    Raises `access.NotFound` without any.
    """
    found = files.lines(person)
    if not found:
        raise access.NotFound(f"receipts of participation {person.pk}")
    return signed_file.sign(found, now)


def leaving(*, token: str, slug: str) -> Leaving:
    """Return what the holder of a private link is shown: the code for ever (R38)."""
    person = private(token, slug)
    code = payment.code_of(person)
    return Leaving(
        is_done=person.withdrawn_at is not None,
        code=code.code if code else "",
        amount=pay_words(code.amount, person) if code else "",
        contact=person.campaign.contact,
        held=_hold_words(code, person.campaign.contact) if code else "",
    )
