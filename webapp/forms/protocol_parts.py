"""Parts of a protocol that the builder shows, with the fields of each, by what participants do.

Apart because the text of the form, its fields and what is made of them all go by these lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, get_type_hints

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from evaluation import (
    Attention,
    Brief,
    Chat,
    Onboarding,
    Protocol,
    Question,
    Quiz,
    Rate,
    Telling,
    Write,
)
from evaluation.serialized import CHECKS
from webapp.forms.protocol_fields import FieldType, types_of

# What participants do.
CHAT, CONTEXTS, MESSAGES, CONVERSATION = "chat", "contexts", "messages", "conversation"
SPEAKERS = "speakers"
WRITE = "write"
WITH_KNOWN = (CONTEXTS, SPEAKERS)  # of whose items some may have known answers
OF_PROTOCOL = ("title", "minutes", "source", "language", "instructions")
OF_CHAT = ("partner", "told", "first", "opening", "minimum", "maximum", "pool", "debrief")
MORE_OF_CHAT = (
    *("turns", "idle", "endless", "conversations", "form", "partner_form", "pace", "streams"),
)
OF_BRIEF = ("yours", "theirs", "one_group", "topics")
OF_TELLING = ("told", "debrief")
OF_QUIZ = ("tries",)
OF_ONBOARDING = ("items", "share", "silently")
OF_ATTENTION = ("every", "misses", "ends")
OF_LIVE = ("optional", "label_opening")
OF_WRITE = (
    *("makes", "messages", "sentences", "count", "valid", "test", "writers", "batch", "review"),
    *("cuts", "before", "examples"),
)
NOT_OF_A_CARD = ("only_if", "otherwise", "images")  # of a question, which have fields apart
OF_RATE: dict[str, tuple[str, ...]] = {
    CHAT: ("sides",),
    CONTEXTS: ("show", "votes", "batch", "messages", "keep", "with_first"),
    MESSAGES: ("votes", "batch", "sample", "not_before"),
    CONVERSATION: ("votes", "batch", "sample", "not_before"),
    SPEAKERS: ("show", "votes", "batch", "with_first"),
    WRITE: (),
}
EVERY_OF_RATE = tuple(dict.fromkeys(name for names in OF_RATE.values() for name in names))
CHECK_LABELS: dict[str, str | Promise] = {
    "max_words": gettext_lazy("A message has at most so many words"),
    "min_words": gettext_lazy("A message has at least so many words"),
    "no_nonstop_overlap": gettext_lazy("No word of the own persona but common ones"),
    "no_persona_copy": gettext_lazy("No whole sentence of the own persona"),
    "no_profile_5gram": gettext_lazy("No five words in a row of the own persona"),
    "sentence_len": gettext_lazy("A text has so many words, from a least to a most"),
}
BY_PARTICIPANTS, BY_BOTS, OF_TEXTS = "chat.", "partner.", "write."  # before the name of a check


@dataclass(frozen=True)
class BuilderPart:
    """A part of a protocol: the beginning of its fields' names, their dataclass, and which."""

    prefix: str
    kind: type
    names: tuple[str, ...]
    is_optional: bool = False  # there is none where its fields are left empty


def parts(activity: str) -> tuple[BuilderPart, ...]:
    """Return the parts with fields of their own, but for the questions and checks."""
    written = get_type_hints(Write)["asks"]  # the kind of question that texts are written under
    return (
        BuilderPart("", Protocol, OF_PROTOCOL),
        BuilderPart("chat.", Chat, OF_CHAT + MORE_OF_CHAT),
        BuilderPart("chat.instead.", Telling, OF_TELLING, is_optional=True),
        BuilderPart("chat.brief.", Brief, OF_BRIEF, is_optional=True),
        BuilderPart("live.", Rate, OF_LIVE),
        BuilderPart("rate.", Rate, OF_RATE.get(activity, OF_RATE[CHAT])),
        BuilderPart("quiz.", Quiz, OF_QUIZ),
        BuilderPart("onboarding.", Onboarding, OF_ONBOARDING, is_optional=True),
        BuilderPart("attention.", Attention, OF_ATTENTION),
        BuilderPart("write.", Write, OF_WRITE),
        BuilderPart("write.asks.", written, tuple(question_types(written, None))),
    )


def value_of(part: BuilderPart, protocol: Protocol) -> Any:
    """Return what a protocol has as this part, None for nothing."""
    chat, write = protocol.chat, protocol.write
    return {
        "": protocol,
        "chat.": chat,
        "chat.instead.": chat.instead if chat else None,
        "chat.brief.": chat.brief if chat else None,
        "live.": protocol.live,
        "rate.": protocol.after,
        "quiz.": protocol.quiz,
        "onboarding.": protocol.onboarding,
        "attention.": protocol.attention,
        "write.": write,
        "write.asks.": write.asks if write else None,
    }[part.prefix]


def checks_of(prefix: str, protocol: Protocol) -> dict[str, Any]:
    """Return the checks that a protocol has, by name: of participants, of bots, of texts."""
    chat, write = protocol.chat, protocol.write
    found = {
        BY_PARTICIPANTS: chat.checks if chat else (),
        BY_BOTS: chat.partner_checks if chat else (),
        OF_TEXTS: write.checks if write else (),
    }
    return {check.name: check for check in found[prefix]}


def check_types(prefix: str, protocol: Protocol) -> dict[str, FieldType]:
    """Return the fields of all checks, by the name of the check and the field's own."""
    own = checks_of(prefix, protocol)
    return {
        f"{prefix}{name}.{field}": each
        for name, kind in CHECKS.items()
        for field, each in types_of(own.get(name, kind)).items()
    }


def question_types(kind: type[Question], origin: Question | None) -> dict[str, FieldType]:
    """Return the fields of a question's card, from the question that it was, where it was one."""
    found = types_of(kind if origin is None else origin)
    return {name: each for name, each in found.items() if name not in NOT_OF_A_CARD}


@cache
def names() -> frozenset[str]:
    """Return the names of all fields with a dot, but for those of questions and images."""
    own = {f"{part.prefix}{name}" for part in parts(CHAT) for name in part.names}
    own |= {f"rate.{name}" for name in EVERY_OF_RATE}
    return frozenset(own | {name for name in defaults() if "." in name} | check_names())


def check_names() -> set[str]:
    """Return the names of the boxes of all checks."""
    return {f"{prefix}{name}" for prefix in (BY_PARTICIPANTS, BY_BOTS, OF_TEXTS) for name in CHECKS}


@cache
def defaults() -> dict[str, str]:
    """Return what stands in each field of a conversation that nobody has filled in."""
    found = {
        f"{part.prefix}{name}": each.typed(each.default)
        for part in parts(CHAT)
        for name, each in types_of(part.kind, part.names).items()
        if each.default is not None
    }
    for prefix in (BY_PARTICIPANTS, BY_BOTS, OF_TEXTS):
        for name, kind in CHECKS.items():
            fields = types_of(kind)
            found |= {f"{prefix}{name}.{n}": each.typed(each.default) for n, each in fields.items()}
    return found
