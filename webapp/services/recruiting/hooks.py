"""Webhooks of the panel, subscribed and confirmed from here; the secrets that sign its events (S5).

Source: Prolific's public API reference: /hooks/secrets/, /hooks/subscriptions/, and the header
`X-Hook-Secret` of a new subscription, which its confirmation gives back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings

from webapp.models import PanelHook
from webapp.services.recruiting import client
from webapp.services.replies.model_keys import opened, sealed
from webapp.services.rules import audit

EVENTS = ("submission.status.change", "study.status.change")
CONFIRMATION = "X-Hook-Secret"


def secrets() -> list[str]:
    """Return what events may be signed with: of the environment, and of subscribed workspaces."""
    rows = PanelHook.objects.values_list("sealed", flat=True)
    return [each for each in (settings.PROLIFIC_WEBHOOK_SECRET, *map(opened, rows)) if each]


def is_subscribed() -> bool:
    """Tell whether events can arrive here at all."""
    return bool(settings.PROLIFIC_WEBHOOK_SECRET) or PanelHook.objects.exists()


def workspaces() -> dict[str, str]:
    """Return the titles of the token's workspaces by id. Raises what `client.call` raises."""
    return {str(row["id"]): str(row.get("title", "")) for row in client.pages("workspaces/")}


def subscribe(*, address: str, workspace: str, by: str, now: datetime) -> dict[str, bool]:
    """Subscribe an address to the events of a workspace; a repeat changes nothing.

    Returns which kinds of events are subscribed anew. Raises what `client.call` raises.
    """
    secret = _secret_of(workspace)
    # before the first event can come
    about = {"sealed": sealed(secret), "made_at": now}
    PanelHook.objects.update_or_create(workspace=workspace, defaults=about)
    mine = [row for row in _subscriptions(workspace) if row.get("target_url") == address]
    done = {event: _subscribe_one(event, address, workspace, mine) for event in EVENTS}
    if any(done.values()):
        action = "panel: webhooks subscribed"
        audit.append(actor=by, action=action, campaign=None, now=now, workspace=workspace)
    return done


def _secret_of(workspace: str) -> str:
    """Return a workspace's secret; a new one only where it has none, since that ends an old one."""
    found = next(client.pages(f"hooks/secrets/?{urlencode({'workspace_id': workspace})}"), None)
    found = found or client.call("POST", "hooks/secrets/", {"workspace_id": workspace})
    return str(found["value"])


def _subscriptions(workspace: str) -> Iterator[client.Json]:
    for is_enabled in ("true", "false"):
        query = urlencode({"workspace_id": workspace, "is_enabled": is_enabled})
        yield from client.pages(f"hooks/subscriptions/?{query}")


def _subscribe_one(event: str, address: str, workspace: str, mine: Sequence[client.Json]) -> bool:
    """Subscribe to one kind of event; one that is off, or never was confirmed, is made anew."""
    same = [row for row in mine if row.get("event_type") == event]
    if any(row.get("is_enabled") for row in same):
        return False
    for row in same:
        client.call("DELETE", f"hooks/subscriptions/{row['id']}/")
    content = {"workspace_id": workspace, "event_type": event, "target_url": address}
    made, headers = client.call_for_headers("POST", "hooks/subscriptions/", content)
    confirmation = {"secret": headers.get(CONFIRMATION, "")}
    client.call("POST", f"hooks/subscriptions/{made['id']}/", confirmation)
    return True
