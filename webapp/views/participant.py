"""A participant's pages: entry, consent, and the one page of the step they are on.

Every POST redirects to that page, and so does every other address. A GET changes nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
    require_safe,
)

from evaluation import InvalidAnswers
from webapp import clock, languages, notices
from webapp.forms import participant
from webapp.services.conversation import matching, opening
from webapp.services.participation import (
    consents,
    invitations,
    limits,
    privacy,
    screens,
    visits,
)
from webapp.services.participation.visits import BrowserVisit
from webapp.services.rating import labels
from webapp.services.rules import access, states
from webapp.services.rules.refusals import NotNow
from webapp.sockets import version_1
from webapp.views.audience import Audience, meant_for
from webapp.views.rendering import address_of, render_screen, too_fast

View = Callable[..., HttpResponse]
PAGE_AND_FORM = require_http_methods(["GET", "HEAD", "POST"])
COOKIE_AGE = 90 * 24 * 3600
NOT_NOW = (consents.Closed, opening.NotMeeting, matching.NotWaiting, labels.LabelRefused)


def _cookie(slug: str) -> str:
    return f"{settings.PARTICIPANT_COOKIE}-{slug}"


def _secrets(request: HttpRequest) -> list[str]:
    """Return the secrets of all campaigns that this browser takes part in."""
    return [text for name, text in request.COOKIES.items() if name.startswith(_cookie(""))]


def _entry_cookie(slug: str) -> str:
    """Return the name of the cookie that holds an entry page's choice of a secret.

    It is chosen before consent and nowhere stored here. A consent whose answer is lost has set it
    as the participation's: this browser is known by it, however often it asks again.
    """
    return f"{settings.PARTICIPANT_COOKIE}-entry-{slug}"


def _visit(request: HttpRequest, slug: str) -> BrowserVisit:
    return BrowserVisit(slug, request.COOKIES.get(_cookie(slug), ""))


def _entry_visit(request: HttpRequest, slug: str) -> BrowserVisit:
    return BrowserVisit(slug, request.COOKIES.get(_entry_cookie(slug), ""))


def _remember(response: HttpResponse, slug: str, secret: str) -> HttpResponse:
    """Let a browser be known by a secret."""
    response.set_cookie(
        _cookie(slug),
        secret,
        max_age=COOKIE_AGE,
        secure=settings.SECURE,
        httponly=True,
        samesite="Lax",
    )
    response.delete_cookie(_entry_cookie(slug), samesite="Lax")
    return response


def _language(request: HttpRequest, slug: str) -> translation.override:
    """Speak one of the campaign's languages; without a campaign the one that is spoken already."""
    allowed = access.languages_of(slug)
    return translation.override(
        languages.of_request(request, allowed) if allowed else translation.get_language()
    )


