"""Operations of the participants' addresses, by the name of their route.

Apart because it is what the route table cannot tell: which fields an address takes, and what its
answers mean. A route without an operation here, or the reverse, fails the generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from webapp.sockets import answers
from webapp.sockets.frames import VERSIONS

PAGE, TEXT, FRAMES = "a page", "a text", "frames"  # kinds of answers; else the name of a type
TO_CURRENT = "to the page of the current step, `/c/{slug}/now`"
NOT_FOUND = "no such campaign, or no participation for this cookie"
TOO_FAST = "too many in this minute; wait as `Retry-After` says"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of an address.

    form: the fields of a form, with their meanings; `answers`: any field of the page's questions.
    body: the type of a body of JSON. found: what the answer 200 is. more: other statuses.
    """

    method: str
    summary: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    takes_answers: bool = False
    body: type[Struct] | str | None = None
    found: type[Struct] | str | None = None
    more: Mapping[int, str] = field(default_factory=dict)


def _page(summary: str, **more: str) -> Operation:
    return Operation(method="get", summary=summary, query=more, found=PAGE, more={404: NOT_FOUND})


def _step(summary: str) -> tuple[Operation, ...]:
    """Return the operations of a button: repeats are harmless, and so is one that is too late."""
    return (
        Operation(
            method="post",
            summary=summary,
            form={},
            more={302: TO_CURRENT, 404: NOT_FOUND},
        ),
        _redirect(),
    )


def _redirect() -> Operation:
    return Operation(method="get", summary="leads on", more={302: TO_CURRENT, 404: NOT_FOUND})


def _answers(summary: str, **fields: str) -> tuple[Operation, ...]:
    return (
        Operation(
            method="post",
            summary=summary,
            form=fields,
            takes_answers=True,
            more={
                302: TO_CURRENT,
                404: NOT_FOUND,
                422: "the form again, with what is missing or wrong: fieldsets have aria-invalid",
            },
        ),
        _redirect(),
    )


CONVERSATION = {
    "conversation": "the key of the conversation, as its page has it; without it the active one",
    "version": f"of the wire: {VERSIONS[-1]}",
}
TAB = {"X-Tab": "the page's own name, at most 36 characters, made anew with each page load"}
TOKEN = {"X-CSRFToken": 'the content of the page\'s `meta name="csrf-token"`'}

