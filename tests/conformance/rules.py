"""Rules of docs/protocol.md, each a function that drives a server and raises `Broken`.

A rule names what it needs of a campaign: `talk` is any conversation with a partner who answers,
`labels` one whose messages are labeled, `check` one whose messages have at most 15 words, and
`pair` one between two people.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import uuid4

from tests.conformance.documents import complaints, unknown_fields
from tests.conformance.wire import Broken, Browser, Frame, Site, Tab, expect

Check = Callable[[Site], None]
LONG = " ".join(["word"] * 16)


@dataclass(frozen=True)
class Rule:
    """One sentence of the page, and what shows that it is kept."""

    name: str
    text: str
    needs: str
    run: Check


RULES: dict[str, Rule] = {}


def rule(text: str, needs: str = "talk") -> Callable[[Check], Check]:
    """Register a rule under its function's name."""

    def add(run: Check) -> Check:
        RULES[run.__name__] = Rule(run.__name__, text, needs, run)
        return run

    return add


def is_entry(kind: str, side: str | None = None) -> Callable[[Frame], bool]:
    return lambda frame: (
        frame["type"] == "event" and frame["kind"] == kind and side in (None, frame["side"])
    )


def turn(tab: Tab) -> None:
    """Read until it is one's own turn."""
    shown = [each for each in tab.came if each["type"] == "status"]
    if not shown or shown[-1]["turn"] != "you":
        tab.until(lambda each: each["type"] == "status" and each["turn"] == "you", "own turn")


def opened(site: Site) -> tuple[Browser, Tab]:
    browser = site.chatting()
    tab = browser.greeted()
    turn(tab)
    return browser, tab


def is_of(frame: Frame, seq: int) -> bool:
    return bool(frame["type"] == "event" and frame["seq"] == seq)


def refused(answer: Frame, code: str) -> None:
    expect(answer["type"] == "refused", f"{answer['type']} where {code} was to be refused")
    expect(answer["code"] == code, f"refused as {answer['code']}, not {code}")
    expect(answer.get("notice"), "refused without words for the participant")


# --- joining ------------------------------------------------------------------------------------


@rule("Both need the participation's cookie (set by `POST /c/<slug>/consent`)", "any")
def consent_sets_the_cookie(site: Site) -> None:
    browser = site.browser()
    before = browser.ask("GET", f"{site.path}frames?version=2")
    expect(before.status_code == 404, f"frames without a cookie: {before.status_code}")
    answer = browser.agree()
    expect(answer.status_code == 302, f"consent: {answer.status_code}")
    expect(f"parley-{site.slug}=" in browser.cookies, "no cookie of the participation")


@rule("An id is a claim: where it has a participation already, the answer is 409", "any")
def a_claimed_id_needs_proof(site: Site) -> None:
    first, second = site.joined(), site.browser()
    form = second.consent_form()
    form.sent["external_id"] = first.name
    answer = second.send(form)
    expect(answer.status_code == 409, f"consent with an id that took part: {answer.status_code}")


@rule(
    "the private link was opened (`POST /c/<slug>/private/<token>`, which sets a cookie as well)",
    "any",
)
def the_private_link_lets_another_browser_go_on(site: Site) -> None:
    first, second = site.joined(), site.browser()
    html = first.ask("GET", f"{site.path}now").text
    link = html.partition(f"{site.path}private/")[2].partition('"')[0]
    expect(link, "the page has no private link")
    path = f"{site.path}private/{link}"
    form = second.page(path.removeprefix(site.path)).forms[0]
    answer = second.ask("POST", path, data=form.sent)
    expect(answer.status_code == 302, f"the private link: {answer.status_code}")
    expect(f"parley-{site.slug}=" in second.cookies, "no cookie by the private link")
    expect(second.step()["state"] == first.step()["state"], "another participation")