def not_found_page(view: View) -> View:
    """Answer a missing row, or somebody else's, with one plain page that says what to do."""

    @meant_for(Audience.PARTICIPANT)
    @functools.wraps(view)
    def found(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            with _language(request, slug):
                return view(request, slug, *args, **kwargs)
        except (access.NotFound, privacy.BadToken):
            if "application/json" in request.headers.get("Accept", ""):
                return JsonResponse({"error": "not found"}, status=404)
            was_here = _cookie(slug) in request.COOKIES and "token" not in kwargs
            page = "participant/other_browser.html" if was_here else "404.html"
            return render(request, page, status=404)

    return found


# --- entry ---------------------------------------------------------------------------------


@require_safe
@not_found_page
def entry(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the study and ask for consent; a participant of it continues."""
    claim = participant.claim(request.GET)
    if not claim.is_valid():
        return render(request, "404.html", status=404)
    visit, begun = _visit(request, slug), _entry_visit(request, slug)
    visit = visit if visit.is_known() else begun
    who, now = claim.cleaned_data, clock.now()
    try:
        found = visit.returning(who, now)
    except invitations.NoProof as refusal:
        shown = {"study": visit.offered(who, now), "closed": notices.text(refusal.notice)}
        return render(request, "participant/entry.html", shown, status=409)
    if found is None:
        return _remember(redirect("current-step", slug), slug, visit.secret)
    preview = participant.is_preview(request.GET)
    shown = {"study": visit.offered(found, now), "who": found, "preview": preview}
    response = render(request, "participant/entry.html", shown)
    if not begun.secret or begun.is_known():
        response.set_cookie(
            _entry_cookie(slug),
            access.new_secret(),
            secure=settings.SECURE,
            httponly=True,
            samesite="Lax",
        )
    return response


def joining(view: View) -> View:
    """Let only so many join per minute from one network address (R40)."""

    @functools.wraps(view)
    def limited(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "POST" and not limits.allow_address(address_of(request)):
            return too_fast(request)
        return view(request, *args, **kwargs)

    return limited


@require_POST
@not_found_page
@joining
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Create or resume a participation after consent, and remember it by a cookie."""
    visit = _entry_visit(request, slug)
    visit.check_link()
    agreed = participant.Agreement(request.POST)
    if not agreed.is_valid():
        return render(request, "404.html", status=404)
    shown_pay, who, now = agreed.cleaned_data.pop("pay"), agreed.cleaned_data, clock.now()
    try:
        secret = visit.join(
            who,
            shown_pay=shown_pay,
            language=translation.get_language() or settings.LANGUAGE_CODE,
            now=now,
            browser=_secrets(request),
        )
    except (consents.Closed, invitations.NoProof, consents.PayChanged) as refusal:
        reason = "changed" if isinstance(refusal, consents.PayChanged) else "closed"
        study = _visit(request, slug).offered(who, now)
        shown = {"study": study, "who": who, reason: notices.text(refusal.notice)}
        is_busy = refusal.notice == consents.BUSY
        response = render(request, "participant/entry.html", shown, status=503 if is_busy else 409)
        if is_busy:
            response.headers["Retry-After"] = "60"
        return response
    return _remember(redirect("current-step", slug), slug, secret)


@require_POST
@not_found_page
def language(request: HttpRequest, slug: str) -> HttpResponse:
    """Remember the language that a participant chose, and return to their page."""
    back = request.POST.get("next", "")
    is_ours = back.startswith(reverse("entry", args=(slug,))) and url_has_allowed_host_and_scheme(
        back, allowed_hosts=None
    )
    response = redirect(back if is_ours else reverse("current-step", args=(slug,)))
    if (code := request.POST.get("language", "")) in access.languages_of(slug):
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            code,
            max_age=COOKIE_AGE,
            secure=settings.SECURE,
            httponly=True,
            samesite="Lax",
        )
    return response


@require_safe
@not_found_page
def declined(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the thank-you page for people who declined; nothing was stored."""
    study = _visit(request, slug).study(clock.now())
    return render(request, "participant/declined.html", {"study": study})


# --- the page of the current step -------------------------------------------------------------


@require_safe
@not_found_page
def current_step(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the screen of the participation's state."""
    visit = _visit(request, slug)
    if _cookie(slug) not in request.COOKIES:
        visit.check_link()
        return redirect("entry", slug)
    return render_screen(request, visit.screen(clock.now()))


@not_found_page
def redirect_to_current(request: HttpRequest, slug: str, rest: str = "") -> HttpResponse:
    """Redirect unknown paths of a campaign to the current step."""
    _visit(request, slug).check_link()
    return redirect("current-step", slug)


def step(name: str) -> View:
    """Return the view that takes a step and leads to wherever the participation is then."""

    @PAGE_AND_FORM
    @not_found_page
    def view(request: HttpRequest, slug: str) -> HttpResponse:
        if request.method == "POST":
            try:
                _visit(request, slug).take(name, clock.now())
            except NOT_NOW as refusal:
                messages.warning(request, notices.text(refusal.notice))
            except states.Illegal:
                pass  # the step was taken before: the page shows where that led
        return redirect("current-step", slug)

    return view


@PAGE_AND_FORM
@not_found_page
def rate(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the answers of the form, or show it again with what is missing."""
    return _sent(request, slug, BrowserVisit.submit)


@PAGE_AND_FORM
@not_found_page
def write(request: HttpRequest, slug: str) -> HttpResponse:
    """Store what was written, or show it again with what is wrong."""
    return _sent(request, slug, BrowserVisit.write)


def _sent(
    request: HttpRequest,
    slug: str,
    store: Callable[[BrowserVisit, Mapping[str, str], datetime], str],
) -> HttpResponse:
    if request.method != "POST":
        return redirect("current-step", slug)
    visit = _visit(request, slug)
    typed = {name: str(text) for name, text in request.POST.items() if "." in name}
    try:
        _show(request, store(visit, typed, clock.now()))
    except InvalidAnswers as problem:
        screen = visit.screen(clock.now())
        return render_screen(request, screen, typed, problem.problems)
    except (labels.LabelRefused, states.Illegal):
        pass  # it was sent before, or the study has gone on
    return redirect("current-step", slug)


def _show(request: HttpRequest, text: str) -> None:
    """Show a text on the page that comes next, where there is one."""
    if text:
        messages.warning(request, text)


@PAGE_AND_FORM
@not_found_page
def answer(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the answers before the work, or show the form again with what is missing."""
    if request.method != "POST":
        return redirect("current-step", slug)
    visit = _visit(request, slug)
    answers = {name: str(text) for name, text in request.POST.items() if "." in name}
    answers["try"] = request.POST.get("try", "")
    try:
        visit.answer(answers, clock.now())
    except InvalidAnswers as problem:
        screen = visit.screen(clock.now())
        return render_screen(request, screen, answers, problem.problems)
    except NOT_NOW as refusal:
        messages.warning(request, notices.text(refusal.notice))
    except states.Illegal:
        pass  # it was sent before, or the study has gone on
    return redirect("current-step", slug)


@PAGE_AND_FORM
@not_found_page
def problem(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a report of a problem, on a page of its own that leaves the step as it is."""
    visit = _visit(request, slug)
    shown: dict[str, Any] = {"study": visit.own_study(), "sent": "sent" in request.GET}
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            _show(request, visit.report(text, clock.now()))
        except NotNow as refusal:
            shown |= {"text": text, "complaint": notices.text(refusal.notice, **refusal.values)}
            return render(request, "participant/problem.html", shown, status=422)
        return redirect(f"{reverse('problem', args=(slug,))}?sent=1")
    return render(request, "participant/problem.html", shown)


@require_safe
@not_found_page
def receipt(request: HttpRequest, slug: str) -> HttpResponse:
    """Hand out the receipts as a file, one a line, and a line that signs it."""
    content = "".join(f"{each}\n" for each in _visit(request, slug).receipts(clock.now()))
    headers = {"Content-Disposition": 'attachment; filename="receipt.txt"'}
    return HttpResponse(content, content_type="text/plain; charset=utf-8", headers=headers)


# --- what the pages' scripts ask --------------------------------------------------------------


@require_GET
@not_found_page
def status(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the status of a waiting page; its request is a sign of life."""
    found = _visit(request, slug).status(clock.now())
    is_former = request.GET.get("version", "1") == "1"
    return JsonResponse(version_1.waiting(found) if is_former else found)


@require_GET
@not_found_page
def stop_means(request: HttpRequest, slug: str) -> HttpResponse:
    """Return what stopping at this moment means for the pay."""
    return JsonResponse({"text": _visit(request, slug).stop_means(clock.now())})


@require_POST
@not_found_page
def save_draft(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep unfinished answers."""
    visit = _visit(request, slug)
    try:
        answers = participant.draft(request.body)
    except participant.BadBody as problem:
        visit.check_cookie()  # who may not write here learns nothing of the body
        return JsonResponse({"error": str(problem)}, status=400)
    saved = visit.save_draft(answers, clock.now())
    return JsonResponse({"saved": saved})


# --- the private link ------------------------------------------------------------------------


@PAGE_AND_FORM
@not_found_page
@joining
def private_link(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Show the code to who holds the private link, and let this browser go on by a POST."""
    if request.method == "POST":
        secret = _entry_visit(request, slug).open_private(token, clock.now())
        return _remember(redirect("current-step", slug), slug, secret)
    shown = {
        "leaving": screens.leaving(token=token, slug=slug),
        "withdrawn": notices.text("withdrawn"),
        "slug": slug,
        "token": token,
    }
    return render(request, "participant/private.html", shown)


@PAGE_AND_FORM
@not_found_page
def withdraw(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Ask whether to delete what a person wrote, and do it when they say so."""
    leaving = screens.leaving(token=token, slug=slug)  # which also tells that both fit together
    if request.method == "POST":
        privacy.withdraw(token=token, now=clock.now())
        return redirect(reverse("withdraw", args=(slug, token)))
    shown = {
        "leaving": leaving,
        "withdrawn": notices.text("withdrawn"),
    }
    return render(request, "participant/withdraw.html", shown)


urlpatterns = [
    path("c/<slug:slug>/", entry, name="entry"),
    path("c/<slug:slug>/consent", consent, name="consent"),
    path("c/<slug:slug>/language", language, name="language"),
    path("c/<slug:slug>/declined", declined, name="declined"),
    path("c/<slug:slug>/now", current_step, name="current-step"),
    *(path(f"c/<slug:slug>/{name}", step(name), name=name) for name in visits.STEPS),
    path("c/<slug:slug>/answer", answer, name="answer"),
    path("c/<slug:slug>/rate", rate, name="rate"),
    path("c/<slug:slug>/write", write, name="write"),
    path("c/<slug:slug>/problem", problem, name="problem"),
    path("c/<slug:slug>/receipt", receipt, name="receipt"),
    path("c/<slug:slug>/status", status, name="status"),
    path("c/<slug:slug>/stop-means", stop_means, name="stop-means"),
    path("c/<slug:slug>/draft", save_draft, name="draft"),
    path("c/<slug:slug>/private/<str:token>", private_link, name="private-link"),
    path("c/<slug:slug>/withdraw/<str:token>", withdraw, name="withdraw"),
    path("c/<slug:slug>/<path:rest>", redirect_to_current, name="redirect-to-current"),
]
