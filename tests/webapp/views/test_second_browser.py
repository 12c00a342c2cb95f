"""A second browser that only knows the id, and those that prove who they are (R38, S5, G11).

Each row is a claim that is true; the attacker has the start link and the panel's id.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import CommandError, call_command
from django.http import SimpleCookie
from django.test import Client
from django.urls import reverse

from tests.factories import make_staff
from tests.webapp.services.campaign.test_written_materials import judging
from tests.webapp.services.people import join
from tests.webapp.services.studies import make_study
from tests.webapp.services.third import labeling, of_people, talk
from tests.webapp.services.written import accepted, of_replies
from tests.webapp.views.staff.addresses import filled, of
from tests.webapp.views.visiting import Visit, campaign_of, good_answers, rating_visit
from webapp import clock, notices
from webapp.models import (
    AuditEntry,
    Browser,
    Campaign,
    CompletionCode,
    Participation,
    Study,
)
from webapp.services.participation import consents, invitations, privacy
from webapp.services.rules import access, payment
from webapp.views.audience import Audience

pytestmark = pytest.mark.django_db


def everything() -> dict[str, list[Any]]:
    """Return every row there is."""
    found = apps.get_app_config("webapp").get_models()
    return {each.__name__: list(each._default_manager.order_by("pk").values()) for each in found}


def at_step(step: str) -> Visit:
    """Return the honest person's browser, at a step."""
    campaign = campaign_of(changes={"chat.minimum": [2]}, target=3)
    honest = rating_visit(campaign) if step in ("rate", "ended", "over") else Visit(campaign)
    if step in ("ready", "chat"):
        honest.join()
    if step == "chat":
        honest.post("start")
    if step in ("ended", "over"):
        honest.post("rate", good_answers(honest.get()))
    if step == "over":
        Campaign.objects.update(state="STOPPED")
    return honest


@pytest.mark.parametrize("step", ["ready", "chat", "rate", "ended", "over"])
def test_a_second_browser_that_knows_the_id_reads_changes_and_locks_out_nothing(step: str) -> None:
    honest = at_step(step)
    code = CompletionCode.objects.first()
    page, before = honest.get().status_code, everything()
    attacker = Visit(honest.campaign)
    attacker.name = honest.name
    for query in (f"?PROLIFIC_PID={honest.name}", f"?id={honest.name}", ""):
        attacker.get(query)
    refused = attacker.join()
    assert refused.status_code == 409
    made_up = {"slug": honest.campaign.slug, "name": "x", "token": "forged", "rest": "x"}
    for route in of(Audience.PARTICIPANT):
        if route.endswith((">/", "consent", "language", "declined")):  # a newcomer has these
            continue
        address = filled(route, **made_up)
        for answer in (attacker.client.get(address), attacker.client.post(address)):
            attacker.note(answer)
            assert answer.status_code in (302, 404, 405), address
    assert everything() == before
    told = " ".join(attacker.told)
    assert honest.person.pseudonym not in told
    assert privacy.withdraw_token(honest.person) not in told
    assert code is None or code.code not in told
    assert "Hello number" not in told
    assert honest.get().status_code == page == 200


@pytest.mark.parametrize("state", ["OPEN", "PAUSED", "STOPPED", "CLOSED"])
def test_a_claim_learns_whether_the_id_took_part_only_where_it_could_have_begun(
    state: str,
) -> None:
    honest = at_step("ready")
    Campaign.objects.update(state=state)
    told = []
    for name in (honest.name, "nobody-yet"):
        attacker = Visit(honest.campaign)
        attacker.name = name
        pages = [attacker.get(f"?PROLIFIC_PID={name}"), attacker.join()]
        if state == "OPEN" and name != honest.name:
            continue  # who is let in as a newcomer sees that nobody was here
        told.append([re.sub(r'nonce="[^"]+"|\w{64}', "", p.content.decode()) for p in pages])
        told[-1] = [page.replace(name, "NAME") for page in told[-1]]
        assert "private link" in told[-1][-1]
    assert all(each == told[0] for each in told)


