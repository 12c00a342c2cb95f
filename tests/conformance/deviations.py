"""Deviations: for each rule a server that breaks it, and a part of what the rule then complains."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any
from uuid import uuid4

import httpx

from tests.conformance.rules import LONG
from tests.conformance.wire import Frame, Meddler

Is = Callable[[Frame], bool]
AT = "2026-01-05T12:00:00.000+00:00"
ELSE = "Something else stands here."


def of(frame_type: str, /, **fields: Any) -> Is:
    wanted = {"type": frame_type, **fields}
    return lambda frame: wanted.items() <= frame.items()


def change(fits: Is, **fields: Any) -> Meddler:
    return Meddler(sends=lambda frame: [{**frame, **fields} if fits(frame) else frame])


def drop(fits: Is) -> Meddler:
    return Meddler(sends=lambda frame: [] if fits(frame) else [frame])


def accept(code: str) -> Meddler:
    """Acknowledge what was to be refused."""

    def accepted(frame: Frame) -> list[Frame]:
        is_refusal = of("refused", code=code)(frame)
        return [{"type": "ack", "id": frame["id"], "seq": 2} if is_refusal else frame]

    return Meddler(sends=accepted)


def close(code: int, instead_of: int) -> Meddler:
    return Meddler(closes=lambda found: code if found == instead_of else found)


def answer(request: str, status: int = 0, body: Callable[[Any], Any] | None = None) -> Meddler:
    """Answer requests whose method and path end so with another status, or body."""
    method, _, ending = request.partition(" ")

    def other(asked: str, found: httpx.Response) -> httpx.Response:
        if not (asked.startswith(method) and ending in asked):
            return found
        text = json.dumps(body(found.json())) if body else found.text
        return httpx.Response(status or found.status_code, text=text)

    return Meddler(answers=other)


def only_once(request: str, status: int) -> Meddler:
    """Answer the first of such requests as the server does, others with a status."""
    times, method, ending = count(), *request.split(" ")

    def other(asked: str, found: httpx.Response) -> httpx.Response:
        is_meant = asked.startswith(method) and asked.endswith(ending)
        return httpx.Response(status) if is_meant and next(times) else found

    return Meddler(answers=other)


def frames_of(change: Callable[[list[Frame]], list[Frame]]) -> Callable[[Any], Any]:
    return lambda found: {"frames": change(found["frames"])}


def later(frames: list[Frame]) -> list[Frame]:
    return [{**each, "seq": each["seq"] + 1} if "seq" in each else each for each in frames]


def every_other_seq() -> Meddler:
    return Meddler(sends=lambda each: [each | {"seq": 2 * each["seq"]} if "kind" in each else each])


def counted(kind: str, field: str) -> Meddler:
    """Have a field of such frames never be the same."""
    numbers = count(1)

    def sends(frame: Frame) -> list[Frame]:
        value = next(numbers) if field == "seq" else str(uuid4())
        return [{**frame, field: value} if of(kind)(frame) and field in frame else frame]

    return Meddler(sends=sends)


def asked(fits: Is, **fields: Any) -> Meddler:
    """Take what is sent to the server for something else."""
    return Meddler(gets=lambda frame: [{**frame, **fields}] if fits(frame) else [frame])


def without(field: str) -> Meddler:
    return Meddler(gets=lambda frame: [{key: frame[key] for key in frame if key != field}])


def never_labeled() -> Meddler:
    shown: set[int] = set()

    def sends(frame: Frame) -> list[Frame]:
        if frame["type"] != "status":
            return [frame]
        shown.update(frame["unlabeled"])
        return [{**frame, "unlabeled": sorted(shown)}]

    return Meddler(sends=sends)


def shown_all_the_same() -> Meddler:
    entry = {"type": "event", "seq": 99, "kind": "message", "side": "you", "text": LONG, "at": AT}
    return Meddler(sends=lambda frame: [entry, frame] if frame["type"] == "ready" else [frame])


def hello_for_sync() -> Meddler:
    return Meddler(
        gets=lambda frame: (
            [{"type": "hello", "last_seq": 0, "tab": "t"}] if frame["type"] == "sync" else [frame]
        )
    )


def words_of(side: str) -> Meddler:
    return change(of("event", kind="message", side=side), text=ELSE)


DEVIATIONS: dict[str, tuple[Callable[[], Meddler], str]] = {
    "consent_sets_the_cookie": (lambda: answer("GET frames", 200), "without a cookie: 200"),
    "a_claimed_id_needs_proof": (lambda: answer("POST consent", 302), "took part: 302"),
    "the_private_link_lets_another_browser_go_on": (
        lambda: answer("POST /private/", 404),
        "the private link: 404",
    ),
    "a_repeated_consent_finds_its_participation": (
        lambda: answer("POST consent", 409),
        "sent again: 409",
    ),
    "the_step_fits_the_schema": (
        lambda: answer("GET status", body=lambda found: found | {"state": "TALKING"}),
        "'TALKING' is not one of",
    ),
    "a_hello_is_answered_in_order": (lambda: change(of("ready"), last_seq=99), "ready says 99"),
    "hello_comes_first": (hello_for_sync, "before hello: ready"),
    "a_replay_begins_after_last_seq": (lambda: asked(of("sync"), last_seq=0), "came \\[1, "),
    "entries_are_numbered_without_gaps": (every_other_seq, "seqs \\[2, 4"),
    "a_replay_is_the_same_again": (lambda: counted("event", "text"), "has changed"),
    "frames_fit_the_schema": (lambda: change(of("status"), messages="2"), "status: "),
    "nothing_more_is_told": (lambda: change(of("event"), system="alpha"), "has \\['system'\\]"),
    "times_are_in_order_and_in_utc": (
        lambda: change(of("event", side="you"), at=AT.replace("2026", "2126")),
        "go back in time",
    ),
    "own_items_carry_their_id": (
        lambda: change(of("event", side="partner"), id=str(uuid4())),
        "an entry of partner with id",
    ),
    "what_is_acknowledged_is_stored": (lambda: words_of("you"), "at seq "),
    "a_receipt_is_of_what_was_sent": (lambda: change(of("ack"), receipt="PA1"), "is not of"),
    "a_repeat_is_stored_once": (lambda: counted("ack", "seq"), ", then "),
    "an_id_is_used_once": (lambda: accept("used_id"), "ack where used_id"),
    "an_empty_message_is_refused": (lambda: accept("empty"), "ack where empty"),
    "a_message_has_a_limit": (lambda: accept("too_long"), "ack where too_long"),
    "text_that_cannot_be_stored_is_refused": (lambda: accept("bad_text"), "ack where bad_text"),
    "a_rule_of_the_protocol_is_explained": (
        lambda: change(of("refused"), notice=""),
        "without words",
    ),
    "a_refusal_writes_nothing": (shown_all_the_same, "what was refused is shown"),
    "an_early_end_is_refused": (lambda: accept("too_few"), "ack where too_few"),
    "there_is_nothing_to_retry": (lambda: accept("not_now"), "ack where not_now"),
    "there_is_no_reason_to_give_up": (lambda: accept("not_now"), "ack where not_now"),
    "the_end_closes_the_socket": (lambda: close(1001, 1000), "closed by 1001"),
    "a_label_is_an_entry": (lambda: drop(of("event", kind="label")), "entries of labels: \\[\\]"),
    "specific_waits_for_sensible": (lambda: accept("locked"), "ack where locked"),
    "what_is_labeled_leaves_the_status": (never_labeled, "came no status without"),
    "an_unknown_question_is_refused": (lambda: accept("bad_frame"), "ack where bad_frame"),
    "an_unknown_field_is_a_bad_frame": (lambda: without("x"), "an unknown field: ready"),
    "three_bad_frames_close": (lambda: close(1000, 1008), "closed by 1000"),
    "an_unknown_version_is_refused": (lambda: close(1001, 1008), "closed by 1001"),
    "version_1_goes_on": (lambda: change(of("ack"), type="error"), "say: "),
    "a_ping_is_answered": (lambda: drop(of("pong")), "came no pong"),
    "a_newer_page_controls": (lambda: drop(of("superseded")), "came no superseded"),
    "a_fourth_socket_closes_the_oldest": (lambda: close(1001, 1008), "closed by 1001"),
    "another_cookie_opens_no_socket": (lambda: Meddler(opens=True), "with a wrong cookie"),
    "another_origin_opens_no_socket": (lambda: Meddler(opens=True), "for another origin"),
    "frames_have_a_rate": (lambda: change(of("error"), type="pong"), "260 frames pass"),
    "an_unknown_conversation_is_not_found": (
        lambda: answer("GET frames", 200),
        "nobody's conversation: 200",
    ),
    "a_poll_is_a_sync": (
        lambda: answer("GET frames", body=frames_of(later)),
        "other entries than the socket",
    ),
    "a_message_over_http_is_stored": (
        lambda: answer("POST frames", body=frames_of(lambda found: [{"type": "pong"}])),
        "over HTTP: ",
    ),
    "a_repeat_over_another_door_is_stored_once": (
        lambda: answer("POST frames", body=frames_of(later)),
        "then over HTTP",
    ),
    "a_bad_frame_over_http_is_400": (lambda: answer("POST frames", 200), "a bad frame: 200"),
    "a_body_has_a_limit": (lambda: answer("POST frames", 200), "more than 1 MiB: 200"),
    "one_writes_after_the_other": (lambda: accept("not_your_turn"), "ack where not_your_turn"),
    "the_partner_is_shown_each_message": (lambda: words_of("partner"), "shown as Something else"),
}
