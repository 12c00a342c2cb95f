"""The pages on which requesters build protocols of their own."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Protocol
from webapp import clock
from webapp.forms.protocol_form import ProtocolForm
from webapp.forms.protocol_text import acted, with_image
from webapp.services.campaign import own_protocols
from webapp.services.campaign.own_protocols import CopySource
from webapp.services.monitoring import offers
from webapp.services.rules import access
from webapp.services.rules.access import Role, StaffProtocol
from webapp.services.staff_forms import image_bytes, pasted, protocol_images
from webapp.services.staff_forms.fields import BadField, Invalid
from webapp.views import rendering
from webapp.views.staff.access import FORM, READ, NavLink, bad_form, staff_page

SAVE, ADD_IMAGE = "save", "image"  # buttons of the builder
MOST_READ = image_bytes.LARGEST_UPLOAD + 1
LARGEST_FILE = 8_000_000  # bytes of a protocol with its images
LONGEST_NUMBER = 10  # digits of a version, as a form sends it


@staff_page(*FORM, role=Role.RUNNER, link=NavLink(gettext_lazy("Your protocols"), 15))
def index(request: HttpRequest) -> HttpResponse:
    """List own protocols, and take one from a file."""
    context: dict[str, Any] = {
        "lists": own_protocols.listed(request.user),
        "shipped": offers.shipped(),
    }
    if request.method != "POST":
        return render(request, "staff/own_protocols.html", context)
    raw = {"text": request.POST.get("text", "")}
    try:
        upload = request.FILES.get("file")
        if upload is not None:
            raw["text"] = pasted.decode(upload.read(LARGEST_FILE + 1), LARGEST_FILE)
        made = own_protocols.add_file(text=raw["text"], by=request.user, now=clock.now())
    except Invalid as problem:
        if len(raw["text"]) > pasted.LARGEST:
            raw["text"] = ""  # a form cannot send so much back; the file is chosen again
        context |= {"raw": raw, "problems": problem.problems}
        return bad_form(request, "staff/own_protocols.html", context)
    messages.success(request, _("Imported as version %(version)d.") % {"version": made.version})
    return redirect("own-protocol", made.pk)


@staff_page(*FORM, role=Role.RUNNER)
def blank(request: HttpRequest) -> HttpResponse:
    """Build a protocol from nothing."""
    return _first_version(request, own_protocols.blank(), CopySource())


@staff_page(*FORM, role=Role.RUNNER)
def copy(request: HttpRequest, protocol: str) -> HttpResponse:
    """Build a protocol from a copy of one that comes with Parley."""
    found = offers.find(protocol)
    if found is None:
        raise Http404(protocol)
    return _first_version(request, found, own_protocols.origin(found))


@staff_page(*FORM, role=Role.RUNNER)
def copy_own(request: HttpRequest, own: uuid.UUID) -> HttpResponse:
    """Build a protocol from a copy of another own one."""
    row = access.own_protocol(request.user, own)
    return _first_version(request, own_protocols.protocol_of(row), CopySource(row.name, row.sha256))


@staff_page(*FORM, role=Role.RUNNER)
def edit(request: HttpRequest, own: uuid.UUID) -> HttpResponse:
    """Show a version, and store what is changed as the next one."""
    row = access.own_protocol(request.user, own)
    base = own_protocols.protocol_of(row)
    form = _form(request, base)
    latest_known = _latest_known(request, row)
    if not _is_saved(request, form):
        return _page(request, form, row=row, latest_known=latest_known)
    try:
        made = own_protocols.change(
            own=row,
            protocol=form.protocol(),
            latest_known=latest_known,
            by=request.user,
            now=clock.now(),
        )
    except own_protocols.Newer as newer:
        return _page(request, form, row=row, latest_known=newer.version, passed_over=newer.version)
    messages.success(request, _("Saved as version %(version)d.") % {"version": made.version})
    return redirect("own-protocol", made.pk)


@staff_page(*FORM, role=Role.RUNNER, proof=True)
def delete(request: HttpRequest, own: uuid.UUID) -> HttpResponse:
    """Delete a protocol that nobody uses, with all its versions."""
    row = access.own_protocol(request.user, own)
    if request.method != "POST":
        return render(request, "staff/delete_protocol.html", {"own": row})
    try:
        own_protocols.delete(own=row, by=request.user, now=clock.now())
    except own_protocols.InUse:
        return render(request, "staff/delete_protocol.html", {"own": row, "used": True}, status=409)
    messages.success(request, _("“%(title)s” is deleted.") % {"title": row.title})
    return redirect("own-protocols")


def _latest_known(request: HttpRequest, row: StaffProtocol) -> int:
    """Return which version was the latest when the form was drawn, as the form says."""
    raw = request.POST.get("seen", "")
    if request.method == "POST":
        return int(raw) if raw.isdecimal() and len(raw) < LONGEST_NUMBER else row.version
    return own_protocols.latest(row)


@staff_page(*READ, role=Role.RUNNER)
def download(request: HttpRequest, own: uuid.UUID) -> HttpResponse:
    """Give a version as a file."""
    row = access.own_protocol(request.user, own)
    name = f"{row.name}-{row.version}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(
        own_protocols.as_file(row), content_type="application/json", headers=headers
    )


def _first_version(request: HttpRequest, base: Protocol, origin: CopySource) -> HttpResponse:
    form = _form(request, base)
    if not _is_saved(request, form):
        return _page(request, form, origin=origin)
    made = own_protocols.add(
        protocol=form.protocol(), origin=origin, by=request.user, now=clock.now()
    )
    messages.success(request, _("Saved as version %(version)d.") % {"version": made.version})
    return redirect("own-protocol", made.pk)


def _form(request: HttpRequest, base: Protocol) -> ProtocolForm:
    """Return the form as it was begun, as a button changed it, or to be saved."""
    if request.method != "POST":
        return ProtocolForm(base)
    raw, action = request.POST.dict(), request.POST.get("do", SAVE)
    upload = request.FILES.get("image_file")
    if upload is not None or action == ADD_IMAGE:
        return _with_upload(base, raw, b"" if upload is None else upload.read(MOST_READ), action)
    if action == SAVE:
        return ProtocolForm(base, raw, check=True)
    return ProtocolForm(base, acted(raw, action))


def _with_upload(base: Protocol, raw: dict[str, str], upload: bytes, action: str) -> ProtocolForm:
    """Return the form with one more image, whose words have to be typed before it can be saved."""
    try:
        sha256 = protocol_images.put(image_bytes.uploaded(upload), clock.now())
    except BadField as problem:
        form = ProtocolForm(base, raw)
        form.upload_error = str(problem)
        return form
    return ProtocolForm(base, acted(with_image(raw, sha256), action), check=action == SAVE)


def _is_saved(request: HttpRequest, form: ProtocolForm) -> bool:
    return form.is_bound and form.is_valid()


def _page(
    request: HttpRequest,
    form: ProtocolForm,
    *,
    row: StaffProtocol | None = None,
    origin: CopySource | None = None,
    latest_known: int = 0,
    passed_over: int = 0,
) -> HttpResponse:
    """Draw the builder; `passed_over` is a version that saving would pass over unseen."""
    sample = form.sample()
    context = {
        "form": form,
        "own": row,
        "versions": own_protocols.versions(row) if row else [],
        "origin": CopySource(row.copied_name, row.copied_sha256) if row else origin,
        "groups": rendering.sample_questions(sample) if sample else [],
        "study": _instructions(sample) if sample else None,
        "upload_error": form.upload_error,
        "seen": latest_known,
        "passed_over": passed_over,
    }
    status = 409 if passed_over else 422 if form.errors or form.upload_error else 200
    return render(request, "staff/builder.html", context, status=status)


def _instructions(sample: Protocol) -> dict[str, Any]:
    """Return what the page of instructions shows of a protocol."""
    examples = sample.write.examples if sample.write else ()
    return {"instructions": sample.instructions, "images": sample.images, "examples": examples}


urlpatterns = [
    path("protocols/", index, name="own-protocols"),
    path("protocols/new/", blank, name="new-protocol"),
    path("protocols/copy/<slug:protocol>/", copy, name="copy-protocol"),
    path("protocols/<uuid:own>/", edit, name="own-protocol"),
    path("protocols/<uuid:own>/copy/", copy_own, name="copy-own-protocol"),
    path("protocols/<uuid:own>/delete/", delete, name="delete-own-protocol"),
    path("protocols/<uuid:own>/file/", download, name="own-protocol-file"),
]
