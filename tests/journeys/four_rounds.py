"""Four systems, and people who meet all of them, over pages and sockets; a process of its own.

python -m tests.journeys.four_rounds PEOPLE FOLDER    with the environment's database, serves, sends
simulated people and leaves the export in the folder.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from webapp.crowd.order import Order
from webapp.crowd.people import Mix

QUALITY = {"alpha": 4.2, "beta": 3.6, "gamma": 3.0, "delta": 2.4}
SCALES = ("fluency", "engagingness", "consistency")
PLANTED = {name: dict.fromkeys(SCALES, value) | {"persona": 0.8} for name, value in QUALITY.items()}
MIX = Mix(severity=1.0, pause=0.02, slow=0.0, spam=0.0, dropout=0.15, careless=0.0, plain=0.2)
ROUNDS = 4
SEED = 4  # one of twelve walks off


def run(people: int, folder: Path) -> None:
    """Let people come and go, and write the export."""
    from django.core.management import call_command

    from tests.databases import migrate
    from tests.factories import make_campaign
    from tests.servers import free_port
    from webapp.crowd.process import Crowd
    from webapp.management import oracle
    from webapp.management.demo import stage

    migrate()
    campaign = make_campaign(
        systems=dict.fromkeys(QUALITY, "parrot"),
        target=people,
        personas=24,
        changes={"chat.conversations": ROUNDS, "chat.minimum": [2], "chat.pace": 0.0},
        quit_rule="SHARE",
    )
    with stage.Server(free_port()) as server:
        order = Order(
            bases=(server.base,),
            slug=campaign.slug,
            count=people,
            at_once=4,
            seed=SEED,
            oracle=True,
            mix=MIX,
            planted=PLANTED,
        )
        truth, gone = partial(oracle.truth, campaign), partial(oracle.let_go, campaign)
        crowd = Crowd(order, folder / "crowd.jsonl", truth=truth, gone=gone)
        try:
            crowd.wait(240)
        finally:
            crowd.end()
    call_command("export", str(campaign.pk), "--out", str(folder / "export.zip"))


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    run(int(sys.argv[1]), Path(sys.argv[2]))
