"""Adversaries among honest people, on a real server: what they get, and whom they hinder.

    python -m tests.trust.adversaries --attempts 200 --seed 1

Three campaigns, with a bot, with pairs, and with a bot after a screening that pays who does not
pass, each with the usual budget. Attempts are dealt to seven kinds in turn, and come between honest
people with signed invitations. Prints JSON: codes and budget, loss per 1,000 attempts of each kind,
and how honest people's visits ended. Exits 1 where codes exceed a budget, a guess or a replay gains
anything, or who finished was not paid (G28).
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import random
import sys
import tempfile
import uuid
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from tests import live
from tests.trust.outages import connect
from webapp.crowd import answers
from webapp.crowd.ledger import Ledger
from webapp.crowd.page import BrowserPage
from webapp.crowd.participant import Participant, Visit
from webapp.crowd.people import Person
from webapp.crowd.web import Gone, Web

AT_ONCE = 12
STAYS = 100.0  # seconds that an adversary stays at most
PATIENCE = 400.0  # seconds of somebody honest
MINIMUM = 8
SCREENED = Decimal("0.20")  # of who does not pass, which is a tenth of the pay
UNPAID = "worked and got no code"
LOOKS = 40  # at a page, a half second apart, for what somebody waits for


@dataclass
class Visitor:
    """A browser of somebody who keeps to no rule; `codes` are those that it was shown."""

    base: str
    slug: str
    name: str
    chance: random.Random

    def __post_init__(self) -> None:
        person = Person(name=self.name, seed=self.chance.randrange(10**9))
        self.person, self.codes = person, set[str]()
        self.again = set[str]()  # codes that a replay gained
        self.web = Web((self.base,), person, patience=30)
        self.tab = str(uuid.uuid4())
        self.sent: list[tuple[str, dict[str, str]]] = []  # each form, as it went

    @property
    def path(self) -> str:
        return f"/c/{self.slug}/"

    async def now(self) -> BrowserPage:
        page = await self.web.page(f"{self.path}now")
        self.codes |= {answers.code(page)} - {""}
        return page

    async def join(self, name: str = "") -> bool:
        entry = f"{self.path}?id={name or self.name}"
        page = await self.web.page(entry)
        form = page.form("/consent")
        if form is None:
            return False
        filled = {**form.sent, **dict.fromkeys(form.ticks, "on")}
        self.sent.append((form.action or entry, filled))
        await self.web.ask("POST", form.action or entry, data=filled)
        return self.web.is_known(self.slug)

    async def press(self, ending: str, fill: Mapping[str, str] | None = None) -> bool:
        form = (await self.now()).form(ending)
        if form is None:
            return False
        self.sent.append((form.action, {**form.sent, **(fill or {})}))
        await self.web.ask("POST", form.action, data=self.sent[-1][1])
        await self.now()
        return True

    async def frame(self, **fields: Any) -> list[dict[str, Any]]:
        """Send a frame by plain HTTP, and return what comes back."""
        page = await self.now()
        address = f"{self.path}frames?conversation={page.key}&version=2"
        frame = fields if fields["type"] == "sync" else {"id": str(uuid.uuid4()), **fields}
        answer = await self.web.frames(address, page.token, self.tab, frame)
        found: list[dict[str, Any]] = answer.json()["frames"] if answer.is_success else []
        return found

    async def state(self) -> str:
        answer = await self.web.ask("GET", f"{self.path}status")
        return str(answer.json()["state"]) if answer.is_success else ""

    async def until(self, *states: str) -> str:
        for _ in range(LOOKS):
            if (state := await self.state()) in states:
                return state
            await asyncio.sleep(0.5)
        return ""

    async def write(self, text: str) -> bool:
        """Write as soon as it is one's turn."""
        for _ in range(LOOKS):
            found = await self.frame(type="message", text=text)
            if any(each["type"] == "ack" for each in found):
                return True
            if await self.state() != "CHATTING":
                return False
            await asyncio.sleep(0.5)
        return False


async def farm(one: Visitor) -> None:
    """One word again and again under a new id, until stopping pays something."""
    if not (await one.join() and await one.press("/start")):
        return
    for count in (1, 2):
        await one.write("ok")
        for _ in range(LOOKS):
            found = await one.frame(type="sync", last_seq=0)
            if sum(live.is_reply(each) for each in found) >= count:
                break
            await asyncio.sleep(0.2)
    await one.press("/stop")


async def squat(one: Visitor) -> None:
    """Claim the id of somebody who is to come, take a place, and stay away."""
    await one.join(f"honest-{one.chance.randrange(10)}")
    fresh = Visitor(one.base, one.slug, f"{one.name}-too", one.chance)
    try:
        if await fresh.join():
            await fresh.press("/start")
    finally:
        one.codes |= fresh.codes
        await fresh.web.close()


async def collude(one: Visitor) -> None:
    """Two who come together paste a text until they may finish, and answer anything."""
    other = Visitor(one.base, one.slug, f"{one.name}-friend", one.chance)
    try:
        await asyncio.gather(_paste(one), _paste(other))
    finally:
        one.codes |= other.codes
        await other.web.close()