def disjoint() -> Campaign:
    first, second = campaign_of(), campaign_of()
    Study.objects.filter(pk=make_study(first, second).pk).update(disjoint=True)
    join(first, "id-ann")
    return second


def judged() -> Campaign:
    source = of_people()
    talk(source, "id-ann", "bob")
    Campaign.objects.filter(pk=source.pk).update(state="CLOSED")
    return labeling(source)


def campaign_of_id(name: str) -> Campaign:
    return Campaign.objects.get(participations__external__value=name)


def reworded() -> Campaign:
    source = of_replies()
    accepted(source, "id-ann", "Very well.")
    return judging(source)


@pytest.mark.parametrize("make", [disjoint, judged, reworded])
def test_of_an_id_that_did_something_elsewhere_a_claim_learns_nothing_and_a_proof_the_truth(
    make: Callable[[], Campaign],
) -> None:
    """An attacker compares an id that took part elsewhere with one that has begun here."""
    campaign = make()
    join(campaign, "id-bea")
    told, before = [], everything()
    for name in ("id-ann", "id-bea"):
        attacker = Visit(campaign)
        attacker.name = name
        pages = [attacker.get(f"?PROLIFIC_PID={name}"), attacker.join()]
        assert pages[1].status_code == 409
        texts = [re.sub(r'nonce="[^"]+"|\w{64}', "", each.content.decode()) for each in pages]
        told.append([text.replace(name, "NAME") for text in texts])
    assert told[0] == told[1]
    assert everything() == before
    with pytest.raises(consents.Closed) as refusal:
        join(campaign, "id-ann")  # by an id that is proven
    assert refusal.value.notice in ("other_phase", "took_part", "wrote")
    own = Visit(campaign)
    elsewhere, secret = campaign_of_id("id-ann"), access.new_secret()
    person = Participation.objects.filter(external__value="id-ann")
    person.update(secret_hash=access.secret_hash(secret))
    own.client.cookies[f"{settings.PARTICIPANT_COOKIE}-{elsewhere.slug}"] = secret
    page = own.join().content.decode().replace("&#x27;", "'")
    assert notices.text(refusal.value.notice) in page


def test_the_cookie_proves_and_repeats_make_no_further_browser() -> None:
    honest = at_step("chat")
    for _ in range(3):
        assert honest.join().context["screen"].name == "chat"
    assert not Browser.objects.exists()


def test_a_consent_whose_answer_was_lost_is_found_again_by_the_browser() -> None:
    """T7: the server has committed, the browser has not heard of it."""
    visit = Visit(campaign_of())
    visit.get(f"?PROLIFIC_PID={visit.name}")
    kept = visit.client.cookies.output()
    visit.join()
    visit.client.cookies = SimpleCookie(kept.replace("Set-Cookie: ", "").replace("\r\n", "; "))
    assert visit.join().context["screen"].name == "ready"  # sent again
    visit.client.cookies = SimpleCookie(kept.replace("Set-Cookie: ", "").replace("\r\n", "; "))
    assert visit.get(f"?PROLIFIC_PID={visit.name}").status_code == 302  # or opened again
    assert visit.get().context["screen"].name == "ready"
    assert Participation.objects.count() == 1
    assert not Browser.objects.exists()


def test_two_people_at_one_browser_are_two_participations() -> None:
    visit = at_step("ready")
    first = visit.person
    visit.name = "another"
    visit.get("?PROLIFIC_PID=another")
    visit.join()
    assert visit.person != first
    assert Participation.objects.count() == 2


# --- signed invitations


def invited(campaign: Campaign, name: str, days: int = 7) -> str:
    return invitations.token(campaign, name, clock.now() + timedelta(days=days))


