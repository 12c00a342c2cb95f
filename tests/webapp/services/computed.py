"""Results of a campaign or a study, wanted and computed here and now."""

from __future__ import annotations

from django.utils import timezone

from webapp.models import Campaign, Study
from webapp.services.results import computing, stored


def computed(of: Campaign | Study, name: str = "page", choice: str = "counted") -> stored.Found:
    """Return a result as pages find it, computed by what a server's child runs."""
    stored.want(of=of, name=name, choice=choice, now=timezone.now())
    computing.compute_wanted(stored.subject_of(of))
    return stored.look(of=of, name=name, choice=choice, now=timezone.now())
