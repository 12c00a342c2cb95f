"""The systems of a draft: a bot with its options, or people, and how many of each are wanted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from bots import InvalidOption, bot_lacks, bot_names, bot_options, bot_summary
from bots.guards import callables, egress
from bots.guards.own_model import rules_of_the_whole
from bots.options import check_options
from bots.weights import ABOUT
from webapp.models import PEOPLE, Conversation, Event, QuotaCell, ReplyJob, Seat, System
from webapp.services.campaign import campaigns
from webapp.services.replies import model_keys, partials, worker
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid, shown

MOST = 20  # systems of a campaign
DOORS = {"chat_server": "server", "checkpoint": "files", "callable": "files", PEOPLE: "people"}
OUR_FIELDS = frozenset({"model", "messages", "stream", "n"})  # of a request; extras have others
OWED = (ReplyJob.State.QUEUED, ReplyJob.State.CLAIMED, ReplyJob.State.ANSWERED)


@dataclass(frozen=True)
class Kind:
    """What a system can be: a bot by name, or people."""

    name: str
    about: str


@dataclass(frozen=True)
class OfferedSystem:
    """A kind of system behind a door; `missing` says what it still needs here, "" if nothing."""

    name: str
    about: str
    missing: str


@dataclass(frozen=True)
class StoredSystem:
    """A system of a campaign with what its form can change."""

    pk: int
    bot: str
    name: str
    target: int
    options: Mapping[str, Any]
    sees_persona: bool
    is_control: bool = False


def kinds(campaign: AnyCampaign) -> list[Kind]:
    """Return what the protocol's partner may be."""
    protocol = protocol_of(campaign)
    if protocol.after is not None and protocol.after.of_transcripts:
        return []  # they come with what is taken or imported
    if protocol.write:
        return []
    chat = protocol.chat
    partner = chat.partner if chat else "bot"
    found = [Kind(name, about_bot(name)) for name in bot_names()] if partner != "person" else []
    if partner != "bot":
        found.append(Kind(PEOPLE, _("Two participants chat with each other.")))
    return found


def doors(campaign: AnyCampaign, search: str = "") -> dict[str, list[OfferedSystem]]:
    """Return what can be added, by door: server, files, baselines that match a search, people.

    Baselines that are ready come first.
    """
    found: dict[str, list[OfferedSystem]] = {door: [] for door in ("server", "files", "baselines")}
    found["people"] = []
    words = search.lower().split()
    for kind in kinds(campaign):
        door = DOORS.get(kind.name, "baselines")
        text = f"{kind.name.replace('_', ' ')} {kind.name} {kind.about}".lower()
        if door != "baselines" or all(word in text for word in words):
            found[door].append(OfferedSystem(kind.name, kind.about, missing(kind.name)))
    found["baselines"].sort(key=lambda one: bool(one.missing))
    return found


def missing(bot: str) -> str:
    """Return what a bot needs before it can answer here, "" if nothing."""
    if not is_bot(bot):
        return ""
    options = {each.name: each for each in bot_options(bot)}
    if "url" in options:
        model_keys.enter()
        servers = egress.hosts() | egress.private_hosts()
        return "" if servers else _("no server is allowed yet: an administrator has to add one")
    if "function" in options:
        listed = os.environ.get("BOT_CALLABLES", "").strip() or settings.REDIS_URL
        return "" if listed else _("no function is named in BOT_CALLABLES")
    if extra := bot_lacks(bot):
        return _("the extra %(extra)s is not installed") % {"extra": extra}
    if "checkpoint" in options and options["checkpoint"].needed and not checkpoints_here():
        return _("no folder of a checkpoint in the folder of weights")
    weights = options.get("weights")
    if weights is None or not weights.needed or bot in _trained():
        return ""
    command = f".venv/bin/python -m bots train {bot}"
    return _("no weights of it on this server: %(command)s") % {"command": command}


def _trained() -> set[str]:
    """Return the bots that there are weights of on this server."""
    return {bot for _folder, bot in weights_here()}


def weights_here() -> list[tuple[str, str]]:
    """Return the folders of weights on this server, and which bot each was trained for."""
    found = sorted(Path(settings.WEIGHTS_DIR).glob(f"*/{ABOUT}"))
    return [(path.parent.name, _bot_of(path)) for path in found]


