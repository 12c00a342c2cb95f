"""A participant's pages as a requester looks at them: the same templates, filled with samples.

Nothing on them can be sent: their policy forbids forms and requests.
"""

from __future__ import annotations

from csp.constants import NONE, SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import translation
from django.utils.translation import gettext_lazy
from django.views.decorators.clickjacking import xframe_options_sameorigin

from webapp.services.participation import samples
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.rules.protocols import protocol_of
from webapp.views import rendering
from webapp.views.staff.access import READ, NavLink, campaign_page

TITLES = {
    "entry": gettext_lazy("Entry and consent"),
    "ready": gettext_lazy("Instructions"),
    "screening": gettext_lazy("First questions"),
    "quiz": gettext_lazy("Quiz"),
    "chat": gettext_lazy("Conversation"),
    "rate": gettext_lazy("Questions"),
    "write": gettext_lazy("Writing"),
    "ended": gettext_lazy("The end"),
}


@csp_replace({"frame-src": [SELF]})
@campaign_page(*READ, role=Role.VIEWER, tab=NavLink(gettext_lazy("Preview"), 15, in_drafts=True))
def preview(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show one of the pages as on a phone and as on a desk."""
    names = samples.pages(protocol_of(campaign))
    chosen = request.GET.get("page", "")
    context = {
        "campaign": campaign,
        "tab": "preview",
        "pages": [(name, TITLES[name]) for name in names],
        "chosen": chosen if chosen in names else names[0],
    }
    return render(request, "staff/preview.html", context)


@csp_replace({"form-action": [NONE], "connect-src": [NONE], "frame-ancestors": [SELF]})
@xframe_options_sameorigin
@campaign_page(*READ, role=Role.VIEWER)
def preview_page(request: HttpRequest, campaign: StaffCampaign, screen: str) -> HttpResponse:
    """Show a page by itself."""
    if screen not in samples.pages(protocol_of(campaign)):
        raise Http404(screen)
    with translation.override(campaign.languages[0]):
        return rendering.render_preview(request, campaign, screen)


urlpatterns = [
    path("campaigns/<int:pk>/preview/", preview, name="preview"),
    path("campaigns/<int:pk>/preview/<slug:screen>/", preview_page, name="preview-page"),
]
