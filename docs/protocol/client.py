"""Reference client of docs/protocol.md: from a campaign's link to the code, by socket or by HTTP.

python docs/protocol/client.py http://host/c/slug/ --participations 3

Written from the two schemas beside it; it needs Python and `websockets`. It prints one line of JSON
for each participation. What must not be lost (the private link, the item that is not answered yet)
is kept in --keep FOLDER before it is sent; a participation that is found there goes on.
"""

import argparse
import contextlib
import json
import random
import sys
import threading
import time
import uuid
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

BUSY = (429, 500, 502, 503, 504)  # come again later
LIKED = ("old films", "green tea", "long walks", "jazz records", "small dogs", "spicy soup")


class Page(HTMLParser):
    """What x-pages names of a page: forms with their questions, and some marks."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: dict[str, dict[str, Any]] = {}  # by the last part of their address
        self.form: dict[str, Any] = {"questions": []}
        self.token = self.frames = self.socket = self.private = self.mark = ""
        self.texts = {"code": "", "chat-data": ""}  # by id
        self.feed(html)
        self.chat: dict[str, Any] = json.loads(self.texts["chat-data"] or "{}")

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attributes}
        self.mark, questions = has.get("id", ""), self.form["questions"]
        if has.get("name") == "csrf-token":
            self.token = has["content"]
        elif "data-socket" in has:
            self.socket, self.frames = has["data-socket"], has["data-frames"]
        elif "/private/" in has.get("href", ""):
            self.private = has["href"]
        elif tag == "form":
            address = has.get("action", "")
            self.form = {"action": address, "sent": {}, "questions": []}
            self.forms[urlsplit(address).path.rpartition("/")[2]] = self.form
        elif "data-kind" in has:
            gate = has["data-gate"], json.loads(has["data-gate-values"])
            questions.append({"name": has["data-name"], "gate": gate, "options": [], "input": {}})
        elif has.get("type") == "hidden":
            self.form["sent"][has["name"]] = has["value"]
        elif questions and has.get("type") == "radio":
            questions[-1]["options"].append(has["value"])
            questions[-1]["alone"] = "data-alone" in has
        elif questions and tag in ("input", "textarea"):
            questions[-1]["input"] = has

    def handle_endtag(self, tag: str) -> None:
        self.mark = ""

    def handle_data(self, data: str) -> None:
        if self.mark in self.texts:
            self.texts[self.mark] += data


class ClientParticipation(threading.Thread):
    """One participation: does what the server's step asks for, until it has ended."""

    def __init__(self, link: str, name: str, options: argparse.Namespace) -> None:
        super().__init__(name=name)
        self.link, self.options, self.chance = link, options, random.Random(name)
        self.base, self.path = urljoin(link, "/")[:-1], urlsplit(link).path
        self.jar = CookieJar()
        self.opener = build_opener(HTTPCookieProcessor(self.jar))
        self.file = Path(options.keep, f"{name}.json") if options.keep else None
        self.kept: dict[str, Any] = {"private": "", "code": "", "item": None, "revision": 0}
        self.counts = dict.fromkeys(("messages", "labels", "pages", "lost", "polls"), 0)
        self.state = self.problem = ""

    def ask(self, path: str, data: bytes | None = None, **headers: str) -> tuple[int, str]:
        """Request until an answer comes that means something; redirects are followed."""
        for tries in range(50):
            wait = min(2**tries, 30) * self.chance.uniform(0.4, 0.6)
            request = Request(urljoin(self.base, path), data, headers)
            try:
                with self.opener.open(request, timeout=20) as found:
                    return found.status, found.read().decode()
            except HTTPError as answer:
                if answer.code not in BUSY:
                    return answer.code, answer.read().decode()
                wait = max(wait, float(answer.headers.get("Retry-After") or 0))
            except OSError:
                pass  # the server is away; what matters is kept
            time.sleep(wait)
        raise TimeoutError(path)

    def page(self, path: str = "") -> Page:
        page = Page(self.ask(path or f"{self.path}now")[1])
        code = page.texts["code"].strip() or self.kept["code"]
        self.keep(private=page.private or self.kept["private"], code=code)
        return page

    def keep(self, **changes: Any) -> None:
        """Note what must not be lost, before anything depends on it."""
        self.kept |= changes
        if self.file is not None:
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps(self.kept))
            part.replace(self.file)

    def run(self) -> None:
        end = time.monotonic() + self.options.seconds
        try:
            self.begin()
            while self.state != "ENDED":
                self.step()
                if time.monotonic() > end:
                    raise TimeoutError(f"{self.state} after {self.options.seconds:.0f} s")
            self.page()  # with the code
        except Exception as problem:  # one line per participation, whatever comes
            self.problem = repr(problem)

    def begin(self) -> None:
        """Agree, or go on in a new browser by the private link."""
        if self.file is not None and self.file.exists():
            self.kept |= json.loads(self.file.read_text())
        if private := self.kept["private"]:
            self.send(self.page(private).forms[""] | {"action": private})
        else:
            form = self.page(f"{self.link}?id={self.name}").forms.get("consent")
            if not form or self.send(form) == 409:  # it took its last one since the page came
                raise RuntimeError("the study takes nobody now, or not on these terms")

    def step(self) -> None:
        status, text = self.ask(f"{self.path}status?version=2", Accept="application/json")
        if status != 200:
            raise RuntimeError(f"status {status}: no participation")
        found = json.loads(text)
        self.state = found["state"]
        forms = {"ADMISSION": "answer", "READY": "start", "RATING": "rate", "WRITING": "write"}
        if self.state in forms:
            self.press(forms[self.state])
        elif self.state == "CHATTING":
            ClientConversation(self).run()
        elif self.state == "MATCHED" and not found["ready"]:
            self.press("meet")
        elif self.state == "WAITING" and found["choices"]:
            self.press(found["choices"][0].replace("_", "-"))
        elif self.state != "ENDED":
            time.sleep(2 * self.chance.uniform(0.4, 1))

    def press(self, name: str) -> None:
        """Send a form of the page with answers to its questions; refused ones are asked again."""
        if form := self.page().forms.get(name):  # else the step has changed meanwhile
            self.send(form, self.answers(form["questions"]))
            self.counts["pages"] += bool(form["questions"])

    def send(self, form: dict[str, Any], answers: dict[str, str] | None = None) -> int:
        return self.ask(form["action"], urlencode({**form["sent"], **(answers or {})}).encode())[0]

    def answers(self, questions: list[dict[str, Any]]) -> dict[str, str]:
        found: dict[str, str] = {}
        for each in questions:
            name, (gate, opening) = each["name"], each["gate"]
            if not gate or found.get(gate) in opening:
                held = found.values() if each.get("alone") else ()
                options = [option for option in each["options"] if option not in held]
                found[name] = self.answer(name.rpartition(".")[2], options, each["input"])
        return found

    def answer(self, name: str, options: list[str], box: dict[str, str]) -> str:
        """Answer a question: as the operator knows it to be right, else by chance."""
        if options:
            known = self.options.answers.get(name)
            return str(known) if known in options else self.chance.choice(options)
        if "min" in box:
            low, high, step = (float(box.get(key) or 1) for key in ("min", "max", "step"))
            return f"{low + step * self.chance.randint(0, int((high - low) / step)):g}"
        count = min(
            max(int(box.get("data-least-words") or 1), 6), int(box.get("data-most-words") or 9)
        )
        words = ("".join(self.chance.choices("bdfglmnprst", k=7)) for _ in range(count))
        return " ".join(words)[: int(box.get("maxlength") or 1000)]


