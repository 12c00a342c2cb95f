"""Turns a participant's screen into its page; staff's samples and previews too."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation import Protocol, Question, Shown
from webapp import languages, notices
from webapp.forms import participant
from webapp.services.accounts import logins
from webapp.services.participation import limits, samples, screens
from webapp.services.rules.access import StaffCampaign

NOBODY = {"platform": "", "external_id": ""}  # no consent can be given for it


def render_screen(
    request: HttpRequest,
    screen: screens.Screen,
    raw: dict[str, str] | None = None,
    problems: dict[str, str] | None = None,
) -> HttpResponse:
    """Answer with the page of a screen; a form that was refused comes back as it was filled in."""
    shown: dict[str, Any] = {"screen": screen, "study": screen.study}
    if screen.name == "waiting" or screen.listed:
        shown["words"] = _waiting_words(screen)
    if screen.chat is not None:
        shown["chat"] = _chat_data(screen.chat)
    form, found = screen.form, problems or {}
    if screen.admission is not None:
        form = screen.admission.form
        found = found or (dict(screen.admission.complaints) if raw is None else {})
    if form is not None:
        answers = form.draft if raw is None else raw
        shown["fields"] = participant.fields(form, answers, found)
        shown["blocks"] = participant.blocks(form, shown["fields"])
        shown["problems"] = [field for field in shown["fields"] if field.error]
    if screen.writing is not None:
        typed = screen.writing.draft if raw is None else raw
        shown["fields"] = participant.text_fields(screen.writing, typed, problems or {})
        shown["problems"] = [field for field in shown["fields"] if field.error]
    status = 422 if problems else 200
    return render(request, f"participant/{screen.name}.html", shown, status=status)


def render_preview(request: HttpRequest, campaign: StaffCampaign, name: str) -> HttpResponse:
    """Answer with a participant's page as its template draws it, filled with a sample."""
    if name == "entry":
        shown = {"study": samples.study(campaign), "who": NOBODY}
        return render(request, "participant/entry.html", shown)
    screen = samples.screen(campaign, name)
    if screen.chat is None:
        return render_screen(request, screen)
    lines = [{"side": line.side, "text": line.text} for line in samples.dialogue()]
    minimum = min(samples.lengths(campaign))
    chat = _chat_data(screen.chat) | {"sample": {"lines": lines, "minimum": minimum}}
    shown = {"screen": screen, "study": screen.study, "chat": chat}
    return render(request, "staff/preview_chat.html", shown)


def sample_questions(protocol: Protocol) -> list[tuple[str, tuple[participant.QuestionField, ...]]]:
    """Return a protocol's questions as its participants see them, by what is judged."""
    return [
        (group.judged, participant.once_each(group.form))
        for group in samples.question_groups(protocol)
    ]


def _waiting_words(screen: screens.Screen) -> dict[str, str]:
    keys = ("looking", "found", "nobody", "nobody_or_bot", "reconnecting")
    return notices.words(notices.WAITING_WORDS, *keys, pay=screen.study.waiting_pay)


def _chat_data(chat: screens.ChatPageData) -> dict[str, Any]:
    keys = ("sending", "sent", "not_sent", "slow", "no_answer", "partner_away")
    more = ("reconnecting", "other_tab", "not_your_turn")
    return {
        "key": chat.key,
        "word_limit": chat.word_limit,
        "questions": [
            label_data(question, is_optional=chat.are_optional) for question in chat.questions
        ],
        "optional": chat.are_optional,
        "words": notices.words(notices.CHAT_WORDS, *keys, *more)
        | {"too_long": notices.text("too_long", limit=settings.MAX_MESSAGE_CHARACTERS)},
        "most_characters": settings.MAX_MESSAGE_CHARACTERS,
    }


def label_data(question: Question, *, is_optional: bool = False) -> dict[str, Any]:
    """Return a question as the page's script shows it under each message."""
    field = question.form_field(Shown(()))
    return {
        "name": question.name,
        "kind": question.kind,
        "text": question.text,
        "note": notices.text("optional") if is_optional else "",
        "only_if": question.only_if.question if question.only_if else None,
        "only_if_values": [str(value) for value in question.only_if.values]
        if question.only_if
        else [],
        "marks": languages.marks_of(question.text),
        "options": [[option.value, option.word] for option in field.options],
        "option_marks": [languages.marks_of(option.word) for option in field.options],
        "input": dict(field.input),
    }


def address_of(request: HttpRequest) -> str:
    """Return the network address that a request comes from, beyond our own proxies."""
    remote = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = request.headers.get("X-Forwarded-For", "")
    return logins.client_address(remote, forwarded, settings.TRUSTED_PROXIES)


def too_fast(request: HttpRequest) -> HttpResponse:
    """Say that there were too many of these requests in a minute, and when to come again."""
    shown = {"too_fast": notices.text("too_many"), "seconds": limits.seconds_left()}
    response = render(request, "participant/too_fast.html", shown, status=429)
    response.headers["Retry-After"] = str(shown["seconds"])
    return response
