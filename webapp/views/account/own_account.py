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
from webapp.services.accounts import addresses, logins, passwords, second_factor, sessions
from webapp.views.staff.access import FORM, READ, WRITE, bad_form, conflict, staff_page

FACTOR, CODES = "staff/second_factor.html", "staff/recovery_codes.html"
PASSWORD = "staff/password.html"  # noqa: S105 (a template)


@staff_page(*READ, role=None, before_second_factor=True)
def account(request: HttpRequest) -> HttpResponse:
    """Show where the account is signed in, its second factor, and where its alarms go."""
    return render(request, "staff/account.html", _account(request))


def _account(request: HttpRequest) -> dict[str, Any]:
    own, user, now = request.session.session_key, request.user, clock.now()
    return {
        "sessions": sessions.listed(user=user, own=own, now=now),
        "factor": second_factor.state(user),
        "minutes": int(sessions.FRESH.total_seconds() // 60),
        "address": getattr(user, "email", ""),
        "can_mail": bool(settings.EMAIL_HOST),
    }


@staff_page(*WRITE, role=None, proof=True, before_second_factor=True)
def alarm_address(request: HttpRequest) -> HttpResponse:
    """Change where the account's alarms are mailed to."""
    raw = request.POST.get("email", "")
    try:
        address = addresses.change(user=request.user, raw=raw, now=clock.now())
    except addresses.BadAddress:
        problem = {"email": _("Give an address such as ada@example.org, or none.")}
        context = _account(request) | {"problems": problem, "address": raw}
        return bad_form(request, "staff/account.html", context)
    sent = _("Alarms are mailed to %(address)s.") % {"address": address}
    messages.success(request, sent if address else _("Alarms are mailed to you no more."))
    return redirect("account")


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
    is_first = {"is_first": sessions.FIRST in request.session}
    if request.method != "POST":
        return render(request, PASSWORD, is_first)
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
        return bad_form(request, PASSWORD, {"problems": problem} | is_first)
    except ValidationError as weak:
        problem = {"new": " ".join(weak.messages)}
        return bad_form(request, PASSWORD, {"problems": problem} | is_first)
    except logins.TooMany as refusal:
        text = _("Too many attempts. Wait %(seconds)d seconds, then try again.")
        problem = {"old": text % {"seconds": refusal.seconds}}
        response = bad_form(request, PASSWORD, {"problems": problem} | is_first)
        response.status_code = 429
        response.headers["Retry-After"] = str(refusal.seconds)
        return response
    update_session_auth_hash(request, user)
    request.session.pop(sessions.FIRST, None)
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
    path("account/alarms/", alarm_address, name="alarm-address"),
    path("account/sessions/end/", end_sessions, name="end-sessions"),
    path("account/password/", password, name="password"),
    path("account/second-factor/", factor, name="second-factor"),
    path("account/second-factor/confirm/", confirm_factor, name="confirm-second-factor"),
    path("account/second-factor/do/<slug:action>/", change_factor, name="change-second-factor"),
]
