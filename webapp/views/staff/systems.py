"""The systems of a draft: added, changed, rehearsed, and tried in a chat."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from webapp import clock
from webapp.forms.system_form import SystemForm
from webapp.services.campaign import system_trials, systems
from webapp.services.campaign.systems import StoredSystem
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import (
    FORM,
    READ,
    WRITE,
    bad_form,
    campaign_page,
    conflict,
)


@campaign_page(*READ, role=Role.RUNNER)
def choose(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """The doors to a new system: one's own model by a server, one's own files, the baselines."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    search = request.GET.get("search", "")[:200]
    doors = systems.doors(campaign, search)
    context = {"campaign": campaign, "tab": "campaign", "search": search, **doors}
    return render(request, "staff/doors.html", context)


@campaign_page(*FORM, role=Role.RUNNER)
def add(request: HttpRequest, campaign: StaffCampaign, bot: str) -> HttpResponse:
    """Add a bot, or people."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    if bot not in {kind.name for kind in systems.kinds(campaign)}:
        raise Http404(bot)
    if request.method != "POST":
        return render(request, PAGE, _form(campaign, SystemForm(protocol_of(campaign), bot), bot))
    if shown := _beside(request, campaign, bot):
        return shown
    form = SystemForm(protocol_of(campaign), bot, request.POST)
    try:
        values = form.values()
        systems.add_system(
            campaign=campaign, bot=bot, values=values, by=request.user, now=clock.now()
        )
    except Invalid as problem:
        form.refuse(problem.problems)
        return bad_form(request, PAGE, _form(campaign, form, bot) | _message(request))
    then = "" if systems.is_people(bot) else _("Rehearse it before the launch.")
    messages.success(request, " ".join(filter(None, (_("The system is added."), then))))
    return redirect("campaign", campaign.pk)


@campaign_page(*FORM, role=Role.RUNNER)
def change(request: HttpRequest, campaign: StaffCampaign, system: int) -> HttpResponse:
    """Change a system of a draft."""
    row = systems.stored(campaign, system)
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    if request.method != "POST":
        form = SystemForm(protocol_of(campaign), row.bot, system=row)
        return render(request, PAGE, _form(campaign, form, row.bot, row))
    if shown := _beside(request, campaign, row.bot, row):
        return shown
    form = SystemForm(protocol_of(campaign), row.bot, request.POST, row)
    try:
        values = form.values()
        systems.change_system(
            campaign=campaign, pk=system, values=values, by=request.user, now=clock.now()
        )
    except Invalid as problem:
        form.refuse(problem.problems)
        return bad_form(request, PAGE, _form(campaign, form, row.bot, row) | _message(request))
    except systems.SystemRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("campaign", campaign.pk)


@campaign_page(*WRITE, role=Role.RUNNER)
def remove(request: HttpRequest, campaign: StaffCampaign, system: int) -> HttpResponse:
    """Remove a system from a draft."""
    try:
        systems.remove_system(campaign=campaign, pk=system, by=request.user, now=clock.now())
    except systems.SystemRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("campaign", campaign.pk)


@campaign_page(*WRITE, role=Role.RUNNER)
def rehearse(request: HttpRequest, campaign: StaffCampaign, system: int) -> HttpResponse:
    """Rehearse a system."""
    system_trials.rehearse(campaign=campaign, pk=system, by=request.user, now=clock.now())
    return redirect("campaign", campaign.pk)


@campaign_page(*WRITE, role=Role.RUNNER)
def begin_chat(request: HttpRequest, campaign: StaffCampaign, system: int) -> HttpResponse:
    """Open a test chat."""
    conversation_id = system_trials.open_chat(
        campaign=campaign, pk=system, by=request.user, now=clock.now()
    )
    return redirect("test-chat", campaign.pk, conversation_id)


@campaign_page(*FORM, role=Role.RUNNER)
def test_chat(request: HttpRequest, campaign: StaffCampaign, conversation_id: int) -> HttpResponse:
    """Show a test chat of staff with a system; none of it is data of the study."""
    context = system_trials.look(user=request.user, campaign=campaign, pk=conversation_id)
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            system_trials.send_message(
                user=request.user, campaign=campaign, pk=conversation_id, text=text
            )
        except Invalid as problem:
            shown: dict[str, Any] = {
                "campaign": campaign,
                "chat": context,
                "text": text,
                "error": problem.problems["text"],
            }
            return bad_form(request, "staff/test_chat.html", shown)
        return redirect("test-chat", campaign.pk, conversation_id)
    return render(request, "staff/test_chat.html", {"campaign": campaign, "chat": context})


@campaign_page(*READ, role=Role.RUNNER)
def test_chat_part(
    request: HttpRequest, campaign: StaffCampaign, conversation_id: int
) -> HttpResponse:
    """The messages of a test chat, fetched again while a reply is owed."""
    context = system_trials.look(user=request.user, campaign=campaign, pk=conversation_id)
    return render(request, "staff/_test_chat.html", {"campaign": campaign, "chat": context})


def _beside(
    request: HttpRequest, campaign: StaffCampaign, bot: str, system: StoredSystem | None = None
) -> HttpResponse | None:
    """Answer a button beside the one that saves: what is typed stays, and nothing is stored."""
    act, typed = request.POST.get("act", ""), request.POST.dict()
    protocol = protocol_of(campaign)
    if act == "preset":
        blank = SystemForm(protocol, bot, system=system)
        typed = {**dict.fromkeys(blank.fields, ""), **typed}
        typed |= blank.preset(typed.get("preset", ""))
        form = SystemForm(protocol, bot, system=system, typed=typed)
        return render(request, PAGE, _form(campaign, form, bot, system) | _message(request))
    if act not in ("preview", "try"):
        return None
    if not systems.is_bot(bot):
        raise Http404(act)
    form = SystemForm(protocol, bot, request.POST, system)
    context = _form(campaign, form, bot, system) | _message(request)
    try:
        values = form.values()
    except Invalid:
        return bad_form(request, PAGE, context)
    if act == "preview":
        context["requests"] = system_trials.preview(campaign=campaign, bot=bot, values=values)
    else:
        context["attempt"] = system_trials.attempt(
            campaign=campaign, bot=bot, values=values, message=context["message"].strip()
        )
    return render(request, PAGE, context)


def _message(request: HttpRequest) -> dict[str, str]:
    """Return what was typed to try the system with."""
    return {"message": request.POST.get("message", "")[:10_000]}


def _form(
    campaign: StaffCampaign, form: SystemForm, bot: str, system: StoredSystem | None = None
) -> dict[str, Any]:
    about = next((kind.about for kind in systems.kinds(campaign) if kind.name == bot), "")
    return {
        "campaign": campaign,
        "tab": "campaign",
        "form": form,
        "bot": bot,
        "about": about,
        "system": system,
        "makes_requests": systems.calls_a_server(bot),
        "is_bot": systems.is_bot(bot),
    }


PAGE = "staff/system.html"
SYSTEM = "campaigns/<int:pk>/systems/<int:system>"
urlpatterns = [
    path("campaigns/<int:pk>/systems/add/", choose, name="choose-system"),
    path("campaigns/<int:pk>/systems/add/<slug:bot>/", add, name="add-system"),
    path(f"{SYSTEM}/", change, name="system"),
    path(f"{SYSTEM}/remove/", remove, name="remove-system"),
    path(f"{SYSTEM}/rehearse/", rehearse, name="rehearse"),
    path(f"{SYSTEM}/chat/", begin_chat, name="begin-test-chat"),
    path("campaigns/<int:pk>/chats/<int:conversation_id>/", test_chat, name="test-chat"),
    path(
        "campaigns/<int:pk>/chats/<int:conversation_id>/part/",
        test_chat_part,
        name="test-chat-part",
    ),
]