class ClientConversation:
    """One conversation; its item is sent again under its id until it is answered."""

    def __init__(self, person: ClientParticipation) -> None:
        self.person, self.page, self.tab = person, person.page(), str(uuid.uuid4())
        self.over = not self.page.socket  # the step has changed meanwhile
        self.status: dict[str, Any] = {}
        self.last_seq, self.later, self.theirs = 0, dict[int, Any](), list[int]()
        self.labels: dict[tuple[int, str], str] = {}  # answers by message and question
        self.due_at = self.synced_at = 0.0
        self.tries = 0  # to send the item

    def run(self) -> None:
        failures = 0
        while not self.over or self.person.kept["item"]:
            try:
                if self.over or failures > 1:  # no socket opens: poll, and try one again later
                    self.over_http(0 if self.over else 30)
                    failures = 0
                else:
                    self.over_socket()
            except ConnectionClosed as closed:
                failures += 1
                self.over = closed.rcvd is not None and closed.rcvd.code in (1000, 1008)
            except (OSError, InvalidHandshake):
                failures += 1
                time.sleep(self.person.chance.uniform(0.2, 1))
            self.person.counts["lost"] += failures > 0 and not self.over
            self.due_at = self.tries = 0  # nobody knows what became of the item

    def over_socket(self) -> None:
        cookie = "; ".join(f"{each.name}={each.value}" for each in self.person.jar)
        address = urljoin(self.person.base, self.page.socket).replace("http", "ws", 1)
        options: dict[str, Any] = {"origin": self.person.base, "compression": None}
        options |= {"additional_headers": {"Cookie": cookie}, "ping_interval": None}
        with connect(address, **options) as socket:
            hello = {"type": "hello", "last_seq": self.last_seq, "tab": self.tab}
            socket.send(json.dumps(hello))
            pinged, wait = time.monotonic(), 0.5
            while not self.over:
                with contextlib.suppress(TimeoutError):
                    self.take(json.loads(socket.recv(timeout=wait)))
                    wait = 0.02  # all that is there, before anything is decided
                    continue
                frames, wait = self.due(), 0.5
                if time.monotonic() - pinged > 15:
                    pinged = time.monotonic()
                    frames.append({"type": "ping"})
                for frame in frames:
                    socket.send(json.dumps(frame))

    def over_http(self, seconds: float) -> None:
        headers = {"X-Tab": self.tab, "X-CSRFToken": self.page.token, "Accept": "application/json"}
        end = time.monotonic() + seconds
        while True:
            for body in (*(json.dumps(each).encode() for each in self.due()), None):  # the poll
                address = self.page.frames + ("" if body else f"&after={self.last_seq}")
                status, text = self.person.ask(address, body, **headers)
                for frame in json.loads(text)["frames"] if status in (200, 400) else ():
                    self.take(frame)
                if status == 404:  # not ours any more
                    self.over = True
                    self.person.keep(item=None)
            self.person.counts["polls"] += 1
            if self.over or time.monotonic() > end:
                return
            time.sleep(self.person.chance.uniform(0.5, 1.5))

    def take(self, frame: dict[str, Any]) -> None:
        """Take a frame of the server's; unknown ones mean nothing to us."""
        item, kind = self.person.kept["item"], frame["type"]
        if kind == "event":
            self.later[frame["seq"]] = frame
            while entry := self.later.pop(self.last_seq + 1, None):
                self.last_seq += 1
                if entry["kind"] == "message" and entry["side"] == "partner":
                    self.theirs.append(entry["seq"])
        elif kind == "status":
            self.status, self.over = frame, self.over or frame["ended"]
        elif kind in ("ack", "refused") and item and frame["id"] == item["id"]:
            self.person.keep(item=None)
            if item["type"] in ("message", "label"):
                self.person.counts[item["type"] + "s"] += kind == "ack"
            if item["type"] != "label":  # the status that comes now is the one that counts
                self.status, self.synced_at = {}, time.monotonic() - (kind == "refused") * 1.5

    def due(self) -> list[dict[str, Any]]:
        """Return what to send now: the item that is not answered yet, or what comes next."""
        now = time.monotonic()
        self.later = {seq: each for seq, each in self.later.items() if seq > self.last_seq}
        if not self.person.kept["item"] and self.status and not self.later and not self.over:
            self.decide(self.status)
        item: dict[str, Any] | None = self.person.kept["item"]
        if item and now >= self.due_at:
            self.due_at = now + min(2**self.tries, 30) * self.person.chance.uniform(0.8, 1.2)
            self.tries += 1
            return [item]
        if not item and now - self.synced_at > 2:  # a gap, or no status yet
            self.synced_at = now
            if self.later or not self.status or self.status["unlabeled"]:
                return [{"type": "sync", "last_seq": self.last_seq}]
        return []

    def decide(self, status: dict[str, Any]) -> None:
        optional = self.theirs if self.page.chat.get("optional") else []
        if status["failed"]:
            self.put("retry" if status["may_retry"] else "give_up")
        elif self.label(status["unlabeled"] or optional) or status["unlabeled"]:
            return
        elif status["may_finish"]:
            self.put("finish")
        elif status["messages"] >= status["minimum"] + 4:  # it has no end: stop, with the pay
            self.person.press("stop")
        elif status["turn"] == "you" and not status["must_finish"]:
            liked, days = self.person.chance.choice(LIKED), self.person.chance.randint(2, 99)
            self.put("message", text=f"I enjoy {liked} every {days} days, what about you?")

    def label(self, seqs: list[int]) -> bool:
        """Label the first message that has an open question left; tell whether there was one."""
        for seq in seqs:
            for each in self.page.chat["questions"]:
                gate, name = each["only_if"], each["name"]
                is_open = not gate or self.labels.get((seq, gate)) in each["only_if_values"]
                if is_open and (seq, name) not in self.labels:
                    value = self.person.answer(name, [o[0] for o in each["options"]], each["input"])
                    self.labels[seq, name] = value
                    revision = self.person.kept["revision"] + 1
                    self.person.keep(revision=revision)
                    self.put("label", seq=seq, question=name, value=value, revision=revision)
                    return True
        return False

    def put(self, kind: str, **fields: Any) -> None:
        """Keep an item before it is sent."""
        self.person.keep(item={"type": kind, "id": str(uuid.uuid4()), **fields})
        self.due_at = self.tries = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("link", help="of a campaign, http://host/c/slug/")
    parser.add_argument("--participations", type=int, default=1)
    parser.add_argument("--name", default=f"client-{uuid.uuid4().hex[:8]}", help="begins their ids")
    parser.add_argument("--keep", help="a folder for what must not be lost")
    parser.add_argument("--answers", type=json.loads, default={}, help="JSON: known right answers")
    parser.add_argument("--seconds", type=float, default=600.0, help="that one stays at most")
    options = parser.parse_args()
    Path(options.keep or ".").mkdir(parents=True, exist_ok=True)
    names = [f"{options.name}-{number}" for number in range(options.participations)]
    everybody = [ClientParticipation(options.link, name, options) for name in names]
    for each in everybody:
        each.start()
    for each in everybody:
        each.join()
        shown = {name: each.kept[name] for name in ("private", "code")} | each.counts
        print(json.dumps({"id": each.name, "state": each.state, **shown, "problem": each.problem}))
    return int(any(each.problem for each in everybody))


if __name__ == "__main__":
    sys.exit(main())
