"""Prompts of a pretrained model, and the text of the replies that its tokenizer decodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bots.bot import Turn
from bots.text.vocabulary import MARKS

Message = dict[str, str]
Step = Callable[[list[Message]], list[Message]]
OPENING = "(Please open the conversation.)"
Layout = Literal["marks", "turns", "template"]
SHIFT = len(MARKS)  # our four marks come before the tokenizer's own ids


@dataclass(frozen=True)
class PiecesCodec:
    """Texts as the ids of a checkpoint's tokenizer, after our four marks."""

    tokenizer: Any
    before: str  # between the prompt's end and the reply
    most: int  # tokens of a reply that there is room for

    @property
    def size(self) -> int:
        """Number of ids."""
        return SHIFT + len(self.tokenizer)

    @property
    def words(self) -> tuple[str, ...]:
        """The tokenizer's pieces, in order."""
        return tuple(self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer))))

    def encode(self, text: str) -> list[int]:
        """Return the ids of a reply."""
        found = self.tokenizer(self.before + text, add_special_tokens=False).input_ids
        return [SHIFT + each for each in found[: self.most]]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of a reply."""
        own = [each - SHIFT for each in ids if each >= SHIFT]
        return str(self.tokenizer.decode(own, skip_special_tokens=True)).strip()

    def tokens(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Return the tokenizer's pieces."""
        own = [each - SHIFT for each in ids if each >= SHIFT]
        return tuple(self.tokenizer.convert_ids_to_tokens(own))


@dataclass(frozen=True)
class Prompt:
    """Prompt layout: a persona and a history as one text, or as a tokenizer's chat."""

    layout: Layout
    own: str
    partner: str
    persona: str
    shows_persona: bool

    def text(self, turn: Turn) -> str:
        """Return lines of persona and history, and the mark of the next speaker."""
        persona, history = turn
        lines = [f"{self.persona} {each}" for each in persona] if self.shows_persona else []
        marks = {"self": self.own, "partner": self.partner}
        lines += [f"{marks[each.speaker]} {' '.join(each.text.split())}" for each in history]
        return "\n".join([*lines, self.own])

    def rendered(
        self, turn: Turn, template: Callable[[Sequence[Message]], str]
    ) -> tuple[str, tuple[str, ...]]:
        """Return a chat in the tokenizer's own template, and what had to be done for it.

        A template may refuse, or leave out, a system message, and may refuse a chat that does not
        begin with the user's message or whose speakers do not take turns: the persona then joins
        the first message of the user, an opening line of the user is put first, and messages of one
        speaker are joined.

        Raises the template's own error where nothing helps.
        """
        problem: Exception | None = None
        for steps in SUBSTITUTES:
            messages = self.chat(turn)
            for step in steps:
                messages = step(messages)
            try:
                text = template(messages)
            except Exception as error:  # a template raises what it likes
                problem = problem or error
                continue
            if all(each["content"].strip() in text for each in messages[:1]):
                return text, tuple(NOTES[step] for step in steps)
        raise problem or ValueError("the chat template leaves out the persona")

    def chat(self, turn: Turn) -> list[Message]:
        """Return messages with roles; the persona is the system's."""
        persona, history = turn
        roles = {"self": "assistant", "partner": "user"}
        messages = [{"role": roles[each.speaker], "content": each.text} for each in history]
        if self.shows_persona and persona:
            messages.insert(0, {"role": "system", "content": "\n".join(persona)})
        return messages or [{"role": "user", "content": ""}]


def _user_first(messages: list[Message]) -> list[Message]:
    """Put an opening line before what the model itself began with."""
    system = [each for each in messages if each["role"] == "system"]
    others = messages[len(system) :]
    if others and others[0]["role"] == "user":
        return messages
    return [*system, {"role": "user", "content": OPENING}, *others]


def _merged(messages: list[Message]) -> list[Message]:
    """Put the system's text before the first message of the user."""
    if messages[0]["role"] != "system":
        return messages
    about, first, *others = _user_first(messages)
    return [{"role": "user", "content": f"{about['content']}\n\n{first['content']}"}, *others]


def _alternating(messages: list[Message]) -> list[Message]:
    """Join messages of one speaker that follow each other."""
    found: list[Message] = []
    for each in messages:
        if found and found[-1]["role"] == each["role"]:
            found[-1] = {**each, "content": f"{found[-1]['content']}\n{each['content']}"}
        else:
            found.append(dict(each))
    return found


NOTES: dict[Step, str] = {
    _user_first: "an opening line was put before the model's own opening",
    _merged: "the persona was put before the first message of the user",
    _alternating: "messages of one speaker were joined",
}
SUBSTITUTES: tuple[tuple[Step, ...], ...] = (
    (),
    (_merged,),
    (_user_first,),
    (_alternating,),
    (_merged, _alternating),
    (_user_first, _alternating),
    (_merged, _user_first, _alternating),
)
