"""Cards of the builder: a question and an image, each with its fields and the JSON it makes.

Apart because the form has many of them, and puts them in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Protocol, Question
from evaluation.registry import get_kind
from evaluation.serialized import question_from_json
from webapp.forms.protocol_fields import known_texts, listed, scalar
from webapp.forms.protocol_parts import (
    CHAT,
    CONTEXTS,
    CONVERSATION,
    MESSAGES,
    SPEAKERS,
    WRITE,
    question_types,
)
from webapp.forms.protocol_text import GATE, KNOWN, WITH_RIGHT, Raw, anchors, image_keys, keys_of
from webapp.forms.protocol_words import HELP, LABELS
from webapp.forms.typed_fields import TypedField
from webapp.services.staff_forms.fields import BadField, Parse, one_of, shown, storable

WHEN: dict[str, str | Promise] = {
    "each": gettext_lazy("About the partner after the conversation, or about each reply"),
    "live": gettext_lazy("About each message of the partner, while chatting"),
    "together": gettext_lazy("Once about all replies that are shown together"),
    "screening": gettext_lazy("About the participant, before the instructions: who may take part"),
    "quiz": gettext_lazy("About the instructions, in a quiz before the work"),
    "attention": gettext_lazy("As an attention check, at the end of a form"),
}
STANDING_HELP = gettext_lazy("An example is in this list once the form was sent, by any button.")
WHERE = {
    CHAT: ("each", "live", *WITH_RIGHT),
    CONTEXTS: ("each", "together", *WITH_RIGHT),
    MESSAGES: ("each", *WITH_RIGHT),
    CONVERSATION: ("each", *WITH_RIGHT),
    SPEAKERS: ("each", "together", *WITH_RIGHT),
}


@dataclass(frozen=True)
class Card:
    """A question of the form: its number in the form's fields, its number on the page, its kind."""

    key: str
    number: int
    kind: type[Question]
    origin: Question | None
    fields: tuple[BoundField, ...] = ()
    more: tuple[BoundField, ...] = ()
    is_last: bool = False

    @property
    def words(self) -> str:
        return kind_words(self.kind.kind)

    @property
    def is_open(self) -> bool:
        """Whether the fields that few people need are shown."""
        return any(field.errors or field.value() for field in self.more)


@dataclass(frozen=True)
class ImageCard:
    """An image of the form: its number in the form's fields, its number on the page, its digest."""

    key: str
    number: int
    sha256: str
    fields: tuple[BoundField, ...] = ()


def kind_words(kind: str) -> str:
    """Return a kind of question as people call it."""
    words = {"likert": _("Likert scale"), "yes_no": _("Yes or no")}
    return str(words.get(kind, kind.replace("_", " ").capitalize()))


def read_cards(base: Protocol, raw: Raw) -> Iterator[Card]:
    """Yield the questions of the form, each with the one of the protocol that it was."""
    origins = {question.name: question for question in base.questions}
    for number, key in enumerate(keys_of(raw), start=1):
        kind = get_kind(raw[f"q{key}.kind"])
        origin = origins.get(raw.get(f"q{key}.origin", ""))
        yield Card(key, number, kind, origin if type(origin) is kind else None)


def question_fields(card: Card, raw: Raw, activity: str) -> Iterator[tuple[str, TypedField]]:
    """Yield the fields of a question by name, those that few people need last."""
    prefix = f"q{card.key}."
    types = question_types(card.kind, card.origin)
    first = {name: types[name].form_field() for name in types if name == "text"}
    choices = {name: WHEN[name] for name in WHERE.get(activity, WHERE[CHAT])}
    first["asked"] = select(choices, _("When it is asked"))
    for name in known_fields(card.key, raw):
        first[name] = _text_field(name)
    first |= {name: types[name].form_field() for name in types if name != "text"}
    for name, field in (*first.items(), *((name, _text_field(name)) for name in GATE)):
        yield prefix + name, field


def known_fields(key: str, raw: Raw) -> tuple[str, ...]:
    """Return the fields of right answers, which only questions of checks have."""
    when = raw.get(f"q{key}.asked", "")
    return KNOWN[: {"screening": 1, "attention": 1, "quiz": 2}.get(when, 0)]


