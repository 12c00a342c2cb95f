"""Studies as they are offered in the chat service, and which of them can be done there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from evaluation import Protocol, Question
from webapp import notices
from webapp.models import Campaign
from webapp.services.chat_service.outgoing import LONGEST_DATA, Button
from webapp.services.chat_service.telling import AGREE, SEPARATOR, label_data
from webapp.services.participation import study_info
from webapp.services.participation.study_info import StudyInfo
from webapp.services.rules.protocols import consent_of, protocol_of

LAST_SEQ = 10**6  # of a message: more than a conversation can have


@dataclass(frozen=True)
class Entrance:
    """The way into a campaign here: what follows /start, or why there is none."""

    slug: str
    unfit: str


def offer(campaign: Campaign) -> tuple[str, list[Button]]:
    """Return all that is told before consent, as on a page, and the button that gives it."""
    study = study_info.of(campaign)
    consent = study_info.plain(consent_of(campaign))
    rest = (
        "" if study.partner_notice in consent else study.partner_notice,
        " ".join(_terms(study)),
        study.stopping,
        study.keeping,
        notices.text("service_upset"),
        notices.text("service_delete", contact=study.contact),
    )
    data = SEPARATOR.join((AGREE, campaign.slug, study.offer))
    text = "\n\n".join(filter(None, (consent, *rest)))
    return text, [(notices.text("service_agree"), data)]


def _terms(study: StudyInfo) -> Iterator[str]:
    """Yield the time and the pay, of each conversation where there are several."""
    each = "_each" if study.most > 1 else ""
    yield f"{notices.text(f'service_minutes{each}', minutes=study.minutes)}."
    if each:
        yield notices.text("service_most", most=study.most)
    if study.is_paid:
        yield f"{notices.text(f'service_pay{each}', pay=study.pay)}."
        yield notices.text("service_hourly", hourly=study.hourly)
    else:
        yield notices.text("service_volunteer")


def entrance(campaign: Campaign) -> Entrance | None:
    """Return the way into a campaign; None where no service is set up."""
    return Entrance(campaign.slug, unfit(campaign)) if settings.CHAT_SERVICE_TOKEN else None


def unfit(campaign: Campaign) -> str:
    """Return why a campaign cannot be taken part in here, for its requester; "" where it can."""
    if not all(system.is_bot for system in campaign.systems.all()):
        return _("in it people chat with people")
    return next(_reasons(protocol_of(campaign)), "")


def _reasons(protocol: Protocol) -> Iterator[str]:
    live, after, chat = protocol.live, protocol.after, protocol.chat
    if chat is None:
        yield _("it has no chat")
    if live is not None and not live.optional:
        yield _("every message has to be labeled")
    if live is not None and not all(one.meanings() and not one.only_if for one in live.each):
        yield _("its labels are more than buttons")
    if live is not None and any(map(_is_long, live.each)):
        yield _("a label's name or value is too long for a button")
    if after is not None and (after.show != "one" or after.over != "partner"):
        yield _("its questions are about more than the partner")
    if after is not None and not all(map(_has_buttons, after.each)):
        yield _("a question has neither buttons nor a text")
    if protocol.admissions or protocol.attention:
        yield _("it has questions or checks before the work")
    if chat is not None and chat.brief:
        yield _("it gives its participants a sheet")


def _is_long(one: Question) -> bool:
    return any(len(label_data(LAST_SEQ, one, v).encode()) > LONGEST_DATA for v in one.meanings())


def _has_buttons(one: Question) -> bool:
    return bool(one.meanings()) or one.level == "text" or one.personas_beside() is not None
