"""Slots of a prompt that a requester writes: {{persona}}, {{brief}}, {{topic}}, {{history}}.

A paragraph (text between blank lines) whose slots are all empty is left out, so that one prompt
serves conversations with and without a persona. Single braces are text. Apart because forms check
a prompt with it, and bots fill it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SLOTS: Mapping[str, str] = {
    "persona": "the lines of its persona",
    "brief": "what its sheet says beside them: its name, and what it knows of its partner",
    "topic": "the topic drawn for the conversation",
    "history": "the messages so far, one per line, after You: and Partner:",
}
_SLOT = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_BLANK = re.compile(r"\n[ \t]*\n")


def slots_in(text: str) -> tuple[str, ...]:
    """Return the names between double braces, in order, each once."""
    return tuple(dict.fromkeys(_SLOT.findall(text)))


def unknown_slot(text: str) -> str:
    """Return what is wrong with the first slot that there is none of, or ""."""
    for name in slots_in(text):
        if name not in SLOTS:
            known = ", ".join(f"{{{{{each}}}}}" for each in SLOTS)
            return f"{{{{{name}}}}} is no slot; there are {known}"
    return ""


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return the text with its slots filled, without paragraphs whose slots are all empty."""
    paragraphs = [_filled(each, values) for each in _BLANK.split(text)]
    return "\n\n".join(each for each in paragraphs if each is not None)


def _filled(paragraph: str, values: Mapping[str, str]) -> str | None:
    names = slots_in(paragraph)
    if names and not any(values.get(name) for name in names):
        return None
    return _SLOT.sub(lambda match: values.get(match[1], match[0]), paragraph)
