"""Signing in and out: the password, then a code where the account has a second factor (S3, S4)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import get_user_model, login
from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from webapp import clock
from webapp.services.accounts import first_passwords, logins, proofs, second_factor, sessions
from webapp.services.rules import access
from webapp.views import rendering
from webapp.views.audience import Audience, meant_for

HALF = "half_signed_in"  # whose password was right, when, and where they wanted to go
HALF_FOR = timedelta(minutes=5)


class StaffLogin(AdminAuthenticationForm):
    """Django's form for staff, by which an expired first password lets nobody in."""

    def confirm_login_allowed(self, user: Any) -> None:
        super().confirm_login_allowed(user)
        if first_passwords.has_expired(user, clock.now()):
            text = _("This first password has expired. Ask who made the account for another one.")
            raise ValidationError(text, code="expired")


class Login(auth.LoginView):
    """Django's login for staff, with limits by user, address and known browser."""

    authentication_form = StaffLogin
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Lead who is half in to what the server demands: the admin would send them back here."""
        first = sessions.page_before(request.session)
        if first and access.is_staff(request.user):
            return redirect(first)
        return super().dispatch(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        username, now = request.POST.get("username", "")[:150], clock.now()
        device = logins.device_of(_cookie(request), username)
        try:
            logins.attempt(
                username=username, address=rendering.address_of(request), now=now, device=device
            )
        except logins.TooMany as refusal:
            context = {"form": self.get_form_class()(request)}
            return _wait(request, "registration/login.html", context, refusal)
        response = super().post(request, *args, **kwargs)
        if response.status_code != 302:
            logins.note(username=username, ok=False, now=now)
        return response

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user, target = form.get_user(), self.get_success_url()
        if second_factor.is_on(user):
            at = clock.now().isoformat()
            half = {"account": user.pk, "backend": user.backend, "at": at, "target": target}
            self.request.session[HALF] = half
            return redirect("login-code")
        return _let_in(self.request, user, user.backend, target)


@meant_for(Audience.PUBLIC)
@require_http_methods(["GET", "HEAD", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """Ask for the code, of the app or for recovery; the password was right a moment ago."""
    half, now = request.session.get(HALF), clock.now()
    if half is None or now - datetime.fromisoformat(half["at"]) > HALF_FOR:
        return redirect("login")
    user = get_user_model().objects.filter(pk=half["account"]).first()
    if user is None or not access.is_staff(user):
        return redirect("login")
    if request.method != "POST":
        return render(request, "registration/code.html")
    name, typed = user.get_username(), request.POST.get("code", "")[:100]
    device = logins.device_of(_cookie(request), name)
    try:
        is_right = proofs.check_code(user=user, code=typed, device=device, now=now)
    except logins.TooMany as refusal:
        return _wait(request, "registration/code.html", {}, refusal)
    if not is_right:
        logins.note(username=name, ok=False, now=now)
        return render(request, "registration/code.html", {"is_wrong": True}, status=422)
    return _let_in(request, user, half["backend"], half["target"], both=True)


def _let_in(
    request: HttpRequest, user: Any, backend: str, target: str, *, both: bool = False
) -> HttpResponse:
    request.session.pop(HALF, None)
    login(request, user, backend)
    if both:
        request.session[sessions.BOTH] = True
    if first_passwords.is_to_be_changed(user):
        request.session[sessions.FIRST] = True
    logins.note(username=user.get_username(), ok=True, now=clock.now())
    is_own = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    response = redirect(target if is_own else resolve_url(settings.LOGIN_REDIRECT_URL))
    response.set_cookie(
        settings.DEVICE_COOKIE,
        logins.new_device(user.get_username()),
        max_age=logins.KNOWN,
        secure=settings.SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _wait(
    request: HttpRequest, template: str, context: dict[str, Any], refusal: logins.TooMany
) -> HttpResponse:
    response = render(request, template, context | {"wait": refusal.seconds}, status=429)
    response.headers["Retry-After"] = str(refusal.seconds)
    return response


def _cookie(request: HttpRequest) -> str:
    return request.COOKIES.get(settings.DEVICE_COOKIE, "")


sign_in = meant_for(Audience.PUBLIC)(Login.as_view())


class Logout(auth.LogoutView):
    """Django's logout; the browser forgets pages that it has kept, but no participant's draft."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().post(request, *args, **kwargs)
        response.headers["Clear-Site-Data"] = '"cache"'
        return response


sign_out = meant_for(Audience.PUBLIC)(Logout.as_view())
urlpatterns = [
    path("login/", sign_in, name="login"),
    path("login/code/", code, name="login-code"),
    path("admin/login/", sign_in),
    path("logout/", sign_out, name="logout"),
]
