"""Where alarms are mailed to is entered by each account, or by the deployer (S13)."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.factories import make_staff
from webapp.models import AuditEntry
from webapp.services.ops import server_checks

pytestmark = pytest.mark.django_db


def save(client: Client, address: str) -> Any:
    return client.post(reverse("alarm-address"), {"email": address}, follow=True)


def mail_check() -> tuple[bool, str]:
    (found,) = [each for each in server_checks.checks() if each.name == "mail of alarms"]
    return found.ok, found.text


def test_an_account_enters_its_own_and_it_is_said_where_nobody_has_one(
    settings: LazySettings,
) -> None:
    ann, client = make_staff("ann"), Client()
    client.force_login(ann)
    assert mail_check() == (True, "not used: EMAIL_URL is not set")
    assert "it mails no alarms" in client.get(reverse("account")).content.decode()
    settings.EMAIL_HOST = "mail.example.org"
    assert mail_check() == (False, "no account has an address (Account)")
    assert "No alarm is mailed to you." in client.get(reverse("account")).content.decode()
    page = save(client, " ann@example.org ").content.decode()
    assert "Alarms are mailed to ann@example.org." in page
    assert "No alarm is mailed to you." not in page
    assert mail_check() == (True, "accounts with an address: 1")
    assert not AuditEntry.objects.filter(detail__icontains="example.org").exists()
    assert "mailed to you no more" in save(client, "").content.decode()
    assert AuditEntry.objects.filter(action="address of alarms changed").count() == 2


@pytest.mark.parametrize("wrong", ["ann", "a@b@c", "x" * 250 + "@example.org", "a\0@example.org"])
def test_what_is_no_address_is_refused_and_kept_on_the_page(wrong: str) -> None:
    ann, client = make_staff("ann"), Client()
    client.force_login(ann)
    refused = save(client, wrong)
    assert refused.status_code == 422
    assert "Address for alarms" in refused.content.decode()
    assert "Give an address such as ada@example.org" in refused.content.decode()
    ann.refresh_from_db()
    assert ann.email == ""


def test_the_command_takes_one() -> None:
    words = ("--generate", "--email")
    call_command("staff", "ann", *words, "ann@example.org", stdout=StringIO())
    assert get_user_model().objects.get(username="ann").email == "ann@example.org"
    with pytest.raises(CommandError, match="--email bob is no address"):
        call_command("staff", "bob", *words, "bob", stdout=StringIO())