@rule("makes a repeated consent find its own participation; keep it", "any")
def a_repeated_consent_finds_its_participation(site: Site) -> None:
    browser = site.browser()
    form = browser.consent_form()
    entry = dict(browser.http.cookies)
    browser.send(form)
    browser.http.cookies.clear()  # the answer was lost on the way
    for name, value in entry.items():
        browser.http.cookies.set(name, value)
    again = browser.send(form)
    expect(again.status_code == 302, f"the consent, sent again: {again.status_code}")


@rule("The status that a waiting page asks for (`/c/<slug>/status`)", "any")
def the_step_fits_the_schema(site: Site) -> None:
    found = complaints(site.joined().step(), "StepStatus")
    expect(not found, f"status: {found}")


# --- the first frames ---------------------------------------------------------------------------


@rule("`hello` → the missed `event`s, `status`, `ready`")
def a_hello_is_answered_in_order(site: Site) -> None:
    browser, tab = opened(site)
    tab.item(type="message", text="Hello there, friend.")
    came = browser.tab().hello()
    kinds = [each["type"] for each in came]
    expect(kinds[-2:] == ["status", "ready"], f"a replay that ends in {kinds[-3:]}")
    expect(set(kinds[:-2]) == {"event"}, f"a replay of {kinds}")
    last = max(each["seq"] for each in came if each["type"] == "event")
    expect(came[-1]["last_seq"] == last, f"ready says {came[-1]['last_seq']}, not {last}")


@rule("the first frame of a socket, within 5 s")
def hello_comes_first(site: Site) -> None:
    tab = site.chatting().tab()
    tab.send(type="sync", last_seq=0)
    answer = tab.kind("error", "ready")
    expect(answer.get("code") == "bad_frame", f"before hello: {answer['type']}")


@rule("replay what came after `last_seq` (0: everything)")
def a_replay_begins_after_last_seq(site: Site) -> None:
    _, tab = opened(site)
    seq = tab.item(type="message", text="Hello there, friend.")["seq"]
    tab.until(is_entry("message", "partner"), "a reply")
    seqs = [each["seq"] for each in tab.sync(seq)]
    expect(seqs and min(seqs) == seq + 1, f"after {seq} came {seqs}")
    expect(tab.sync(0)[0]["seq"] == 1, "a replay from 0 without the first entry")


@rule("Every entry of the conversation has a `seq`: 1, 2, 3 ... without gaps.")
def entries_are_numbered_without_gaps(site: Site) -> None:
    _, tab = opened(site)
    for text in ("Hello there, friend.", "I like long walks."):
        turn(tab)
        tab.item(type="message", text=text)
        tab.until(is_entry("message", "partner"), "a reply")
    seqs = [each["seq"] for each in tab.sync(0)]
    expect(seqs == list(range(1, len(seqs) + 1)), f"seqs {seqs}")


@rule("send `sync` with the last `seq` up to which you have all")
def a_replay_is_the_same_again(site: Site) -> None:
    _, tab = opened(site)
    tab.item(type="message", text="Hello there, friend.")
    tab.until(is_entry("message", "partner"), "a reply")
    first, second = tab.sync(0), tab.sync(0)
    expect(first == second[: len(first)], "an entry that was sent before has changed")


@rule("Frames are JSON objects with a `type`.")
def frames_fit_the_schema(site: Site) -> None:
    _, tab = opened(site)
    tab.item(type="message", text="Hello there, friend.")
    tab.until(is_entry("message", "partner"), "a reply")
    tab.item(type="retry")
    tab.send(type="ping")
    tab.kind("pong")
    for frame in tab.came:
        found = complaints(frame, "ServerFrame")
        expect(not found, f"{frame['type']}: {found}")


@rule("an entry. `side`: `you`, `partner`, or null (the platform)")
def nothing_more_is_told(site: Site) -> None:
    """What the schema does not have could tell a program from a person."""
    _, tab = opened(site)
    tab.item(type="message", text="Hello there, friend.")
    tab.until(is_entry("message", "partner"), "a reply")
    for frame in tab.came:
        expect(not (found := unknown_fields(frame)), f"{frame['type']} has {sorted(found)}")


