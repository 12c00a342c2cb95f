"""The systems of a draft: added, changed, rehearsed, and tried in a chat."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _

from webapp.services import rehearsals, system_fields, systems
from webapp.services.campaigns import Campaign
from webapp.services.fields import Invalid
from webapp.views.staffed import FORM, READ, WRITE, bad_form, campaign_page, conflict, field_groups


@campaign_page(*FORM)
def add(request: HttpRequest, campaign: Campaign, bot: str) -> HttpResponse:
    """Add a bot, or people."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    if bot not in {kind.name for kind in systems.kinds(campaign)}:
        raise Http404(bot)
    if request.method != "POST":
        return render(request, "staff/system.html", _form(campaign, bot))
    raw = request.POST.dict()
    try:
        systems.add_system(campaign=campaign, bot=bot, raw=raw, by=request.user, now=timezone.now())
    except Invalid as problem:
        context = _form(campaign, bot, None, raw, problem.problems)
        return bad_form(request, "staff/system.html", context)
    messages.success(request, _("The system is added. Rehearse it before the launch."))
    return redirect("campaign", campaign.pk)


@campaign_page(*FORM)
def change(request: HttpRequest, campaign: Campaign, system: int) -> HttpResponse:
    """Change a system of a draft."""
    row = systems.one(campaign, system)
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    if request.method != "POST":
        return render(request, "staff/system.html", _form(campaign, row.bot, row))
    raw = request.POST.dict()
    try:
        systems.change_system(system=row, raw=raw, by=request.user, now=timezone.now())
    except Invalid as problem:
        context = _form(campaign, row.bot, row, raw, problem.problems)
        return bad_form(request, "staff/system.html", context)
    except systems.Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("campaign", campaign.pk)


@campaign_page(*WRITE)
def remove(request: HttpRequest, campaign: Campaign, system: int) -> HttpResponse:
    """Remove a system from a draft."""
    row = systems.one(campaign, system)
    try:
        systems.remove_system(system=row, by=request.user, now=timezone.now())
    except systems.Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("campaign", campaign.pk)


@campaign_page(*WRITE)
def rehearse(request: HttpRequest, campaign: Campaign, system: int) -> HttpResponse:
    """Send a system its test message."""
    row = systems.one(campaign, system)
    rehearsals.rehearse(system=row, by=request.user, now=timezone.now())
    return redirect("campaign", campaign.pk)


@campaign_page(*WRITE)
def begin_chat(request: HttpRequest, campaign: Campaign, system: int) -> HttpResponse:
    """Open a test chat."""
    row = systems.one(campaign, system)
    chat = rehearsals.open_chat(system=row, by=request.user, now=timezone.now())
    return redirect("test-chat", campaign.pk, chat.pk)


@campaign_page(*FORM)
def test_chat(request: HttpRequest, campaign: Campaign, chat: int) -> HttpResponse:
    """Talk to a system as staff; nothing said here is data of the study."""
    context = rehearsals.look(user=request.user, campaign=campaign, pk=chat)
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            rehearsals.say(user=request.user, campaign=campaign, pk=chat, text=text)
        except Invalid as problem:
            shown: dict[str, Any] = {
                "campaign": campaign,
                "chat": context,
                "text": text,
                "error": problem.problems["text"],
            }
            return bad_form(request, "staff/test_chat.html", shown)
        return redirect("test-chat", campaign.pk, chat)
    return render(request, "staff/test_chat.html", {"campaign": campaign, "chat": context})


@campaign_page(*READ)
def test_chat_part(request: HttpRequest, campaign: Campaign, chat: int) -> HttpResponse:
    """The messages of a test chat, fetched again while a reply is owed."""
    context = rehearsals.look(user=request.user, campaign=campaign, pk=chat)
    return render(request, "staff/_test_chat.html", {"campaign": campaign, "chat": context})


def _form(
    campaign: Campaign,
    bot: str,
    system: systems.System | None = None,
    raw: dict[str, str] | None = None,
    problems: dict[str, str] | None = None,
) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "tab": "setup",
        "bot": bot,
        "about": next((kind.about for kind in systems.kinds(campaign) if kind.name == bot), ""),
        "system": system,
        **field_groups(fields=system_fields.fields(campaign, bot, system, raw, problems)),
    }


SYSTEM = "campaigns/<int:pk>/systems/<int:system>"
urlpatterns = [
    path("campaigns/<int:pk>/systems/add/<slug:bot>/", add, name="add-system"),
    path(f"{SYSTEM}/", change, name="system"),
    path(f"{SYSTEM}/remove/", remove, name="remove-system"),
    path(f"{SYSTEM}/rehearse/", rehearse, name="rehearse"),
    path(f"{SYSTEM}/chat/", begin_chat, name="begin-test-chat"),
    path("campaigns/<int:pk>/chats/<int:chat>/", test_chat, name="test-chat"),
    path("campaigns/<int:pk>/chats/<int:chat>/part/", test_chat_part, name="test-chat-part"),
]