def checkpoints_here() -> list[str]:
    """Return the folders of checkpoints on this server."""
    return sorted(path.parent.name for path in Path(settings.WEIGHTS_DIR).glob("*/config.json"))


def _bot_of(path: Path) -> str:
    try:
        return str(json.loads(path.read_text("utf-8"))["bot"])
    except (OSError, ValueError, KeyError, TypeError):
        return _("cannot be read")


def about_bot(name: str) -> str:
    """Return the first paragraph of a bot's documentation, without importing it."""
    return bot_summary(name)


def calls_a_server(bot: str) -> bool:
    """Tell whether a system of this bot calls a server by its address."""
    return is_bot(bot) and worker.calls_servers(bot)


def is_bot(bot: str) -> bool:
    """Tell whether reply workers answer for what is chosen for a system."""
    return System(bot=bot).is_bot


def is_people(bot: str) -> bool:
    """Tell whether what is chosen for a system is people."""
    return bot == PEOPLE


class SystemRefused(Exception):
    """The change cannot be made; the text says why."""


def of(campaign: AnyCampaign) -> QuerySet[System]:
    """Return the campaign's systems with their cells."""
    return System.objects.filter(campaign=campaign.pk).select_related("cell").order_by("id")


def one(campaign: AnyCampaign, pk: int) -> System:
    """Return one of the campaign's systems."""
    system = of(campaign).filter(pk=pk).first()
    if system is None:
        raise access.NotFound(f"system {pk} of campaign {campaign.pk}")
    return system


def stored(campaign: AnyCampaign, pk: int) -> StoredSystem:
    """Return what is stored of one of the campaign's systems. Raises `NotFound`."""
    row = one(campaign, pk)
    target = row.cell.target if hasattr(row, "cell") else 0
    about = (row.options, row.sees_persona, row.is_control)
    return StoredSystem(row.pk, row.bot, row.name, target, *about)


def add_system(
    *, campaign: AnyCampaign, bot: str, values: Mapping[str, Any], by: Any, now: datetime
) -> System:
    """Add a system to a draft, with a form's values. Raises `Invalid`."""
    if bot not in {kind.name for kind in kinds(campaign)}:
        raise Invalid({"bot": _("%(bot)s cannot be a partner here") % {"bot": shown(bot)}})
    values = dict(values)
    target = values.pop("target")
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        if of(row).count() >= MOST:
            raise Invalid({"name": _("is one too many: a campaign has at most 20 systems")})
        _refuse_taken(row, values["name"], None)
        _refuse_second_control(row, values, None)
        system = System.objects.create(campaign=row, bot=bot, **values)
        QuotaCell.objects.create(system=system, target=target)
        _note(row, by, "system added", system, now)
        return system


def change_system(
    *, campaign: AnyCampaign, pk: int, values: Mapping[str, Any], by: Any, now: datetime
) -> System:
    """Change a system of a draft; another bot's options have to be rehearsed again."""
    system = one(campaign, pk)
    values = dict(values)
    target = values.pop("target")
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        _refuse_taken(row, values["name"], system)
        _refuse_second_control(row, values, system)
        fresh = one(row, system.pk)
        other = any(getattr(fresh, name) != values[name] for name in ("options", "sees_persona"))
        if other:
            _refuse_used(fresh)
            values |= {"rehearsal": System.Rehearsal.UNTESTED, "rehearsal_note": "", "version": {}}
        System.objects.filter(pk=fresh.pk).update(**values)
        QuotaCell.objects.filter(system=fresh).update(target=target)
        fresh.refresh_from_db()
        _note(row, by, "system changed", fresh, now)
        return fresh


def remove_system(*, campaign: AnyCampaign, pk: int, by: Any, now: datetime) -> None:
    """Remove a system from a draft; one that answered contexts stays."""
    system = one(campaign, pk)
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        fresh = one(row, system.pk)
        _refuse_used(fresh)
        _delete_tests(fresh)
        QuotaCell.objects.filter(system=fresh).delete()
        _note(row, by, "system removed", fresh, now)
        fresh.delete()


