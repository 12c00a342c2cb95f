"""A fake panel that this server is connected to. Django is set up only after this file is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from tests.webapp.services.recruiting.fake_panel import FakePanel, connected


@pytest.fixture
def panel(settings: LazySettings) -> Iterator[FakePanel]:
    with connected(settings) as fake:
        yield fake
