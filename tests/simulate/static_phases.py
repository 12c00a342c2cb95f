"""A study of fixed contexts: people reply, all replies are labeled, and labeled again.

python -m tests.simulate.static_phases FOLDER SEED, with the environment's new database; leaves the
exports of two studies. `study.zip`: people reply to contexts (ME-P5), others label their replies
beside those of bots (ME-P1), others say which a person might have given (ME-P6). `evaluations.zip`:
the same replies are labeled anew, by five each in two evaluations and by one in the last.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.registry import get_protocol
from tests.simulate import written
from tests.simulate.campaign import STUDY, Simulated, _draft, bundled_contexts, let_visit
from tests.simulate.planted import BOT

if TYPE_CHECKING:
    from webapp.models import Campaign

EVALUATIONS = "evaluations.zip"
WRITERS, EACH = 5, 2  # people who reply, to so many contexts each
RATERS = 10
CHANCES = {"human": 0.95, "alpha": 0.7, "beta": 0.35, "gamma": 0.05}  # of a yes, to any question
LABELED = {name: {"sensible": p, "specific": p} for name, p in CHANCES.items()}
LIKE = {name: {"human_like": p} for name, p in CHANCES.items()}


def run(folder: Path, seed: int) -> None:
    """Let people go through all phases, and write the exports of both studies."""
    from django.contrib.auth import get_user_model
    from django.test.utils import setup_test_environment

    from tests.databases import migrate
    from tests.servers import free_port
    from webapp.management.demo import stage
    from webapp.services.accounts import projects
    from webapp.services.rules.access import Role

    setup_test_environment(debug=True)  # so that answers have what their pages were made of
    migrate()
    staff = get_user_model().objects.create_superuser("simulate")
    projects.admit(account=staff, name="Simulated", roles=(Role.ADMINISTRATOR,))
    with stage.Server(free_port()) as server:
        order = Simulated(
            base=server.base, folder=folder, people=RATERS, seed=seed, short=True, staff=staff
        )
        replies = _replied(replace(order, people=WRITERS))
        static = _labeled(replies, order)
        like = _again(static, "meena_human_like", LIKE, order, "like")
        again = [_again(static, "meena_static", LABELED, order, f"again{n}") for n in (1, 2)]
        once = _again(static, "meena_static", LABELED, order, "once", {"rate.votes": "1"})
    _exported([replies, static, like], folder / STUDY, staff)
    _exported([*again, once], folder / EVALUATIONS, staff)


def _replied(order: Simulated) -> Campaign:
    """Let people reply to contexts, and accept what they wrote."""
    from django.utils import timezone

    from webapp.services.campaign import contexts_import

    campaign = _draft(get_protocol("meena_replies"), order, {"write.batch": str(EACH)})
    contexts = bundled_contexts(get_protocol("meena_static"), order.people * EACH)
    text = "\n".join(map(json.dumps, contexts))
    contexts_import.store(campaign=campaign, text=text, by=order.staff, now=timezone.now())
    _open(campaign, {}, order, "writer")
    written.accept_all(campaign, order.staff)
    return campaign


def _labeled(replies: Campaign, order: Simulated) -> Campaign:
    """Take people's replies on the page, let bots reply to the same contexts; all are labeled."""
    from django.utils import timezone

    from webapp.forms.system_form import SystemForm
    from webapp.services.campaign import systems

    protocol = get_protocol("meena_static")
    draft = _draft(protocol, order)
    page = _page(order.staff)
    page("use-contributions", draft, {"source": str(replies.pk)})
    for name in list(CHANCES)[1:]:
        values = SystemForm(protocol, BOT, SystemForm(protocol, BOT).typed() | {"name": name})
        made = {"bot": BOT, "values": values.values(), "by": order.staff, "now": timezone.now()}
        systems.add_system(campaign=draft, **made)
    return _open(draft, LABELED, order, "rater")


def _again(
    source: Campaign,
    protocol: str,
    planted: Mapping[str, Mapping[str, float]],
    order: Simulated,
    prefix: str,
    changes: Mapping[str, str] | None = None,
) -> Campaign:
    """Take the replies of an earlier campaign on the page; other people judge them."""
    draft = _draft(get_protocol(protocol), order, changes)
    page = _page(order.staff)
    seen = page("contexts", draft, {"action": "taken", "source": str(source.pk)})
    page("contexts", draft, {"action": "store", "text": seen.context["text"]})
    return _open(draft, planted, order, prefix)


def _open(
    campaign: Campaign, planted: Mapping[str, Any], order: Simulated, prefix: str
) -> Campaign:
    from webapp.management.demo import study

    study.open_all([campaign], by=order.staff, tell=lambda said: None)
    let_visit(campaign, planted, order, ledger=f"{prefix}.jsonl", prefix=prefix)
    return campaign


def _page(staff: Any) -> Any:
    """Return what posts to a page about a campaign as staff; it must not be refused."""
    from django.test import Client
    from django.urls import reverse

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(staff)

    def post(name: str, campaign: Campaign, data: Mapping[str, str]) -> Any:
        answer = client.post(reverse(name, args=[campaign.pk]), data, follow=True)
        if answer.status_code != 200:
            raise RuntimeError(f"{name}: {answer.status_code}")
        return answer

    return post


def _exported(campaigns: list[Campaign], path: Path, staff: Any) -> None:
    """Write the export of a study of these campaigns, which are its phases."""
    from django.core.management import call_command
    from django.utils import timezone

    from webapp.services.campaign import studies

    now = timezone.now()
    made = studies.create(raw={"name": path.stem}, by=staff, now=now)
    for number, each in enumerate(campaigns, start=1):
        raw = {"source": str(each.pk), "phase": f"{each.protocol} {number}"}
        studies.add(study=made, raw=raw, by=staff, now=now)
    call_command("export", str(made.pk), "--study", "--out", str(path), stdout=StringIO())


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    run(Path(sys.argv[1]), int(sys.argv[2]))
