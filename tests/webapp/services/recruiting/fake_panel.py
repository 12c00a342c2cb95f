"""A panel as Prolific's public API reference describes it, over real HTTP, with its own books.

Only what Parley calls is there. `faults` says what goes wrong before or after a call is applied.
Paying a bulk twice pays twice, as there; bonuses are seen in submissions only after `settle`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import random
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN, SECRET = "panel-token-of-the-test", "panel-secret-of-the-test"
PAGE = 100
OVER = ("APPROVED", "REJECTED", "RETURNED", "TIMED-OUT", "SCREENED OUT", "PARTIALLY APPROVED")
MOVES = {"PUBLISH": "ACTIVE", "PAUSE": "PAUSED", "START": "ACTIVE", "STOP": "AWAITING REVIEW"}
FROM = {
    "PUBLISH": ("UNPUBLISHED",),
    "PAUSE": ("ACTIVE",),
    "START": ("PAUSED",),
    "STOP": ("ACTIVE", "PAUSED"),
}
Json = dict[str, Any]


class No(Exception):
    """A call that is refused."""


@dataclass
class FakePanel:
    """Studies, submissions, bulks, and cents that were really paid."""

    token: str
    address: str = ""
    studies: dict[str, Json] = field(default_factory=dict)
    submissions: dict[str, Json] = field(default_factory=dict)
    bulks: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    paid: dict[str, list[int]] = field(default_factory=dict)  # by submission, all that was paid
    unseen: list[tuple[str, int]] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    workspaces: dict[str, str] = field(default_factory=lambda: {"w1": "Our lab"})
    secrets: dict[str, str] = field(default_factory=dict)  # by workspace, as it makes them
    hooks: dict[str, Json] = field(default_factory=dict)
    confirmations: dict[str, str] = field(default_factory=dict)  # by subscription
    events: list[Json] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    faults: dict[str, float] = field(default_factory=dict)  # of what share of the calls
    kills: list[str] = field(default_factory=list)  # before or after a call with this in its path
    refuses: str = ""  # a field of a new study
    pays_parts: bool = True  # only some workspaces may
    pause: int = 0  # seconds after which who was too fast may come again
    victim: int = 0  # the process that is killed
    rng: random.Random = field(default_factory=lambda: random.Random(5))
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    lock: threading.RLock = field(default_factory=threading.RLock)

    def new_id(self) -> str:
        return f"{next(self.numbers):024x}"

    # --- people of the panel
    def comes(self, study: str, participant: str) -> str:
        row: Json = {"id": self.new_id(), "study_id": study, "participant_id": participant}
        pk: str = row["id"]
        row |= {"status": "ACTIVE", "entered_code": None, "bonus_payments": []}
        self.submissions[pk] = row | {"return_requested": None}
        self.studies[study]["places_taken"] += 1
        self._tell(pk, "ACTIVE")
        return pk

    def enters(self, submission: str, code: str) -> None:
        row = self.submissions[submission]
        if row["status"] != "ACTIVE":
            return
        row["entered_code"] = code
        known: Json = self._codes(submission, "participant")
        review: Json = {"action": "MANUALLY_REVIEW"}
        action: Json = known[code]["actions"][0] if code in known else review
        if action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
            self._pay(submission, action["fixed_screen_out_reward"])
            self.becomes(submission, "SCREENED OUT")
            return
        if action["action"] == "REQUEST_RETURN":
            row["return_requested"] = "2026-01-05T12:00:00Z"
        self.becomes(submission, "AWAITING REVIEW")

    def _codes(self, submission: str, actor: str) -> Json:
        codes = self.studies[self.submissions[submission]["study_id"]]["completion_codes"]
        return {each["code"]: each for each in codes if each.get("actor", "participant") == actor}

    def becomes(self, submission: str, status: str) -> None:
        row = self.submissions[submission]
        if row["status"] not in OVER:
            row["status"] = status
            self._tell(submission, status)

    def settle(self) -> None:
        """Let the bonuses that were told to be paid be seen."""
        with self.lock:
            for submission, amount in self.unseen:
                self.submissions[submission]["bonus_payments"].append(amount)
            self.unseen.clear()

    def _tell(self, submission: str, status: str) -> None:
        event = {"event_type": "submission.status.change", "resource_id": submission}
        self.events.append(event | {"status": status, "id": f"event-{next(self.numbers)}"})

    def _pay(self, submission: str, amount: int) -> None:
        self.paid.setdefault(submission, []).append(amount)

    def total(self, submission: str) -> int:
        return sum(self.paid.get(submission, ()))

    # --- calls
    def answer(self, method: str, path: str, content: Json) -> Any:
        url = urlsplit(path)
        parts = url.path.strip("/").split("/")[2:]
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        with self.lock:
            return self._route(method, parts, content, query)

    def _route(self, method: str, parts: list[str], content: Json, query: Json) -> Any:
        match method, parts:
            case "POST", ["studies"]:
                return self._create(content)
            case "GET", ["studies"]:
                return self._page(list(self.studies.values()), "studies", query)
            case _, ["studies", pk, *rest]:
                return self._study(method, pk, rest, content, query)
            case "POST", ["submissions", "bonus-payments"]:
                return self._set_up(content)
            case "POST", ["submissions", "bulk-approve"]:
                return self._approve(content["submission_ids"])
            case "POST", ["bulk-bonus-payments", pk, "pay"]:
                return self._pay_bulk(pk)
            case "GET", ["workspaces"]:
                rows = [{"id": pk, "title": title} for pk, title in self.workspaces.items()]
                return self._page(rows, "workspaces", query)
            case _, ["hooks", kind, *rest]:
                return self._hooks(method, kind, rest, content, query)
            case "POST", ["messages"]:
                self.messages.append(content)
                return {}
            case _, ["submissions", pk, *rest]:
                return self._submission(pk, rest, content)
        raise No(f"{method} {parts}")

    def _create(self, content: Json) -> Json:
        if self.refuses:
            raise No(self.refuses)
        codes = [each["code"] for each in content["completion_codes"]]
        outs = [
            each["actions"][0]
            for each in content["completion_codes"]
            if each["actions"][0]["action"] == "FIXED_SCREEN_OUT_PAYMENT"
        ]
        returns = [
            action
            for each in content["completion_codes"]
            for action in each["actions"]
            if action["action"] == "REQUEST_RETURN"
        ]
        if len(set(codes)) != len(codes) or len(outs) > 1:
            raise No("completion_codes")
        if not self.pays_parts and "DYNAMIC_PAYMENT" in str(content["completion_codes"]):
            raise No("DYNAMIC_PAYMENT is not for this workspace")
        if not all(action.get("return_reason") for action in returns):
            raise No("return_reason")
        if outs and not (0 < outs[0]["fixed_screen_out_reward"] < content["reward"]):
            raise No("fixed_screen_out_reward")
        if content["maximum_allowed_time"] < content["estimated_completion_time"]:
            raise No("maximum_allowed_time")
        hourly = content["reward"] * 60 / content["estimated_completion_time"]
        study = content | {"id": self.new_id(), "status": "UNPUBLISHED", "places_taken": 0}
        study |= {"average_reward_per_hour": hourly, "is_underpaying": hourly < 800}
        study["total_cost"] = content["reward"] * content["total_available_places"] * 4 / 3
        self.studies[study["id"]] = study
        return study

    def _study(self, method: str, pk: str, rest: list[str], content: Json, query: Json) -> Any:
        study = self.studies[pk]
        if rest == ["submissions"]:
            rows = [each for each in self.submissions.values() if each["study_id"] == pk]
            return self._page(rows, f"studies/{pk}/submissions", query)
        if rest == ["transition"]:
            action = content["action"]
            if study["status"] not in FROM[action]:
                raise No(f"{action} of a study that is {study['status']}")
            study["status"] = MOVES[action]
        elif method == "PATCH":
            if content["total_available_places"] < study["total_available_places"]:
                raise No("total_available_places")
            study |= content
        return study

    def _page(self, rows: list[Json], path: str, query: Json) -> Json:
        start = int(query.get("offset", 0))
        following = f"{self.address}/api/v1/{path}/?offset={start + PAGE}"
        link = {"href": following if start + PAGE < len(rows) else None}
        found = [dict(each) for each in rows[start : start + PAGE]]
        return {"results": found, "_links": {"next": link}, "meta": {"count": len(rows)}}

    def _approve(self, ids: list[str]) -> Json:
        if any(self.submissions[pk]["status"] in OVER[1:] for pk in ids):
            raise No("not all of them await review")
        for pk in ids:
            self._approve_one(pk)
        return {}

    def _approve_one(self, pk: str) -> None:
        row = self.submissions[pk]
        if row["status"] == "AWAITING REVIEW":
            self._pay(pk, self.studies[row["study_id"]]["reward"])
            self.becomes(pk, "APPROVED")

    def _set_up(self, content: Json) -> Json:
        lines = [line.split(",") for line in content["csv_bonuses"].split("\n")]
        if any(pk not in self.submissions for pk, _ in lines):
            raise No("an id is not of this study")
        bulk = self.new_id()
        self.bulks[bulk] = [(pk, round(float(amount) * 100)) for pk, amount in lines]
        return {"id": bulk, "study": content["study_id"]}

    def _pay_bulk(self, pk: str) -> str:
        for submission, amount in self.bulks[pk]:
            self._pay(submission, amount)
            self.unseen.append((submission, amount))
        return f"Bulk {pk} is being processed."

    def _submission(self, pk: str, rest: list[str], content: Json) -> Json:
        row = self.submissions[pk]
        if rest == ["transition"] and content["action"] == "REJECT":
            if len(content["message"]) < 100 or not content["rejection_category"]:
                raise No("message or rejection_category")
            if row["status"] not in ("AWAITING REVIEW", "REJECTED"):
                raise No(f"rejection of what is {row['status']}")
            self.becomes(pk, "REJECTED")
        elif rest == ["transition"] and content["action"] == "COMPLETE":
            self._complete(pk, content)
        elif rest == ["request-return"]:
            row["return_requested"] = "2026-01-05T12:00:00Z"
        return dict(row) | {"participant": row["participant_id"]}

    def _complete(self, pk: str, content: Json) -> None:
        """Pay a percentage by a researcher's code; a repeat is ignored, half cents are paid up."""
        row, known = self.submissions[pk], self._codes(pk, "researcher")
        percentage = content.get("completion_code_data", {}).get("percentage_of_reward", 0)
        if content["completion_code"] not in known or not 8 <= percentage <= 99:
            raise No("completion_code or percentage_of_reward")
        if row["status"] == "PARTIALLY APPROVED":
            return
        if row["status"] != "AWAITING REVIEW":
            raise No(f"completion of what is {row['status']}")
        self._pay(pk, math.ceil(self.studies[row["study_id"]]["reward"] * percentage / 100))
        self.becomes(pk, "PARTIALLY APPROVED")

    def _hooks(self, method: str, kind: str, rest: list[str], content: Json, query: Json) -> Any:
        workspace = content.get("workspace_id") or query.get("workspace_id", "")
        if kind == "secrets" and method == "POST":  # ends the one before
            self.secrets[workspace] = f"secret-{next(self.numbers)}"
            return {"value": self.secrets[workspace], "workspace_id": workspace}
        if kind == "secrets":
            found = self.secrets.get(workspace)
            rows = [{"value": found, "workspace_id": workspace}] if found else []
            return self._page(rows, "hooks/secrets", query)
        if rest:
            return self._hook(method, rest[0], content)
        if method == "GET":
            wanted = query["is_enabled"] == "true"
            rows = [row for row in self.hooks.values() if row["is_enabled"] is wanted]
            rows = [row for row in rows if row["workspace_id"] == workspace]
            return self._page(rows, "hooks/subscriptions", query)
        return self._subscribe(workspace, content)

    def _subscribe(self, workspace: str, content: Json) -> Json:
        if workspace not in self.secrets:
            raise No("this workspace has no secret")
        if not content["target_url"].startswith("https://"):
            raise No("target_url")
        if any(row["is_enabled"] and row.items() >= content.items() for row in self.hooks.values()):
            raise No("subscribed already")
        pk = self.new_id()
        self.hooks[pk] = content | {"id": pk, "is_enabled": False}
        self.confirmations[pk] = f"confirm-{next(self.numbers)}"
        return self.hooks[pk]

    def _hook(self, method: str, pk: str, content: Json) -> Json:
        if method == "DELETE":
            return self.hooks.pop(pk)
        if content.get("secret") != self.confirmations[pk]:
            raise No("secret")
        self.hooks[pk]["is_enabled"] = True
        return self.hooks[pk]

    # --- what goes wrong
    def fault(self, path: str) -> str:
        """Draw what goes wrong with a call: "", or a name of `faults` or `kills`."""
        for kill in list(self.kills):
            when, what = kill.split(" ")
            if what in path:
                self.kills.remove(kill)
                return when
        shares = list(self.faults.values())
        return self.rng.choices([*self.faults, ""], [*shares, max(0.0, 1 - sum(shares))])[0]


