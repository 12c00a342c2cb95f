"""Another password of one's own, and words of this place that count for nothing in one (S4)."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.factories import make_staff
from webapp.models import AuditEntry, StaffSession

pytestmark = pytest.mark.django_db
NEW = "wolken über dem hafen im märz"


def change(client: Client, old: str, new: str) -> Any:
    return client.post(reverse("password"), {"old": old, "new": new})


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_new_password_takes_the_present_one_and_ends_other_sessions() -> None:
    ann = make_staff("ann")
    here, there = signed_in(ann), signed_in(ann)
    assert here.get(reverse("password")).status_code == 200
    assert change(here, "ann", NEW).status_code == 302
    ann.refresh_from_db()
    assert ann.check_password(NEW)
    assert here.get(reverse("account")).status_code == 200
    assert there.get(reverse("account")).status_code == 302
    assert StaffSession.objects.filter(account=ann.pk).count() == 1
    assert AuditEntry.objects.filter(action="password changed", actor="ann").count() == 1
    assert not AuditEntry.objects.filter(detail__icontains="hafen").exists()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("another", NEW, "not your present password"),
        ("ann", "short", "at least 8 characters"),
        ("ann", "password123", "too common"),
        ("ann", "ParleyChatbotResearch2026", "8 characters besides words such as"),
    ],
)
def test_a_wrong_or_a_weak_one_changes_nothing(old: str, new: str, complaint: str) -> None:
    ann = make_staff("ann")
    refused = change(signed_in(ann), old, new)
    assert refused.status_code == 422
    assert complaint in refused.content.decode()
    ann.refresh_from_db()
    assert ann.check_password("ann")


def test_the_present_one_cannot_be_guessed_there() -> None:
    client = signed_in(make_staff("ann"))
    for _ in range(5):
        assert change(client, "guess", NEW).status_code == 422
    refused = change(client, "ann", NEW)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")


def test_any_characters_and_long_ones_are_taken_and_host_names_are_not(
    settings: LazySettings,
) -> None:
    settings.ALLOWED_HOSTS = ["chat.lakeside-lab.example.org"]
    for good in (NEW, "x7" + "🙂" * 7, "a b" * 40, "lakeside lab 4 o'clock"):
        validate_password(good)
    with pytest.raises(ValidationError, match="besides words such as parley"):
        validate_password("lakeside-example-123")


def test_a_logout_lets_the_browser_forget_pages() -> None:
    answer = signed_in(make_staff("ann")).post(reverse("logout"))
    assert answer.headers["Clear-Site-Data"] == '"cache"'


def test_sessions_are_ended_from_the_server_of_one_or_of_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """ASVS 7.4.5."""
    clients = {name: signed_in(make_staff(name)) for name in ("ann", "bob", "eve")}
    call_command("sign_out", "bob")
    states = {name: each.get(reverse("account")).status_code for name, each in clients.items()}
    assert states == {"ann": 200, "bob": 302, "eve": 200}
    call_command("sign_out", "--all")
    assert capsys.readouterr().out == "1 sessions ended\n2 sessions ended\n"
    assert clients["eve"].get(reverse("account")).status_code == 302
    for wrong in (["nobody"], [], ["ann", "--all"]):
        with pytest.raises(CommandError, match=r"no account 'nobody'|name an account"):
            call_command("sign_out", *wrong)
