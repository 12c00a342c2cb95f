"""Bring the catalogs up to date with the sources: `python -m tests.languages`.

New texts come in untranslated, texts that are gone go out, and the .mo files are compiled. What is
still to translate is listed, and is the exit status.
"""

from __future__ import annotations

import os
import sys

import django


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    os.environ.setdefault("DEBUG", "1")
    django.setup()
    from tests.languages import catalogs

    missing = [complaint for code in catalogs.codes() for complaint in catalogs.save(code)]
    print("\n".join(missing) or "every catalog is complete")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
