"""Start-up checks: what would be unsafe to run with is refused before anything is served."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import AdminConfig
from django.contrib.auth.signals import user_logged_in
from django.core.exceptions import ImproperlyConfigured

SECRET = re.compile(r"[A-Za-z0-9_-]{16,256}")
PANEL = "https://api.prolific.com"
WEAKEST_KEY = 50  # characters; Django's own generated keys have 50


class ParleyConfig(AppConfig):
    name = "webapp"
    verbose_name = "Parley"

    def ready(self) -> None:
        user_logged_in.connect(_begin_of_login, dispatch_uid="begin_of_login")
        if settings.CHAT_SERVICE_TOKEN and not SECRET.fullmatch(settings.CHAT_SERVICE_SECRET):
            raise ImproperlyConfigured(
                "CHAT_SERVICE_SECRET must have 16 to 256 of A-Z, a-z, 0-9, _ and - where there is "
                "a CHAT_SERVICE_TOKEN: it proves that the chat service calls"
            )
        _check_panel(settings.PROLIFIC_URL)
        if settings.BREACHED_PASSWORDS:
            from webapp.services.accounts import breached  # most servers have no such file

            breached.check_file(Path(settings.BREACHED_PASSWORDS))
        if settings.DEBUG:
            return
        if len(settings.SECRET_KEY) < WEAKEST_KEY or len(set(settings.SECRET_KEY)) < 5:
            raise ImproperlyConfigured(
                f"SECRET_KEY has {len(settings.SECRET_KEY)} characters; a server needs a random "
                f"one of {WEAKEST_KEY} or more (or DEBUG=1 on your own machine)"
            )
        if not settings.ALLOWED_HOSTS or "*" in settings.ALLOWED_HOSTS:
            raise ImproperlyConfigured("ALLOWED_HOSTS must name this server's hosts, without *")


def _begin_of_login(**about: Any) -> None:
    from webapp.services.accounts.sessions import begin_of_login  # a login is rare, a start is not

    begin_of_login(**about)


def _check_panel(address: str) -> None:
    """Refuse an address that the token must not be sent to. Raises `ImproperlyConfigured`."""
    is_here = urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")
    if address != PANEL and not is_here:
        raise ImproperlyConfigured(
            f"PROLIFIC_URL is {address}; the token may only go to {PANEL} (or to this machine, "
            "for tests)"
        )


class ParleyAdminConfig(AdminConfig):
    """Django's admin with pages that tests of access can tell."""

    default_site = "webapp.views.marked_admin.MarkedAdmin"
