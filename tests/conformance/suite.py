"""The suite: every rule on campaigns of a server, and a server of our own with such campaigns.

python -m tests.conformance.suite    seeds the database that the environment names
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.rules import RULES, Rule
from tests.conformance.wire import Broken, Meddler, Site
from tests.live import ROOT, Server, environment
from webapp.crowd.page import BrowserPage

MANY = 1000  # places


def main(links: Sequence[str]) -> int:
    """Print a line per rule; return 1 where one is broken."""
    if not links:
        with (
            tempfile.TemporaryDirectory(prefix="parley-suite-") as folder,
            serving(Path(folder)) as own,
        ):
            return _report(own)
    return _report(offered(links))


def _report(sites: Mapping[str, Site]) -> int:
    broken = skipped = 0
    for each in RULES.values():
        problem = checked(each, sites)
        skipped += problem is None
        broken += bool(problem)
        verdict = "no campaign has it" if problem is None else problem or "kept"
        print(f"{each.name.replace('_', ' '):50} {verdict}", flush=True)
    kept = len(RULES) - broken - skipped
    print(f"{kept} of {len(RULES)} rules kept, {broken} broken, {skipped} not tried.")
    return int(bool(broken))


def checked(rule: Rule, sites: Mapping[str, Site], meddler: Meddler | None = None) -> str | None:
    """Return how a server breaks a rule, "" where it keeps it, None where no campaign fits."""
    found = sites.get(rule.needs)
    if found is None:
        return None
    site = Site(found.link, meddler or Meddler(), found.patience)
    try:
        rule.run(site)
    except Broken as broken:
        return str(broken)
    finally:
        site.close()
    return ""


# --- what a campaign offers ---------------------------------------------------------------------


def offered(links: Sequence[str]) -> dict[str, Site]:
    """Return the campaigns by what they offer, for which somebody joins each."""
    sites: dict[str, Site] = {}
    for link in links:
        site = Site(link)
        for offer in _offers(site):
            sites.setdefault(offer, site)
        site.close()
    return sites


def _offers(site: Site) -> Iterator[str]:
    browser = site.joined()
    yield "any"
    browser.press("/start")
    state = browser.step()["state"]
    if state in ("WAITING", "MATCHED"):
        yield "pair"
    if state == "CHATTING":
        yield "talk"
        yield from (["labels"] if browser.chat.labels else [])
        yield from (["check"] if _word_limit(browser.chat) in range(1, 16) else [])


def _word_limit(page: BrowserPage) -> int:
    return int(json.loads(page.marks["chat-data"])["word_limit"] or 0)


# --- a server of our own ------------------------------------------------------------------------


@contextmanager
def serving(folder: Path, patience: float = 10.0, *, faults: str = "") -> Iterator[dict[str, Site]]:
    """Serve campaigns that offer everything; `faults` are those of tests.trust.faults."""
    env = environment(folder)
    words = [sys.executable, "-m", "tests.conformance.suite"]
    made = subprocess.run(words, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    server = Server(env, faults=faults)
    server.start()
    try:
        slugs = json.loads(made.stdout.splitlines()[-1])
        yield {
            offer: Site(f"http://{server.host}/c/{slug}/", patience=patience)
            for offer, slug in slugs.items()
        }
    finally:
        server.kill()


def seed() -> dict[str, str]:
    """Make the campaigns; return their slugs by what they offer."""
    from tests.databases import migrate
    from tests.factories import make_campaign, make_project, make_staff
    from tests.webapp.admitted import SCREENING, campaign_with
    from tests.webapp.services.written import of_personas

    migrate()
    quick = {"chat.minimum": [2]}
    own = {"owner": make_staff(), "project": make_project(), "target": MANY}
    checks = make_campaign("personachat_bot", changes=quick | {"chat.pace": 0}, **own)
    labels = make_campaign("meena_interactive", **own)
    pairs = make_campaign("personachat_human", systems={"people": "people"}, **own)
    screened = campaign_with(SCREENING, **own)
    writing = of_personas(**{"write.count": MANY, "write.valid": 1, "write.test": 1})
    slugs = {"any": checks, "talk": checks, "check": checks, "labels": labels, "pair": pairs}
    slugs |= {"screening": screened, "writing": writing}
    return {offer: campaign.slug for offer, campaign in slugs.items()}


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    print(json.dumps(seed()))
