"""What all pages of staff have in common: who may see them, and what is said when they may not."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render

from webapp.services import access, campaigns, states
from webapp.services.fields import Field

View = Callable[..., HttpResponse]
READ = ("GET", "HEAD")
WRITE = ("POST",)
FORM = (*READ, *WRITE)


def staff_page(*methods: str) -> Callable[[View], View]:
    """Let only staff in; what is not there is a 404, what cannot be done now a 409."""

    def decorate(view: View) -> View:
        @login_required
        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not getattr(request.user, "is_staff", False):
                raise PermissionDenied
            if request.method not in methods:
                return HttpResponseNotAllowed(methods)
            return _answer(view, request, *args, **kwargs)

        return guarded

    return decorate


def campaign_page(*methods: str) -> Callable[[View], View]:
    """The same for a page of one campaign: the view is given the campaign instead of its number."""

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def found(request: HttpRequest, pk: int, **kwargs: Any) -> HttpResponse:
            return view(request, access.campaign(request.user, pk), **kwargs)

        return staff_page(*methods)(found)

    return decorate


def conflict(request: HttpRequest, state: str) -> HttpResponse:
    """Say that an action is not possible in this state, and lead back to what is."""
    context = {"state": state, "back": request.path}
    return render(request, "staff/conflict.html", context, status=409)


def field_groups(**groups: list[Field]) -> dict[str, Any]:
    """Return lists of fields under their names, and those with errors for the summary."""
    wrong = [field for fields in groups.values() for field in fields if field.error]
    return {**groups, "wrong": wrong}


def bad_form(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Show a form again with what was typed and what is wrong with it."""
    return render(request, template, context, status=422)


def _answer(view: View, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    try:
        return view(request, *args, **kwargs)
    except access.NotFound:
        return render(request, "staff/missing.html", status=404)
    except (states.Illegal, campaigns.NotDraft) as refusal:
        return conflict(request, refusal.state)
