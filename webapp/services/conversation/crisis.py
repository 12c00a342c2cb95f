"""Words that suggest a crisis: what their writer is shown, and what staff are told (S13).

It is a list of phrases in every language of the pages. It understands nothing, errs towards
showing the text, and is no help of its own: it stops, marks and excludes nothing. Apart because
chats, forms and reports ask it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from django.conf import settings
from django.utils.translation import get_language

from webapp import notices
from webapp.models import Campaign, Conversation, Event, Participation, ProblemReport
from webapp.services.rules import events

NOTICE = "crisis"
MOST = 10  # kept for staff, of one participation
# Whole words; a star stands for any ending.
PHRASES: tuple[str, ...] = (
    *("kill myself", "killing myself", "end my life", "take my own life", "taking my own life"),
    *("want to die", "wanna die", "wish i was dead", "wish i were dead", "better off dead"),
    *("suicid*", "hurt myself", "hurting myself", "harm myself", "harming myself"),
    *("self harm*", "cut myself", "cutting myself", "no reason to live"),
    *("don't want to live", "do not want to live", "don't want to be alive"),
    *("mich umbringen", "bringe mich um", "bring mich um", "mir das leben nehmen"),
    *("nehme mir das leben", "nicht mehr leben", "will sterben", "möchte sterben", "suizid*"),
    *("selbstmord*", "mich selbst verletzen", "verletze mich selbst", "mich ritzen", "ritze mich"),
    *("me suicider", "me tuer", "mettre fin à mes jours", "envie de mourir", "veux mourir"),
    *("plus envie de vivre", "me faire du mal", "me mutiler", "m'automutiler"),
    *("suicidarme", "matarme", "quitarme la vida", "acabar con mi vida", "quiero morir*"),
    *("no quiero vivir", "hacerme daño", "autolesi*"),
    *("اقتل نفسي", "انهي حياتي", "اريد ان اموت", "الانتحار", "انتحر", "اوذي نفسي"),
    "لا اريد ان اعيش",
)
_FORMS = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "-": " ", "‐": " ", "_": " "}  # one of what is written in many
    | dict.fromkeys("أإآ", "ا")
    | {"ؤ": "و", "ـ": None}
)
_MARKS = re.compile("[\u064b-\u0652]")  # vowels of Arabic, which few write


def suggests(text: str, campaign: Campaign) -> bool:
    """Tell whether a text has one of the phrases: the usual, the server's, or the campaign's."""
    own = (each for each in campaign.crisis_phrases.splitlines() if each.strip())
    return _pattern((*settings.CRISIS_PHRASES, *own)).search(_plain(text)) is not None


def text(campaign: Campaign) -> str:
    """Return what is shown: the campaign's text, the server's in this language, or the usual."""
    language = (get_language() or settings.LANGUAGE_CODE).split("-")[0]
    own = campaign.crisis_text or settings.CRISIS_TEXTS.get(language)
    return own or notices.text(NOTICE)


def shown_in_log(conversation: Conversation, side: int) -> events.New | None:
    """Return the entry that shows the text to one side, once; the partner is shown nothing.

    The words of the campaign or the server are kept in it, each language's; else it is the usual
    notice, in the language in which the log is read.
    """
    theirs = Event.objects.filter(conversation=conversation, side=side, kind=Event.Kind.NOTICE)
    if theirs.filter(content__notice=NOTICE).exists():
        return None
    campaign = conversation.campaign
    words = {"": campaign.crisis_text} if campaign.crisis_text else dict(settings.CRISIS_TEXTS)
    return events.New(conversation, Event.Kind.NOTICE, {"notice": NOTICE, "words": words}, side)


def tell_staff(
    *, person: Participation, text: str, now: datetime, conversation: Conversation | None = None
) -> None:
    """Keep a participant's words for staff to read at once; the same words again are the same."""
    rows = ProblemReport.objects.filter(participation=person, kind=ProblemReport.Kind.CRISIS)
    if rows.filter(text=text).exists() or rows.count() >= MOST:
        return
    ProblemReport.objects.create(
        participation=person,
        conversation=conversation,
        kind=ProblemReport.Kind.CRISIS,
        step=person.state,
        text=text,
        made_at=now,
    )


def note(*, person: Participation, texts: Iterable[str], now: datetime) -> str:
    """Look through what a person wrote into a form; return what they are shown, "" for nothing."""
    found = [each for each in texts if suggests(each, person.campaign)]
    for each in found:
        tell_staff(person=person, text=each, now=now)
    return text(person.campaign) if found else ""


@lru_cache(maxsize=64)
def _pattern(more: Sequence[str]) -> re.Pattern[str]:
    plain = (_plain(each).strip() for each in (*PHRASES, *more))
    any_of = "|".join(re.escape(each).replace(r"\*", r"\w*") for each in plain if each)
    return re.compile(rf"(?<!\w)(?:{any_of})(?!\w)")


def _plain(text: str) -> str:
    """Return a text without what people write in different ways: case, marks, quotes, blanks."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_FORMS)
    return " ".join(_MARKS.sub("", folded).split())
