"""Answers that come piece by piece, as server-sent events, put together as one that came whole.

Source: the event streams of the HTML standard (section 9.2.6, without fields other than `data`),
and the chunks of chat completions as OpenAI's interface made them usual.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

DONE = b"[DONE]"
REASONING = ("reasoning_content", "reasoning")  # as servers call it


class EventData:
    """The data of events, from bytes in pieces of any size; lines end in LF, or in CR LF."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[bytes] = []

    @property
    def pending(self) -> int:
        """Bytes of a line that is not complete."""
        return len(self._rest)

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Yield the data of each event that is complete with this part."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        for line in (each.removesuffix(b"\r") for each in lines):
            if line.startswith(b"data:"):
                self._lines.append(line.removeprefix(b"data:").removeprefix(b" "))
            elif not line and self._lines:
                yield b"\n".join(self._lines)
                self._lines.clear()


class StreamedAnswer:
    """A chat completion as far as its chunks have come. What is no chunk raises `ValueError`."""

    def __init__(self) -> None:
        self.is_whole = False
        self.size = 0  # characters of the reply and of its reasoning
        self.error: object = None  # which the server told in the place of a chunk
        self._parts: list[str] = []
        self._has_text = False  # an empty one counts
        self._thoughts: list[str] = []
        self._choice: dict[str, Any] = {}
        self._tools: object = None
        self._body: dict[str, Any] = {}

    @property
    def text(self) -> str:
        return _paired("".join(self._parts))

    def take(self, data: bytes) -> None:
        """Add what an event brings."""
        if data.strip() == DONE:
            self.is_whole = True
            return
        try:
            chunk = json.loads(data)
        except RecursionError as error:
            raise ValueError("a chunk is nested too deeply") from error
        found = _object(chunk)
        self.error = self.error or found.get("error")
        self._body |= {name: found[name] for name in ("model", "usage") if found.get(name)}
        choices = found.get("choices") or ()
        if not isinstance(choices, list | tuple):
            raise ValueError("the choices of a chunk are no list")
        for choice in map(_object, choices):
            if choice.get("index", 0) == 0:  # we never ask for more than one
                self._add(choice)

    def _add(self, choice: Mapping[str, Any]) -> None:
        delta = _object(choice.get("delta") or {})
        text = text_of(delta.get("content"))
        if text is not None:
            self._has_text = True
            self._parts.append(text)
        thought = next((delta[name] for name in REASONING if delta.get(name)), "")
        self._thoughts.append(thought if isinstance(thought, str) else json.dumps(thought))
        self.size += len(text or "") + len(self._thoughts[-1])
        self._tools = self._tools or delta.get("tool_calls")
        if choice.get("finish_reason"):
            self._choice["finish_reason"] = choice["finish_reason"]
            self.is_whole = True

    def body(self) -> dict[str, Any]:
        """Return the answer as a server sends it that does not stream."""
        content = self.text if self._has_text else None
        message = {"role": "assistant", "content": content, "tool_calls": self._tools}
        message["reasoning_content"] = _paired("".join(self._thoughts))
        return {**self._body, "choices": [{**self._choice, "message": message}]}


def _object(part: object) -> Mapping[str, Any]:
    if not isinstance(part, dict):
        raise ValueError("a part of a chunk is no object")
    return part


def text_of(content: object) -> str | None:
    """Return the text of a message, which may come in parts; None where there is none."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _paired(text: str) -> str:
    """Join the halves of a character that came in two chunks, as JSON does within one."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
