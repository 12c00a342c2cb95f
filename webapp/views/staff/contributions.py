"""Pages of what participants wrote: read, accept or refuse; and use it in a draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext_lazy, ngettext

from webapp import clock
from webapp.services.campaign import written_materials
from webapp.services.monitoring.review import read_reason
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms.fields import Invalid
from webapp.services.writing import decisions
from webapp.views.staff.access import FORM, WRITE, NavLink, bad_form, campaign_page, conflict

PAGE = "staff/contributions.html"


TAB = NavLink(gettext_lazy("Contributions"), 30, of=("texts",))


@campaign_page(*FORM, role=Role.VIEWER, change=Role.RUNNER, tab=TAB)
def contributions(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show what was written; accept or refuse it."""
    if request.method != "POST":
        return render(request, PAGE, _shown(request, campaign))
    changes: dict[str, Any] = {"campaign": campaign, "by": request.user, "now": clock.now()}
    pks = [int(each) for each in request.POST.getlist("contribution") if each.isdecimal()]
    try:
        if request.POST.get("action") == "refuse":
            reason = read_reason(request.POST.dict())
            count = decisions.refuse(pks=pks, reason=reason, **changes)
            text = ngettext("%(count)d was refused.", "%(count)d were refused.", count)
        else:
            count = decisions.accept(pks=pks, **changes)
            text = ngettext("%(count)d was accepted.", "%(count)d were accepted.", count)
    except Invalid as problem:
        context = _shown(request, campaign) | {"problems": problem.problems, "refused": pks}
        return bad_form(request, PAGE, context | {"raw": request.POST})
    messages.success(request, text % {"count": count})
    return redirect(f"{reverse('contributions', args=[campaign.pk])}?{request.GET.urlencode()}")


@campaign_page(*WRITE, role=Role.RUNNER)
def use(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Take what was accepted in another campaign into this draft."""
    if campaign.state != "DRAFT":
        return conflict(request, campaign.state)
    now, source = clock.now(), request.POST.get("source", "")
    try:
        count = written_materials.take(campaign=campaign, source=source, by=request.user, now=now)
    except Invalid as problem:
        messages.error(request, problem.problems["source"])
    else:
        text = ngettext("%(count)d was taken.", "%(count)d were taken.", count)
        messages.success(request, text % {"count": count})
    return redirect(written_materials.wants(campaign) or "campaign", campaign.pk)


def _shown(request: HttpRequest, campaign: StaffCampaign) -> dict[str, Any]:
    query: Mapping[str, str] = request.GET
    state, after = query.get("state", "OFFERED"), query.get("after", "")
    rows = decisions.listed(
        campaign=campaign,
        state=state if state in decisions.State.values else "",
        after=int(after) if after.isdecimal() and len(after) < 19 else 0,
    )
    return {
        "campaign": campaign,
        "tab": "contributions",
        "rows": rows,
        "state": state,
        "counts": decisions.counts(campaign),
        "states": [(each.value, each.label) for each in decisions.State],
        "next": rows[-1].pk if len(rows) == decisions.PAGE else 0,
    }


urlpatterns = [
    path("campaigns/<int:pk>/contributions/", contributions, name="contributions"),
    path("campaigns/<int:pk>/contributions/use/", use, name="use-contributions"),
]
