"""Rows for tests: plain functions, each argument changes one thing."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from evaluation import Protocol
from evaluation.registry import get_protocol
from evaluation.serialized import digest, to_json
from webapp.models import (
    Campaign,
    Context,
    Conversation,
    Item,
    Member,
    OwnProtocol,
    Participation,
    Persona,
    Project,
    QuotaCell,
    System,
)
from webapp.services.rules import access

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
ROUNDS = 1_000  # of a password's hash; it says its own number, so any server can check it
_numbers = itertools.count(1)


def restart() -> None:
    """Number rows from 1 again, as the database does in each test: what is the same stays so."""
    global _numbers
    _numbers = itertools.count(1)


def make_staff(name: str = "") -> Any:
    """Return an administrator of the tests' project whose password is the name."""
    name = name or f"staff{next(_numbers)}"
    user = get_user_model()(username=name, is_staff=True)
    user.password = PBKDF2PasswordHasher().encode(name, f"salt of {name}", ROUNDS)
    user.save()
    Member.objects.create(project=make_project(), account=user, is_administrator=True)
    return user


def make_project(name: str = "Tests") -> Project:
    """Return the project of this name; that of all tests has all of their staff."""
    return Project.objects.get_or_create(name=name)[0]


def make_member(name: str, *roles: str, project: Project | None = None) -> Any:
    """Return a member of staff who has these roles only, in a project of their own or this one."""
    user = make_staff(name)
    Member.objects.filter(account=user).delete()
    if project is not None:
        held = {f"is_{role}": True for role in roles if role != "viewer"}
        Member.objects.create(project=project, account=user, **held)
    return user


def make_campaign(
    protocol: str = "personachat_bot",
    *,
    systems: dict[str, str] | None = None,
    target: int = 10,
    personas: int = 8,
    **changes: Any,
) -> Campaign:
    """Return an open campaign; `systems` maps names to bots."""
    defaults: dict[str, Any] = {
        "name": f"Campaign {next(_numbers)}",
        "protocol": protocol,
        "state": Campaign.State.OPEN,
        "consent": "You will **chat** and rate.",
        "contact": "lab@example.org",
        "pay": "2.00",
        "waiting_pay": "0.50",
        "opened_at": NOW,
        "seed": 7,
    }
    if "owner" not in changes:
        defaults["owner"] = make_staff()
    if "project" not in changes:
        defaults["project"] = make_project()
    campaign = Campaign.objects.create(**defaults | changes)
    campaign.refresh_from_db()  # amounts as decimals
    for name, bot in (systems or {"alpha": "parrot"}).items():
        make_system(campaign, name, bot=bot, target=target)
    Persona.objects.bulk_create(_persona(campaign, number) for number in range(personas))
    return campaign


def make_system(
    campaign: Campaign, name: str, *, bot: str = "parrot", target: int = 10, **changes: Any
) -> System:
    """Return a rehearsed system with a cell."""
    system = System.objects.create(
        campaign=campaign, name=name, bot=bot, rehearsal=System.Rehearsal.PASSED, **changes
    )
    QuotaCell.objects.create(system=system, target=target)
    return system


def make_persona(campaign: Campaign, number: int, split: str = "test") -> Persona:
    """Return persona `number`, of five sentences that no other persona has."""
    made = _persona(campaign, number, split)
    made.save()
    return made


def _persona(campaign: Campaign, number: int, split: str = "test") -> Persona:
    return Persona(
        campaign=campaign,
        key=f"p{number}",
        split=split,
        order=number,
        sentences=[f"I own boat number {number}{letter}." for letter in "abcde"],
        revised=[f"My ship is called {number}{letter}." for letter in "abcde"],
    )


def make_participation(campaign: Campaign, **changes: Any) -> Participation:
    """Return a participation that has consented and reads the instructions."""
    number = next(_numbers)
    defaults: dict[str, Any] = {
        "pay": campaign.pay,
        "waiting_pay": campaign.waiting_pay,
        "currency": campaign.currency,
        "quit_rule": campaign.quit_rule,
        "least_work": campaign.least_work,
        "pseudonym": f"{number:064x}",
        "secret_hash": access.secret_hash(f"secret {number}"),
        "state_at": NOW,
        "seen_at": NOW,
    }
    return Participation.objects.create(campaign=campaign, **defaults | changes)


def make_context(campaign: Campaign, key: str = "k") -> Context:
    """Return the campaign's context of this key, made when first asked for."""
    context, _ = Context.objects.get_or_create(
        campaign=campaign, key=key, defaults={"messages": ["Hi."]}
    )
    return context


def talk_of(item: Item) -> Conversation:
    """Return the conversation in which stands what an item asks about, the first if several."""
    if item.conversation is not None:
        return item.conversation
    return item.candidates.select_related("conversation").earliest("pk").conversation


def make_own_protocol(owner: Any = None, protocol: Protocol | None = None) -> OwnProtocol:
    """Return the first version of a protocol that somebody built."""
    copy = replace(get_protocol("convai2_crowd"), name="my_study", title="My study")
    made = protocol or copy
    return OwnProtocol.objects.create(
        owner=owner or make_staff(),
        name=made.name,
        title=made.title,
        content=to_json(made),
        sha256=digest(made),
        made_at=NOW,
    )
