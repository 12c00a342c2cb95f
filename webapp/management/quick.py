"""The base of Parley's commands."""

from django.core.management.base import BaseCommand


class QuickCommand(BaseCommand):
    """A command without Django's checks: they load every page and its libraries, which takes 1 s.

    `check` and `migrate` make them, with every upgrade.
    """

    requires_system_checks = ()
