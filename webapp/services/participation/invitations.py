"""Signed invitations: links that prove an id, made for one person in one campaign (R38, S5).

The signature is an HMAC-SHA-256 with a key of the campaign that is nowhere in the database; it
covers the id, the campaign and the day on which the link expires. Ids are not stored by inviting.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing

from webapp.models import Campaign, Participation
from webapp.services.participation import privacy
from webapp.services.rules import access, audit, identity
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import BadField, Raw, parse_all, whole

SALT = "parley.invitation"
LONGEST_ID = 128
LONGEST_DAYS = 366
MOST_IDS = 10_000  # in one list
PLACEHOLDER = re.compile(r"[{}<>…]|\.\.\.")  # where a panel has put no id, it is one for everybody


class NoProof(Exception):
    """A link that proves nothing: forged, of another campaign, or expired; `notice` says which."""

    def __init__(self, notice: str) -> None:
        super().__init__(notice)
        self.notice = notice


@dataclass(frozen=True)
class Claim:
    """Who somebody says they are, and whether that was proven by a signature."""

    platform: str
    external_id: str
    is_proven: bool = False


def token(campaign: Campaign, external_id: str, expires: datetime) -> str:
    """Return the signed part of an invitation's link."""
    content = {"id": external_id, "until": int(expires.timestamp())}
    return signing.dumps(content, key=_key(campaign), salt=SALT)


def read(campaign: Campaign, signed: str, now: datetime) -> str:
    """Return the id that an invitation proves. Raises `NoProof`."""
    former: list[str | bytes] = [_key(campaign, key) for key in settings.SECRET_KEY_FALLBACKS]
    try:
        content = signing.loads(signed, key=_key(campaign), salt=SALT, fallback_keys=former)
    except signing.BadSignature:
        raise NoProof("bad_link") from None
    if content["until"] < now.timestamp():
        raise NoProof("invitation_expired")
    return str(content["id"])


def claim(campaign: Campaign, who: Mapping[str, str], now: datetime) -> Claim:
    """Return who a link or a form says that somebody is. Raises `NoProof`, also for nobody."""
    if signed := who.get("invitation", ""):
        return Claim(identity.INVITED, read(campaign, signed, now), is_proven=True)
    if PLACEHOLDER.search(who["external_id"]):
        raise NoProof("placeholder")
    return Claim(who["platform"], who["external_id"])


def _key(campaign: Campaign, key: str = "") -> str:
    return identity.derived_key("invitation", campaign, key).hex()


# --- what requesters make


def read_order(raw: Raw) -> tuple[list[str], int]:
    """Return the ids and for how many days their links hold. Raises `Invalid`."""
    found = parse_all(raw, {"ids": _ids, "days": whole(least=1, most=LONGEST_DAYS)})
    return found["ids"], found["days"]


def _ids(raw: str) -> list[str]:
    found = list(dict.fromkeys(line.strip() for line in raw.splitlines() if line.strip()))
    if not found:
        raise BadField("give one id or more, one per line")
    if len(found) > MOST_IDS:
        raise BadField(f"has {len(found)} ids; give at most {MOST_IDS} at once")
    for each in found:
        if len(each) > LONGEST_ID or not each.isprintable():
            raise BadField(f"{each[:40]!r} is no id: use at most {LONGEST_ID} printable characters")
    return found


def invite(
    *,
    campaign: AnyCampaign,
    ids: Sequence[str],
    days: int,
    start_link: str,
    by: str,
    now: datetime,
) -> list[tuple[str, str]]:
    """Return each id with its link, and log how many were made, never for whom."""
    row, expires = access.row_of(campaign), now + timedelta(days=days)
    audit.append(
        actor=by,
        action="invitations signed",
        campaign=row,
        now=now,
        count=len(ids),
        days=days,
    )
    return [(one, f"{start_link}?invitation={token(row, one, expires)}") for one in ids]


def private_link_token(*, campaign: AnyCampaign, pk: int, by: str, now: datetime) -> str:
    """Return the token of a person's private link, for who is to send it to them; it is logged.

    Raises `access.NotFound` where the person is of another campaign.
    """
    person = Participation.objects.filter(campaign=campaign.pk, pk=pk).first()
    if person is None:
        raise access.NotFound(f"participation {pk}")
    row = access.row_of(campaign)
    audit.append(actor=by, action="private link shown", campaign=row, now=now, participation=pk)
    return privacy.withdraw_token(person)
