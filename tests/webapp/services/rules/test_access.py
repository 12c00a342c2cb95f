"""Rows that an actor may see; a foreign row is not found (S1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import (
    NOW,
    make_campaign,
    make_member,
    make_own_protocol,
    make_participation,
    make_project,
    make_staff,
    make_system,
)
from webapp.models import (
    Browser,
    Campaign,
    Conversation,
    Member,
    Participation,
    Seat,
    Study,
    Whitelist,
)
from webapp.services.rules import access

pytestmark = pytest.mark.django_db


def known(campaign: Campaign, secret: str, **changes: Any) -> Participation:
    """Return a person whose cookie holds this secret."""
    return make_participation(campaign, secret_hash=access.secret_hash(secret), **changes)


def talk(person: Participation, *, active: bool = False) -> Seat:
    """Return the person's seat in a conversation of their own."""
    campaign = person.campaign
    room = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
    )
    return Seat.objects.create(conversation=room, side=0, participation=person, active=active)


def test_a_secret_cannot_be_guessed_and_is_not_stored() -> None:
    one, other = access.new_secret(), access.new_secret()
    assert one != other
    assert len(one) == 43  # 32 bytes in base64
    assert len(access.secret_hash(one)) == 64
    assert one not in access.secret_hash(one)


def test_a_link_leads_to_its_campaign_unless_that_is_a_draft() -> None:
    campaign, draft = make_campaign(personas=0), make_campaign(personas=0, state="DRAFT")
    assert access.open_link(campaign.slug) == campaign
    for slug in (draft.slug, "nothing"):
        with pytest.raises(access.NotFound, match=slug):
            access.open_link(slug)


def test_a_cookie_shows_its_own_participation_in_its_own_campaign() -> None:
    """S1: not under another campaign's address, not with another secret, not once withdrawn."""
    campaign, other = make_campaign(personas=0), make_campaign(personas=0)
    person = known(campaign, "mine")
    known(campaign, "another's")
    known(campaign, "withdrawn", withdrawn_at=NOW)
    assert access.participation(campaign.slug, "mine") == person
    for slug, secret in (
        (other.slug, "mine"),
        (campaign.slug, "wrong"),
        (campaign.slug, "withdrawn"),
    ):
        with pytest.raises(access.NotFound):
            access.participation(slug, secret)


def test_cookies_of_several_campaigns_show_what_each_shows_alone() -> None:
    campaign, other = make_campaign(personas=0), make_campaign(personas=0)
    first, second = known(campaign, "one"), known(other, "two")
    known(campaign, "not asked for")
    known(campaign, "withdrawn", withdrawn_at=NOW)
    asked = [
        (campaign.slug, "one"),
        (other.slug, "two"),
        (other.slug, "one "),
        (campaign.slug, "withdrawn"),
    ]
    assert access.participations(asked) == {asked[0]: first, asked[1]: second}
    assert access.participations([(other.slug, "one")]) == {}


def test_the_active_seat_comes_before_the_latest_one() -> None:
    campaign = make_campaign(personas=0)
    person, stranger = make_participation(campaign), make_participation(campaign)
    with pytest.raises(access.NotFound, match=f"participation {person.pk}"):
        access.seat(person)
    first, second = talk(person), talk(person)
    foreign = talk(stranger, active=True)
    assert access.seat(person) == second
    active, third = talk(person, active=True), talk(person)
    assert access.seat(person) == active
    assert access.seat(person, first.conversation_id) == first
    assert access.seat(person, third.conversation_id) == third
    for room in (foreign.conversation_id, -1):
        with pytest.raises(access.NotFound):
            access.seat(person, room)


