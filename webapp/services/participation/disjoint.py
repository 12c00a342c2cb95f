"""Disjoint phases: whoever took part in one cannot take part in another.

Whoever judges is not who was judged (MEENA, sections 2.4 and 2.6). A person
has another pseudonym in every campaign, so membership is found by computing, from the outside id,
the names that it has in the others; nothing that links two participations is stored.
Apart because it is a rule of a study, which no campaign has.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q

from webapp.models import Campaign, Participation, Study
from webapp.services.rules import access, identity


def lock(campaign: Campaign) -> None:
    """Let people join the phases of a disjoint study one after another.

    Called in a transaction: of two who come with one id at once, to two phases, one is a member
    before the other is asked about.
    """
    if campaign.study_id is not None:
        list(Study.objects.select_for_update().filter(pk=campaign.study_id, disjoint=True))


def refusal(
    *, campaign: Campaign, platform: str, external_id: str, secrets: Iterable[str] = ()
) -> str:
    """Return the notice of why somebody may not join this phase, "" where they may.

    Without an id nobody can be told from the members of the other phases. `secrets` are of the
    cookies in the browser: they know who took part without one.
    """
    if campaign.study_id is None:
        return ""
    study = Study.objects.filter(pk=campaign.study_id, disjoint=True).first()
    if study is None:
        return ""
    if platform == identity.VOLUNTEER:
        return "needs_id"
    others = Campaign.objects.filter(study=study).exclude(pk=campaign.pk)
    names = [n for each in others for n in identity.pseudonyms(each, platform, external_id)]
    people = Participation.objects.filter(campaign__in=others)
    known = people.filter(Q(pseudonym__in=names) | access.of_browser(secrets))
    return "other_phase" if known.exists() else ""
