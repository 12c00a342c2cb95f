"""Under which name a person is known in a campaign, and nowhere else (S14)."""

from __future__ import annotations

import hashlib
import hmac

from django.conf import settings

from webapp.models import Campaign

VOLUNTEER = "volunteer"  # the platform of who came without an id
INVITED = "invited"  # of who came by a signed invitation: no link can claim an id of it
TRANSCRIPT = "transcript"  # that of who chatted elsewhere, as an import names them
TELEGRAM = "telegram"  # of who came by the chat service: no link can claim an id of it


def derived_key(purpose: str, campaign: Campaign, key: str = "") -> bytes:
    """Return a campaign's key for one purpose, derived from the server's secret (by default the
    present one): it is nowhere in the database.
    """
    secret = (key or settings.SECRET_KEY).encode()
    return hmac.digest(secret, f"{purpose}:{campaign.pk}".encode(), hashlib.sha256)


def pseudonym(campaign: Campaign, platform: str, external_id: str, key: str = "") -> str:
    """Return the name under which a person is known: keyed, so that guessing ids proves nothing.

    The key is derived from the server's secret for each campaign, and is nowhere in the database.
    """
    derived = derived_key("pseudonym", campaign, key)
    who = f"{platform}\0{external_id}".encode()
    return hmac.new(derived, who, hashlib.sha256).hexdigest()


def pseudonyms(campaign: Campaign, platform: str, external_id: str) -> list[str]:
    """Return the person's names under the present key and the former ones, present first."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [pseudonym(campaign, platform, external_id, key) for key in keys]
