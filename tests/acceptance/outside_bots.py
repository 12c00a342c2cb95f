"""python -m tests.acceptance.outside_bots: bots of others, as chats that came in and as they live.

B-EXT: conversations that two bots held elsewhere are imported and judged side by side; a function,
a server and a checkpoint answer people in one campaign, by the workers' code. Prints one JSON
object: what the exports tell of both.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from webapp.models import Campaign

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
CHATS = {
    "Eliza": [["I am sad.", "Why are you sad?", "My cat ran off.", "Tell me about your cat."]],
    "Parry": [
        ["I am sad.", "You know the bookies.", "My cat ran off.", "I know they are after me."]
    ],
}
VOTES, FOR_ELIZA = 5, 4  # of the raters of each question, the first four choose Eliza
BOTS = {"function": "callable", "server": "chat_server", "weights": "checkpoint"}
SAID = ("Hello, who are you?", "And what do you like?")


def main() -> int:
    """Judge what came in and chat with what lives; print what the exports say."""
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    folder = Path(os.environ["DATA_DIR"])
    print(json.dumps({"judged": _judged(folder), "live": _live(folder)}))
    return 0


def _judged(folder: Path) -> dict[str, float]:
    """Return how often each bot won, of the export."""
    from analysis import get_metric
    from tests.webapp.services.judged import chats_campaign, exported, judge

    campaign = chats_campaign("acute_eval", CHATS, votes=VOTES)

    def answer(question: str, context: str, names: tuple[str, ...], rater: int) -> str:
        return "Eliza" if rater < FOR_ELIZA else "Parry"

    judge(campaign, VOTES, answer)
    rates = get_metric("win_rate")(exported(campaign, folder))
    return dict(zip(rates["system"], rates["estimate"], strict=True))


def _live(folder: Path) -> dict[str, Any]:
    from tests.bots import outside
    from tests.factories import make_campaign

    campaign = make_campaign(systems=BOTS, changes={"chat.pace": 0.0})
    for system in campaign.systems.all():
        system.options = dict(outside.options(system.bot))
        system.save()
        _chatted(campaign, system)
    return _told(campaign, folder / "live.zip")


def _chatted(campaign: Campaign, system: Any) -> None:
    from tests import serving
    from tests.factories import NOW, make_participation
    from tests.webapp.services.people import send_message
    from webapp import inference
    from webapp.services.conversation import opening
    from webapp.services.replies import delivery

    person = make_participation(campaign)
    opening.open_with_bot(person=person, system=system, now=NOW)
    for text in SAID:
        send_message(person, text)
        serving.serve(bot=system.bot, owner="acceptance", respond=inference.respond_here)
        delivery.deliver_due()


def _told(campaign: Campaign, path: Path) -> dict[str, Any]:
    from webapp.services.data import exports

    exports.write_to(campaign=campaign, path=path)
    with zipfile.ZipFile(path) as found:
        lines = found.read("conversations.jsonl").decode().splitlines()
    talks = [json.loads(line) for line in lines]
    return {
        talk["system"]: [[job["calls"][-1]["raw"], job["text"]] for job in talk["replies"]]
        for talk in talks
    }


if __name__ == "__main__":
    sys.exit(main())
