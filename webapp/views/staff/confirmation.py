"""Confirmation of who it is, before data, pay or something that is deleted (S4).

It stands in for the page that was asked for, and hands on what was typed there: nothing is lost.
Apart because it is a page of its own, which no address leads to.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _

from webapp import clock
from webapp.services.accounts import logins, proofs, second_factor, sessions
from webapp.views.audience import Need

PASSWORD, CODE = "proof-password", "proof-code"
OWN = ("csrfmiddlewaretoken", PASSWORD, CODE)


def is_answer(request: HttpRequest, need: Need) -> bool:
    """Tell whether this is the confirmation of a page that only downloads."""
    return need.proof and request.method == "POST" and PASSWORD in request.POST


def ask(request: HttpRequest, need: Need) -> HttpResponse | None:
    """Ask for password or code, unless that was answered within ten minutes, or just now."""
    now = clock.now()
    is_download = "POST" not in need.methods
    if sessions.is_fresh(request.session, now):
        return _again(request) if is_download and request.method == "POST" else None
    if request.method != "POST" or PASSWORD not in request.POST:
        return _page(request, status=403)
    try:
        if not _is_right(request):
            problem = _("Neither is right: nothing was done. Type your password, or a new code.")
            return _page(request, problem, status=403)
    except logins.TooMany as refusal:
        problem = _("Too many attempts. Wait %(seconds)d seconds, then try again.")
        answer = _page(request, problem % {"seconds": refusal.seconds}, status=429)
        answer.headers["Retry-After"] = str(refusal.seconds)
        return answer
    sessions.prove(request.session, now)
    return _again(request) if is_download else None


def _is_right(request: HttpRequest) -> bool:
    device = logins.device_of(
        request.COOKIES.get(settings.DEVICE_COOKIE, ""), request.user.get_username()
    )
    return proofs.check(
        user=request.user,
        password=request.POST.get(PASSWORD, ""),
        code=request.POST.get(CODE, ""),
        device=device,
        now=clock.now(),
    )


def _again(request: HttpRequest) -> HttpResponse:
    """Lead to the download that was asked for."""
    answer = HttpResponseRedirect(request.get_full_path())
    answer.status_code = 303
    return answer


def _page(request: HttpRequest, problem: str = "", *, status: int) -> HttpResponse:
    typed = [
        (name, value)
        for name, values in request.POST.lists()
        if name not in OWN
        for value in values
    ]
    context = {
        "typed": typed,
        "problem": problem,
        "has_codes": second_factor.is_on(request.user),
        "fields": {"password": PASSWORD, "code": CODE},
    }
    return render(request, "staff/confirm_identity.html", context, status=status)
