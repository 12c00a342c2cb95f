"""An account's own pages: its sessions, and its second factor from first code to last."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp import clock
from webapp.services.accounts import logins, passwords, second_factor, sessions
from webapp.views.staff.access import FORM, READ, WRITE, bad_form, conflict, staff_page

FACTOR, CODES = "staff/second_factor.html", "staff/recovery_codes.html"
PASSWORD = "staff/password.html"  # noqa: S105 (a template)


@staff_page(*READ, role=None, before_second_factor=True)
def account(request: HttpRequest) -> HttpResponse:
    """Show where the account is signed in, and whether it has a second factor."""
    own, now = request.session.session_key, clock.now()
    context = {
        "sessions": sessions.listed(user=request.user, own=own, now=now),
        "factor": second_factor.state(request.user),
        "minutes": int(sessions.FRESH.total_seconds() // 60),
    }
    return render(request, "staff/account.html", context)


@staff_page(*WRITE, role=None, before_second_factor=True)
def end_sessions(request: HttpRequest) -> HttpResponse:
    """End one session, or all but this one."""
    key, now = request.POST.get("key", ""), clock.now()
    if key:
        count = sessions.end(user=request.user, key=key, now=now)
    else:
        own = request.session.session_key
        count = sessions.end_others(user=request.user, own=own, now=now)
    text = ngettext("%(count)d session is ended.", "%(count)d sessions are ended.", count)
    messages.success(request, text % {"count": count})
    return redirect("account")


@staff_page(*FORM, role=None, before_second_factor=True)
def password(request: HttpRequest) -> HttpResponse:
    """Change one's own password, which takes the present one."""
    if request.method != "POST":
        return render(request, PASSWORD)
    user: Any = request.user
    device = logins.device_of(request.COOKIES.get(settings.DEVICE_COOKIE, ""), user.get_username())
    try:
        passwords.change(
            user=user,
            old=request.POST.get("old", ""),
            new=request.POST.get("new", ""),
            device=device,
            own=request.session.session_key,
            now=clock.now(),
        )
    except passwords.WrongPassword:
        problem = {"old": _("This is not your present password: nothing was changed.")}
        return bad_form(request, PASSWORD, {"problems": problem})
    except ValidationError as weak:
        return bad_form(request, PASSWORD, {"problems": {"new": " ".join(weak.messages)}})
    except logins.TooMany as refusal:
        text = _("Too many attempts. Wait %(seconds)d seconds, then try again.")
        problem = {"old": text % {"seconds": refusal.seconds}}
        response = bad_form(request, PASSWORD, {"problems": problem})
        response.status_code = 429
        response.headers["Retry-After"] = str(refusal.seconds)
        return response
    update_session_auth_hash(request, user)
    messages.success(request, _("Your password is changed. Your other sessions have ended."))
    return redirect("account")


@staff_page(*READ, role=None, before_second_factor=True)
def factor(request: HttpRequest) -> HttpResponse:
    """Show the second factor, or the way to one."""
    return render(request, FACTOR, _factor(request))


@staff_page(*WRITE, role=None, proof=True, before_second_factor=True)
def change_factor(request: HttpRequest, action: str) -> HttpResponse:
    """Begin with an app, get new recovery codes, or turn the second factor off."""
    now, state = clock.now(), second_factor.state(request.user)
    if action == "begin":
        second_factor.begin(user=request.user, now=now)
        return redirect("second-factor")
    if not state.is_on:
        return conflict(request, _("without a second factor"))
    if action == "codes":
        return _codes(request, second_factor.renew_codes(user=request.user, now=now))
    if action != "off":
        raise Http404(action)
    if state.is_required:
        messages.error(request, _("This server demands it of everybody; change the phone instead."))
        return redirect("second-factor")
    by = request.user.get_username()
    second_factor.turn_off(user=request.user, by=by, now=now)
    request.session.pop(sessions.BOTH, None)
    messages.success(request, _("The second factor is off. Your password alone lets you in."))
    return redirect("account")


@staff_page(*FORM, role=None, before_second_factor=True)
def confirm_factor(request: HttpRequest) -> HttpResponse:
    """Turn it on by its first code; other sessions, which had the password only, end."""
    if request.method != "POST":
        return redirect("second-factor")
    user, now = request.user, clock.now()
    typed = request.POST.get("code", "")[:100]
    try:
        device = logins.device_of(
            request.COOKIES.get(settings.DEVICE_COOKIE, ""), user.get_username()
        )
        logins.attempt_proof(user=user, device=device, now=now)
    except logins.TooMany as refusal:
        context = _factor(request) | {"wait": refusal.seconds}
        response = render(request, FACTOR, context, status=429)
        response.headers["Retry-After"] = str(refusal.seconds)
        return response
    codes = second_factor.confirm(user=user, typed=typed, now=now)
    if codes is None:
        return render(request, FACTOR, _factor(request) | {"is_wrong": True}, status=422)
    request.session[sessions.BOTH] = True
    sessions.end_others(user=user, own=request.session.session_key, now=now)
    return _codes(request, codes)


def _codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    """Show recovery codes, this once."""
    return render(request, CODES, {"codes": codes})


def _factor(request: HttpRequest) -> dict[str, Any]:
    found = second_factor.enrolment(request.user)
    return {"factor": second_factor.state(request.user), "enrolment": found}


urlpatterns = [
    path("account/", account, name="account"),
    path("account/sessions/end/", end_sessions, name="end-sessions"),
    path("account/password/", password, name="password"),
    path("account/second-factor/", factor, name="second-factor"),
    path("account/second-factor/confirm/", confirm_factor, name="confirm-second-factor"),
    path("account/second-factor/do/<slug:action>/", change_factor, name="change-second-factor"),
]