@rule("`at`: ISO 8601, UTC.")
def times_are_in_order_and_in_utc(site: Site) -> None:
    _, tab = opened(site)
    tab.item(type="message", text="Hello there, friend.")
    tab.until(is_entry("message", "partner"), "a reply")
    times = [datetime.fromisoformat(each["at"]) for each in tab.sync(0)]
    expect(all(str(each.tzinfo) == "UTC" for each in times), f"times {times}")
    expect(times == sorted(times), "entries that go back in time")


@rule("Own items carry their `id`.")
def own_items_carry_their_id(site: Site) -> None:
    _, tab = opened(site)
    name = tab.send(type="message", text="Hello there, friend.")
    tab.until(is_entry("message", "partner"), "a reply")
    for entry in tab.sync(0):
        wanted = name if entry["side"] == "you" else None
        expect(entry.get("id") == wanted, f"an entry of {entry['side']} with id {entry.get('id')}")


# --- items --------------------------------------------------------------------------------------


@rule("`ack` means that it is stored.")
def what_is_acknowledged_is_stored(site: Site) -> None:
    browser, tab = opened(site)
    text = f"Hello {uuid4().hex[:6]}, friend."
    answer = tab.item(type="message", text=text)
    expect(answer["type"] == "ack", f"a message was {answer}")
    stored = browser.greeted().came
    texts = [each["text"] for each in stored if is_of(each, answer["seq"])]
    expect(texts == [text], f"at seq {answer['seq']} stands {texts}")


@rule("Keep the `receipt` of an `ack`: it proves that the server said so.")
def a_receipt_is_of_what_was_sent(site: Site) -> None:
    _, tab = opened(site)
    name, text = str(uuid4()), "Hello there, ölder friend."
    receipt = tab.item(type="message", id=name, text=text).get("receipt", "")
    content = json.dumps([name, text], ensure_ascii=False, separators=(",", ":"))
    digest = sha256(content.encode()).hexdigest()
    expect(f".{name}.{digest}." in receipt, f"the receipt {receipt!r} is not of {content}")


@rule("Repeats are stored once and get the same `ack`.")
def a_repeat_is_stored_once(site: Site) -> None:
    _, tab = opened(site)
    name, text = str(uuid4()), "Hello there, friend."
    first = tab.item(type="message", id=name, text=text)
    second = tab.item(type="message", id=name, text=text)
    expect(first == second, f"{first}, then {second}")
    count = sum(each.get("id") == name for each in tab.sync(0))
    expect(count == 1, f"stored {count} times")


@rule("The same `id` with another content is refused as `used_id`, and nothing is written.")
def an_id_is_used_once(site: Site) -> None:
    _, tab = opened(site)
    name = tab.send(type="message", text="Hello there, friend.")
    tab.kind("ack")
    turn(tab)
    refused(tab.item(type="message", id=name, text="Something else."), "used_id")
    texts = [each.get("text") for each in tab.sync(0) if each.get("id") == name]
    expect(texts == ["Hello there, friend."], f"under one id stand {texts}")


@rule("`empty`")
def an_empty_message_is_refused(site: Site) -> None:
    _, tab = opened(site)
    refused(tab.item(type="message", text="  "), "empty")


@rule("at most 4,000 characters")
def a_message_has_a_limit(site: Site) -> None:
    _, tab = opened(site)
    refused(tab.item(type="message", text="x" * 4001), "too_long")


@rule("`bad_text`")
def text_that_cannot_be_stored_is_refused(site: Site) -> None:
    _, tab = opened(site)
    refused(tab.item(type="message", text="a\0b"), "bad_text")


@rule("`check` (a rule of the protocol)", "check")
def a_rule_of_the_protocol_is_explained(site: Site) -> None:
    _, tab = opened(site)
    refused(tab.item(type="message", text=LONG), "check")
    expect(tab.item(type="message", text="Short words then.")["type"] == "ack", "no other try")


