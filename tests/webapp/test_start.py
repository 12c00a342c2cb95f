"""What a web process imports before its first page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = {"pandas", "scipy", "torch", "transformers", "altair", "matplotlib", "statsmodels"}
START = f"""
import sys
import webapp.asgi
import webapp.urls
print(sorted({HEAVY!r} & {{*sys.modules}}))
"""


def test_a_web_process_starts_without_statistics_and_models() -> None:
    """They take seconds and hundreds of megabytes; the views of results fetch what they need."""
    told = subprocess.run(
        [sys.executable, "-c", START], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout == "[]\n"
