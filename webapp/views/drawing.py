"""Turns a participant's screen into its page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation import Likert, YesNo
from webapp import forms, notices
from webapp.services import screens


def draw(
    request: HttpRequest,
    screen: screens.Screen,
    raw: dict[str, str] | None = None,
    problems: dict[str, str] | None = None,
) -> HttpResponse:
    """Answer with the page of a screen; a form that was refused comes back as it was filled in."""
    shown: dict[str, Any] = {"screen": screen, "study": screen.study}
    if screen.name == "waiting":
        shown["words"] = _waiting_words(screen)
    if screen.talk is not None:
        shown["chat"] = _chat_data(screen.talk)
    if screen.judging is not None:
        answers = screen.judging.draft if raw is None else raw
        shown["fields"] = forms.fields(screen.judging, answers, problems or {})
        shown["problems"] = [field for field in shown["fields"] if field.error]
    status = 422 if problems else 200
    return render(request, f"participant/{screen.name}.html", shown, status=status)


def _waiting_words(screen: screens.Screen) -> dict[str, str]:
    keys = ("looking", "found", "nobody", "nobody_or_bot", "reconnecting")
    return notices.words(notices.WAITING_WORDS, *keys, pay=screen.study.waiting_pay)


def _chat_data(talk: screens.Talk) -> dict[str, Any]:
    keys = ("sending", "sent", "not_sent", "slow", "no_answer", "partner_away")
    more = ("reconnecting", "other_tab", "not_your_turn")
    asked = [
        {"name": one.name, "text": one.text, "only_if": one.only_if, "options": list(one.options)}
        for one in talk.questions
        if isinstance(one, Likert | YesNo)
    ]
    return {
        "key": talk.key,
        "word_limit": talk.word_limit,
        "questions": asked,
        "words": notices.words(notices.CHAT_WORDS, *keys, *more),
    }