@rule("`refused` is final: put the text back into the box, and use a new `id`.", "check")
def a_refusal_writes_nothing(site: Site) -> None:
    _, tab = opened(site)
    tab.item(type="message", text=LONG)
    shown = [each.get("text") for each in tab.sync(0)]
    expect(LONG not in shown, "what was refused is shown")


@rule("end the conversation; refused before `status.may_finish`")
def an_early_end_is_refused(site: Site) -> None:
    _, tab = opened(site)
    refused(tab.item(type="finish"), "too_few")
    expect(not tab.came[0].get("ended"), "the conversation has ended")


@rule("ask for the answer that did not come once more; when `status.may_retry`")
def there_is_nothing_to_retry(site: Site) -> None:
    _, tab = opened(site)
    refused(tab.item(type="retry"), "not_now")


@rule("end with full pay because no answer came; when `status.failed`")
def there_is_no_reason_to_give_up(site: Site) -> None:
    browser, tab = opened(site)
    refused(tab.item(type="give_up"), "not_now")
    expect(browser.step()["state"] == "CHATTING", "the conversation has ended")


@rule("1000 the\nconversation has ended")
def the_end_closes_the_socket(site: Site) -> None:
    browser, tab = opened(site)
    while True:
        turn(tab)
        status = [each for each in tab.came if each["type"] == "status"][-1]
        for seq in status["unlabeled"]:
            label(tab, seq, "0")
        if status["messages"] >= status["minimum"]:
            break
        tab.item(type="message", text=f"I like {uuid4().hex[:5]} a lot.")
        tab.until(is_entry("message", "partner"), "a reply")
    answer = tab.item(type="finish")
    expect(answer["type"] == "ack", f"finish: {answer}")
    expect("seq" not in answer, "the ack of finish has a seq")
    expect(tab.closed() == 1000, f"closed by {tab.code}")
    expect(tab.came[-1].get("ended"), "no status says that it has ended")
    expect(browser.step()["state"] != "CHATTING", "the step is still the conversation")


# --- labels -------------------------------------------------------------------------------------


def label(tab: Tab, seq: int, value: str, question: str = "sensible", revision: int = 0) -> Frame:
    revision = revision or len(tab.came) + 1
    return tab.item(type="label", seq=seq, question=question, value=value, revision=revision)


def labeled(site: Site) -> tuple[Tab, int]:
    """Return a tab, and the seq of a message that still needs labels."""
    _, tab = opened(site)
    status = [each for each in tab.came if each["type"] == "status"][-1]
    if not status["unlabeled"]:
        tab.item(type="message", text="Hello there, friend.")
        status = tab.until(
            lambda each: each["type"] == "status" and bool(each["unlabeled"]), "unlabeled"
        )
    return tab, status["unlabeled"][0]


@rule("a label of the partner's message `seq`, where the page asks for them", "labels")
def a_label_is_an_entry(site: Site) -> None:
    tab, seq = labeled(site)
    answer = label(tab, seq, "1")
    expect(answer["type"] == "ack", f"a label was {answer}")
    found = [each for each in tab.sync(0) if each["kind"] == "label"]
    expect([each["of"] for each in found] == [seq], f"entries of labels: {found}")
    expect(found[0]["value"] == "1" and found[0]["seq"] == answer["seq"], f"the label: {found[0]}")


@rule('specific is refused (`locked`) unless sensible is `"1"`', "labels")
def specific_waits_for_sensible(site: Site) -> None:
    tab, seq = labeled(site)
    refused(label(tab, seq, "1", "specific"), "locked")


@rule("(seqs of the partner's messages that still need labels)", "labels")
def what_is_labeled_leaves_the_status(site: Site) -> None:
    tab, seq = labeled(site)
    label(tab, seq, "0")
    tab.until(
        lambda each: each["type"] == "status" and seq not in each["unlabeled"],
        "status without the message that was labeled",
    )


