"""The staff desk: answers of a bot to confirm or correct, and the questions with their intents."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from webapp import clock
from webapp.services.data import reviewed_answers
from webapp.services.monitoring import desk as answers_desk
from webapp.services.rules.access import Role, StaffCampaign
from webapp.services.staff_forms.fields import Invalid
from webapp.views.staff.access import READ, WRITE, bad_form, campaign_page


@campaign_page(*READ, role=Role.VIEWER)
def desk(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Show how the bot does, and the answers that nobody has looked at."""
    return render(request, "staff/desk.html", _context(request, campaign))


@campaign_page(*WRITE, role=Role.RUNNER)
def decide(request: HttpRequest, campaign: StaffCampaign, job: int) -> HttpResponse:
    """Confirm or correct one answer."""
    raw, now = request.POST.dict(), clock.now()
    try:
        answers_desk.decide(campaign=campaign, pk=job, raw=raw, by=request.user, now=now)
    except Invalid as problem:
        context = _context(request, campaign) | {"problems": problem.problems, "refused_pk": job}
        context["typed"] = raw.get("intent", "")
        return bad_form(request, "staff/desk.html", context)
    except answers_desk.AlreadyReviewed:
        messages.warning(request, _("Somebody else looked at it meanwhile."))
    return redirect("desk", campaign.pk)


@campaign_page(*WRITE, role=Role.EXPORTER, proof=True)
def file(request: HttpRequest, campaign: StaffCampaign) -> HttpResponse:
    """Hand out the questions with the intents that people gave them."""
    lines = reviewed_answers.taken(campaign=campaign, by=request.user, now=clock.now())
    answer = HttpResponse(lines, content_type="application/jsonl; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="questions-{campaign.pk}.jsonl"'
    return answer


def _context(request: HttpRequest, campaign: StaffCampaign) -> dict[str, Any]:
    counted = answers_desk.days(campaign)
    return {
        "campaign": campaign,
        "tab": "conversations",
        "page": answers_desk.waiting(campaign, request.GET.dict()),
        "days": counted,
        "total": answers_desk.total(counted),
        "confused": answers_desk.confused(campaign),
        "intents": answers_desk.intents(campaign),
        "query": "",
    }


urlpatterns = [
    path("campaigns/<int:pk>/desk/", desk, name="desk"),
    path("campaigns/<int:pk>/desk/<int:job>/", decide, name="decide-answer"),
    path("campaigns/<int:pk>/desk/file/", file, name="desk-file"),
]
