"""A campaign's imported conversations: look at files, import them, redact what must not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from django.contrib import messages as notices
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp import clock
from webapp.services.campaign import redaction, taken_conversations, transcripts_import
from webapp.services.campaign.transcripts_import import TranscriptPreview, TranscriptUpload
from webapp.services.rating import transcript_rules
from webapp.services.rating import transcripts as stored_chats
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms import pasted
from webapp.services.staff_forms.fields import Invalid
from webapp.services.staff_forms.transcript_files import TextFile
from webapp.views.staff.access import FORM, bad_form, campaign_page, conflict

PAGE = "staff/transcripts.html"
MOST_LISTED = 200


@campaign_page(*FORM, role=Role.VIEWER, change=Role.RUNNER)
def transcripts(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Look at transcripts, import or remove them; redact what was imported."""
    if request.method != "POST":
        return render(request, PAGE, _shown(request, campaign))
    action = request.POST.get("action", "preview")
    if action != "redact" and campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    try:
        return _act(request, campaign, action)
    except Invalid as problem:
        kept = _readable(request) if action in ("preview", "store") else []
        typed = {"typed": request.POST, "kept": kept, "problems": problem.problems}
        return bad_form(request, PAGE, _shown(request, campaign) | typed)


def _act(request: HttpRequest, campaign: StaffCampaign, action: str) -> HttpResponse:
    changes: dict[str, Any] = {"campaign": campaign, "by": request.user, "now": clock.now()}
    if action == "redact":
        count = redaction.redact(raw=request.POST.get("stretches", ""), **changes)
        words = ngettext(
            "%(count)d stretch was redacted.", "%(count)d stretches were redacted.", count
        )
        notices.success(request, words % {"count": count})
    elif action == "clear":
        count = transcripts_import.clear(**changes)
        notices.info(request, _("%(count)d removed.") % {"count": count})
    elif action == "take":
        count = _take(request, changes)
        notices.success(request, _("%(count)d were taken.") % {"count": count})
    elif action == "give-back":
        count = taken_conversations.clear(**changes)
        notices.info(request, _("%(count)d removed.") % {"count": count})
    elif action == "store":
        count = transcripts_import.store(upload=_upload(request), **changes)
        notices.success(request, _("%(count)d imported.") % {"count": count})
    else:
        return _previewed(request, campaign)
    return redirect("transcripts", campaign.pk)


def _take(request: HttpRequest, changes: Mapping[str, Any]) -> int:
    """Take the conversations of one's own campaign that the form names. Raises `Invalid`."""
    return taken_conversations.take(
        source=request.POST.get("source", ""),
        systems=request.POST.getlist("system"),
        control=request.POST.get("control", ""),
        **changes,
    )


def _previewed(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    upload = _upload(request)
    preview = transcripts_import.preview(campaign=campaign, upload=upload)
    context = _shown(request, campaign) | {
        "preview": preview,
        "files": upload.files,
        "kept": _without_faults(upload.files, preview),
        "listed": preview.found[:MOST_LISTED],
        "typed": request.POST,
    }
    return render(request, PAGE, context)


def _upload(request: HttpRequest) -> TranscriptUpload:
    """Return what a form gives: new files, what was pasted, and what an earlier look kept.

    A new file takes the place of one of the same name. Raises `Invalid`.
    """
    files = {file.name: file for file in _kept(request)}
    for upload in request.FILES.getlist("file"):
        name = str(upload.name)
        upload.seek(0)
        try:
            text = pasted.decode(upload.read(pasted.LARGEST + 1))
        except Invalid as problem:
            raise Invalid({"file": f"{name} {problem.problems['file']}"}) from None
        files[name] = TextFile(name, _plain(text))
    if request.POST.get("text", "").strip():
        files[_pasted()] = TextFile(_pasted(), _plain(request.POST["text"]))
    return TranscriptUpload(
        files=tuple(files.values()),
        redact=request.POST.get("redact", ""),
        keep_hour="keep_hour" in request.POST,
    )


def _kept(request: HttpRequest) -> list[TextFile]:
    names, texts = request.POST.getlist("kept_name"), request.POST.getlist("kept_text")
    return [TextFile(name, _plain(text)) for name, text in zip_longest(names, texts, fillvalue="")]


def _pasted() -> str:
    return _("pasted text")


def _without_faults(files: Sequence[TextFile], preview: TranscriptPreview) -> list[TextFile]:
    """Return the files to look at again; the text that was pasted still stands in its box."""
    wrong = {fault.file for fault in preview.faults} | {_pasted()}
    return [file for file in files if file.name not in wrong]


def _readable(request: HttpRequest) -> list[TextFile]:
    """Return the files of a form in which something else is wrong."""
    try:
        files = _upload(request).files
    except Invalid:
        return _kept(request)
    return [file for file in files if file.name != _pasted()]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def _shown(request: HttpRequest, campaign: StaffCampaign) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "tab": "campaign",
        "takes": transcripts_import.takes(campaign),
        "sources": taken_conversations.sources(campaign=campaign, user=request.user),
        "taken": taken_conversations.counts(campaign),
        "controls": taken_conversations.roles(campaign),
        "counts": stored_chats.counts(stored_chats.stored(campaign)),
        "marks": transcript_rules.WORDS,
    }


urlpatterns = [path("campaigns/<int:pk>/transcripts/", transcripts, name="transcripts")]
