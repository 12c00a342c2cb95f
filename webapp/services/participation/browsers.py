"""Browsers of a person: each has a secret of its own, and none shuts another out (R38).

Apart because consent, a private link and a page's first opening all lead here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from webapp.models import Browser, Campaign, Participation
from webapp.services.rules import access

SECRET = re.compile(r"[A-Za-z0-9_-]{43}")  # as `access.new_secret` draws them


def unused(secret: str, campaign: Campaign, names: Sequence[str]) -> str:
    """Return a secret that a page chose, or a new one where somebody else has it."""
    if not SECRET.fullmatch(secret):
        return access.new_secret()
    owner = Participation.objects.filter(access.of_browser([secret])).first()
    is_mine = owner is None or (owner.campaign_id == campaign.pk and owner.pseudonym in names)
    return secret if is_mine else access.new_secret()


def add(person: Participation, secret: str, now: datetime) -> None:
    """Let a browser be this person's. The participation is locked, so a repeat adds nothing."""
    if not access.held(person, [secret]):
        Browser.objects.create(
            participation=person, secret_hash=access.secret_hash(secret), made_at=now
        )


def open_by(person: Participation, secret: str, now: datetime) -> str:
    """Return the secret of a browser that proved to be a person's, who may have withdrawn."""
    if person.withdrawn_at is not None:
        raise access.NotFound(f"participation {person.pk} withdrew")
    mine = unused(secret, person.campaign, [person.pseudonym])
    with transaction.atomic():
        add(Participation.objects.select_for_update(no_key=True).get(pk=person.pk), mine, now)
    return mine
