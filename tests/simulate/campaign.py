"""One simulated campaign, in a process of its own: made, launched, filled by people, exported.

python -m tests.simulate.campaign PROTOCOL|FILE FOLDER PEOPLE SEED SHORT TIMES CHECKS [TRANSCRIPTS]
with the environment's new database; leaves `export.zip`, the crowd's own records as `crowd.jsonl`,
and the export of the study, where the campaign is a phase of one, as `study.zip`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from io import StringIO
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation import Protocol, Rate, Write
from evaluation.setting_types import WholeNumbers
from tests.simulate import files, transcripts, written
from tests.simulate.admission import (
    EXPERT,
    NOVICE,
    known_contexts,
    mix_of,
    planted_before,
    with_admission,
)
from tests.simulate.imported import imported_contexts, replies_are_imported
from tests.simulate.own_systems import own_systems
from tests.simulate.planted import (
    BOT,
    LEAVING,
    MIX,
    held_before,
    is_of_people,
    planted,
    source_of,
)

if TYPE_CHECKING:
    from webapp.crowd.people import Mix, Quality
    from webapp.models import Campaign
    from webapp.services.rules.access import StaffProtocol

AT_ONCE = 8
MOST_PAGES = 30  # that one of the people judges, of a protocol with long batches
SECONDS = 600.0  # that one of the people stays at most
SECONDS_PER_LABEL = 10.0  # more, where messages are labeled by the hundred on a busy machine
TALKERS, TALKERS_SHORT = 4, 8  # whose messages third parties judge
TALKERS_WITH_BOTS = 18  # who rate them too
BATCH_SHORT = 20  # items per person
WAIT = 60  # seconds for a partner
CLOSING = 60.0  # seconds for the server to close a campaign that is complete
EXPORT, STUDY, LEDGER, LATER = "export.zip", "study.zip", "crowd.jsonl", "crowd_later.jsonl"
DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """What is simulated, and where it is served."""

    base: str
    folder: Path
    people: int
    seed: int
    short: bool
    staff: Any
    transcripts: Path | None = None
    file: Path | None = None  # of the protocol, where it is somebody's own


def run(
    protocol: str,
    folder: Path,
    people: int,
    seed: int,
    short: bool,
    times: int,
    transcripts: Path | None = None,
    *,
    checks: bool = False,
) -> None:
    """Fill a campaign of the protocol so many times, and write its export and the study's."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    from tests.databases import migrate
    from tests.servers import free_port
    from webapp.management.demo import stage, study
    from webapp.services.accounts import projects
    from webapp.services.rules.access import Role

    migrate()
    if own_systems(files.protocol(protocol).name):  # whose replies may take long
        study.PATIENCE = SECONDS
    staff = get_user_model().objects.create_superuser("simulate")
    projects.admit(account=staff, name="Simulated", roles=(Role.ADMINISTRATOR,))
    with stage.Server(free_port()) as server:
        order = Simulated(
            base=server.base,
            folder=folder,
            people=people,
            seed=seed,
            short=short,
            staff=staff,
            transcripts=transcripts,
            file=Path(protocol) if files.is_file(protocol) else None,
        )
        source = files.protocol(protocol)
        followed = with_admission(source) if checks else source
        campaign = filled(followed, order)
        if times > 1:
            _repeat(campaign, followed, order, times)
    call_command("export", str(campaign.pk), "--out", str(folder / EXPORT), stdout=StringIO())
    _verify()
    campaign.refresh_from_db()
    if campaign.study_id is not None:
        words = (str(campaign.study_id), "--study", "--out", str(folder / STUDY))
        call_command("export", *words, stdout=StringIO())


def _verify() -> None:
    """Let the product look for faults in what came of it. Raises `RuntimeError` with the first."""
    from django.core.management import CommandError, call_command

    said = StringIO()
    try:
        call_command("verify", stdout=said)
    except CommandError as problem:
        raise RuntimeError(f"{problem}: {said.getvalue().splitlines()[0]}") from None


def filled(protocol: Protocol, order: Simulated) -> Campaign:
    """Return a campaign of the protocol that people have been through."""
    from webapp.management.demo import study

    if order.transcripts is not None:
        return _labeled(protocol, order, order.transcripts)
    campaign = _draft(protocol, order)
    if protocol.write is not None:
        _add_material(campaign, protocol.write, order)
    elif protocol.after is not None and protocol.after.by_third_parties:
        _take_messages(campaign, order)
    elif protocol.after is not None and protocol.after.over == "speakers":
        _take_conversations(campaign, protocol, order)
    else:
        _add_systems(campaign, protocol, order)
    study.open_all([campaign], by=order.staff, tell=lambda said: None)
    if protocol.chat is not None and protocol.chat.endless:
        _visit_on_two_days(campaign, protocol, order)
    else:
        let_visit(campaign, planted(protocol) | planted_before(protocol), order, protocol=protocol)
    if protocol.write is not None:
        written.accept_all(campaign, order.staff)
    return campaign


