"""The end of the demo's story on a small scale, in a process of its own: people fill a campaign.

python -m tests.webapp.management.filling SEED    with the environment's database, serves, sends
simulated people of whom some walk off, and prints as JSON what became of them and the campaign.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from webapp.crowd.people import Mix, draw_people

TARGET = 3
MIX = Mix(pause=0.02, slow=0.0, spam=0.0, dropout=0.3, careless=0.0, plain=0.0, twice=0.0)


def walks_off(seed: int) -> list[bool]:
    """Tell of those who come first, and of who comes in their place, which walk off."""
    people = draw_people(2 * TARGET, seed=seed, mix=MIX)
    return [person.drops_after is not None for person in people]


def fill(seed: int) -> dict[str, Any]:
    """Let people come until the campaign is complete."""
    from tests.databases import migrate
    from tests.factories import make_campaign
    from tests.servers import free_port
    from webapp.management.demo import stage

    migrate()
    short = {"chat.minimum": [4], "chat.pace": 0.0}
    campaign = make_campaign(changes=short, target=TARGET)
    told: list[str] = []
    with stage.Server(free_port()) as server:
        visitors = stage.Visitors(server.base, campaign, seed=seed, mix=MIX)
        # They are quicker than a look here, as on a quick machine.
        stage.watch([visitors], server, told.append, every=600)
        closed = stage.close([visitors], told.append)
    campaign.refresh_from_db()
    people = campaign.participations.order_by("pk")
    return {
        "closed": closed,
        "state": campaign.state,
        "outcomes": {p.external.value: p.outcome for p in people},
        "told": told,
    }


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    print(json.dumps(fill(int(sys.argv[1]))))
