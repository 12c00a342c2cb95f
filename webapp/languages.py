"""Languages of participants' pages: which one a browser is shown, and sentences in it.

Staff's pages are English. The words of an instrument are no text of ours: they stay as the source
has them, in `SOURCE`, unless a translation is entered for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest
from django.utils.translation import get_language, get_language_info, gettext, ngettext
from django.utils.translation.trans_real import parse_accept_lang_header

from evaluation.sentences import Sentence
from evaluation.words import Translated

SOURCE = "en"
NAMES: Mapping[str, str] = dict(settings.LANGUAGES)  # each language's own name, by its code
ENGLISH_NAMES: Mapping[str, str] = {code: str(get_language_info(code)["name"]) for code in NAMES}


@dataclass(frozen=True)
class Language:
    """A language to choose: its code and its own name."""

    code: str
    name: str


def listed(codes: Sequence[str]) -> tuple[Language, ...]:
    """Return languages as a page offers them."""
    return tuple(Language(code, NAMES[code]) for code in codes)


def pick(allowed: Sequence[str], *, chosen: str, accepted: str) -> str:
    """Return the language to show: chosen before, else wanted by the browser, else the first.

    `accepted` is the browser's Accept-Language; a variant such as de-AT asks for its language.
    """
    if chosen in allowed:
        return chosen
    wanted = (code.partition("-")[0] for code, _ in parse_accept_lang_header(accepted.lower()))
    return next((code for code in wanted if code in allowed), allowed[0] if allowed else SOURCE)


def of_request(request: HttpRequest, allowed: Sequence[str]) -> str:
    """Return which of these languages a request is answered in."""
    return pick(
        allowed,
        chosen=request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, ""),
        accepted=request.headers.get("Accept-Language", ""),
    )


def direction(code: str) -> str:
    """Return "rtl" or "ltr"."""
    return "rtl" if LANG_INFO.get(code, {}).get("bidi") else "ltr"


def marks_of(text: str) -> dict[str, str]:
    """Return the attributes of an element that holds a text of a protocol.

    None where the page is in the text's language: the source's, or that of a translation.
    """
    code = text.language if isinstance(text, Translated) else SOURCE
    if not text or isinstance(text, Sentence) or get_language() == code:
        return {}
    return {"lang": code, "dir": direction(code)}


def localized(text: str) -> str:
    """Return a sentence in the active language; other texts as they are."""
    if not isinstance(text, Sentence):
        return text
    values = {
        name: localized(value) if isinstance(value, str) else value
        for name, value in text.values.items()
    }
    template = (
        ngettext(text.template, text.plural, text.number) if text.plural else gettext(text.template)
    )
    return template % values if values else template
