"""Starts a program of the product with deliberate faults in it: the seeded-bug drill.

    python -m tests.trust.sabotage FAULT,FAULT manage serve --port 8000

The product has no switch for any of this: each fault replaces a service at start-up. With "" for
the faults the program is as it is.
"""

from __future__ import annotations

import os
import sys


def _manage(words: list[str]) -> None:
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *words])


def _uvicorn(words: list[str]) -> None:
    import uvicorn

    sys.argv = ["uvicorn", *words]
    uvicorn.main()


def _celery(words: list[str]) -> None:
    from celery.bin.celery import main

    sys.argv = ["celery", *words]
    sys.exit(main())


PROGRAMS = {"manage": _manage, "uvicorn": _uvicorn, "celery": _celery}


def main() -> None:
    names, program, *words = sys.argv[1:]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    if names:
        import django

        from tests.trust.faults import FAULTS

        django.setup()
        for name in names.split(","):
            FAULTS[name]()
    PROGRAMS[program](words)


if __name__ == "__main__":
    main()