@rule("`bad_frame` (a question or a value that there is not)", "labels")
def an_unknown_question_is_refused(site: Site) -> None:
    tab, seq = labeled(site)
    refused(label(tab, seq, "1", "polite"), "bad_frame")


# --- bad frames ---------------------------------------------------------------------------------


@rule("unknown ones from a client are bad frames")
def an_unknown_field_is_a_bad_frame(site: Site) -> None:
    _, tab = opened(site)
    tab.send(type="sync", last_seq=0, x=1)
    answer = tab.kind("error", "ready")
    expect(answer.get("code") == "bad_frame", f"an unknown field: {answer['type']}")


@rule("1008 not allowed (three bad frames, wrong cookie, no `hello`")
def three_bad_frames_close(site: Site) -> None:
    _, tab = opened(site)
    for number in range(3):
        expect(tab.code is None, f"closed after {number} bad frames")
        tab.send(type="nonsense")
        tab.kind("error")
    expect(tab.closed() == 1008, f"closed by {tab.code}")


@rule("gets an `error` (`bad_frame`) and is closed with 1008, or 400")
def an_unknown_version_is_refused(site: Site) -> None:
    browser = site.chatting()
    tab = browser.tab(query="version=9")
    expect(tab.kind("error")["code"] == "bad_frame", "another error")
    expect(tab.closed() == 1008, f"closed by {tab.code}")
    answer = browser.frames(query="version=9")
    expect(answer.status_code == 400, f"over HTTP: {answer.status_code}")


@rule("their frames have the type `say` for `message`")
def version_1_goes_on(site: Site) -> None:
    tab = site.chatting().tab(query="version=1")
    tab.send(type="hello", last_seen=0, tab=tab.name)
    tab.kind("ready")
    turn(tab)
    name = str(uuid4())
    tab.raw(json.dumps({"type": "say", "id": name, "text": "Hello there, friend."}))
    answer = tab.kind("ack", "refused", "error")
    expect(answer["type"] == "ack", f"say: {answer}")


# --- pages and sockets --------------------------------------------------------------------------


@rule("every 15 s; the answer is `pong`")
def a_ping_is_answered(site: Site) -> None:
    _, tab = opened(site)
    tab.send(type="ping")
    tab.kind("pong")


@rule("a newer page controls. Say so, offer `takeover`")
def a_newer_page_controls(site: Site) -> None:
    browser, first = opened(site)
    second = browser.greeted()
    first.kind("superseded")
    first.send(type="takeover", tab=first.name)
    first.until(lambda each: each["type"] == "status" and each["tab_is_newest"], "control")
    second.kind("superseded")


@rule("3 sockets per participation (the oldest is closed)")
def a_fourth_socket_closes_the_oldest(site: Site) -> None:
    browser, first = opened(site)
    others = [browser.greeted() for _ in range(3)]
    expect(first.closed() == 1008, f"closed by {first.code}")
    others[-1].send(type="ping")
    others[-1].kind("pong")


@rule("Both need the participation's cookie")
def another_cookie_opens_no_socket(site: Site) -> None:
    tab = site.chatting().tab(cookie=f"parley-{site.slug}={uuid4().hex}")
    expect(tab.code == 1008, "a socket opens with a wrong cookie")


@rule("The `Origin` must be the server's own.")
def another_origin_opens_no_socket(site: Site) -> None:
    tab = site.chatting().tab(origin="http://elsewhere.example")
    expect(tab.code == 1008, "a socket opens for another origin")


@rule("120 frames per minute of the participation")
def frames_have_a_rate(site: Site) -> None:
    _, tab = opened(site)
    for _ in range(260):  # around the end of a minute twice as many pass
        tab.send(type="ping")
        answer = tab.kind("pong", "error")
        if answer["type"] == "error":
            expect(answer["code"] == "too_fast", f"error {answer['code']}")
            return
    raise Broken("260 frames pass")


