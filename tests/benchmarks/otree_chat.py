"""A live page of oTree on which two people chat, each message stored: what Parley is compared with.

    PYTHON tests/benchmarks/otree_chat.py PEOPLE PORT

Runs in an empty folder, by an interpreter that has oTree: it wants other versions of libraries than
Parley does. The database is the default of oTree's own server for development, SQLite in memory:
nothing is durable. The codes of the session and of its participants are written into `codes.json`
before the server answers.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path

SETTINGS = """
SESSION_CONFIGS = [{"name": "chat", "num_demo_participants": 2, "app_sequence": ["chat"]}]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 1, "participation_fee": 0}
LANGUAGE_CODE, REAL_WORLD_CURRENCY_CODE, USE_POINTS = "en", "USD", False
ADMIN_USERNAME, ADMIN_PASSWORD, SECRET_KEY = "admin", "", "of a benchmark"
"""
APP = """
from otree.api import *


class C(BaseConstants):
    NAME_IN_URL = "chat"
    PLAYERS_PER_GROUP = 2
    NUM_ROUNDS = 1


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    pass


class Message(ExtraModel):
    group = models.Link(Group)
    text = models.LongStringField()


class Talk(Page):
    @staticmethod
    def live_method(player, data):
        Message.create(group=player.group, text=data["text"])
        mine = player.id_in_group
        return {
            mine: {"type": "ack", "id": data["id"]},
            3 - mine: {"type": "event", "text": data["text"]},
        }


page_sequence = [Talk]
"""
TEMPLATE = "{{ block content }}<p>Talk.</p>{{ endblock }}"


def serve(people: int, port: int) -> None:
    """Serve a session of so many people."""
    app = Path("chat")
    for folder in (app, Path("_static"), Path("_templates")):
        folder.mkdir()
    Path("settings.py").write_text(SETTINGS)
    (app / "__init__.py").write_text(APP)
    (app / "Talk.html").write_text(TEMPLATE)
    os.environ["OTREE_IN_MEMORY"] = "1"
    sys.path.insert(0, os.getcwd())
    import_module("otree.main").setup()
    with import_module("otree.database").session_scope():
        make = import_module("otree.session").create_session
        session = make("chat", num_participants=people)
        codes = [each.code for each in session.get_participants()]
        Path("codes.json").write_text(json.dumps({"session": session.code, "people": codes}))
    served = import_module("otree.cli.prodserver1of2")
    served.run_asgi_server("127.0.0.1", port, is_devserver=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