def test_seats_of_many_are_those_that_each_would_be_shown_alone() -> None:
    campaign = make_campaign(personas=0)
    people = [make_participation(campaign) for _ in range(3)]
    first, _ = talk(people[0]), talk(people[0], active=True)
    talk(people[0])
    talk(people[1])
    talk(people[1])
    places = [
        (people[0].pk, 0),
        (people[1].pk, 0),
        (people[2].pk, 0),
        (people[0].pk, first.conversation_id),
        (people[1].pk, first.conversation_id),
    ]
    assert access.seats(places) == {
        places[0]: access.seat(people[0]),
        places[1]: access.seat(people[1]),
        places[3]: first,
    }


def test_a_page_knows_its_conversation_by_a_name_that_tells_no_number() -> None:
    """S11."""
    campaign = make_campaign(personas=0)
    person, stranger = make_participation(campaign), make_participation(campaign)
    old, current = talk(person), talk(person, active=True)
    foreign = talk(stranger)
    names = {access.conversation_key(seat) for seat in (old, current, foreign)}
    assert len(names) == 3
    assert {len(name) for name in names} == {16}
    assert access.seat_by_key(person, access.conversation_key(old)) == old
    assert access.seat_by_key(person, "") == current
    for name in (access.conversation_key(foreign), "x" * 16):
        with pytest.raises(access.NotFound, match=name):
            access.seat_by_key(person, name)


def whitelist() -> Whitelist:
    return Whitelist.objects.create(
        name="greetings", owner=make_staff(), project=make_project(), made_at=NOW
    )


@pytest.mark.parametrize(
    "strangers",
    [
        lambda: AnonymousUser(),
        lambda: _user(is_staff=False),
        lambda: _user(is_active=False),
    ],
    ids=["nobody", "not of the staff", "no longer active"],
)
def test_only_active_staff_see_campaigns_and_whitelists(strangers: Callable[[], Any]) -> None:
    campaign, listed, user = make_campaign(personas=0), whitelist(), strangers()
    assert list(access.campaigns(user)) == []
    assert list(access.whitelists(user)) == []
    with pytest.raises(access.NotFound, match=f"campaign {campaign.pk}"):
        access.campaign(user, campaign.pk)
    with pytest.raises(access.NotFound, match=f"whitelist {listed.pk}"):
        access.whitelist(user, listed.pk)


def _user(**changes: bool) -> Any:
    user = make_staff()
    for name, value in changes.items():
        setattr(user, name, value)
    user.save()
    return user


def test_staff_see_what_there_is_and_nothing_else() -> None:
    user, campaign, listed = make_staff(), make_campaign(personas=0), whitelist()
    other = make_campaign(personas=0)
    assert set(access.campaigns(user)) == {campaign, other}
    assert access.campaign(user, campaign.pk).pk == campaign.pk
    assert list(access.whitelists(user)) == [listed]
    assert access.whitelist(user, listed.pk) == access.StaffWhitelist(
        listed.pk, listed.name, listed.project_id
    )
    for missing in (access.campaign, access.whitelist):
        with pytest.raises(access.NotFound):
            missing(user, 10**6)


def test_staff_s_campaign_has_every_column_and_becomes_its_row_without_a_query() -> None:
    user, row = make_staff(), make_campaign(personas=0, changes={"chat.minimum": [2]})
    row.refresh_from_db()
    found = access.campaign(user, row.pk)
    columns = [column.attname for column in Campaign._meta.concrete_fields]
    assert {each.name for each in fields(found)} == set(columns)
    with CaptureQueriesContext(connection) as queries:
        again = access.row_of(found)
        assert [getattr(again, name) for name in columns] == [
            getattr(row, name) for name in columns
        ]
        assert found.get_state_display() == row.get_state_display()
        assert found.get_quit_rule_display() == row.get_quit_rule_display()
    assert len(queries) == 0
    assert access.row_of(row) is row
    assert again.systems.get() == row.systems.get()


