"""Visits of participants: what a browser can do with the cookie that it holds for a campaign.

Each call looks the participation up by the cookie (S1), so a view holds no row; those who have
none, or a foreign one, are `access.NotFound`. Apart because the rules of each step stand in the
modules that it brings together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from webapp.models import Participation
from webapp.services.conversation import crisis, matching, opening
from webapp.services.participation import (
    admission,
    browsers,
    enrolment,
    invitations,
    reporting,
    return_pay,
    screens,
    stopping,
    study_info,
)
from webapp.services.participation.screens import Claim
from webapp.services.participation.study_info import StudyInfo
from webapp.services.rating import submission
from webapp.services.rules import access, payment
from webapp.services.writing import offering

STEPS: Mapping[str, Callable[..., object]] = {
    "start": enrolment.start,
    "meet": opening.meet,
    "bot": matching.take_bot,
    "give-up": matching.give_up,
    "stop": stopping.stop,
    "code": return_pay.come_back,
}


@dataclass(frozen=True)
class BrowserVisit:
    """A browser in a campaign; `secret` is the cookie's, "" where there is none."""

    slug: str
    secret: str

    def check_cookie(self) -> None:
        """Raise `access.NotFound` where the cookie is of no participation of this campaign."""
        self._person()

    def screen(self, now: datetime) -> screens.Screen:
        """Return what the page of the present step shows."""
        return screens.show(person=self._person(), now=now)

    def take(self, step: str, now: datetime) -> None:
        """Take one of STEPS; raises what the step raises."""
        STEPS[step](person=self._acting(now), now=now)

    def submit(self, answers: Mapping[str, str], now: datetime) -> str:
        """Store the answers of the form; raises what `submission.submit` raises.

        Returns what their writer is to be shown, where their words suggest a crisis.
        """
        person = self._acting(now)
        submission.submit(person=person, answers=answers, now=now)
        return crisis.note(person=person, texts=answers.values(), now=now)

    def write(self, answers: Mapping[str, str], now: datetime) -> str:
        """Store what was written, as `submit` does; raises what `offering.submit` raises."""
        person = self._acting(now)
        offering.submit(person=person, answers=answers, now=now)
        return crisis.note(person=person, texts=answers.values(), now=now)

    def answer(self, answers: Mapping[str, str], now: datetime) -> None:
        """Store answers before the work, which begins at once where they were the last.

        Raises what `admission.answer` and `enrolment.start` raise.
        """
        person = self._acting(now)
        if admission.answer(person=person, answers=answers, now=now):
            enrolment.start(person=person, now=now)

    def save_draft(self, answers: Mapping[str, str], now: datetime) -> bool:
        """Keep unfinished answers or texts; False where it is too late for them."""
        person = self._acting(now)
        is_writing = person.state == Participation.State.WRITING
        save = offering.save_draft if is_writing else submission.save_draft
        return save(person=person, answers=answers, now=now)

    def status(self, now: datetime) -> dict[str, Any]:
        """Return the status of a waiting page, whose request is a sign of life."""
        return enrolment.status(person=self._person(), now=now)

    def stop_means(self, now: datetime) -> str:
        """Return what stopping at this moment means for the pay."""
        return screens.stop_means(person=self._person(), now=now)

    def receipts(self, now: datetime) -> list[str]:
        """Return the receipts of this browser's person, signed. Raises `access.NotFound`."""
        return screens.receipts(person=self._person(), now=now)

    def own_study(self) -> StudyInfo:
        """Return the campaign as this browser's person agreed to it. Raises `access.NotFound`."""
        person = self._person()
        return study_info.of(person.campaign, payment.promised(person))

    def report(self, text: str, now: datetime) -> str:
        """Keep a report of a problem, at any step; raises what `reporting.report` raises.

        Returns what `submit` does.
        """
        person = self._person()
        reporting.report(person=person, text=text, now=now)
        return crisis.note(person=person, texts=[text], now=now)

    def check_link(self) -> None:
        """Raise `access.NotFound` where the address leads to no campaign that was launched."""
        access.open_link(self.slug)

    def study(self, now: datetime) -> StudyInfo:
        """Return the campaign as newcomers are shown it."""
        return study_info.offered(access.open_link(self.slug), now)

    def join(
        self,
        who: Claim,
        *,
        shown_pay: Decimal | None,
        language: str,
        now: datetime,
        browser: Sequence[str],
    ) -> str:
        """Create or resume a participation after consent; return a secret for its cookie.

        `browser` holds the secrets of all cookies of ours; the visit's own is the one that the
        entry page chose. Raises `consents.Closed`, `consents.PayChanged` and
        `invitations.NoProof`.
        """
        campaign = access.open_link(self.slug)
        claim = invitations.claim(campaign, who, now)
        _, secret = enrolment.join(
            campaign=campaign,
            **vars(claim),
            shown_pay=shown_pay,
            language=language,
            now=now,
            browser=browser,
            secret=self.secret,
        )
        return secret

    def is_known(self) -> bool:
        """Tell whether the cookie is of a participation of this campaign."""
        return self._known() is not None

    def returning(self, who: Claim, now: datetime) -> Claim | None:
        """Return whom a link asks to consent; None where this browser takes part already.

        Raises `invitations.NoProof`.
        """
        campaign, person = access.open_link(self.slug), self._known()
        claim = invitations.claim(campaign, who, now)
        return who if person is None else screens.returning(person=person, claim=claim, who=who)

    def offered(self, who: Claim, now: datetime) -> StudyInfo:
        """Return the campaign as it is offered to somebody who has not agreed yet."""
        campaign = access.open_link(self.slug)
        try:
            claim = invitations.claim(campaign, who, now)
        except invitations.NoProof:
            return study_info.offered(campaign, now)
        known = self._known()
        return screens.offered(campaign=campaign, person=known, claim=claim, now=now)

    def open_private(self, token: str, now: datetime) -> str:
        """Return a secret for this browser, whose person holds the private link (R38).

        Raises `privacy.BadToken` and `access.NotFound`.
        """
        person = screens.private(token, self.slug)
        return_pay.come_back(person=person, now=now)
        return browsers.open_by(person, self.secret, now)

    def _person(self) -> Participation:
        return access.participation(self.slug, self.secret)

    def _acting(self, now: datetime) -> Participation:
        """Return who does something, whose sign of life is noted first.

        So nobody ends as gone between their work and its note, and who fills in a form for long,
        whose page asks for nothing meanwhile, is there.
        """
        person = self._person()
        enrolment.note_sign_of_life(person=person, now=now)
        return person

    def _known(self) -> Participation | None:
        return access.known(self.slug, self.secret)
