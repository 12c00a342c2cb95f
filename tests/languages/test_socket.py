"""A socket speaks the language of its page, also beside others that speak another."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.live import Client, serving

pytestmark = pytest.mark.timeout(120)  # a server starts slowly on a busy machine
LONG = "word " * 16


def is_refused(client: Client, frame: dict[str, Any]) -> bool:
    return bool(frame["type"] == "refused")


async def refusal(client: Client, accepted: str, cookie: str = "") -> str:
    """Connect with a browser's languages, send too long a message, return what is answered."""
    headers = {"Cookie": f"{client.cookie}; {cookie}", "Accept-Language": accepted}
    await client.connect(additional_headers=headers)
    await client.hello()
    await client.send_message(LONG)
    frame = await client.until(partial(is_refused, client))
    return str(frame["notice"])


async def test_each_socket_speaks_its_own_language(tmp_path: Path) -> None:
    wanted = {"people": 3, "languages": ["en", "de", "ar"]}
    with serving(tmp_path, wanted) as (server, study):
        english, german, arabic = (Client(server, study, number) for number in range(3))
        assert await refusal(english, "fr") == ("Please use at most 15 words; this message has 16.")
        assert await refusal(german, "de-CH,en") == (
            "Bitte verwenden Sie höchstens 15 Wörter; diese Nachricht hat 16."
        )
        assert "15 كلمة" in await refusal(arabic, "de", cookie="language=ar")
        await german.send(type="finish", id="00000000-0000-4000-8000-000000000001")
        early = await german.until(partial(is_refused, german))
        assert early["notice"].startswith("Bitte machen Sie weiter: Noch")
        await german.send(type="hello")
        error = await german.until(lambda frame: frame["type"] == "error")
        assert error["notice"].startswith("Ihr Browser hat etwas gesendet")
        for client in (english, german, arabic):
            await client.close()