def test_a_conversation_is_found_in_its_own_campaign_only() -> None:
    user, campaign, other = make_staff(), make_campaign(personas=0), make_campaign(personas=0)
    make_system(other, "second")
    rooms = [talk(make_participation(campaign)).conversation for _ in range(2)]
    assert access.conversation(user, campaign.pk, rooms[0].pk) == rooms[0]
    for campaign_pk, pk in ((other.pk, rooms[0].pk), (campaign.pk, 10**6), (10**6, rooms[0].pk)):
        with pytest.raises(access.NotFound):
            access.conversation(user, campaign_pk, pk)


def test_a_cookie_that_shows_nothing_is_nobody_known() -> None:
    campaign = make_campaign(personas=0)
    person = make_participation(campaign, secret_hash=access.secret_hash("mine"))
    assert access.known(campaign.slug, "mine") == person
    assert access.known(campaign.slug, "another") is None
    assert access.known("nowhere", "mine") is None


def test_a_further_browser_shows_what_the_first_one_does() -> None:
    campaign = make_campaign(personas=0)
    person = known(campaign, "one")
    hashed = access.secret_hash("two")
    Browser.objects.create(participation=person, secret_hash=hashed, made_at=NOW)
    other = known(campaign, "another's")
    theirs = access.secret_hash("another's further")
    Browser.objects.create(participation=other, secret_hash=theirs, made_at=NOW)
    asked = [(campaign.slug, name) for name in ("one", "two", "three")]
    assert access.participations(asked) == {asked[0]: person, asked[1]: person}
    assert access.participations(asked[1:]) == {asked[1]: person}
    assert access.participation(campaign.slug, "two") == person
    Participation.objects.filter(pk=person.pk).update(withdrawn_at=NOW)
    assert access.participations(asked) == {}, "who has withdrawn is nobody, by any browser"


@pytest.mark.parametrize(
    ("secrets", "found"),
    [
        ([], ""),
        (["one"], "one"),
        (["two"], "two"),
        (["nobody's"], ""),
        (["nobody's", "two"], "two"),
        (["another's", "one"], "one"),
        (["another's further", "one"], "one"),
        (["two", "one"], "two"),
    ],
)
def test_of_several_secrets_the_first_that_is_ones_own_is_held(
    secrets: list[str], found: str
) -> None:
    campaign = make_campaign(personas=0)
    person = known(campaign, "one")
    other = known(campaign, "another's")
    theirs = access.secret_hash("another's further")
    Browser.objects.create(participation=other, secret_hash=theirs, made_at=NOW)
    hashed = access.secret_hash("two")
    Browser.objects.create(participation=person, secret_hash=hashed, made_at=NOW)
    assert access.held(person, secrets) == found


ROLES = (access.Role.RUNNER, access.Role.EXPORTER, access.Role.PAYER)


@pytest.mark.parametrize("held", ROLES)
def test_a_project_is_there_for_the_roles_that_one_has_in_it(held: access.Role) -> None:
    project, other = make_project("Ours"), make_project("Theirs")
    make_member("two", *ROLES, project=other)
    member = make_member("one", held, project=project)
    for role in (*ROLES, access.Role.VIEWER, access.Role.ADMINISTRATOR):
        found = list(access.projects(member, role))
        assert found == [project] * (role in (held, access.Role.VIEWER))
    administrator = make_member("all", "administrator", project=project)
    for role in access.Role:
        assert list(access.projects(administrator, role)) == [project]
    assert access.project(member, project.pk).name == "Ours"
    with pytest.raises(access.NotFound, match=f"project {other.pk}"):
        access.project(member, other.pk)


def test_what_somebody_may_do_is_of_the_project() -> None:
    project, other = make_project("Ours"), make_project("Theirs")
    make_member("two", "administrator", project=project)
    make_member("three", "administrator", project=other)
    member = make_member("one", "payer", project=project)
    assert access.roles(member, project.pk) == {access.Role.VIEWER, access.Role.PAYER}
    assert access.roles(member, other.pk) == frozenset()
    everywhere = User.objects.create(username="root", is_staff=True, is_superuser=True)
    assert access.roles(everywhere, other.pk) == set(access.Role)
    User.objects.filter(pk=member.pk).update(is_staff=False)
    assert access.roles(User.objects.get(pk=member.pk), project.pk) == frozenset()