ADDRESSES: Mapping[str, tuple[Operation, ...]] = {
    "entry": (
        Operation(
            method="get",
            summary="offers the study, with the form of the consent; sets the cookie"
            " parley-entry-{slug}, which a repeated consent is known by",
            query={
                "invitation": "a signed invitation",
                "PROLIFIC_PID": "an id at Prolific",
                "workerId": "an id at MTurk",
                "id": "an id at any other panel; without one of these the visitor is a volunteer",
                "assignmentId": "MTurk's; a preview offers no form",
            },
            found=PAGE,
            more={
                302: "this browser takes part already: " + TO_CURRENT,
                404: NOT_FOUND,
                409: "the page, without a form: the id is taken, and nothing proves it",
            },
        ),
    ),
    "consent": (
        Operation(
            method="post",
            summary="agrees; sets the participation's cookie, parley-{slug}",
            form={
                "invitation": "the signed one; or",
                "platform": "where the id is from, with",
                "external_id": "the id there",
                "pay": "as the page showed it: what is agreed to",
            },
            more={
                302: TO_CURRENT,
                404: NOT_FOUND,
                409: "the entry page: closed, full, the id is taken, or the pay has changed",
                429: TOO_FAST,
            },
        ),
    ),
    "language": (
        Operation(
            method="post",
            summary="chooses one of the campaign's languages; sets the cookie language",
            form={"language": "its code", "next": "the page to return to"},
            more={302: "to `next`", 404: NOT_FOUND},
        ),
    ),
    "declined": (_page("thanks who did not agree; nothing is stored"),),
    "current-step": (
        Operation(
            method="get",
            summary="shows the page of the current step: see x-steps and x-pages",
            found=PAGE,
            more={302: "no cookie: to the entry page", 404: NOT_FOUND},
        ),
    ),
    "start": _step("begins, after the instructions"),
    "meet": _step("answers the ready check, within 15 s"),
    "bot": _step("takes another kind of partner, where `choices` of the status has `bot`"),
    "give-up": _step("stops waiting, where `choices` of the status has `give_up`"),
    "stop": _step("stops the study"),
    "code": _step("takes the code for work done, where who left finds no place to go on"),
    "answer": _answers(
        "answers the questions before the work: a screening or a quiz",
        **{"try": "as the page has it"},
    ),
    "rate": _answers("answers the questions of the page; at the last one the code is given"),
    "write": _answers("offers the texts that are asked for"),
    "status": (
        Operation(
            method="get",
            summary="tells the current step, and is a sign of life of who waits: ask every 2 s",
            query={"version": CONVERSATION["version"]},
            headers={"Accept": "application/json"},
            found=answers.StepStatus,
            more={404: NOT_FOUND},
        ),
    ),
    "problem": (
        Operation(
            method="get",
            summary="offers to report a problem, at any step; thanks where it was sent",
            query={"sent": "a report was just taken"},
            found=PAGE,
            more={404: NOT_FOUND},
        ),
        Operation(
            method="post",
            summary="reports a problem to the people who run the study; changes no step",
            form={"text": "what happened, at most 2,000 characters"},
            more={
                302: "to the thanks on this page",
                404: NOT_FOUND,
                422: "the form again, with what was typed: empty, too long, or too many reports",
            },
        ),
    ),
    "stop-means": (
        Operation(
            method="get",
            summary="tells what stopping now means for the pay",
            found=answers.StopMeaning,
            more={404: NOT_FOUND},
        ),
    ),
    "draft": (
        Operation(
            method="post",
            summary="keeps unfinished answers, or texts",
            headers=TOKEN,
            body=answers.UnfinishedAnswers,
            found=answers.DraftSaved,
            more={400: "no draft", 404: NOT_FOUND},
        ),
    ),
    "private-link": (
        _page("shows the code to who holds the link, in any browser"),
        Operation(
            method="post",
            summary="lets this browser go on; sets the participation's cookie",
            form={},
            more={302: TO_CURRENT, 404: NOT_FOUND, 429: TOO_FAST},
        ),
    ),
    "withdraw": (
        _page("asks whether to delete what was written"),
        Operation(
            method="post",
            summary="deletes what was written; pay does not change",
            form={},
            more={302: "to the same page", 404: NOT_FOUND},
        ),
    ),
    "frames": (
        Operation(
            method="get",
            summary="what `sync` with `last_seq` is on a socket; poll about every 2 s",
            query={**CONVERSATION, "after": "the seq up to which all is there; 0 for everything"},
            headers=TAB,
            found=FRAMES,
            more={
                400: "the frame error",
                404: "no such conversation for this cookie",
                429: "the frame error (too_fast): nothing was stored; wait as Retry-After says",
                503: "the server is busy: keep the items, come again",
            },
        ),
        Operation(
            method="post",
            summary="one frame, answered by frames",
            query=CONVERSATION,
            headers={**TAB, **TOKEN},
            body=FRAMES,
            found=FRAMES,
            more={
                400: "the frame error: a bad frame",
                404: "no such conversation for this cookie",
                429: "the frame error (too_fast): nothing was stored; wait as Retry-After says",
                503: "the server is busy: keep the items, come again",
            },
        ),
    ),
    "receipt": (
        Operation(
            method="get",
            summary="signed receipts, one a line: of the end, once there is one, then of each own"
            " message, label and form that is stored; the last line signs them by the key of"
            " /receipts/key",
            found=TEXT,
            more={404: NOT_FOUND},
        ),
    ),
    "redirect-to-current": (_redirect(),),
}
