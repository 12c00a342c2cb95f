"""The page a participation is on, as blinded values, never rows (S11).

Nothing here carries the name of a campaign, a protocol or a system, or tells a program from a
person: a page can only show what these values hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import MaxWords, Protocol, Question
from webapp import notices
from webapp.models import ExternalId, Participation, Seat
from webapp.services import access, identity, judging, payment, privacy, stopping, study
from webapp.services.judging import Judging
from webapp.services.plans import protocol_of
from webapp.services.study import Study, money

Outcome, State = Participation.Outcome, Participation.State
Claim = dict[str, str]  # a platform and an id there
NAMES: dict[str, str] = {
    State.READY: "ready",
    State.WAITING: "waiting",
    State.MATCHED: "waiting",
    State.CHATTING: "chat",
    State.RATING: "rate",
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
    Outcome.LEFT: gettext_lazy("You were away for long"),
}


@dataclass(frozen=True, kw_only=True)
class Talk:
    """What the chat page needs before its first frame."""

    key: str  # names this conversation in the browser's storage
    word_limit: int | None
    questions: tuple[Question, ...]


@dataclass(frozen=True, kw_only=True)
class End:
    """What a participation came to; `code` is empty where nothing is paid."""

    heading: str
    text: str
    code: str
    amount: str
    debrief: str
    return_url: str
    withdraw: str  # the token of the private link
    may_return: bool


@dataclass(frozen=True, kw_only=True)
class Screen:
    """One page. `stop` says what stopping now means, "" where there is nothing to stop."""

    name: str  # ready, waiting, chat, rate, ended
    study: Study
    step: int
    notice: str
    stop: str
    persona: tuple[str, ...] = ()
    matched: bool = False
    answered: bool = False  # the ready check
    talk: Talk | None = None
    judging: Judging | None = None
    end: End | None = None


def show(*, person: Participation, now: datetime) -> Screen:
    """Return the screen of the participation's state; nothing is changed."""
    protocol = protocol_of(person.campaign)
    name = NAMES[person.state]
    seat = _seat(person)
    return Screen(
        name=name,
        study=study.of(person.campaign),
        step=_step(name, protocol),
        notice=_notice(person),
        stop=_stop(person, now),
        persona=tuple(seat.persona.sentences) if seat and seat.persona else (),
        matched=person.state == State.MATCHED,
        answered=bool(seat and seat.ready_at),
        talk=_talk(seat, protocol) if seat and name == "chat" else None,
        judging=judging.of(person) if name == "rate" else None,
        end=_end(person, protocol, talked=seat is not None) if name == "ended" else None,
    )


def _seat(person: Participation) -> Seat | None:
    if person.state in (State.READY, State.WAITING):
        return None  # the seat of an earlier conversation
    try:
        return access.seat(person)
    except access.NotFound:
        return None


def _step(name: str, protocol: Protocol) -> int:
    """Return the number of the step: the same for every system, or the steps would tell which."""
    last = len(study.steps_of(protocol))
    return {"ready": 2, "rate": last - 1, "ended": last}.get(name, 3)


def _notice(person: Participation) -> str:
    if not person.notice or person.state == State.ENDED:
        return ""
    return notices.text(person.notice, pay=money(person.campaign, person.campaign.pay))


def _stop(person: Participation, now: datetime) -> str:
    """Say what stopping now means for the pay (S13)."""
    pay = money(person.campaign, person.campaign.pay)
    if person.state == State.ENDED:
        return ""
    if person.state == State.CHATTING:  # the page stays while they begin to write
        return _(
            "You end the study here. Once you have written a message you are paid in full, "
            "%(pay)s; before that no pay is due."
        ) % {"pay": pay}
    outcome = stopping.outcome_of_stopping(person, now)
    if outcome == Outcome.QUIT:
        return _("You end the study here and are paid in full, %(pay)s.") % {"pay": pay}
    if outcome == Outcome.NOBODY:
        pay = money(person.campaign, person.campaign.waiting_pay)
        return _("You leave the study and are paid %(pay)s for waiting.") % {"pay": pay}
    return _("You leave the study. You have not begun, so no pay is due; please return the task.")


def _talk(seat: Seat, protocol: Protocol) -> Talk:
    checks = protocol.chat.checks if protocol.chat else ()
    limits = [check.limit for check in checks if isinstance(check, MaxWords)]
    return Talk(
        key=access.talk_of(seat),
        word_limit=min(limits, default=None),
        questions=protocol.live.each if protocol.live else (),
    )


def _end(person: Participation, protocol: Protocol, *, talked: bool) -> End:
    rule = payment.RULES[person.outcome]
    code = payment.code_of(person)
    amount = money(person.campaign, code.amount) if code else ""
    return End(
        heading=str(HEADINGS[person.outcome]),
        text=notices.text(rule.notice, pay=amount),
        code=code.code if code else "",
        amount=amount,
        debrief=protocol.chat.debrief if protocol.chat and talked else "",
        return_url=return_address(person.campaign.return_url, code.code) if code else "",
        withdraw=privacy.withdraw_token(person),
        may_return=rule.resumes,
    )


def return_address(url: str, code: str) -> str:
    """Return the panel's address with the code in place of "{code}", else as its parameter cc."""
    if not url or "{code}" in url:
        return url.replace("{code}", quote(code))
    return f"{url}{'&' if '?' in url else '?'}cc={quote(code)}"


def returning(*, person: Participation, platform: str, external_id: str) -> Claim | None:
    """Return who comes in where a browser knows somebody; None: the same person, who goes on.

    Another id in the link is another person at the same browser. Who may begin anew is asked for
    consent again, under the id they had.
    """
    is_volunteer = platform == identity.VOLUNTEER
    names = identity.pseudonyms(person.campaign, platform, external_id)
    if not is_volunteer and person.pseudonym not in names:
        return {"platform": platform, "external_id": external_id}
    if person.state != State.ENDED or not payment.RULES[person.outcome].resumes:
        return None
    known = ExternalId.objects.filter(participation=person).first()
    if known is None:
        return {"platform": platform, "external_id": external_id}
    return {"platform": known.platform, "external_id": known.value}


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """The page of a withdrawal link."""

    is_done: bool
    code: str
    amount: str
    contact: str


def leaving(*, token: str, slug: str) -> Leaving:
    """Return what the holder of a withdrawal link is shown."""
    person = privacy.holder(token)
    if person.campaign.slug != slug:
        raise access.NotFound(f"withdrawal in {slug}")
    code = payment.code_of(person)
    return Leaving(
        is_done=person.withdrawn_at is not None,
        code=code.code if code else "",
        amount=money(person.campaign, code.amount) if code else "",
        contact=person.campaign.contact,
    )
