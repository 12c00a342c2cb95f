"""First passwords: drawn by the server, seen by who hands them over, and not for long (ASVS 6.4.1).

Whoever signs in with one has to choose another before anything else; one that nobody used in time
lets nobody in. `settings.FIRST_PASSWORD_DAYS` says how long that is; 0 asks for nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from webapp.models import FirstPassword


def note(user: Any, now: datetime) -> None:
    """Note that the password that an account has now was drawn for it."""
    FirstPassword.objects.update_or_create(account=user, defaults={"made_at": now})


def is_to_be_changed(user: Any) -> bool:
    """Tell whether an account has to choose a password before anything else."""
    return settings.FIRST_PASSWORD_DAYS > 0 and FirstPassword.objects.filter(account=user).exists()


def has_expired(user: Any, now: datetime) -> bool:
    """Tell whether an account's first password lets nobody in any more."""
    oldest = now - timedelta(days=settings.FIRST_PASSWORD_DAYS)
    rows = FirstPassword.objects.filter(account=user, made_at__lte=oldest)
    return settings.FIRST_PASSWORD_DAYS > 0 and rows.exists()


class Replaced:
    """Hears of every change of a password, wherever it is made: Django asks its validators."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise `ValidationError` where somebody keeps their first password."""
        if user is None or user.pk is None:
            return
        has_one = FirstPassword.objects.filter(account=user).exists()
        if has_one and user.check_password(password):
            raise ValidationError(self.get_help_text(), code="password_is_the_first")

    def password_changed(self, password: str, user: Any = None) -> None:
        """Forget that an account had a first password."""
        FirstPassword.objects.filter(account=user).delete()

    def get_help_text(self) -> str:
        """Return what is wanted."""
        return _("It has to be another one than the first, which was made for you.")
