"""Somebody's data, and whether others reach it: what is theirs, and what must be told to nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, get_args
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import Model
from django.http import SimpleCookie
from django.test import Client

from tests.webapp.views.staff.addresses import filled, names, of
from tests.webapp.views.visiting import Visit, campaign_of, good_answers, rating_visit
from webapp import clock
from webapp.models import CompletionCode, Conversation, Event, ExternalId, Participation
from webapp.services.participation import privacy
from webapp.sockets import frames
from webapp.views.audience import Audience

FORM = "application/x-www-form-urlencoded"
Rows = dict[tuple[str, int], dict[str, Any]]


def owned(person: Participation) -> Rows:
    """Return every row that hangs on a person or on their conversations, however far."""
    found: Rows = {}
    left: list[Model] = [person, *Conversation.objects.filter(seats__participation=person)]
    while left:
        row = left.pop()
        key = type(row).__name__, row.pk
        if key not in found:
            found[key] = {each.attname: getattr(row, each.attname) for each in row._meta.fields}
            for relation in row._meta.related_objects:
                others = relation.related_model._default_manager
                left += others.filter(**{relation.field.name: row})
    return found


def told_to_nobody(person: Participation) -> list[str]:
    """Return what only this person may read: names, words, codes, links."""
    events = Event.objects.filter(conversation__seats__participation=person, kind="message")
    return [
        person.pseudonym,
        privacy.withdraw_token(person),
        *ExternalId.objects.filter(participation=person).values_list("value", flat=True),
        *CompletionCode.objects.filter(participation=person).values_list("code", flat=True),
        *(event.content["text"] for event in events),
    ]


@dataclass(frozen=True)
class Actor:
    """A kind of visitor, at a browser of their own."""

    name: str
    client: Client


def actors(victim: Visit) -> Iterator[Actor]:
    """Yield every kind of visitor of the victim's campaign, each at a step of their own."""
    campaign = victim.campaign
    cookie = f"{settings.PARTICIPANT_COOKIE}-{campaign.slug}"
    chatting, done, gone = Visit(campaign), rating_visit(campaign), Visit(campaign)
    chatting.join()
    chatting.post("start")
    done.post("rate", good_answers(done.get()))
    gone.join()
    privacy.withdraw(token=privacy.withdraw_token(gone.person), now=clock.now())
    elsewhere = rating_visit(campaign_of(name="Another"))
    moved = Visit(campaign)
    moved.client.cookies[cookie] = next(iter(elsewhere.client.cookies.values())).value
    forged = Visit(campaign)
    forged.client.cookies[cookie] = f"{victim.person.pk}"
    yield Actor("nobody", Visit(campaign).client)
    yield Actor("who chats", chatting.client)
    yield Actor("who rates", rating_visit(campaign).client)
    yield Actor("who has ended", done.client)
    yield Actor("who withdrew", gone.client)
    yield Actor("of another campaign", elsewhere.client)
    yield Actor("with another campaign's cookie", moved.client)
    yield Actor("with a forged cookie", forged.client)
    yield from _accounts()


def _accounts() -> Iterator[Actor]:
    for name, is_staff in (("a guest's account", False), ("staff of another project", True)):
        client = Client()
        user, _ = get_user_model().objects.get_or_create(username=name, is_staff=is_staff)
        client.force_login(user)
        yield Actor(name, client)


@dataclass
class Claims:
    """The victim's numbers and ids, none of which proves anything, as values of every field."""

    victim: Visit
    values: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        person = self.victim.person
        conversation = person.seats.get().conversation
        number, ids = str(person.pk), self.ids()
        self.values = {
            **dict.fromkeys(("person", "participation", "pk", "rater"), number),
            **dict.fromkeys(("conversation", "room", "seat", "item"), str(conversation.pk)),
            **dict.fromkeys(("pseudonym", "name", "external_id", "id"), self.victim.name),
            "PROLIFIC_PID": self.victim.name,
            "message": str(ids[0]),
            "last_seq": "0",
            "version": "2",
        }

    def ids(self) -> list[UUID]:
        sent = Event.objects.filter(conversation__seats__participation=self.victim.person)
        found = sent.exclude(client_id=None).values_list("client_id", flat=True)
        return [each for each in found if each is not None]

    def requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield addresses with requests: looked at, posted to, with claims as fields and parts."""
        for route in of(Audience.PARTICIPANT):
            for rest in self._parts(route):
                known = {"slug": self.victim.campaign.slug, "token": rest, "rest": rest}
                address, claims = filled(route, **known), urlencode(self.values)
                yield address, {"method": "GET"}
                yield address, {"method": "GET", "QUERY_STRING": claims}
                yield address, {}
                yield address, {"data": claims, "content_type": FORM}
        address = f"/c/{self.victim.campaign.slug}/frames?version=2"
        for frame in self.frames():
            yield address, {"data": json.dumps(frame), "content_type": "application/json"}

    def _parts(self, route: str) -> list[str]:
        return [self.values["pk"], self.victim.name] if names(route) - {"slug"} else [""]

    def frames(self) -> Iterator[dict[str, Any]]:
        """Yield a frame of every type that there is, about what the victim sent."""
        values = {"id": str(self.ids()[0]), "text": "Mine now.", "seq": 1, "last_seq": 0}
        values |= {"question": "sensible", "value": "no", "revision": 99, "tab": "t" * 8}
        for kind in get_args(frames.SCHEMA):
            wanted = {name: values[name] for name in kind.__struct_fields__}
            yield {"type": kind.__struct_config__.tag, **wanted}


@dataclass(frozen=True)
class Attempt:
    """What was tried, and what it reached: texts that were told, rows that are others now."""

    what: str
    status: int
    told: list[str]
    changed: list[str]


def attempts(actor: Actor, claims: Claims) -> Iterator[Attempt]:
    """Try every address of participants and every frame; each try is taken back."""
    secrets = told_to_nobody(claims.victim.person)
    before = owned(claims.victim.person)
    for address, request in claims.requests():
        kept = SimpleCookie(actor.client.cookies)
        with transaction.atomic(), _writes() as writes:
            answer = actor.client.generic(request.get("method", "POST"), address, **_body(request))
            after = owned(claims.victim.person) if writes else before
            transaction.set_rollback(True)
        actor.client.cookies = kept
        said, own = f"{answer.headers} {answer.content.decode()}", f"{address} {request}"
        yield Attempt(
            f"{actor.name}: {address} {request}",
            answer.status_code,
            [each for each in secrets if each in said and each not in own],  # no echo of a claim
            sorted({name for name, pk in _different(before, after)}),
        )


@contextmanager
def _writes() -> Iterator[list[str]]:
    """Yield the statements that are made and may change a row."""
    found: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        if not sql.lstrip().startswith(("SELECT", "SAVEPOINT", "RELEASE", "ROLLBACK")):
            found.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield found


def _different(before: Rows, after: Rows) -> Iterator[tuple[str, int]]:
    for key in {*before, *after}:
        if before.get(key) != after.get(key):
            yield key


def _body(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name != "method"}