@rule("A page that names it follows that conversation only")
def an_unknown_conversation_is_not_found(site: Site) -> None:
    browser = site.chatting()
    answer = browser.ask("GET", f"{site.path}frames?conversation={'0' * 16}&version=2")
    expect(answer.status_code == 404, f"the frames of nobody's conversation: {answer.status_code}")


# --- over HTTP ----------------------------------------------------------------------------------


@rule("what `sync` with `last_seq` N answers")
def a_poll_is_a_sync(site: Site) -> None:
    browser, tab = opened(site)
    tab.item(type="message", text="Hello there, friend.")
    tab.until(is_entry("message", "partner"), "a reply")
    answer = browser.frames()
    expect(answer.status_code == 200, f"a poll: {answer.status_code}")
    entries = [each for each in answer.json()["frames"] if each["type"] == "event"]
    expect(entries == tab.sync(0)[: len(entries)], "a poll has other entries than the socket")
    last = entries[-1]["seq"]
    again = browser.frames(after=last).json()["frames"]
    expect(all(each.get("seq", last + 1) > last for each in again), "a poll repeats what is there")


@rule("with one frame as the body (JSON) and the header `X-CSRFToken`")
def a_message_over_http_is_stored(site: Site) -> None:
    browser, tab = opened(site)
    frame = {"type": "message", "id": str(uuid4()), "text": "Hello there, friend."}
    found = browser.frames(frame).json()["frames"]
    expect(found[0]["type"] == "ack", f"over HTTP: {found}")
    tab.until(lambda each: each.get("id") == frame["id"], "the message, on the socket")


@rule("both do everything")
def a_repeat_over_another_door_is_stored_once(site: Site) -> None:
    browser, tab = opened(site)
    name = tab.send(type="message", text="Hello there, friend.")
    first = tab.kind("ack")
    frame = {"type": "message", "id": name, "text": "Hello there, friend."}
    second = browser.frames(frame).json()["frames"][0]
    expect(first == second, f"{first}, then over HTTP {second}")


@rule("A bad frame is 400 with an `error` frame.")
def a_bad_frame_over_http_is_400(site: Site) -> None:
    answer = site.chatting().frames({"type": "nonsense"})
    expect(answer.status_code == 400, f"a bad frame: {answer.status_code}")
    expect(answer.json()["frames"][0]["code"] == "bad_frame", "no error frame")


@rule("413: a body over 1 MiB")
def a_body_has_a_limit(site: Site) -> None:
    browser = site.chatting()
    answer = browser.frames({"type": "message", "id": str(uuid4()), "text": "x" * (1 << 20)})
    expect(answer.status_code == 413, f"a body of more than 1 MiB: {answer.status_code}")


# --- two people ---------------------------------------------------------------------------------


@rule("Only when `status.turn` is `you`, or `status.free`", "pair")
def one_writes_after_the_other(site: Site) -> None:
    tabs = [each.greeted() for each in site.pair()]
    for tab in tabs:
        status = [each for each in tab.came if each["type"] == "status"][-1]
        if status["turn"] == "partner":
            refused(tab.item(type="message", text="Me first, please."), "not_your_turn")
            return
    raise Broken("it is both people's turn")


@rule("then everything as it happens", "pair")
def the_partner_is_shown_each_message(site: Site) -> None:
    tabs = [each.greeted() for each in site.pair()]
    turns = [[one for one in tab.came if one["type"] == "status"][-1]["turn"] for tab in tabs]
    writer, reader = tabs if turns[0] == "you" else tabs[::-1]
    name = writer.send(type="message", text="Hello there, friend.")
    entry = reader.until(is_entry("message", "partner"), "the partner's message")
    expect(entry["text"] == "Hello there, friend.", f"shown as {entry['text']}")
    expect(entry.get("id") != name, "the partner is told the id of an item")
    reader.until(lambda each: each["type"] == "status" and each["turn"] == "you", "own turn")
