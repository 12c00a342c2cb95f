"""Second factor: codes by the vectors of RFC 6238, and an account's way through its pages (S4)."""

from __future__ import annotations

import base64
import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_campaign, make_staff
from webapp import clock
from webapp.models import AuditEntry, LoginAttempt, RecoveryCode, SecondFactor, StaffSession
from webapp.services.accounts import logins, proofs, second_factor, sessions, totp

pytestmark = pytest.mark.django_db
SEED = base64.b32encode(b"12345678901234567890").decode()  # RFC 6238, appendix B, of SHA-1
STEP = timedelta(seconds=totp.STEP)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    assert totp.code(SEED, seconds // totp.STEP, digits=8) == code
    assert totp.code(SEED, seconds // totp.STEP) == code[2:]


@pytest.mark.parametrize(
    ("drift", "taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_phone_s_clock_may_be_a_step_off(drift: int, taken: bool) -> None:
    typed = totp.code(SEED, 1_000 + drift)
    found = totp.step_of(SEED, typed, 1_000 * totp.STEP)
    assert found == (1_000 + drift if taken else None)


def test_a_code_is_good_once_and_not_the_one_before_it() -> None:
    step = totp.step_of(SEED, totp.code(SEED, 1_000), 1_000 * totp.STEP)
    assert step == 1_000
    for past in (999, 1_000):
        typed = totp.code(SEED, past)
        assert totp.step_of(SEED, typed, 1_000 * totp.STEP, after=step) is None


def enrolled(user: Any, now: Any = NOW) -> tuple[str, list[str]]:
    """Turn an account's second factor on; return its secret and recovery codes."""
    second_factor.begin(user=user, now=now)
    found = second_factor.enrolment(user)
    assert found is not None
    step = int(now.timestamp()) // totp.STEP
    codes = second_factor.confirm(user=user, typed=totp.code(found.secret, step - 1), now=now)
    assert codes is not None
    return found.secret, codes


def code_at(secret: str, now: Any) -> str:
    return totp.code(secret, int(now.timestamp()) // totp.STEP)


def test_neither_secret_nor_recovery_codes_are_in_the_database() -> None:
    secret, codes = enrolled(make_staff("ann"))
    stored = str([*SecondFactor.objects.values(), *RecoveryCode.objects.values()])
    assert secret not in stored
    assert not any(code in stored or code.replace("-", "") in stored for code in codes)


def test_codes_are_taken_once_each_of_either_kind() -> None:
    ann, bob = make_staff("ann"), make_staff("bob")
    secret, codes = enrolled(ann)
    enrolled(bob)
    typed = code_at(secret, NOW)
    assert not second_factor.check(user=bob, typed=typed, now=NOW)
    assert not second_factor.check(user=bob, typed=codes[0], now=NOW)
    assert [second_factor.check(user=ann, typed=typed, now=NOW) for _ in "12"] == [True, False]
    spaced = codes[0].upper().replace("-", " ")
    assert [second_factor.check(user=ann, typed=each, now=NOW) for each in (spaced, codes[0])] == [
        True,
        False,
    ]
    assert second_factor.state(ann).codes_left == second_factor.CODES - 1
    second_factor.renew_codes(user=ann, now=NOW)
    assert not second_factor.check(user=ann, typed=codes[1], now=NOW)


def test_a_new_key_of_the_server_takes_over_secrets(settings: LazySettings) -> None:
    ann = make_staff("ann")
    secret, codes = enrolled(ann)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "n" * 60
    assert second_factor.check(user=ann, typed=code_at(secret, NOW), now=NOW)
    settings.SECRET_KEY_FALLBACKS = []
    later = NOW + STEP
    assert second_factor.check(user=ann, typed=code_at(secret, later), now=later)
    settings.SECRET_KEY = "m" * 60
    later += STEP
    assert not second_factor.check(user=ann, typed=code_at(secret, later), now=later)
    assert second_factor.check(user=ann, typed=codes[0], now=later)


def test_codes_cannot_be_tried_for_long() -> None:
    ann = make_staff("ann")
    enrolled(ann)
    for number in range(20):  # five a minute, and 20 an hour
        at = NOW + timedelta(seconds=15 * number)
        assert not proofs.check_code(user=ann, code="000000", device="", now=at)
    with pytest.raises(logins.TooMany):
        logins.attempt_proof(user=ann, device="", now=NOW + timedelta(minutes=30))
    logins.attempt_proof(user=ann, device="known", now=NOW + timedelta(minutes=30))
    logins.attempt_proof(user=ann, device="", now=NOW + timedelta(minutes=95))
    assert LoginAttempt.objects.count() == 1


# --- through pages -----------------------------------------------------------------------------


def page_of(answer: Any) -> str:
    return str(answer.content.decode())


def enrol(client: Client) -> tuple[str, list[str]]:
    """Set the second factor up as its page leads."""
    client.post(reverse("change-second-factor", args=["begin"]))
    page = page_of(client.get(reverse("second-factor")))
    secret = re.search(r"data-secret>([A-Z2-7 ]+)<", page)
    assert secret is not None
    address = reverse("confirm-second-factor")
    assert client.post(address, {"code": "12345x"}).status_code == 422
    typed = secret[1].replace(" ", "")
    link = parse_qs(
        urlsplit(page.split('href="otpauth:')[1].split('"')[0]).query.replace("&amp;", "&")
    )
    assert link["secret"] == [typed]
    done = client.post(address, {"code": code_at(typed, clock.now())})
    codes = re.findall(r"<li><code>([a-z2-7-]+)</code>", page_of(done))
    assert len(codes) == second_factor.CODES
    return typed, codes


def password(client: Client, name: str = "ann") -> Any:
    return client.post("/login/", {"username": name, "password": name, "next": "/studies/"})


def test_signing_in_takes_a_code_and_a_lost_phone_a_recovery_code() -> None:
    ann, other = Client(), Client()
    make_staff("ann")
    password(ann)
    password(other)
    secret, codes = enrol(ann)
    assert other.get("/campaigns/").status_code == 302  # it had the password only
    half = Client()
    assert password(half)["Location"] == reverse("login-code")
    assert half.get("/campaigns/").status_code == 302
    assert half.post("/login/code/", {"code": "000000"}).status_code == 422
    done = half.post("/login/code/", {"code": code_at(secret, clock.now() + STEP)})
    assert (done.status_code, done["Location"]) == (302, "/studies/")
    assert half.get("/campaigns/").status_code == 200
    for code, status in ((codes[3], 302), (codes[3], 422)):
        lost = Client()
        password(lost)
        assert lost.post("/login/code/", {"code": code}).status_code == status
        assert lost.get("/campaigns/").status_code == (200 if status == 302 else 302)
    log = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"second factor turned on", "recovery code used", "login refused"} <= log


def test_a_sixth_code_within_a_minute_is_refused_even_if_right() -> None:
    ann = make_staff("ann")
    secret, _ = enrolled(ann, clock.now())
    client = Client()
    password(client)
    statuses = [client.post("/login/code/", {"code": "000000"}).status_code for _ in range(5)]
    answer = client.post("/login/code/", {"code": code_at(secret, clock.now())})
    assert statuses == [422] * 5
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")
    assert client.get("/campaigns/").status_code == 302


def test_nobody_gets_to_the_code_without_the_password() -> None:
    make_staff("ann")
    assert Client().get("/login/code/")["Location"] == reverse("login")
    assert Client().post("/login/code/", {"code": "000000"})["Location"] == reverse("login")


def test_half_a_login_is_good_for_five_minutes() -> None:
    ann = make_staff("ann")
    secret, _ = enrolled(ann, clock.now())
    client = Client()
    password(client)
    session = client.session
    session["half_signed_in"] |= {"at": (clock.now() - timedelta(minutes=5, seconds=1)).isoformat()}
    session.save()
    late = client.post("/login/code/", {"code": code_at(secret, clock.now())})
    assert late["Location"] == reverse("login")
    assert client.get("/campaigns/").status_code == 302


def test_the_server_may_demand_it_of_everybody(settings: LazySettings) -> None:
    settings.SECOND_FACTOR_REQUIRED = True
    make_staff("ann")
    client = Client()
    password(client)
    campaign = make_campaign()
    for address in ("/campaigns/", reverse("live", args=[campaign.pk]), "/login/"):
        assert client.get(address)["Location"] == reverse("second-factor")
    assert client.get("/admin/", follow=True).redirect_chain[-1][0] == reverse("second-factor")
    enrol(client)
    assert client.get(reverse("live", args=[campaign.pk])).status_code == 200
    off = reverse("change-second-factor", args=["off"])
    assert "demands it of everybody" in page_of(client.post(off, follow=True))
    assert SecondFactor.objects.count() == 1


def stale(client: Client) -> None:
    """Let ten minutes pass since the session's owner last proved who it is."""
    session = client.session
    session[sessions.PROVED] = (clock.now() - sessions.FRESH).isoformat()
    session.save()


def test_turning_it_off_asks_for_the_password_again() -> None:
    make_staff("ann")
    client = Client()
    password(client)
    enrol(client)
    stale(client)
    off = reverse("change-second-factor", args=["off"])
    assert client.post(off).status_code == 403
    assert client.post(off, {"proof-password": "wrong", "proof-code": ""}).status_code == 403
    assert SecondFactor.objects.count() == 1
    answer = client.post(off, {"proof-password": "ann", "proof-code": ""})
    assert answer.status_code == 302
    assert (SecondFactor.objects.count(), RecoveryCode.objects.count()) == (0, 0)
    assert password(Client())["Location"] == "/studies/"


@pytest.mark.parametrize(("seconds", "is_fresh"), [(599, True), (600, False), (601, False)])
def test_a_proof_is_good_for_ten_minutes(seconds: int, is_fresh: bool) -> None:
    session: dict[str, Any] = {}
    sessions.prove(session, NOW)
    fresh = sessions.is_fresh(session, NOW + timedelta(seconds=seconds))
    assert fresh is is_fresh
    assert not sessions.is_fresh({}, NOW)


def test_what_was_typed_is_kept_while_the_password_is_asked_for() -> None:
    campaign = make_campaign()
    client = Client()
    client.force_login(make_staff("ann"))
    stale(client)
    address = reverse("pay", args=[campaign.pk])
    raw = {"pay": "3.00", "reason": "More work than we thought."}
    asked = client.post(address, raw)
    assert asked.status_code == 403
    assert 'name="reason" value="More work than we thought."' in page_of(asked)
    campaign.refresh_from_db()
    assert str(campaign.pay) == "2.00"
    assert (
        client.post(address, raw | {"proof-password": "ann", "proof-code": ""}).status_code == 302
    )
    campaign.refresh_from_db()
    assert str(campaign.pay) == "3.00"
    assert client.post(address, raw | {"pay": "4.00"}).status_code == 302  # within ten minutes


def test_the_password_cannot_be_guessed_there() -> None:
    campaign = make_campaign()
    client = Client()
    client.force_login(make_staff("ann"))
    stale(client)
    address = reverse("results-export", args=[campaign.pk])
    wrong = {"proof-password": "wrong", "proof-code": ""}
    assert [client.post(address, wrong).status_code for _ in range(5)] == [403] * 5
    assert client.post(address, wrong | {"proof-password": "ann"}).status_code == 429
    assert not AuditEntry.objects.filter(action="exported").exists()


def test_who_lost_phone_and_codes_is_helped_from_the_server(capsys: Any) -> None:
    enrolled(make_staff("ann"))
    call_command("second_factor", "ann")
    call_command("second_factor", "ann", "--off")
    said = capsys.readouterr().out
    assert said == "ann: second factor on, 10 recovery codes left\nann: second factor off\n"
    for name, words in (("ann", "has no second factor"), ("nobody", "there is no account")):
        with pytest.raises(CommandError, match=words):
            call_command("second_factor", name, "--off")


# --- sessions ----------------------------------------------------------------------------------

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"


def test_sessions_are_listed_and_ended() -> None:
    make_staff("ann")
    make_staff("bob")
    laptop, phone, third, bob = (Client(headers={"User-Agent": FIREFOX}) for _ in range(4))
    phone = Client(headers={"User-Agent": SAFARI})
    for client in (laptop, phone, third):
        password(client)
    password(bob, "bob")
    page = page_of(laptop.get(reverse("account")))
    assert page.count("Firefox on Linux") >= 2
    assert "Safari on iPhone" in page
    assert not any(str(each.session.session_key) in page for each in (laptop, phone, third))
    end = reverse("end-sessions")
    rows = sessions.listed(user=get(laptop), own=laptop.session.session_key, now=clock.now())
    key = next(row.key for row in rows if row.device == "Safari on iPhone")
    bob.post(end, {"key": key})
    assert phone.get("/campaigns/").status_code == 200  # not bob's to end
    laptop.post(end, {"key": key})
    assert phone.get("/campaigns/").status_code == 302
    assert third.get("/campaigns/").status_code == 200
    laptop.post(end)
    statuses = [each.get("/campaigns/").status_code for each in (laptop, third, bob)]
    assert statuses == [200, 302, 200]


def get(client: Client) -> Any:
    return StaffSession.objects.get(session_key=client.session.session_key).account


def test_last_seen_follows_requests_and_no_address_is_stored() -> None:
    client = Client(REMOTE_ADDR="203.0.113.7", headers={"User-Agent": FIREFOX})
    make_staff("ann")
    password(client)
    old = clock.now() - timedelta(minutes=5)
    StaffSession.objects.update(seen_at=old)
    client.get("/campaigns/")
    row = StaffSession.objects.get()
    assert row.seen_at > old
    assert "203.0.113" not in str([*StaffSession.objects.values()]) + str(row.get_decoded())
