"""A file as a response that is never whole in memory.

Apart because Django hands out such a response by an event loop or without one, and of its own
`FileResponse` a loop would read all parts before it sent the first.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import IO

from django.http import StreamingHttpResponse

PART = 1 << 16  # bytes


class FileParts(StreamingHttpResponse):
    """An open file to be downloaded under a name; it is closed with the response."""

    def __init__(self, file: IO[bytes], kind: str, name: str) -> None:
        headers = {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Length": str(os.fstat(file.fileno()).st_size),
        }
        super().__init__(_parts(file), content_type=kind, headers=headers)
        self._file = file
        self._forgotten = weakref.finalize(self, file.close)  # a response that nobody sends

    def close(self) -> None:
        super().close()
        self._forgotten()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while part := await asyncio.to_thread(self._file.read, PART):
            yield part


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    while part := file.read(PART):
        yield part
