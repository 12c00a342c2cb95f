"""Names of people in a campaign: the present key's first, then the former ones' (S14)."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from tests.factories import make_campaign
from webapp.services.rules import identity

pytestmark = pytest.mark.django_db


def test_a_person_is_looked_for_under_the_present_key_first(settings: Settings) -> None:
    campaign = make_campaign(personas=0)
    old = identity.pseudonym(campaign, "mturk", "A1")
    assert identity.pseudonyms(campaign, "mturk", "A1") == [old]
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the next key, long enough to be one " * 2
    new = identity.pseudonym(campaign, "mturk", "A1")
    assert new != old
    assert identity.pseudonyms(campaign, "mturk", "A1") == [new, old]
    assert len(new) == 64


def test_an_id_is_not_told_from_its_platform_by_where_one_ends() -> None:
    """Ids are the panel's to choose: "a" of "b1" is not "ab" of "1"."""
    campaign = make_campaign(personas=0)
    assert identity.pseudonym(campaign, "a", "b1") != identity.pseudonym(campaign, "ab", "1")
