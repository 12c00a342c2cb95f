"""Staff accounts and logins: no default password, two limits, everything logged (S3, S15)."""

import contextlib
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

from tests.factories import NOW, make_staff
from webapp.models import AuditEntry, LoginAttempt
from webapp.services.accounts import logins

pytestmark = pytest.mark.django_db


def test_five_attempts_a_minute_for_a_name_from_anywhere() -> None:
    for number in range(5):
        logins.attempt(username="Ann", address=f"10.0.0.{number}", now=NOW)
    with pytest.raises(logins.TooMany):
        logins.attempt(username=" ann", address="10.0.0.99", now=NOW)
    logins.attempt(username="bob", address="10.0.0.99", now=NOW)
    logins.attempt(username="ann", address="10.0.0.1", now=NOW + timedelta(seconds=61))


def test_twenty_attempts_a_minute_from_an_address_for_any_name() -> None:
    for number in range(20):
        logins.attempt(username=f"name{number}", address="10.0.0.1", now=NOW)
    with pytest.raises(logins.TooMany):
        logins.attempt(username="another", address="10.0.0.1", now=NOW)


def test_neither_names_nor_addresses_are_stored_and_old_attempts_go() -> None:
    logins.attempt(username="ann", address="10.0.0.1", now=NOW)
    stored = " ".join(LoginAttempt.objects.values_list("bucket", flat=True))
    assert "ann" not in stored
    assert "10.0.0.1" not in stored
    logins.attempt(username="bob", address="10.0.0.2", now=NOW + timedelta(minutes=5))
    assert LoginAttempt.objects.count() == 2


@pytest.mark.parametrize(
    ("forwarded", "proxies", "address"),
    [
        ("6.6.6.6", 0, "10.0.0.1"),
        ("6.6.6.6, 1.2.3.4", 1, "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4, 10.0.0.9", 2, "1.2.3.4"),
        ("", 1, "10.0.0.1"),
        ("1.2.3.4", 2, "10.0.0.1"),
    ],
)
def test_an_address_is_believed_only_from_trusted_proxies(
    forwarded: str, proxies: int, address: str
) -> None:
    assert logins.client_address("10.0.0.1", forwarded, proxies) == address


def test_the_command_makes_a_password_and_prints_it_once() -> None:
    out = StringIO()
    call_command("staff", "ann", "--generate", stdout=out)
    password = out.getvalue().rpartition("password: ")[2].strip()
    user = authenticate(username="ann", password=password)
    assert user is not None
    assert (user.is_staff, user.is_superuser) == (True, False)
    assert AuditEntry.objects.get().action == "staff account created"


def test_the_command_has_no_default_password() -> None:
    with pytest.raises(CommandError, match="--generate"):
        call_command("staff", "ann")
    assert not get_user_model().objects.exists()


def test_a_name_is_taken_once() -> None:
    call_command("staff", "ann", "--generate", stdout=StringIO())
    with pytest.raises(CommandError, match="changepassword"):
        call_command("staff", "ann", "--generate", stdout=StringIO())


@pytest.mark.parametrize("password", ["short", "password123", "12345678901"])
def test_a_weak_password_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        logins.create_staff(username="ann", password=password, superuser=False, now=NOW)


def test_an_owner_signs_in_from_a_known_device_during_ten_minutes_of_guesses() -> None:
    """Every three seconds a guess at the name from another address (T8)."""
    device = logins.device_of(logins.new_device("Ann"), "ann")
    kept_out, let_in = 0, 0
    for second in range(0, 600, 3):
        now = NOW + timedelta(seconds=second)
        with contextlib.suppress(logins.TooMany):
            logins.attempt(username="ann", address=f"10.0.{second // 250}.{second % 250}", now=now)
        if second % 60 == 30:
            try:
                logins.attempt(username="ann", address="10.9.9.9", now=now)
            except logins.TooMany:
                kept_out += 1
            logins.attempt(username="ann", address="10.9.9.9", now=now, device=device)
            let_in += 1
    assert (kept_out, let_in) == (10, 10)


def test_a_known_device_has_five_attempts_a_minute_of_its_own() -> None:
    cookies = [logins.new_device("ann") for _ in range(2)]
    first, second = (logins.device_of(cookie, "ann") for cookie in cookies)
    assert first != second
    for _ in range(5):
        logins.attempt(username="ann", address="10.0.0.1", now=NOW, device=first)
    with pytest.raises(logins.TooMany):
        logins.attempt(username="ann", address="10.0.0.1", now=NOW, device=first)
    logins.attempt(username="ann", address="10.0.0.1", now=NOW, device=second)


def test_a_forged_or_another_s_device_is_unknown() -> None:
    for cookie in ("", "x", "W10:1:2", logins.new_device("bob")):
        assert logins.device_of(cookie, "ann") == "", cookie
    assert logins.device_of(logins.new_device("ann"), "ann")


def test_a_browser_that_signed_in_before_gets_in_while_others_guess() -> None:
    make_staff("ann")
    owner, thief = Client(), Client(REMOTE_ADDR="10.6.6.6")
    right, wrong = ({"username": "ann", "password": each} for each in ("ann", "guess"))
    assert owner.post("/login/", right).status_code == 302
    owner.post("/logout/")
    assert [thief.post("/login/", wrong).status_code for _ in range(5)] == [200] * 4 + [429]
    assert Client().post("/login/", right).status_code == 429
    assert owner.post("/login/", right).status_code == 302
    cookie = owner.cookies["device"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