def problems_of(bot: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return what keeps a bot with these options from answering, by option: found on saving."""
    problems: dict[str, str] = {}
    if options.get("url"):
        model_keys.enter()
        problems |= _of_server(str(options["url"]), str(options.get("key_variable", "")))
    if taken := OUR_FIELDS.intersection(options.get("extra", ())):
        problems["extra"] = _("has %(field)s, which Parley sets itself; leave it out") % {
            "field": shown(sorted(taken)[0])
        }
    if partials.is_streamed(options):
        text = _("%(problem)s, or turn “Stream replies” off")
        rules = rules_of_the_whole(
            {each.name: each.default for each in bot_options(bot)} | {**options}
        )
        problems |= {name: text % {"problem": each} for name, each in rules.items()}
    if options.get("function") and not settings.REDIS_URL:  # else workers have a list of their own
        problems |= _problem(
            "function", callables.check_listed, str(options["function"]), "function"
        )
    for which, its in worker.INSIDE.items():
        inner, values = options.get(which, ""), options.get(its)
        if inner in bot_names() and isinstance(values, dict) and partials.is_streamed(values):
            problems[its] = _(
                "has stream, but a bot inside another one is not streamed; leave it out"
            )
        elif inner in bot_names() and isinstance(values, dict):
            problems |= _problem(its, check_options, inner, bot_options(inner), values)
    return problems


def suggested_keys() -> tuple[tuple[str, str], ...]:
    """Return the names of keys, with the server that each is for."""
    variables = ((name, name) for name in sorted(os.environ) if egress.KEY.fullmatch(name))
    entered = ((name, f"{name} ({server})") for name, server in model_keys.key_names())
    return (*entered, *variables)


def _of_server(url: str, key: str) -> dict[str, str]:
    problems = _problem("url", egress.server_of, url)
    if problems or not key or (settings.REDIS_URL and _is_of_a_worker(key)):
        return problems
    return _problem("key_variable", egress.key, key, egress.server_of(url))


def _is_of_a_worker(key: str) -> bool:
    """Tell whether a key may be in the environment of a worker on another machine only."""
    return egress.KEY.fullmatch(key) is not None and key not in os.environ


def _problem(name: str, check: Callable[..., object], *arguments: object) -> dict[str, str]:
    try:
        check(*arguments)
    except InvalidOption as problem:
        return {name: str(problem)}
    return {}


def _refuse_taken(campaign: AnyCampaign, name: str, system: System | None) -> None:
    same = of(campaign).filter(name=name).first()
    if same is not None and same != system:
        complaint = _("%(value)s is the name of another system here; choose another")
        raise Invalid({"name": complaint % {"value": shown(name)}})


def _refuse_second_control(
    campaign: AnyCampaign, values: Mapping[str, Any], system: System | None
) -> None:
    same = of(campaign).filter(is_control=True).first() if values.get("is_control") else None
    if same is not None and same != system:
        complaint = _("%(value)s is the control already; a campaign has one at most")
        raise Invalid({"is_control": complaint % {"value": shown(same.name)}})


def _refuse_used(system: System) -> None:
    answered = system.conversations.exclude(purpose=Conversation.Purpose.REHEARSAL)
    if answered.exists() or system.candidates.exists():
        raise SystemRefused(
            _("Its replies were already collected, so it stays. Add another system.")
        )


def _delete_tests(system: System) -> None:
    """Delete rehearsals and test chats, which are no data of the study, unless one is under way."""
    tests = system.conversations.filter(purpose=Conversation.Purpose.REHEARSAL)
    jobs = ReplyJob.objects.filter(conversation__in=tests)
    if jobs.filter(state__in=OWED).exists():
        raise SystemRefused(_("It is being tested. Wait until its test has ended, then remove it."))
    jobs.delete()
    Event.objects.filter(conversation__in=tests).delete()
    Seat.objects.filter(conversation__in=tests).delete()
    tests.delete()


def _note(campaign: AnyCampaign, by: Any, action: str, system: System, now: datetime) -> None:
    audit.append(
        actor=by.get_username(), action=action, campaign=campaign, now=now, system=system.name
    )