async def _paste(one: Visitor) -> None:
    if not (await one.join() and await one.press("/start")):
        return
    if await one.until("MATCHED", "CHATTING") == "MATCHED":
        await one.press("/meet")
    if await one.until("CHATTING", "RATING", "ENDED") != "CHATTING":
        return
    for _ in range(MINIMUM):
        if not await one.write("I like it here."):
            break
        if any(each["type"] == "ack" for each in await one.frame(type="finish")):
            break
    if await one.until("RATING", "ENDED") == "RATING":
        form = (await one.now()).form("/rate")
        if form is not None:
            filled = answers.fill(one.person, form, {}, "", "0")
            await one.press("/rate", filled)
    await one.now()


async def burn(one: Visitor) -> None:
    """Have partners found, and never begin."""
    if await one.join() and await one.press("/start"):
        await one.until("MATCHED")
        await one.until("ENDED")
        await one.now()


async def guess(one: Visitor) -> None:
    """Guess private links, withdrawals and receipts, without and with a shape of their own."""
    made_up = f"MTI:1r{one.chance.randrange(36**4):04d}:{one.chance.getrandbits(256):x}"
    for kind in ("private", "withdraw"):
        for token in (made_up, str(one.chance.randrange(10**6))):
            one.codes |= {answers.code(await one.web.page(f"{one.path}{kind}/{token}"))} - {""}
    page = await one.web.page("/receipts/")
    for form in page.forms:
        fields = dict.fromkeys(("receipt", "code"), made_up)
        one.codes |= {answers.code(await one.web.send(form, fields, path="/receipts/"))} - {""}


async def replay(one: Visitor) -> None:
    """Farm once, then send all forms again: from this browser, and from one that knows nothing."""
    await farm(one)
    first, sent = {*one.codes}, [*one.sent]
    stranger = Visitor(one.base, one.slug, f"{one.name}-again", one.chance)
    try:
        for each in (one, stranger):
            page = await each.web.page(f"{each.path}?id={one.name}")
            token = next((form.sent for form in page.forms if form.sent), {})
            for path, fields in [*sent, *sent]:
                await each.web.ask("POST", path, data={**fields, **_only_token(token)})
            await each.now()
    finally:
        await stranger.web.close()
    one.codes |= stranger.codes
    one.again = one.codes - first


async def fail_screening(one: Visitor) -> None:
    """Join under a made-up id and fail the screening on purpose, for its pay."""
    if await one.join():
        await one.press("/answer", {"screening.watched": "0"})


def _only_token(sent: Mapping[str, str]) -> dict[str, str]:
    """Return the token against forged requests, which a replay of one's own can have anew."""
    return {name: value for name, value in sent.items() if name == "csrfmiddlewaretoken"}