def question_json(card: Card, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question that was typed. Raises `InvalidProtocol`, which names it."""
    prefix = f"q{card.key}."
    read = {name: values[prefix + name] for name in question_types(card.kind, card.origin)}
    made = {"kind": card.kind.kind} | {n: each for n, each in read.items() if each is not None}
    gate, otherwise = values[prefix + "only_if"], values[prefix + "otherwise"]
    if gate:
        opens = [scalar(each) for each in listed(values[prefix + "only_if.values"])]
        made["only_if"] = {"question": gate, "values": opens}
    if otherwise or gate:
        made["otherwise"] = scalar(otherwise)
    question_from_json(made)  # whose complaint names the question
    return made


def known_json(card: Card, values: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the answers that pass, of a question of a check that has any."""
    prefix = f"q{card.key}."
    right = [scalar(each) for each in listed(values.get(prefix + "right", ""))]
    found: dict[str, Any] = {"question": values[prefix + "name"], "values": right}
    if text := values.get(prefix + "explanation"):
        found["explanation"] = known.get(text, text)
    if right or values[prefix + "asked"] in ("quiz", "attention"):
        yield found


# --- images


def read_images(raw: Raw) -> list[ImageCard]:
    """Return the images of the form."""
    keys = enumerate(image_keys(raw), start=1)
    return [ImageCard(key, number, raw[f"i{key}.sha256"]) for number, key in keys]


def image_spots(cards: Sequence[Card], raw: Raw, activity: str) -> dict[str, str]:
    """Return where an image can stand: with the instructions, within an example, below a list."""
    found = {"": _("with the instructions")}
    if activity == WRITE:
        words = _("within the example %(example)s")
        found |= {
            at: words % {"example": shown(line)} for at, line in anchors(raw, "write.").items()
        }
    for card in cards:
        number = {"number": card.number}
        words = _("within the example %(example)s of question %(number)d")
        for at, line in anchors(raw, f"q{card.key}.").items():
            found[at] = words % (number | {"example": shown(line)})
        found[f"q{card.key}"] = _("with the examples of question %(number)d") % number
    return found


def image_fields(
    image: ImageCard, spots: Mapping[str, str], raw: Raw
) -> Iterator[tuple[str, TypedField]]:
    """Yield the fields of an image by name: what it shows, and where it stands."""
    prefix = f"i{image.key}."
    alt = TypedField(
        _needed,
        kind="textarea",
        label=_("What image %(number)d shows, for who does not see it") % {"number": image.number},
    )
    alt.rows = 2
    yield prefix + "alt", alt
    label = _("Where image %(number)d stands") % {"number": image.number}
    at = raw.get(prefix + "about", "")
    gone = {} if at in spots else {at: _("choose again: what it stood with was changed")}
    choices = (gone | dict(spots)).items()
    read = _spot_of(spots)
    field = TypedField(read, kind="select", choices=choices, label=label, help_text=STANDING_HELP)
    yield prefix + "about", field


def images_json(
    base: Protocol,
    images: list[ImageCard],
    values: Mapping[str, Any],
    sizes: Mapping[str, tuple[int, int]],
) -> dict[str, list[Any]]:
    """Return the images by where they stand, in the order of the page."""
    known, found = known_texts(base), dict[str, list[Any]]()
    for image in images:
        prefix = f"i{image.key}."
        width, height = sizes[image.sha256]
        alt = values[prefix + "alt"]
        made = {"sha256": image.sha256, "alt": known.get(alt, alt)}
        found.setdefault(values[prefix + "about"], []).append(
            made | {"width": width, "height": height}
        )
    return found


def illustrate(examples: Sequence[Any], at: Iterable[str], placed: Mapping[str, list[Any]]) -> None:
    """Put the images of each example into it; `at` has the anchors, in the order of the lines."""
    for example, anchor in zip(examples, at, strict=True):
        if found := placed.get(anchor):
            example["images"] = found


# --- fields


def select(choices: Mapping[str, str | Promise], label: str) -> TypedField:
    """Return a field of one of a few values."""
    words = {name: str(each) for name, each in choices.items()}
    return TypedField(one_of(words), kind="select", choices=words.items(), label=label)


def _spot_of(spots: Mapping[str, str]) -> Parse:
    """Return what reads where an image stands; nothing else is chosen for what is gone."""

    def read(typed: str) -> str:
        if typed not in spots:
            raise BadField(_("what the image stood with was changed; choose where it stands now"))
        return typed

    return read


def _text_field(name: str) -> TypedField:
    return TypedField(_storable, label=LABELS[name], help_text=HELP.get(name, ""))


def _storable(typed: str) -> str:
    if not storable(typed):
        raise BadField(_("has characters that cannot be stored; please type it again"))
    return typed.strip()


def _needed(typed: str) -> str:
    if not (found := _storable(typed)):
        raise BadField(_("is empty; write what the image shows"))
    return found