def come_by(token: str, campaign: Campaign) -> tuple[Visit, Any]:
    visit = Visit(campaign)
    entry = visit.get(f"?invitation={token}")
    page = visit.post("consent", {"invitation": token}) if entry.status_code == 200 else entry
    return visit, page


def test_an_invitation_lets_its_person_in_and_back_and_shuts_no_browser_out() -> None:
    campaign = campaign_of(platform="invited")
    token = invited(campaign, "ann")
    first, page = come_by(token, campaign)
    assert page.redirect_chain[-1][0] == f"{first.base}now"  # a clean address
    first.post("start")
    second, page = come_by(token, campaign)
    assert page.context["screen"].name == "chat"
    assert first.get().context["screen"].name == "chat"
    assert first.person == second.person
    other, _ = come_by(invited(campaign, "bob"), campaign)
    assert other.person != first.person


@pytest.mark.parametrize("fault", ["forged", "cut", "expired", "of another campaign", "withdraw"])
def test_what_is_not_signed_for_this_campaign_and_day_proves_nothing(fault: str) -> None:
    campaign = campaign_of()
    token = invited(campaign, "ann")
    first, _ = come_by(token, campaign)
    wrong = {
        "forged": "x" + token,
        "cut": token[:-1],
        "expired": invited(campaign, "ann", days=-1),
        "of another campaign": invited(campaign_of(), "ann"),
        "withdraw": privacy.withdraw_token(first.person),
    }[fault]
    before = everything()
    attacker, page = come_by(wrong, campaign)
    assert page.status_code == 409
    assert "I agree and take part" not in page.content.decode()
    assert attacker.post("consent", {"invitation": wrong}).status_code == 409
    assert everything() == before


def test_an_invitation_holds_under_a_former_key(settings: Any) -> None:
    campaign = campaign_of()
    token = invited(campaign, "ann")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another key" * 5
    assert come_by(token, campaign)[1].context["screen"].name == "ready"


def test_no_claim_can_take_an_invited_persons_id() -> None:
    campaign = campaign_of()
    first, _ = come_by(invited(campaign, "ann"), campaign)
    for platform in ("prolific", "mturk", "panel", "volunteer"):
        claimant = Visit(campaign)
        claimant.post("consent", {"platform": platform, "external_id": "ann"})
        assert claimant.person != first.person
    answer = Visit(campaign).post("consent", {"platform": "invited", "external_id": "ann"})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("fixed", "let_in"),
    [("prolific", {"prolific"}), ("volunteer", {"volunteer"}), ("invited", set())],
)
def test_a_campaign_takes_people_of_its_own_platform_only(fixed: str, let_in: set[str]) -> None:
    """T3: a panel's campaign took volunteers under any id."""
    campaign = campaign_of(platform=fixed)
    for platform in ("prolific", "mturk", "panel", "volunteer"):
        who = {"platform": platform, "external_id": "ann"}
        answer = Visit(campaign).post("consent", who)
        assert (answer.status_code == 200) == (platform in let_in)
        assert platform in let_in or notices.text("other_platform") in answer.content.decode()
    assert Participation.objects.count() == len(let_in)


# --- the private link


@pytest.mark.parametrize("state", ["OPEN", "STOPPED", "CLOSED"])
def test_the_private_link_shows_the_code_for_ever_and_lets_its_holder_go_on(state: str) -> None:
    honest = at_step("ended")
    code = payment.code_of(honest.person)
    assert code is not None
    Campaign.objects.update(state=state)
    link = f"private/{honest.get().context['screen'].private}"
    other, before = Visit(honest.campaign), everything()
    assert code.code in other.get(link).content.decode()
    assert everything() == before
    assert other.post(link).context["screen"].end.code == code.code
    assert honest.get().context["screen"].end.code == code.code
    other.post(link.replace("private/", "withdraw/"))
    stranger = Visit(honest.campaign)
    assert code.code in stranger.get(link).content.decode()
    assert code.code in stranger.get(link.replace("private/", "withdraw/")).content.decode()
    assert stranger.post(link).status_code == 404


