"""python -m tests.acceptance.answered_questions THRESHOLD: questions to a bot, and a staff desk.

F-DESK: people ask the FAQ bot nine questions that it knows and three that nobody would, on two
days. At the desk somebody confirms two of three answers, takes each third for another intent, and
gives the questions that were left to people an intent. Prints one JSON object: what the page says
by day, the most confused pairs, who decided, and the file of questions with their intents.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from webapp.models import Campaign

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
KNOWN = (
    ("How much does it cost for an hour?", "price"),
    ("what is the price of an hour please?", "price"),
    ("how much is a bicycle for a whole day?", "price"),
    ("where do I scan the code?", "unlock"),
    ("how do I unlock the bike?", "unlock"),
    ("the lock does not open at all", "unlock"),
    ("the tire is flat, the bike is broken", "broken"),
    ("I forgot the password of my account", "account"),
    ("Can I get a refund of my money?", "refund"),
)
STRANGE = ("Zorblax quuxly vanting", "Brimful of snarks today", "Quodlibet antimacassar")
INSTEAD, GIVEN = "refund", "broken"  # what each third answer is corrected to, and the strange ones
SECOND_DAY = 6  # questions of the first day; the others come a day later


def main(threshold: str) -> int:
    """Ask, decide, and print what the desk shows."""
    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    call_command("migrate", verbosity=0)
    setup_test_environment()
    settings.WHITENOISE_AUTOREFRESH = True
    from tests.factories import make_campaign, make_staff

    ann = make_staff("ann")
    campaign = make_campaign(
        systems={"desk": "faq"}, target=20, changes={"chat.pace": 0.0}, owner=ann
    )
    campaign.systems.update(options={"threshold": float(threshold)})
    _ask(campaign)
    before = _listed(campaign)
    _decide(campaign, ann)
    print(json.dumps({"first": before, **_shown(campaign, ann)}))
    return 0


def _ask(campaign: Campaign) -> None:
    from tests import serving
    from tests.factories import NOW
    from tests.webapp.services.people import after, send_message, start
    from webapp import inference
    from webapp.models import ReplyJob
    from webapp.services.replies import delivery

    for number, question in enumerate((*(text for text, _ in KNOWN), *STRANGE)):
        person = start(campaign, f"person {number}", now=NOW)
        send_message(person, question, now=after(1))
    serving.serve(bot="faq", owner="acceptance", respond=inference.respond_here)
    delivery.deliver_due()
    for number, job in enumerate(ReplyJob.objects.order_by("pk")):
        day = NOW + timedelta(days=int(number >= SECOND_DAY))
        ReplyJob.objects.filter(pk=job.pk).update(answered_at=day)


def _listed(campaign: Campaign) -> list[dict[str, Any]]:
    from webapp.services.monitoring import desk

    return [vars(row) for row in desk.waiting(campaign, {}).object_list]


def _decide(campaign: Campaign, ann: User) -> None:
    """Decide by the page: of the automatic answers, in the order they came, each third is wrong."""
    from django.test import Client

    browser = Client()
    browser.force_login(ann)
    rows = sorted(_listed(campaign), key=lambda row: int(row["pk"]))
    automatic = [row for row in rows if not row["deferred"]]
    for number, row in enumerate(automatic):
        wrong = {"decision": "correct", "intent": INSTEAD}
        _post(browser, campaign, row["pk"], wrong if number % 3 == 0 else {"decision": "confirm"})
    for row in rows:
        if row["deferred"]:
            _post(browser, campaign, row["pk"], {"decision": "correct", "intent": GIVEN})


def _post(browser: Any, campaign: Campaign, pk: int, sent: dict[str, str]) -> None:
    answer = browser.post(f"/campaigns/{campaign.pk}/desk/{pk}/", sent)
    if answer.status_code != 302:
        raise RuntimeError(f"answer {pk}: {answer.status_code} {answer.content.decode()[:300]}")


def _shown(campaign: Campaign, ann: User) -> dict[str, Any]:
    from django.test import Client

    from webapp.models import ReviewedAnswer
    from webapp.services.data import reviewed_answers

    browser = Client()
    browser.force_login(ann)
    context = browser.get(f"/campaigns/{campaign.pk}/desk/").context
    rows = [*context["days"], context["total"]]
    return {
        "automation": [row.automation_percent for row in rows],
        "confirmed": [row.confirmed_percent for row in rows],
        "left": context["page"].paginator.count,
        "confused": [[pair.one, pair.other, pair.times] for pair in context["confused"]],
        "by": sorted(set(ReviewedAnswer.objects.values_list("decided_by__username", flat=True))),
        "labeled": list(reviewed_answers.labeled(campaign)),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