def _labeled(protocol: Protocol, order: Simulated, folder: Path) -> Campaign:
    """Import transcripts and let people label every message to judge, five each."""
    from webapp.management.demo import study

    chats = transcripts.chosen(folder, transcripts.EACH_SHORT if order.short else None)
    judged = sum(chat.judged for chat in chats)
    batch = min(judged, transcripts.MOST_ITEMS)
    campaign = _draft(protocol, order, {"rate.batch": str(batch)})
    transcripts.import_through_pages(campaign, chats, order.staff)
    study.open_all([campaign], by=order.staff, tell=lambda said: None)
    people = max(transcripts.VOTES, -(-judged * transcripts.VOTES // batch))
    labeling = replace(order, people=people)
    seconds = SECONDS + SECONDS_PER_LABEL * batch
    told = partial(transcripts.truth, campaign, order.seed)
    let_visit(campaign, transcripts.AS_PLANTED, labeling, truth=told, seconds=seconds)
    return campaign


def _visit_on_two_days(campaign: Campaign, protocol: Protocol, order: Simulated) -> None:
    """Let everybody come, and half of them again a day later, by the same links and browsers.

    Nobody waits for that day: what was written on the first is moved back.
    """
    from django.db.models import F

    from webapp.models import Conversation, Event

    before = planted_before(protocol)
    let_visit(campaign, before, order, mix=LEAVING, protocol=protocol, return_later=True)
    Event.objects.filter(conversation__campaign=campaign).update(made_at=F("made_at") - DAY)
    held = Conversation.objects.filter(campaign=campaign, last_message_at__isnull=False)
    held.update(last_message_at=F("last_message_at") - DAY)
    half = replace(order, people=order.people // 2)
    let_visit(
        campaign, before, half, ledger=LATER, mix=LEAVING, protocol=protocol, return_later=True
    )


def shortened(protocol: Protocol) -> dict[str, str]:
    """Return the settings of the shortest chats and batches, as a form sends them."""
    types = {setting.name: setting.type for setting in protocol.settings()}
    minimum = types.get("chat.minimum")
    least = {"chat.minimum": str(minimum.least)} if isinstance(minimum, WholeNumbers) else {}
    least |= {"chat.pace": "0"} if "chat.pace" in types else {}
    is_long = protocol.after is not None and protocol.after.batch > BATCH_SHORT
    return least | ({"rate.batch": str(BATCH_SHORT)} if is_long else {})


def _draft(
    protocol: Protocol, order: Simulated, changes: Mapping[str, str] | None = None
) -> Campaign:
    from django.utils import timezone

    from webapp.forms.campaign_form import CampaignForm
    from webapp.services.campaign import campaigns, personas_import
    from webapp.services.staff_forms.source_settings import PREFIX

    raw = CampaignForm(protocol).typed()
    raw |= {"name": protocol.title, "contact": "simulate@example.org", "pay": "2.00"}
    raw |= {"seed": str(order.seed)}
    sizes = written.sizes(protocol, order.people)
    raw |= {PREFIX + name: value for name, value in sizes.items()}
    if own_systems(protocol.name):  # people rate by what is planted, whatever a bot says
        raw |= {"troubled_percent": "100"}
    if is_of_people(protocol) and protocol.chat:
        raw |= {"wait_seconds": str(WAIT)}  # of an odd one out
    if order.short:
        raw |= {PREFIX + name: value for name, value in shortened(protocol).items()}
    raw |= {PREFIX + name: value for name, value in (changes or {}).items()}
    now, values = timezone.now(), CampaignForm(protocol, raw).values()
    own = _stored(protocol, order)
    name = own.name if own else protocol.name
    campaign = campaigns.create(owner=order.staff, protocol=name, values=values, now=now, own=own)
    if personas_import.pool_of(campaign):
        text = personas_import.bundled(campaign)
        personas_import.store(campaign=campaign, text=text, by=order.staff, now=now)
    return campaign


def _stored(protocol: Protocol, order: Simulated) -> StaffProtocol | None:
    """Return a protocol that is not a file's as one that staff built."""
    from django.utils import timezone

    from webapp.services.campaign import own_protocols
    from webapp.services.rules import access

    if files.comes_with_parley(protocol):
        return None
    now, by = timezone.now(), order.staff
    if order.file is not None and protocol == files.protocol(str(order.file)):
        made = own_protocols.add_file(text=order.file.read_text("utf-8"), by=by, now=now)
    else:
        origin = own_protocols.origin(protocol)
        made = own_protocols.add(protocol=protocol, origin=origin, by=by, now=now)
    return access.own_protocol(order.staff, made.pk)


def _add_systems(campaign: Campaign, protocol: Protocol, order: Simulated) -> None:
    from django.utils import timezone

    from webapp.forms.system_form import OPTION, SystemForm
    from webapp.models import PEOPLE
    from webapp.services.campaign import contexts_import, systems
    from webapp.services.rules.protocols import protocol_of

    names, usual = list(planted(protocol)), PEOPLE if is_of_people(protocol) else BOT
    own = {each.name: each for each in own_systems(protocol.name)}
    two = [each.name for each in own.values() if each.bot == PEOPLE]  # of whom one rates
    each_gets = -(-order.people // len([*names, *two]))
    for name in [] if replies_are_imported(protocol) else names:
        bot = own[name].bot if name in own else usual
        options = own[name].options if name in own else {}
        raw = SystemForm(protocol, bot).typed() | {"name": name}
        raw |= {OPTION + key: value for key, value in options.items()}
        raw |= {"sees_persona": ""} if name in own and own[name].unseen else {}
        target = each_gets * (2 if name in two else 1)
        raw |= {"target": str(target)} if protocol.chat else {}
        values, now = SystemForm(protocol, bot, raw).values(), timezone.now()
        systems.add_system(campaign=campaign, bot=bot, values=values, by=order.staff, now=now)
    rate = protocol_of(campaign).after
    if rate is not None and rate.over == "contexts":
        count = _wanted(rate, len(names), order.people)
        contexts = imported_contexts if replies_are_imported(protocol) else bundled_contexts
        known = known_contexts(protocol_of(campaign))
        text = "\n".join(map(json.dumps, [*known, *contexts(protocol, count)]))
        contexts_import.store(campaign=campaign, text=text, by=order.staff, now=timezone.now())


def bundled_contexts(protocol: Protocol, count: int) -> list[dict[str, Any]]:
    """Return contexts that come with Parley, short and long, for systems that reply themselves."""
    from webapp.services.campaign import contexts_import

    rate = protocol.after
    least, most = rate.messages if rate else (1, 1)
    found = map(json.loads, contexts_import.bundled().splitlines())
    fitting = [each for each in found if least <= len(each["messages"]) <= most]
    return fitting[:: max(1, len(fitting) // count)][:count]


def _take_conversations(draft: Campaign, protocol: Protocol, order: Simulated) -> None:
    """Let other people chat with the systems, and take what they said; controls are imported."""
    from webapp.management.demo import study

    held = held_before(protocol)
    talkers = replace(order, people=TALKERS_WITH_BOTS)
    source = _draft(held, talkers)
    _add_systems(source, held, talkers)
    study.open_all([source], by=order.staff, tell=lambda said: None)
    let_visit(source, planted(held), talkers, ledger="talkers.jsonl", prefix="talk")
    wait_for_close(source)
    transcripts.take_through_pages(draft, source.pk, list(planted(protocol)), order.staff)
    if protocol.onboarding is not None:
        controls = transcripts.controls((EXPERT, NOVICE), 2 * protocol.onboarding.items)
        transcripts.import_through_pages(draft, controls, order.staff)


def _wanted(rate: Rate, systems: int, people: int) -> int:
    """Return how many contexts so many people can judge."""
    pairs = systems - 1 if rate.with_first else comb(systems, 2)
    of_each = {"one": systems, "pairs": pairs, "all": 1}[rate.show]
    return max(1, people * min(rate.batch, MOST_PAGES) // (rate.votes * of_each))


def _take_messages(draft: Campaign, order: Simulated) -> None:
    """Let other people chat, and take what they or their bots said; both are phases of a study."""
    from django.utils import timezone

    from webapp.management.demo import study
    from webapp.services.campaign import message_items, studies
    from webapp.services.rules.protocols import original_of

    followed = original_of(draft)
    protocol = source_of(followed)
    assert protocol is not None
    people = TALKERS_SHORT if order.short else TALKERS
    is_cut = followed.write is not None
    order = replace(order, short=order.short and not is_cut)  # what is cut has messages enough
    talkers = replace(order, people=people if is_of_people(protocol) else TALKERS_WITH_BOTS)
    source = _draft(protocol, talkers)
    _add_systems(source, protocol, talkers)
    study.open_all([source], by=order.staff, tell=lambda said: None)
    let_visit(source, planted(protocol), talkers, ledger="talkers.jsonl", prefix="talk")
    wait_for_close(source)
    now = timezone.now()
    message_items.take(campaign=draft, source=str(source.pk), by=order.staff, now=now)
    made = studies.create(raw={"name": draft.name}, by=order.staff, now=now)
    for each in (source, draft):
        raw = {"source": str(each.pk), "phase": each.protocol}
        studies.add(study=made, raw=raw, by=order.staff, now=now)


def _repeat(campaign: Campaign, protocol: Protocol, order: Simulated, times: int) -> None:
    """Let other people go through duplicates of a campaign, all of them phases of a study."""
    from django.utils import timezone

    from webapp.management.demo import study
    from webapp.services.campaign import studies

    now = timezone.now()
    made = studies.create(raw={"name": campaign.name}, by=order.staff, now=now)
    raw = {"source": str(campaign.pk), "phase": campaign.protocol}
    studies.add(study=made, raw=raw, by=order.staff, now=now)
    raw |= {"times": str(times - 1), "first": "2"}
    for again in studies.repeat(study=made, raw=raw, by=order.staff, now=now):
        study.open_all([again], by=order.staff, tell=lambda said: None)
        keep = protocol.after.keep if protocol.after else ""
        truth, name = planted(protocol) | planted_before(protocol), f"again{again.pk}"
        name = "sim" if keep else name  # the same people come again, to see whether arms are kept
        let_visit(again, truth, order, protocol=protocol, ledger=f"{again.pk}.jsonl", prefix=name)
        if keep:
            _compare_arms(campaign, again, keep)


def _compare_arms(first: Campaign, second: Campaign, keep: str) -> None:
    """Refuse that somebody who came twice was in two arms. Raises `RuntimeError`."""
    from webapp.models import Assignment
    from webapp.services.rating import one_kind

    arms = [
        dict(
            Assignment.objects.filter(item__campaign=campaign, state="DONE").values_list(
                "participation__external__value", f"item__{one_kind.NAMES[keep]}"
            )
        )
        for campaign in (first, second)
    ]
    both = arms[0].keys() & arms[1].keys()
    if not both or any(arms[0][name] != arms[1][name] for name in both):
        raise RuntimeError(f"arms of {len(both)} people who came twice: {arms}")
    print(f"  {len(both)} people came twice, each in the arm of before", flush=True)


def _add_material(draft: Campaign, write: Write, order: Simulated) -> None:
    """Add what is written about; the personas that are revised are written by other people."""
    from django.utils import timezone

    from webapp.management.demo import study
    from webapp.services.campaign import written_materials

    if write.of_conversations:
        _take_messages(draft, order)
    elif write.makes == "reply":
        written.add_contexts(draft, write, order.people, order.staff)
    if write.makes != "revision":
        return
    protocol = written.source_protocol(draft.protocol)
    source = _draft(protocol, order)
    study.open_all([source], by=order.staff, tell=lambda said: None)
    let_visit(source, {}, order, ledger="authors.jsonl", prefix="author")
    written.accept_all(source, order.staff)
    now, key = timezone.now(), str(source.pk)
    written_materials.take(campaign=draft, source=key, by=order.staff, now=now)


def wait_for_close(campaign: Campaign) -> None:
    """Wait until the server has seen that nobody is missing."""
    end = time.monotonic() + CLOSING
    campaign.refresh_from_db()
    while campaign.state == campaign.State.OPEN:
        if time.monotonic() > end:
            raise TimeoutError(f"{campaign.protocol} stays open though all conversations are over")
        time.sleep(0.1)
        campaign.refresh_from_db()


def let_visit(
    campaign: Campaign,
    qualities: Mapping[str, Quality],
    order: Simulated,
    *,
    ledger: str = LEDGER,
    prefix: str = "sim",
    truth: Callable[[str], Mapping[str, str]] | None = None,
    seconds: float = SECONDS,
    mix: Mix = MIX,
    protocol: Protocol | None = None,
    return_later: bool = False,
) -> None:
    """Let people take part, and wait until the last has left; who may return keeps a browser."""
    from webapp.crowd.order import Order
    from webapp.crowd.process import Crowd, nothing
    from webapp.management import oracle

    visitors = Order(
        bases=(order.base,),
        slug=campaign.slug,
        count=order.people,
        seed=order.seed,
        at_once=AT_ONCE,
        seconds=seconds,
        prefix=prefix,
        oracle=True,
        browsers=str(order.folder / "browsers") if return_later else "",
        mix=mix_of(protocol, mix) if protocol else mix,
        planted=qualities,
    )
    told = truth or partial(oracle.truth, campaign)
    gone = nothing if mix is LEAVING else partial(oracle.let_go, campaign)
    crowd = Crowd(visitors, order.folder / ledger, truth=told, gone=gone)
    try:
        crowd.wait(seconds * -(-order.people // AT_ONCE))
    finally:
        crowd.end()


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    name, where, count, seed, short, times, checks, *more = sys.argv[1:]
    given = Path(more[0]) if more else None
    evaluations, has_checks = int(times), checks == "checks"
    is_short = short == "short"
    run(name, Path(where), int(count), int(seed), is_short, evaluations, given, checks=has_checks)