def test_the_private_link_of_who_is_at_work_goes_on_in_both_browsers() -> None:
    honest = at_step("chat")
    other = Visit(honest.campaign)
    link = f"private/{honest.get().context['screen'].private}"
    assert "no completion code so far" in other.get(link).content.decode()
    assert other.post(link).context["screen"].name == "chat"
    assert other.send(type="sync", last_seq=0)[-1]["type"] == "ready"
    assert honest.send(type="sync", last_seq=0)[-1]["type"] == "ready"
    foreign = Visit(campaign_of())
    assert foreign.get(link).status_code == foreign.post(link).status_code == 404


# --- what requesters send


def test_staff_sign_a_list_of_ids_and_the_log_counts_them(client: Client) -> None:
    campaign = campaign_of()
    client.force_login(make_staff("ann"))
    address = reverse("invitations", args=[campaign.pk])
    assert client.get(address).status_code == 200
    wrong = client.post(address, {"ids": "", "days": "0"})
    assert (wrong.status_code, len(wrong.context["problems"])) == (422, 2)
    answer = client.post(address, {"ids": "p-1\r\np-2\r\np-1\r\n", "days": "3"})
    lines = answer.content.decode().split("\r\n")
    assert [line.split(",")[0] for line in lines] == ["id", "p-1", "p-2", ""]
    token = lines[2].split("?invitation=")[1]
    assert come_by(token, campaign)[1].context["screen"].name == "ready"
    entry = AuditEntry.objects.get(action__contains="invitations")
    assert entry.action == "invitations signed"
    assert entry.detail == {"count": 2, "days": 3}
    assert "p-1" not in str(AuditEntry.objects.values())


def test_staff_resend_a_private_link_and_the_log_says_so(client: Client) -> None:
    honest = at_step("chat")
    client.force_login(make_staff("ann"))
    arguments = [honest.campaign.pk, honest.person.pk]
    page = client.post(reverse("resend-link", args=arguments))
    link = page.context["private_link"]
    assert link in page.content.decode()
    other = Visit(honest.campaign)
    assert other.client.post(link, follow=True).context["screen"].name == "chat"
    assert AuditEntry.objects.get(action__contains="private link").actor == "ann"
    foreign = reverse("resend-link", args=[campaign_of().pk, honest.person.pk])
    assert client.post(foreign).status_code == 404


def test_the_command_signs_one_link_or_a_file_of_ids(tmp_path: Path) -> None:
    campaign, out = campaign_of(), StringIO()
    address = ["--address", "https://parley.example.org"]
    call_command("invite", str(campaign.pk), *address, "--id", "p-1", stdout=out)
    start, _, token = out.getvalue().strip().partition("?invitation=")
    assert start == f"https://parley.example.org/c/{campaign.slug}/"
    assert come_by(token, campaign)[1].context["screen"].name == "ready"
    (tmp_path / "ids").write_text("p-2\np-3\n")
    call_command("invite", campaign.slug, *address, "--ids", str(tmp_path / "ids"), stdout=out)
    assert [line.split(",")[0] for line in out.getvalue().splitlines()[1:]] == ["id", "p-2", "p-3"]


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        (["--id", "x", "--address", "host"], "--address: 'host'"),
        (["--id", "x" * 129, "--address", "https://h"], "ids: 'x"),
        (["--id", "x", "--address", "https://h", "--days", "0"], "days"),
        (["--ids", "/no/such/file", "--address", "https://h"], "--ids: cannot be read"),
    ],
)
def test_the_command_names_what_is_wrong(wrong: list[str], names: str) -> None:
    with pytest.raises(CommandError, match=names):
        call_command("invite", str(campaign_of().pk), *wrong)
