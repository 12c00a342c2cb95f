"""A password that was drawn for an account opens one page, to choose another, and not for long."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from webapp.models import AuditEntry, FirstPassword
from webapp.services.accounts import first_passwords

pytestmark = pytest.mark.django_db
NEW = "wolken über dem hafen im märz"


@pytest.fixture(autouse=True)
def seven_days(settings: LazySettings) -> None:
    settings.FIRST_PASSWORD_DAYS = 7


def drawn(*words: str) -> str:
    """Return the password that the command prints."""
    out = StringIO()
    call_command("staff", "ann", *(words or ("--generate", "--superuser")), stdout=out)
    password: str = out.getvalue().split("password: ")[1].split()[0]
    assert "good for 7 days, and has to be changed" in out.getvalue()
    return password


def sign_in(password: str) -> tuple[Client, Any]:
    client = Client()
    typed = {"username": "ann", "password": password}
    return client, client.post(reverse("login"), typed)


def choose(client: Client, old: str, new: str) -> Any:
    return client.post(reverse("password"), {"old": old, "new": new})


def test_nothing_opens_before_another_one_is_chosen() -> None:
    first = drawn()
    client, answer = sign_in(first)
    assert answer.status_code == 302
    for address in (reverse("campaigns"), reverse("studies"), "/admin/"):
        assert client.get(address, follow=True).redirect_chain[-1][0] == reverse("password")
    assert client.post(reverse("projects"), {"name": "Mine"}).status_code == 302
    assert not AuditEntry.objects.filter(action="project created", detail__name="Mine").exists()
    assert "somebody else has seen it" in client.get(reverse("password")).content.decode()
    kept = choose(client, first, first)
    assert kept.status_code == 422
    assert "another one than the first" in kept.content.decode()
    assert "somebody else has seen it" in kept.content.decode()
    assert choose(client, first, NEW).status_code == 302
    for address in (reverse("campaigns"), "/admin/"):
        assert client.get(address).status_code == 200
    again, _ = sign_in(NEW)
    assert again.get(reverse("campaigns")).status_code == 200


def test_a_second_factor_comes_after_it(settings: LazySettings) -> None:
    settings.SECOND_FACTOR_REQUIRED = True
    first = drawn()
    client, _ = sign_in(first)
    assert client.get(reverse("campaigns"))["Location"] == reverse("password")
    choose(client, first, NEW)
    assert client.get(reverse("campaigns"))["Location"] == reverse("second-factor")


def test_after_seven_days_it_lets_nobody_in_until_another_is_drawn() -> None:
    first = drawn()
    FirstPassword.objects.update(made_at=FirstPassword.objects.get().made_at - timedelta(days=7))
    client, answer = sign_in(first)
    assert answer.status_code == 200
    assert "This first password has expired" in answer.content.decode()
    assert client.get(reverse("campaigns")).status_code == 302
    assert AuditEntry.objects.filter(action="login refused", actor="ann").count() == 1
    second = drawn("--anew")
    assert second != first
    assert sign_in(first)[1].status_code == 200
    client, answer = sign_in(second)
    assert answer.status_code == 302
    assert choose(client, second, NEW).status_code == 302
    assert AuditEntry.objects.filter(action="first password drawn anew").count() == 1


def test_another_one_ends_the_sessions_of_the_former() -> None:
    first = drawn()
    client, _ = sign_in(first)
    choose(client, first, NEW)
    drawn("--anew")
    assert client.get(reverse("campaigns"))["Location"].startswith(reverse("login"))


def test_a_password_that_the_deployer_types_is_no_first_one() -> None:
    drawn()
    ann = get_user_model().objects.get(username="ann")
    ann.set_password(NEW)
    ann.save()  # as manage.py changepassword and /admin/ do
    assert not FirstPassword.objects.exists()
    client, _ = sign_in(NEW)
    assert client.get(reverse("campaigns")).status_code == 200


def test_a_hash_that_is_brought_up_to_date_is_no_change(settings: LazySettings) -> None:
    first = drawn()
    ann = get_user_model().objects.get(username="ann")
    hashers = ("PBKDF2PasswordHasher", "PBKDF2SHA1PasswordHasher")
    settings.PASSWORD_HASHERS = [f"django.contrib.auth.hashers.{name}" for name in hashers[::-1]]
    before = ann.password
    client, _ = sign_in(first)
    ann.refresh_from_db()
    assert ann.password != before
    assert client.get(reverse("campaigns"))["Location"] == reverse("password")


def test_where_it_is_not_asked_for_it_opens_everything(settings: LazySettings) -> None:
    first = drawn()
    settings.FIRST_PASSWORD_DAYS = 0
    FirstPassword.objects.update(made_at=FirstPassword.objects.get().made_at - timedelta(days=99))
    client, _ = sign_in(first)
    assert client.get(reverse("campaigns")).status_code == 200
    ann = get_user_model().objects.get(username="ann")
    assert not first_passwords.is_to_be_changed(ann)


def test_only_an_account_of_staff_gets_another_one() -> None:
    get_user_model().objects.create_user("guest")
    for name in ("guest", "nobody"):
        with pytest.raises(CommandError, match="no account of staff"):
            call_command("staff", name, "--anew", stdout=StringIO())


def test_another_first_password_changes_nothing_else() -> None:
    """An option that would do nothing is refused, and the password stays."""
    drawn("--generate")
    before = get_user_model().objects.get().password
    for more in (["--email", "ada@example.org"], ["--superuser"], ["--project", "lab"]):
        with pytest.raises(CommandError, match="nothing else"):
            drawn("--anew", *more)
    assert get_user_model().objects.get().password == before
