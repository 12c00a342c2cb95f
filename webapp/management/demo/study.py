"""The demo's campaigns, made as a requester makes them: created, rehearsed, checked, launched.

Apart because Django takes each module of the folder of commands for a command.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bots import bot_lacks
from evaluation.registry import get_protocol
from webapp import clock
from webapp.forms.campaign_form import CampaignForm
from webapp.forms.system_form import SystemForm
from webapp.management.demo.planted import BEST, EACH, FAIR, GOOD, KEY_VALUE, POOR
from webapp.management.demo.weights import MATCHER, SMALL
from webapp.models import Campaign, System
from webapp.services.campaign import campaigns, contexts_import, launch, personas_import, systems
from webapp.services.rating import contexts
from webapp.services.replies import rehearsal
from webapp.services.rules.protocols import original_of
from webapp.services.staff_forms.source_settings import PREFIX

WRITER, RANKER = "small-model", "minilm"  # in the seats, where their extras are installed
PATIENCE = 360.0  # seconds for a rehearsal with its loading, and for the replies to the contexts
BOTS = {
    BEST: "profile_memory",
    KEY_VALUE: "kv_profile_memory",
    GOOD: "tfidf",
    FAIR: "generic",
    POOR: "parrot",
    WRITER: SMALL,
    RANKER: MATCHER,
}
WEIGHTS = {
    BEST: "demo",
    KEY_VALUE: "demo",
    GOOD: "demo-tfidf",
    RANKER: "demo-minilm",
}  # folders of weights


@dataclass(frozen=True, kw_only=True)
class DemoStudy:
    """One campaign of the demo. Simulated people fill it, or it is a seat for whoever runs it.

    `invites` says what a seat is for, in a sentence.
    """

    name: str
    protocol: str
    systems: tuple[str, ...]
    target: int
    invites: str = ""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    contexts: int = 0


RANKED = DemoStudy(
    name="Which bot is the better company?",
    protocol="personachat_bot",
    systems=(POOR, GOOD, FAIR, BEST),
    target=EACH,
    settings={"chat.pace": "0.02"},
)
LABELED = DemoStudy(
    name="Does it make sense, live?",
    protocol="meena_interactive",
    systems=(KEY_VALUE, GOOD, POOR),
    target=5,
)
STATIC = DemoStudy(
    name="Does the reply make sense?",
    protocol="meena_static",
    systems=(BEST, GOOD, FAIR),
    target=0,
    settings={"rate.batch": "10"},
    contexts=9,
)
SEAT = DemoStudy(
    name="A seat for you: chat under a persona",
    protocol="personachat_bot",
    systems=(BEST, KEY_VALUE, GOOD),
    target=20,
    invites="Chat under a persona, then rate your partner (PERSONA-CHAT, 8 minutes).",
)
LIVE_SEAT = DemoStudy(
    name="A seat for you: label each reply",
    protocol="meena_interactive",
    systems=(BEST, KEY_VALUE, GOOD),
    target=20,
    invites="Chat with a bot and label each of its replies as you go (MEENA, 10 minutes).",
)
STUDIES = (RANKED, LABELED, STATIC, SEAT, LIVE_SEAT)


class DemoNotReady(Exception):
    """A campaign could not be opened; the text says why."""


def make(study: DemoStudy, *, by: Any, seed: int) -> Campaign:
    """Return the study's campaign as a draft; one that exists is taken as it is."""
    known = Campaign.objects.filter(name=study.name, owner=by).first()
    if known is not None:
        return known
    now = clock.now()
    values = _settings(study, seed)
    campaign = campaigns.create(owner=by, protocol=study.protocol, values=values, now=now)
    for name in systems_of(study):
        _add_system(campaign, name, study.target, by)
    if personas_import.pool_of(campaign):
        text = personas_import.bundled(campaign)
        personas_import.store(campaign=campaign, text=text, by=by, now=now)
    if study.contexts:
        lines = contexts_import.bundled().splitlines()
        chosen = lines[:: max(1, len(lines) // study.contexts)][: study.contexts]
        contexts_import.store(campaign=campaign, text="\n".join(chosen), by=by, now=now)
    return campaign


def systems_of(study: DemoStudy) -> tuple[str, ...]:
    """Return a study's systems; in a seat those too whose extras are installed."""
    more = (RANKER, WRITER) if study.invites else ()
    return (*study.systems, *(name for name in more if not bot_lacks(BOTS[name])))


def _settings(study: DemoStudy, seed: int) -> dict[str, Any]:
    """Return the values of the form as it comes, filled in where a requester has to decide."""
    protocol = get_protocol(study.protocol)
    raw = CampaignForm(protocol).typed()
    raw |= {"name": study.name, "contact": "demo@example.org", "pay": "2.00", "seed": str(seed)}
    raw |= {"troubled_percent": "100"}  # its bots are toys, some of them poor on purpose
    raw |= {PREFIX + name: value for name, value in study.settings.items()}
    return CampaignForm(protocol, raw).values()


def _add_system(campaign: Campaign, name: str, target: int, by: Any) -> None:
    bot = BOTS[name]
    protocol = original_of(campaign)
    raw = SystemForm(protocol, bot).typed() | {"name": name, "target": str(target)}
    if name in WEIGHTS:
        raw["option.weights"] = WEIGHTS[name]
    values = SystemForm(protocol, bot, raw).values()
    systems.add_system(campaign=campaign, bot=bot, values=values, by=by, now=clock.now())


def open_all(found: Iterable[Campaign], *, by: Any, tell: Callable[[str], None]) -> None:
    """Rehearse the drafts' bots and launch; the server's reply workers do the answering."""
    drafts = [campaign for campaign in found if campaign.state == Campaign.State.DRAFT]
    if drafts:
        tell("rehearsing every system through the real path")
    for campaign in drafts:
        for system in campaign.systems.exclude(rehearsal=System.Rehearsal.PASSED):
            if system.is_bot:
                rehearsal.start(system=system, by=by.get_username(), now=clock.now())
        contexts.build(campaign=campaign, now=clock.now())
    for campaign in drafts:
        _wait(campaign, by)
        tell(f"launched “{campaign.name}”")


def _wait(campaign: Campaign, by: Any) -> None:
    """Launch as soon as the checklist is green, or say what stayed red."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            launch.launch(campaign=campaign, by=by, now=clock.now())
            return
        except launch.NotReady as red:
            failed = campaign.systems.filter(rehearsal=System.Rehearsal.FAILED).first()
            if failed is not None:
                raise DemoNotReady(f"{failed.name}: {failed.rehearsal_note}") from red
            if time.monotonic() > end:
                raise DemoNotReady(f"{campaign.name}: {red}") from red
            time.sleep(0.3)
