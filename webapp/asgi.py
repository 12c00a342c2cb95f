"""The ASGI application: pages, and one websocket a seat."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

from django.core.asgi import get_asgi_application

application = get_asgi_application()
