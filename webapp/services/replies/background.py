"""Background of a bot: its sheet in words, and the topic, as a person in its place would know them.

Apart because a preview shows it too, before there is any conversation.
"""

from __future__ import annotations

from collections.abc import Sequence

from bots import Background
from evaluation import Brief
from webapp.models import Persona


def known_of(partners: Sequence[Persona]) -> tuple[str, ...]:
    """Return what both sides know of the partners' sheets."""
    return tuple(line for one in partners for line in (one.name, *one.shared) if line)


def background(
    brief: Brief | None, own: Persona | None, partners: Sequence[Persona], topic: str
) -> Background:
    """Return what a bot knows beside the lines of its persona; `own` None: it sees no sheet."""
    if brief is None:
        return Background(topic=topic)
    lines = [f"{brief.yours}: {own.name}"] if own is not None and own.name else []
    if partner := known_of(partners):
        lines += [f"{brief.theirs}:", *partner]
    return Background("\n".join(lines), topic)
