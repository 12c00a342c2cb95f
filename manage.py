#!/usr/bin/env python3
"""Django's command line."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        settings.DEBUG  # noqa: B018 (reads the settings: `help` would go on without them)
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as problem:
        sys.exit(f"manage.py: {problem}")
