"""The form that a protocol is built with: its fields follow from those of the dataclasses.

All that was typed travels in the form itself, so that adding, moving and deleting questions loses
nothing and needs no script.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation import Protocol
from evaluation.registry import get_kind, kind_names
from evaluation.serialized import CHECKS, InvalidProtocol
from evaluation.soundness import complaints
from webapp.forms.protocol_cards import (
    Card,
    ImageCard,
    image_fields,
    image_spots,
    kind_words,
    question_fields,
    read_cards,
    read_images,
    select,
)
from webapp.forms.protocol_fields import FieldType, labeled_field, types_of
from webapp.forms.protocol_folds import FOLDED, Fold, folds_of
from webapp.forms.protocol_parts import (
    BY_BOTS,
    BY_PARTICIPANTS,
    CHAT,
    CHECK_LABELS,
    CONTEXTS,
    CONVERSATION,
    MESSAGES,
    OF_PROTOCOL,
    OF_TEXTS,
    SPEAKERS,
    WITH_KNOWN,
    WRITE,
    check_types,
    parts,
    value_of,
)
from webapp.forms.protocol_parts import names as every_name
from webapp.forms.protocol_steps import Typed
from webapp.forms.protocol_text import GATE, KNOWN, Raw, keys_of, typed
from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.staff_forms import protocol_images
from webapp.services.staff_forms.fields import yes_no

ACTIVITIES: dict[str, str | Promise] = {
    CHAT: gettext_lazy("They have a conversation"),
    CONTEXTS: gettext_lazy("They judge replies to contexts that you import"),
    MESSAGES: gettext_lazy("They judge messages of other people's conversations"),
    CONVERSATION: gettext_lazy("They judge conversations of other people as a whole"),
    SPEAKERS: gettext_lazy("They judge speakers of whole conversations that you import"),
    WRITE: gettext_lazy("They write: personas, revisions of personas, or replies to contexts"),
}


class ProtocolForm(StaffForm):
    """The builder's form, begun from a protocol.

    raw: what was typed. check: whether it is to be read; else it is only shown again.
    """

    upload_error = ""  # about an image that was not taken

    def __init__(self, base: Protocol, raw: Raw | None = None, *, check: bool = False) -> None:
        raw = typed(base) if raw is None else raw
        super().__init__(dict(raw) if check else None, initial=dict(raw))
        self.base, self.raw = base, raw
        self.activity = raw.get("activity", CHAT)
        self._types = dict(self._all_types())
        for name, field in self._own_fields():
            self.fields[name] = field
        self.fields["activity"] = select(ACTIVITIES, _("What participants do"))
        self._cards = [*read_cards(base, raw)]
        for card in self._cards:
            self.fields.update(question_fields(card, raw, self.activity))
        self._images = read_images(raw)
        spots = image_spots(self._cards, raw, self.activity)
        for image in self._images:
            self.fields.update(image_fields(image, spots, raw))

    def _all_types(self) -> Iterator[tuple[str, dict[str, FieldType]]]:
        """Yield the fields of each part, with the provenance that its texts have so far."""
        for part in parts(self.activity):
            value = value_of(part, self.base)
            found = types_of(part.kind if value is None else value, part.names)
            if part.is_optional:
                found = {n: dataclasses.replace(e, is_needed=False) for n, e in found.items()}
            yield part.prefix, found
        for prefix in (BY_PARTICIPANTS, BY_BOTS, OF_TEXTS):
            types = check_types(prefix, self.base)
            for name in CHECKS:
                about = f"{prefix}{name}."
                own = {field: each for field, each in types.items() if field.startswith(about)}
                yield about, {field.removeprefix(about): each for field, each in own.items()}

    def _own_fields(self) -> Iterator[tuple[str, TypedField]]:
        """Yield the fields of what is shown, but for questions and images."""
        kinds = {part.prefix: part.kind for part in parts(self.activity)}
        for prefix in ("", *self._prefixes):
            for name, each in self._types[prefix].items():
                yield prefix + name, labeled_field(each, kinds[prefix])
        for prefix in set(FOLDED.get(self.activity, ())) & {BY_PARTICIPANTS, BY_BOTS, OF_TEXTS}:
            for name, kind in CHECKS.items():
                label = CHECK_LABELS[name]
                yield f"{prefix}{name}", TypedField(yes_no, kind="checkbox", label=label)
                for field, each in self._types[f"{prefix}{name}."].items():
                    detail = labeled_field(each, kind)
                    detail.is_detail = True
                    yield f"{prefix}{name}.{field}", detail

    @property
    def _prefixes(self) -> tuple[str, ...]:
        """Return the parts whose fields are shown, by what participants do."""
        times = {self.raw.get(f"q{key}.asked") for key in keys_of(self.raw)}
        checks = tuple(f"{name}." for name in ("quiz", "attention") if name in times)
        live = ("live.",) if "live" in times else ()
        has_end = "each" in times and self.raw.get("chat.partner", "bot") != "bot"
        chat = ("chat.", "chat.brief.", "chat.instead.", *(("rate.",) if has_end else ()), *live)
        rated = dict.fromkeys(WITH_KNOWN, ("rate.", "onboarding."))
        shown = {CHAT: chat, WRITE: ("write.", "write.asks."), **rated}
        return (*shown.get(self.activity, ("rate.",)), *checks)

    # --- on the page

    @property
    def is_chat(self) -> bool:
        return self.activity == CHAT

    @property
    def is_writing(self) -> bool:
        return self.activity == WRITE

    def basics(self) -> list[BoundField]:
        return [self[name] for name in (*OF_PROTOCOL, "activity")]

    def activity_fields(self) -> list[BoundField]:
        """Return the fields of what participants do that most people need."""
        folded = {field.name for fold in self.folds() for field in fold.fields}
        names = [n for n in self.fields if n.startswith(self._prefixes) and n not in folded]
        return [self[name] for name in names]

    def folds(self) -> list[Fold]:
        """Return the other fields of what participants do, by what they are about."""
        return list(folds_of(self, self.activity))

    def cards(self) -> list[Card]:
        """Return the questions with their fields; those that few people need apart."""
        return [self._shown(card) for card in self._cards]

    def _shown(self, card: Card) -> Card:
        prefix = f"q{card.key}."
        more = [prefix + name for name in GATE]
        names = [n for n in self.fields if n.startswith(prefix) and n not in more]
        return dataclasses.replace(
            card,
            fields=tuple(self[name] for name in names),
            more=tuple(self[name] for name in more),
            is_last=card.number == len(self._cards),
        )

    def images(self) -> list[ImageCard]:
        """Return the images with their fields."""
        return [
            dataclasses.replace(each, fields=(self[f"i{each.key}.alt"], self[f"i{each.key}.about"]))
            for each in self._images
        ]

    def hidden(self) -> list[tuple[str, str]]:
        """Return what the form carries without showing it."""
        names = ["questions", "images", *(f"i{image.key}.sha256" for image in self._images)]
        names += [f"q{card.key}.{name}" for card in self._cards for name in ("kind", "origin")]
        known = [f"q{card.key}.{name}" for card in self._cards for name in KNOWN]
        names += [name for name in known if name not in self.fields]
        names += [name for name in every_name() if name not in self.fields]
        return [(name, self.raw[name]) for name in names if name in self.raw]

    def kinds(self) -> list[tuple[str, str]]:
        """Return the kinds of question that can be asked with what participants do."""
        shows = self.raw.get("rate.show", "one")
        together = self.activity in (CONTEXTS, SPEAKERS) and shows != "one"
        return [
            (name, kind_words(name))
            for name in kind_names()
            if (together or not get_kind(name).compares)
            and (self.activity == CHAT or get_kind(name).sample().personas_beside() is None)
        ]

    # --- what was typed

    def clean(self) -> dict[str, Any]:
        """Complain about what the protocol would refuse."""
        if not self.errors and self._has_images():
            try:
                protocol = self._typed(self._cards).protocol()
            except InvalidProtocol as problem:
                self._refuse(str(problem))
            else:
                self._look_at(protocol)
        return self.cleaned_data

    def protocol(self) -> Protocol:
        """Return the protocol that was typed; the form has to be valid."""
        return self._typed(self._cards).protocol()

    def sample(self) -> Protocol | None:
        """Return a protocol of those questions that are whole, where they make one."""
        checked = self if self.is_bound else ProtocolForm(self.base, self.raw, check=True)
        checked.is_valid()
        whole = [card for card in checked._cards if not _is_wrong(checked, card)]
        is_empty = not whole and not checked.is_writing
        if is_empty or "activity" not in checked.cleaned_data:
            return None
        try:
            return checked._typed(whole).protocol()
        except InvalidProtocol:
            return None

    def _typed(self, cards: list[Card]) -> Typed:
        """Return what was read; images whose words are missing are left out."""
        sizes = protocol_images.sizes([image.sha256 for image in self._images])
        spots = image_spots(cards, self.raw, self.activity)
        whole = [
            image
            for image in self._images
            if image.sha256 in sizes
            and f"i{image.key}.alt" in self.cleaned_data
            and self.cleaned_data.get(f"i{image.key}.about") in spots
        ]
        return Typed(
            base=self.base,
            raw=self.raw,
            values=self.cleaned_data,
            types=self._types,
            cards=cards,
            images=whole,
            sizes=sizes,
        )

    def _has_images(self) -> bool:
        sizes = protocol_images.sizes([image.sha256 for image in self._images])
        gone = [image for image in self._images if image.sha256 not in sizes]
        for image in gone:
            complaint = _("the image is not there any more; take it out and upload it again")
            self.add_error(f"i{image.key}.alt", complaint)
        return not gone

    def _look_at(self, protocol: Protocol) -> None:
        for about, complaint in complaints(protocol):
            if about.startswith("question "):
                self._refuse(f"{about}: {complaint}")
            else:
                self.add_error(self._field_about(about), complaint)

    def _field_about(self, about: str) -> str:
        """Return the field of what a complaint is about: that of the activity where none is."""
        if about.startswith("image"):
            digest = about.partition(" ")[2]
            found = [each for each in self._images if each.sha256.startswith(digest)]
            return f"i{found[-1].key}.alt"
        if about == "chat.partner_checks":
            return "activity"
        return about if about in self.fields else "title" if about == "name" else "activity"

    def _refuse(self, complaint: str) -> None:
        """Put a complaint to the field it names: of a question, or what participants do."""
        cards = {f"q{card.key}.": card for card in self._cards}
        for prefix in (*cards, "write.asks."):
            name = str(self.cleaned_data.get(f"{prefix}name"))
            if re.search(rf"question {re.escape(name)}:", complaint):
                words = re.findall(r"[a-z_]+", complaint.partition(f"{name}:")[2])
                words = ["right" if word in ("passes", "answers") else word for word in words]
                fields = [f"{prefix}{word}" for word in words]
                found = next((field for field in fields if field in self.fields), None)
                self.add_error(found or f"{prefix}name", complaint)
                return
        self.add_error("activity", complaint)


def _is_wrong(form: ProtocolForm, card: Card) -> bool:
    return any(name.startswith(f"q{card.key}.") for name in form.errors)
