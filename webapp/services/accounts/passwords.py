"""Passwords of staff: another one of one's own, and words that count for nothing in one.

Words that an attacker knows of this place: the program's and what it is for, and the names that the
server answers to. A password that is short without them is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from webapp.services.accounts import logins, sessions
from webapp.services.rules import audit

WORDS = ("parley", "chatbot", "evaluation", "campaign", "prolific", "research", "password")
LEAST = 8  # characters that are none of these words
SHORTEST_NAME = 4  # of a part of a host's name


class WrongPassword(Exception):
    """The present password is another one."""


class ContextWords:
    """Refuse a password that has too little besides words of this place (ASVS 6.2.11)."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise `ValidationError` where too little is left."""
        left = password.casefold()
        for word in _words():
            left = left.replace(word, "")
        if len(left) < LEAST:
            raise ValidationError(self.get_help_text(), code="password_of_context_words")

    def get_help_text(self) -> str:
        """Return what is wanted."""
        words = ", ".join(WORDS)
        right = _("It needs %(least)d characters besides words such as %(words)s.")
        return right % {"least": LEAST, "words": words}


def _words() -> Iterator[str]:
    yield from WORDS
    for host in settings.ALLOWED_HOSTS:
        yield from (each for each in re.split(r"[^a-z0-9]+", host) if len(each) >= SHORTEST_NAME)


def change(*, user: Any, old: str, new: str, device: str, own: str | None, now: datetime) -> None:
    """Give an account another password; its other sessions end.

    own: the key of the session that asks. Raises `logins.TooMany`, `WrongPassword`, and
    `ValidationError` where the new one is weak.
    """
    logins.attempt_proof(user=user, device=device, now=now)
    if not user.check_password(old):
        action = "identity not confirmed"
        audit.append(actor=user.get_username(), action=action, campaign=None, now=now)
        raise WrongPassword
    password_validation.validate_password(new, user)
    user.set_password(new)
    user.save(update_fields=["password"])
    sessions.end_others(user=user, own=own, now=now)
    audit.append(actor=user.get_username(), action="password changed", campaign=None, now=now)