KINDS: dict[str, tuple[str, Callable[[Visitor], Awaitable[None]]]] = {
    "farmers": ("bots", farm),
    "squatters": ("bots", squat),
    "colluders": ("pairs", collude),
    "ready-check burners": ("pairs", burn),
    "code guessers": ("bots", guess),
    "replayers": ("bots", replay),
    "screen-out farmers": ("screened", fail_screening),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=200)
    parser.add_argument("--honest", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        env = live.environment(Path(name), LOG_LEVEL="CRITICAL")
        connect(env)
        invited = _campaigns(wanted.honest)
        server = live.Server(env)
        server.start()
        try:
            found = asyncio.run(_everybody(wanted, invited, f"http://{server.host}"))
        finally:
            server.kill()
        told = _told(*found)
    print(json.dumps(told, indent=1))
    return 1 if told["broken"] else 0


def _campaigns(honest: int) -> list[tuple[str, str]]:
    """Make the campaigns; return the slug and the invitation of each honest person, by number."""
    from tests.factories import make_campaign
    from tests.webapp.admitted import SCREENING, campaign_with
    from webapp import clock
    from webapp.services.participation import invitations
    from webapp.services.rules import ledger

    made = []
    screened = partial(campaign_with, SCREENING, protocol="personachat_bot", screening_pay=SCREENED)
    for name, bot, make in (
        ("bots", "parrot", make_campaign),
        ("pairs", "people", make_campaign),
        ("screened", "parrot", screened),
    ):
        campaign = make(
            name=name,
            systems={"alpha": bot},
            target=honest,
            personas=20 * honest,
            changes={"chat.minimum": [MINIMUM], "chat.pace": 0},
            wait_seconds=20,
        )
        ledger.begin(campaign)
        made.append(campaign)
    until = clock.read() + timedelta(days=1)
    return [
        (each.slug, invitations.token(each, f"honest-{number}", until))
        for number in range(honest)
        for each in [made[number % len(made)]]
    ]


async def passing(person: str) -> Mapping[str, Any]:
    """Return what passes the screening, which somebody honest is fit for."""
    return {"screening.watched": '["1"]'}


Attempts = list[tuple[str, Visitor]]


async def _everybody(
    wanted: argparse.Namespace, invited: list[tuple[str, str]], base: str
) -> tuple[Attempts, list[str], list[str]]:
    """Let adversaries and honest people come in a drawn order, some at a time."""
    chance, limit = random.Random(wanted.seed), asyncio.Semaphore(AT_ONCE)
    attempts = _attempts(
        wanted,
        dict(zip(("bots", "pairs", "screened"), (slug for slug, _ in invited), strict=False)),
        base,
    )
    refused: list[str] = []
    records = io.StringIO()

    async def attempt(kind: str, one: Visitor) -> None:
        async with limit:
            try:
                async with asyncio.timeout(STAYS):
                    await KINDS[kind][1](one)
            except (TimeoutError, Gone, httpx.HTTPError):
                pass  # they give up; what they got stands in `codes`
            finally:
                await one.web.close()

    async def visit(number: int, slug: str, token: str) -> None:
        person = Person(name=f"honest-{number}&invitation={token}", seed=wanted.seed, pause=0.1)
        stay = Visit((base,), slug, {}, seconds=PATIENCE)
        async with limit:
            one = Participant(person, stay, Ledger(records), passing)
            await one.live()
            if one.end == "refused":
                refused.append(await asyncio.to_thread(_refusal, slug))

    work = [attempt(*each) for each in attempts]
    work += [visit(number, *each) for number, each in enumerate(invited)]
    chance.shuffle(work)
    await asyncio.gather(*work)
    return attempts, records.getvalue().splitlines(), refused


def _attempts(wanted: argparse.Namespace, slugs: Mapping[str, str], base: str) -> Attempts:
    attempts: Attempts = []
    for number in range(wanted.attempts):
        kind = [*KINDS][number % len(KINDS)]
        slug = slugs[KINDS[kind][0]]
        own = random.Random(f"{wanted.seed} {number}")
        attempts.append((kind, Visitor(base, slug, f"adversary-{number}", own)))
    return attempts


def _refusal(slug: str) -> str:
    """Return why somebody was not let in now."""
    from webapp.models import Campaign, QuotaCell

    campaign = Campaign.objects.get(slug=slug)
    cell = QuotaCell.objects.get(system__campaign=campaign)
    if cell.completed >= cell.target - cell.target % 2:
        return f"{campaign.name}: everything that was wanted was there"
    at_work = cell.reserved + cell.completed >= cell.target
    return f"{campaign.name}: {'others were at work' if at_work else 'no money was left'}"


def _told(attempts: Attempts, records: list[str], refused: list[str]) -> dict[str, Any]:
    from webapp.models import Campaign, CompletionCode
    from webapp.services.rules import ledger

    codes = CompletionCode.objects.all()
    worth = dict(codes.values_list("code", "amount"))
    tries = Counter(kind for kind, _ in attempts)
    gained: defaultdict[str, Decimal] = defaultdict(Decimal)
    for kind, one in attempts:
        gained[kind] += sum((worth.get(code, Decimal(0)) for code in one.codes), Decimal(0))
    budgets = {}
    for campaign in Campaign.objects.all():
        paid = codes.filter(participation__campaign=campaign).values_list("amount", flat=True)
        budgets[campaign.name] = {
            "codes": float(sum(paid)),
            "budget": float(ledger.books(campaign).budget),
        }
    shown = {code for _, one in attempts for code in one.codes}
    ends = [json.loads(line) for line in records]
    shown |= {each.get("code", "") for each in ends}
    unseen = codes.exclude(code__in=shown).values_list("participation__outcome", "amount")
    ends = [each for each in ends if each["what"] in ("end", "stuck", "gone", "crashed", "left")]
    worked = {each["person"] for each in map(json.loads, records) if "chat" in each}
    honest = Counter(_end(each, worth, each["person"] in worked) for each in ends)
    broken = _broken(budgets, gained, attempts, honest)
    return {
        "attempts": dict(tries),
        "budgets": budgets,
        "loss per 1,000": {kind: round(float(gained[kind]) * 1000 / tries[kind]) for kind in tries},
        "honest": dict(honest),
        "not let in because": dict(Counter(refused)),
        "codes that nobody fetched": [f"{outcome} {amount}" for outcome, amount in unseen],
        "broken": broken,
    }


def _broken(
    budgets: Mapping[str, Mapping[str, float]],
    gained: Mapping[str, Decimal],
    attempts: Attempts,
    honest: Mapping[str, int],
) -> list[str]:
    broken = [name for name, each in budgets.items() if each["codes"] > each["budget"]]
    broken += ["code guessers"] if gained["code guessers"] else []
    broken += ["replayers"] if any(one.again for _, one in attempts) else []
    return broken + [name for name in (UNPAID, "crashed") if honest[name]]


def _end(record: Mapping[str, Any], worth: Mapping[str, Decimal], worked: bool) -> str:
    """Return how an honest person's visit ended, in words."""
    if record["what"] != "end":
        return f"{record['what']}"
    if record["state"] == "refused":
        return "not let in"
    amount = worth.get(record["code"])
    if amount is None:
        return UNPAID if worked else "told before any work that the study is full"
    return f"paid {amount}"


if __name__ == "__main__":
    sys.exit(main())
