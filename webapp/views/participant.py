"""A participant's pages: entry, consent, and the one page of the step they are on.

Every POST redirects to that page, and so does every other address. A GET changes nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone, translation
from django.views.decorators.http import require_GET, require_POST, require_safe

from evaluation import InvalidAnswers
from webapp import forms, notices
from webapp.services import (
    access,
    enrolment,
    opening,
    pairing,
    privacy,
    rating,
    screens,
    states,
    stopping,
    study,
)
from webapp.services.access import Participation
from webapp.views.drawing import draw

View = Callable[..., HttpResponse]
Action = Callable[[Participation, datetime], object]
COOKIE_AGE = 90 * 24 * 3600
NOT_NOW = (enrolment.Closed, opening.NotNow, pairing.NotNow, rating.Refused)


def _cookie(slug: str) -> str:
    return f"{settings.PARTICIPANT_COOKIE}-{slug}"


def _secrets(request: HttpRequest) -> list[str]:
    """Return the secrets of all campaigns that this browser takes part in."""
    return [text for name, text in request.COOKIES.items() if name.startswith(_cookie(""))]


def _person(request: HttpRequest, slug: str) -> Participation:
    return access.participation(slug, request.COOKIES.get(_cookie(slug), ""))


def friendly(view: View) -> View:
    """Answer what is not found, or somebody else's, with one plain page that says what to do."""

    @functools.wraps(view)
    def found(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, slug, *args, **kwargs)
        except (access.NotFound, privacy.BadToken):
            if "application/json" in request.headers.get("Accept", ""):
                return JsonResponse({"error": "not found"}, status=404)
            return render(request, "404.html", status=404)

    return found


# --- who comes in -----------------------------------------------------------------------------


@require_safe
@friendly
def entry(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what the study is and ask for consent; who is in it already goes on."""
    campaign = access.open_link(slug)
    claim = forms.claim(request.GET)
    if not claim.is_valid():
        return render(request, "404.html", status=404)
    try:
        who = screens.returning(person=_person(request, slug), **claim.cleaned_data)
    except access.NotFound:
        who = claim.cleaned_data
    if who is None:
        return redirect("now", slug)
    shown = {"study": study.of(campaign), "who": who, "preview": forms.is_preview(request.GET)}
    return render(request, "participant/entry.html", shown)


@require_POST
@friendly
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Create or resume the participation of who has agreed, and remember it by a cookie."""
    campaign = access.open_link(slug)
    who = forms.Entry(request.POST)
    if not who.is_valid():
        return render(request, "404.html", status=404)
    try:
        _joined, secret = enrolment.join(
            campaign=campaign,
            **who.cleaned_data,
            language=translation.get_language() or settings.LANGUAGE_CODE,
            now=timezone.now(),
            browser=_secrets(request),
        )
    except enrolment.Closed as refusal:
        shown = {"study": study.of(campaign), "closed": notices.text(refusal.notice)}
        return render(request, "participant/entry.html", shown, status=409)
    response = redirect("now", slug)
    response.set_cookie(
        _cookie(slug),
        secret,
        max_age=COOKIE_AGE,
        secure=settings.SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@require_safe
@friendly
def declined(request: HttpRequest, slug: str) -> HttpResponse:
    """Thank who does not take part. Nothing was stored, so nothing has to be undone."""
    shown = {"study": study.of(access.open_link(slug))}
    return render(request, "participant/declined.html", shown)


# --- the page of the present step -------------------------------------------------------------


@require_safe
@friendly
def now(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the screen of the participation's state."""
    if _cookie(slug) not in request.COOKIES:
        return redirect("entry", access.open_link(slug).slug)
    return draw(request, screens.show(person=_person(request, slug), now=timezone.now()))


@friendly
def elsewhere(request: HttpRequest, slug: str, rest: str = "") -> HttpResponse:
    """Lead any other address of a campaign to the present step."""
    return redirect("now", access.open_link(slug).slug)


def step(action: Action) -> View:
    """Return the view that takes a step and leads to wherever the participation is then."""

    @friendly
    def view(request: HttpRequest, slug: str) -> HttpResponse:
        if request.method == "POST":
            try:
                action(_person(request, slug), timezone.now())
            except NOT_NOW as refusal:
                messages.warning(request, notices.text(refusal.notice))
            except states.Illegal:
                pass  # the step was taken before: the page shows where that led
        return redirect("now", slug)

    return view


@friendly
def rate(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the answers of the form, or show it again with what is missing."""
    if request.method != "POST":
        return redirect("now", slug)
    person = _person(request, slug)
    answers = {name: str(text) for name, text in request.POST.items() if "." in name}
    try:
        rating.submit(person=person, answers=answers, now=timezone.now())
    except InvalidAnswers as problem:
        screen = screens.show(person=person, now=timezone.now())
        return draw(request, screen, answers, problem.problems)
    except (rating.Refused, states.Illegal):
        pass  # it was submitted before, or the study has gone on
    return redirect("now", slug)


# --- what the pages' scripts ask --------------------------------------------------------------


@require_GET
@friendly
def status(request: HttpRequest, slug: str) -> HttpResponse:
    """Tell a waiting page where it stands; that it asks is a sign of life."""
    return JsonResponse(enrolment.status(person=_person(request, slug), now=timezone.now()))


@require_POST
@friendly
def save_draft(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep unfinished answers."""
    person = _person(request, slug)
    try:
        answers = forms.draft(request.body)
    except forms.BadBody as problem:
        return JsonResponse({"error": str(problem)}, status=400)
    saved = rating.save_draft(person=person, answers=answers, now=timezone.now())
    return JsonResponse({"saved": saved})


# --- withdrawal, by a private link ------------------------------------------------------------


@friendly
def withdraw(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Ask whether to delete what a person wrote, and do it when they say so."""
    if request.method == "POST":
        privacy.withdraw(token=token, now=timezone.now())
        return redirect(reverse("withdraw", args=(slug, token)))
    shown = {
        "leaving": screens.leaving(token=token, slug=slug),
        "withdrawn": notices.text("withdrawn"),
    }
    return render(request, "participant/withdraw.html", shown)


STEPS: dict[str, Action] = {
    "start": lambda person, at: enrolment.start(person=person, now=at),
    "meet": lambda person, at: opening.meet(person=person, now=at),
    "bot": lambda person, at: pairing.take_bot(person=person, now=at),
    "give-up": lambda person, at: pairing.give_up(person=person, now=at),
    "stop": lambda person, at: stopping.stop(person=person, now=at),
}
urlpatterns = [
    path("c/<slug:slug>/", entry, name="entry"),
    path("c/<slug:slug>/consent", consent, name="consent"),
    path("c/<slug:slug>/declined", declined, name="declined"),
    path("c/<slug:slug>/now", now, name="now"),
    *(path(f"c/<slug:slug>/{name}", step(take), name=name) for name, take in STEPS.items()),
    path("c/<slug:slug>/rate", rate, name="rate"),
    path("c/<slug:slug>/status", status, name="status"),
    path("c/<slug:slug>/draft", save_draft, name="draft"),
    path("c/<slug:slug>/withdraw/<str:token>", withdraw, name="withdraw"),
    path("c/<slug:slug>/<path:rest>", elsewhere, name="elsewhere"),
]
