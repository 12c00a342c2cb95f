"""python -m tests.acceptance.open_votes: a live static campaign of five votes, exported on the way.

M-MAJ: three replies are judged by five raters, one after another, as pages submit it; after one,
three, four and five of them the campaign is exported, and SSA is computed from the file by the
command. Prints one JSON object: for each number of raters the rows that the command printed.
"""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from webapp.models import Campaign

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
VOTES, LOOKS = 5, (1, 3, 4, 5)
METRICS = ("sensibleness", "specificity", "ssa")
YES = {"k0": 3, "k1": 2, "k2": 3}  # raters who find a reply sensible; none finds it specific


def main() -> int:
    """Let raters come one by one; print what each export says."""
    django.setup()
    from django.core.management import call_command

    from tests.webapp.services.judged import judge_page, replies_campaign
    from tests.webapp.services.people import start

    call_command("migrate", verbosity=0)
    rows = [
        {"id": name, "messages": [f"Do you like {name}?"], "replies": {"s": f"I have {name}."}}
        for name in YES
    ]
    campaign = replies_campaign("meena_static", rows, votes=VOTES, batch=len(rows))
    found: dict[int, Any] = {}
    for number in range(1, VOTES + 1):
        person = start(campaign)
        while judge_page(person, number, _answer):
            pass
        if number in LOOKS:
            found[number] = _exported(campaign, number)
    print(json.dumps(found))
    return 0


def _answer(question: str, context: str, _names: tuple[str, ...], rater: int) -> str | None:
    if question == "sensible":
        return str(int(rater <= YES[context]))
    return "0" if rater <= YES[context] else None


def _exported(campaign: Campaign, number: int) -> Any:
    from analysis.__main__ import main as analysis
    from webapp.models import Campaign
    from webapp.services.campaign import launch
    from webapp.services.data import exports

    row = Campaign.objects.get(pk=campaign.pk)
    row.plan = launch.plan_of(row)
    row.save()
    path = Path(os.environ["DATA_DIR"]) / f"votes-{number}.zip"
    exports.write_to(campaign=row, path=path)
    printed = io.StringIO()
    with redirect_stdout(printed):
        status = analysis([str(path), "--json"])
    if status:
        raise RuntimeError(f"{path} cannot be analyzed")
    return [each for each in json.loads(printed.getvalue()) if each["metric"] in METRICS]


if __name__ == "__main__":
    sys.exit(main())
