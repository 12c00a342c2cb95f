"""Pages of an instrument's words in another language: of a campaign, and of an own protocol."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _

from webapp import clock, languages
from webapp.forms.words_form import WordsForm
from webapp.services.campaign import own_protocols, translations
from webapp.services.campaign.translations import SourceText
from webapp.services.rules import access, protocols
from webapp.services.rules.access import Role, StaffCampaign
from webapp.views.staff.access import FORM, bad_form, campaign_page, conflict, staff_page

PAGE = "staff/words.html"


@dataclass(frozen=True)
class _Words:
    """What is translated, into which languages, and where the page leads back to."""

    title: str
    back: str
    codes: Sequence[str]
    texts: Sequence[SourceText]
    stored: Mapping[str, Mapping[str, str]]


@campaign_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def campaign_words(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Translate the words of a campaign's instrument, which is a departure from the source."""
    protocol = protocols.original_of(campaign)
    words = _Words(
        title=campaign.name,
        back=reverse("campaign", args=[campaign.pk]),
        codes=[code for code in campaign.languages if code != protocol.language],
        texts=translations.texts_of_campaign(campaign),
        stored=campaign.translations,
    )
    if request.method == "POST" and campaign.state != "DRAFT":
        return conflict(request, campaign.state)

    def store(code: str, texts: Mapping[str, str]) -> str:
        now = clock.now()
        translations.store(campaign=campaign, language=code, texts=texts, by=request.user, now=now)
        return f"{reverse('campaign-words', args=[campaign.pk])}?language={code}"

    about = {"of_campaign": True, "is_draft": campaign.state == "DRAFT"}
    return _page(request, words, store, about)


@staff_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def protocol_words(request: HttpRequest, own: uuid.UUID) -> HttpResponse:
    """Give an own protocol labels in another language, as its next version."""
    row = access.own_protocol(request.user, own)
    protocol = own_protocols.protocol_of(row)
    words = _Words(
        title=row.title,
        back=reverse("own-protocol", args=[row.pk]),
        codes=[code for code in languages.NAMES if code != protocol.language],
        texts=translations.texts_of_protocol(row),
        stored=protocol.translations,
    )

    def store(code: str, texts: Mapping[str, str]) -> str:
        now = clock.now()
        made = translations.store_labels(
            own=row, language=code, texts=texts, by=request.user, now=now
        )
        return f"{reverse('own-protocol-words', args=[made.pk])}?language={code}"

    return _page(request, words, store, {"is_draft": True})


def _page(
    request: HttpRequest,
    words: _Words,
    store: Callable[[str, Mapping[str, str]], str],
    about: Mapping[str, Any],
) -> HttpResponse:
    wanted = request.GET.get("language", "")
    code = wanted if wanted in words.codes else next(iter(words.codes), "")
    typed = request.POST if request.method == "POST" and code else None
    form = WordsForm(words.texts, words.stored.get(code, {}), typed)
    passed_over = 0
    if typed is not None and form.is_valid():
        try:
            address = store(code, form.values())
        except own_protocols.Newer as newer:
            passed_over = newer.version
        else:
            messages.success(request, _("The words are saved."))
            return redirect(address)
    context = {
        "words": words,
        "passed_over": passed_over,
        "code": code,
        "name": languages.ENGLISH_NAMES.get(code, ""),
        "choices": [
            (each, languages.ENGLISH_NAMES[each], len(words.stored.get(each, ())))
            for each in words.codes
        ],
        "form": form,
        **about,
    }
    if form.errors:
        return bad_form(request, PAGE, context)
    return render(request, PAGE, context, status=409 if passed_over else 200)


urlpatterns = [
    path("campaigns/<int:pk>/words/", campaign_words, name="campaign-words"),
    path("protocols/<uuid:own>/words/", protocol_words, name="own-protocol-words"),
]
