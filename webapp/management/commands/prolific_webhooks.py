"""Subscribe this server to Prolific's webhooks: manage.py prolific_webhooks https://HOST."""

from __future__ import annotations

import getpass
from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandError
from django.urls import reverse

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.services.recruiting import client, hooks

TROUBLES = (client.PanelRefusal, client.NotReached, client.AnswerLost)


class Command(QuickCommand):
    help = "Let Prolific tell this server of changes at once; a repeat changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="of this server, such as https://parley.example.org")
        parser.add_argument("--workspace", default="", help="its id, where the token has several")

    def handle(self, *args: Any, address: str, workspace: str, **options: Any) -> None:
        if not client.is_on():
            raise CommandError("PROLIFIC_TOKEN is not set: there is no panel to speak to")
        target = f"{_origin(address)}{reverse('panel-events')}"
        try:
            chosen = _chosen(workspace, hooks.workspaces())
            by = f"command line ({getpass.getuser()})"
            done = hooks.subscribe(address=target, workspace=chosen, by=by, now=clock.now())
        except TROUBLES as problem:
            raise CommandError(f"Prolific: {problem}; nothing is lost, try it again") from None
        for event, is_new in done.items():
            self.stdout.write(f"{event}: {'subscribed' if is_new else 'was subscribed'}")


def _origin(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query:
        right = "https and a host, such as https://parley.example.org"
        raise CommandError(f"address is {address!r}; right would be {right}")
    return f"https://{parts.netloc}"


def _chosen(workspace: str, known: dict[str, str]) -> str:
    if workspace in known:
        return workspace
    if not workspace and len(known) == 1:
        return next(iter(known))
    listed = ", ".join(f"{pk} ({title})" for pk, title in known.items()) or "none"
    wrong = f"--workspace is {workspace!r}" if workspace else "the token has several workspaces"
    raise CommandError(f"{wrong}; right would be one of: {listed}")