class Handler(BaseHTTPRequestHandler):
    """One call: refused, applied, answered; or what goes wrong in between."""

    panel: FakePanel
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        panel, path = self.panel, self.path
        if self.headers.get("Authorization") != f"Token {panel.token}":
            return self._say(401, {})
        panel.calls.append(f"{self.command} {urlsplit(path).path}")
        wrong = panel.fault(path)
        if wrong == "busy":
            return self._say(429, {}, {"Retry-After": str(panel.pause)})
        if wrong == "broken":
            return self._say(500, {})
        if wrong == "kill-before":
            return self._kill()
        try:
            found = panel.answer(self.command, path, json.loads(body or b"{}"))
        except (No, KeyError) as problem:
            return self._say(400, {"error": str(problem)})
        if wrong == "kill-after":
            return self._kill()
        if wrong == "lost":
            return self._close()
        headers = {}
        if self.command == "POST" and urlsplit(path).path.endswith("/hooks/subscriptions/"):
            headers["X-Hook-Secret"] = panel.confirmations[found["id"]]
        return self._say(200, found, headers)

    do_GET = do_POST = do_PATCH = do_DELETE = _handle

    def _kill(self) -> None:
        os.kill(self.panel.victim, signal.SIGKILL)
        self._close()

    def _close(self) -> None:
        self.close_connection = True

    def _say(self, status: int, found: Any, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(found).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a test prints what it checks."""


@contextlib.contextmanager
def serving(token: str) -> Iterator[FakePanel]:
    """Serve a new panel on a free port of this machine."""
    panel = FakePanel(token)
    handler = type("PanelHandler", (Handler,), {"panel": panel})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    panel.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield panel
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def connected(settings: Any) -> Iterator[FakePanel]:
    """Connect this server to a new panel."""
    from webapp.services.recruiting import client

    with serving(TOKEN) as fake:
        settings.PROLIFIC_URL, settings.PROLIFIC_TOKEN = fake.address, TOKEN
        settings.PROLIFIC_WEBHOOK_SECRET = SECRET
        yield fake
        client.hang_up()