def test_a_browser_is_told_by_its_first_and_by_its_further_cookies() -> None:
    campaign = make_campaign(personas=0)
    person, other = known(campaign, "one"), known(campaign, "another")
    hashed = access.secret_hash("two")
    Browser.objects.create(participation=person, secret_hash=hashed, made_at=NOW)
    for secrets, found in (
        (["one"], {person}),
        (["two"], {person}),
        (["nobody's"], set()),
        (["two", "another"], {person, other}),
    ):
        assert set(Participation.objects.filter(access.of_browser(secrets))) == found


@pytest.mark.parametrize("held", [(), *((role,) for role in ROLES), ROLES])
def test_the_roles_of_a_member_are_those_of_their_row_and_to_look(
    held: tuple[access.Role, ...],
) -> None:
    project = make_project("Ours")
    member = Member.objects.get(account=make_member("one", *held, project=project).pk)
    assert access.roles_of(member) == {access.Role.VIEWER, *held}


def test_a_study_is_there_for_who_is_in_its_project() -> None:
    ours, theirs = (
        Study.objects.create(
            name=name, owner=make_staff(f"of {name}"), project=project, created_at=NOW
        )
        for name, project in (("a", make_project("Ours")), ("b", make_project("Theirs")))
    )
    member = make_member("one", "runner", project=ours.project)
    assert list(access.studies(member)) == [ours]
    found = access.study(member, ours.pk)
    assert (found.pk, found.name) == (ours.pk, "a")
    with pytest.raises(access.NotFound, match=f"study {theirs.pk}"):
        access.study(member, theirs.pk)


def test_beside_a_campaign_are_the_others_of_its_project_that_one_sees() -> None:
    project, other = make_project("Ours"), make_project("Theirs")
    member = make_member("one", "runner", project=project)
    first, second = (make_campaign(personas=0, project=project) for _ in range(2))
    theirs = make_campaign(personas=0, project=other)
    assert list(access.beside(first, member)) == [second]
    assert list(access.beside(theirs, member)) == []
    stranger = make_member("two", "runner", project=other)
    assert list(access.beside(first, stranger)) == []


def test_who_is_no_staff_has_no_project_and_an_administrator_every_role() -> None:
    make_project("Ours")
    stranger = User.objects.create(username="guest", is_staff=False)
    for somebody in (stranger, AnonymousUser()):
        assert list(access.projects(somebody)) == []
    administrator = make_member("all", "administrator", project=make_project("Theirs"))
    member = Member.objects.get(account=administrator.pk)
    assert access.roles_of(member) == set(access.Role)


def test_the_languages_of_a_link_are_those_of_its_campaign() -> None:
    make_campaign(personas=0, languages=["fr"])
    campaign = make_campaign(personas=0, languages=["de", "en"])
    assert access.languages_of(campaign.slug) == ["de", "en"]
    assert access.languages_of("nothing") == []


def test_a_protocol_that_somebody_built_is_theirs_alone() -> None:
    """S1: of the deployer's account, too."""
    mine, theirs = make_own_protocol(), make_own_protocol()
    owner = mine.owner
    assert list(access.own_protocols(owner)) == [mine]
    found = access.own_protocol(owner, mine.pk)
    assert (found.pk, found.sha256) == (mine.pk, mine.sha256)
    with pytest.raises(access.NotFound, match=f"own protocol {theirs.pk}"):
        access.own_protocol(owner, theirs.pk)
    everywhere = User.objects.create(username="root", is_staff=True, is_superuser=True)
    assert set(access.own_protocols(everywhere)) == {mine, theirs}
    stranger = User.objects.create(username="guest", is_staff=False)
    for somebody in (stranger, AnonymousUser()):
        assert list(access.own_protocols(somebody)) == []
