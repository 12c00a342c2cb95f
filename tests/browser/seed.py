"""Campaigns for the browser tests, in the database that the environment names.

python -m tests.browser.seed    prints the addresses' slugs by name, as JSON
"""

from __future__ import annotations

import json
import os
from typing import Any

CONTEXTS = (
    ["Do you like tennis?"],
    ["I went to the sea.", "How was it?", "Cold, but the light was lovely."],
    ["What did you eat?", "Soup.", "Which one?"],
)


def _campaigns() -> dict[str, str]:
    from django.utils import timezone

    from tests.factories import make_campaign, make_persona
    from tests.webapp.admitted import QUIZ, SCREENING, campaign_with
    from webapp.models import Campaign, Context
    from webapp.services.rating import contexts

    consent = (
        "## What we keep\n\nYour **messages** and answers, under a random name.\n\n"
        "- nothing else\n- no names\n\n## Your rights\n\nYou may stop at any time. "
        "![pixel](https://example.org/p.png) <script>alert(1)</script>"
    )
    common: dict[str, Any] = {"consent": consent, "personas": 40, "target": 60}
    short = {"chat.minimum": [4], "chat.pace": 0.0}
    panel = "https://panel.example.org/done?code={code}"
    made = {
        "bot": make_campaign(changes=short, return_url=panel, least_work=2, **common),
        "rounds": make_campaign(
            systems={"alpha": "parrot", "beta": "parrot"},
            changes={"chat.conversations": 2, "chat.minimum": [2], "chat.pace": 0.0},
            **common,
        ),
        "slow": make_campaign(changes={"chat.minimum": [4], "chat.pace": 10.0}, **common),
        "people": make_campaign(
            "personachat_human",
            systems={"alpha": "people"},
            changes={"chat.minimum": [6], "rate.sides": "both"},
            **common,
        ),
        "lonely": make_campaign(
            "personachat_bot",
            systems={"alpha": "people", "beta": "parrot"},
            changes=short,
            bot_when_alone=True,
            wait_seconds=2,
            **common,
        ),
        "labels": make_campaign(
            "meena_interactive", changes={"chat.minimum": [4], "chat.maximum": 8}, **common
        ),
        "wild": make_campaign("convai2_wild", changes={"chat.pace": 2.0}, **common),
        "static": make_campaign("meena_static", changes={"rate.batch": 2}, **common),
        "checked": campaign_with(SCREENING, QUIZ, changes=short, screening_pay="0.20", **common),
        "play": make_campaign(
            "role_play",
            systems={"alpha": "people"},
            changes={"chat.minimum": [2]},
            **common | {"personas": 0},
        ),
        "arabic": make_campaign(
            languages=["ar", "en"],
            changes=short,
            **common | {"consent": "نحفظ رسائلك وإجاباتك."},
        ),
        "paused": make_campaign(state=Campaign.State.PAUSED, **common),
        "full": make_campaign(**common | {"target": 1}),
        "one place, light": make_campaign(changes=short, **common | {"target": 1}),
        "one place, kept": make_campaign(changes=short, **common | {"target": 1}),
        "one place, dark": make_campaign(changes=short, **common | {"target": 1}),
    }
    lonely = made["lonely"].systems.get(name="beta").cell
    lonely.target = 30  # fewer free places than with people, who are therefore tried first
    lonely.save()
    full = made["full"].systems.get().cell
    full.reserved = 1  # somebody is on their way: full, but not complete
    full.save()
    for number, name in enumerate(("Marta", "Oskar")):
        persona = make_persona(made["play"], number)
        persona.name, persona.group = name, "Harbor Street"
        persona.save()
    for number, messages in enumerate(CONTEXTS):
        Context.objects.create(campaign=made["static"], key=f"x{number}", messages=messages)
    contexts.build(campaign=made["static"], now=timezone.now())
    return {name: campaign.slug for name, campaign in made.items()}


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    print(json.dumps(_campaigns()))
