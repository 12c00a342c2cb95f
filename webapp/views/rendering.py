"""Turns a participant's screen into its page.

Apart because it is the one place where values become a page, and the addresses need not know how.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation import Question, Shown
from webapp import notices
from webapp.forms import participant
from webapp.services.participation import screens


def render_screen(
    request: HttpRequest,
    screen: screens.Screen,
    raw: dict[str, str] | None = None,
    problems: dict[str, str] | None = None,
) -> HttpResponse:
    """Answer with the page of a screen; a form that was refused comes back as it was filled in."""
    shown: dict[str, Any] = {"screen": screen, "study": screen.study}
    if screen.name == "waiting":
        shown["words"] = _waiting_words(screen)
    if screen.chat is not None:
        shown["chat"] = _chat_data(screen.chat)
    if screen.form is not None:
        answers = screen.form.draft if raw is None else raw
        shown["fields"] = participant.fields(screen.form, answers, problems or {})
        shown["problems"] = [field for field in shown["fields"] if field.error]
    status = 422 if problems else 200
    return render(request, f"participant/{screen.name}.html", shown, status=status)


def _waiting_words(screen: screens.Screen) -> dict[str, str]:
    keys = ("looking", "found", "nobody", "nobody_or_bot", "reconnecting")
    return notices.words(notices.WAITING_WORDS, *keys, pay=screen.study.waiting_pay)


def _chat_data(chat: screens.ChatPageData) -> dict[str, Any]:
    keys = ("sending", "sent", "not_sent", "slow", "no_answer", "partner_away")
    more = ("reconnecting", "other_tab", "not_your_turn")
    return {
        "key": chat.key,
        "word_limit": chat.word_limit,
        "questions": [label_data(question) for question in chat.questions],
        "words": notices.words(notices.CHAT_WORDS, *keys, *more),
    }


def label_data(question: Question) -> dict[str, Any]:
    """Return a question as the page's script shows it under each message."""
    field = question.form_field(Shown(()))
    return {
        "name": question.name,
        "kind": question.kind,
        "text": question.text,
        "only_if": question.only_if.question if question.only_if else None,
        "only_if_values": [str(value) for value in question.only_if.values]
        if question.only_if
        else [],
        "options": [[option.value, option.word] for option in field.options],
        "input": dict(field.input),
    }
