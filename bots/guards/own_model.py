"""Options that every model of a user's own has: what becomes of its words before people see them.

Nothing is changed unless an option says so, and nothing is ever replaced: a reply that a rule stops
has failed, and the raw text stays beside what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bots.bot import Reply, ReplyEvent, Turn
from bots.dialogue import SeededHistory, Utterance, seed_of
from bots.guards.filters import EMPTY, unsafe
from bots.options import InvalidOption, option
from bots.text.tokens import display

CUT = "length"  # the finish reason of a reply that reached its limit of tokens
_SENTENCE = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?=\s|$)|[。！？]")


@dataclass
class OwnModel:
    """Rules for the words of a user's own model, and the seed that they are drawn with."""

    safety: Literal["off", "flag", "stop"] = option(
        "off",
        "Safety filter: flag notes what it would refuse, stop makes such a reply a failure",
        last=True,
    )
    display: Literal["verbatim", "tidied"] = option(
        "verbatim",
        "Text as it was written; or, for a model of spaced tokens, joined and capitalized",
        last=True,
    )
    on_cut: Literal["show", "trim", "again"] = option(
        "show",
        "A reply cut at its limit of tokens: shown, trimmed to its last whole sentence, or failed "
        "and asked for again",
        last=True,
    )
    reasoning_begins: str = option("<think>", "Mark before reasoning, never shown", last=True)
    reasoning_ends: str = option("</think>", "Mark after reasoning", last=True)
    draws: Literal["independent", "fixed"] = option(
        "independent",
        "Seed of a reply: of its own conversation and turn, or fixed: equal words, equal replies",
        last=True,
    )

    def checked(
        self,
        raw: str,
        *,
        finish: str = "",
        reasoning: str = "",
        score: float | None = None,
        details: Mapping[str, object] | None = None,
        prompt: object = None,
    ) -> Reply:
        """Return the reply that people get of a raw text; `finish` is why the model stopped."""
        text, thoughts = self._apart(raw)
        thoughts = [part for part in (reasoning, *thoughts) if part]
        events: list[ReplyEvent] = ["reasoned"] if thoughts else []
        about = dict(details or {})
        error = ""
        if finish == CUT:
            events.append("cut")
            text, error = self._of_cut(text, events)
        if not text.strip():
            events.append("empty")
            text, error = "", EMPTY + (f" (it stopped for: {finish})" if finish else "")
        elif (reason := unsafe(text) if self.safety != "off" else None) is not None:
            events.append("flagged" if self.safety == "flag" else "filtered")
            about["refused"] = [reason]
            if self.safety == "stop":
                error = f"the safety filter stopped the reply: {reason}"
        if self.display == "tidied" and display(text) != text:
            events.append("altered")
            text = display(text)
        if error:
            text, about = "", {**about, "error": error}
        joined = "\n\n".join(thoughts)
        return Reply(text, score, about, raw, joined, prompt, tuple(events))

    def refuse_stream(self, bot: str) -> None:
        """Raise `InvalidOption` where a reply is to grow of which no part may be shown."""
        for name, problem in rules_of_the_whole(vars(self)).items():
            raise InvalidOption(f"{bot}: stream is on, but {name} {problem}")

    def drawn(self, turn: Turn, seed: int) -> int:
        """Return the seed for a turn: its own where draws are independent, else the option's."""
        own = seed_of(turn[1]) if self.draws == "independent" else None
        return seed if own is None else own

    def drawing(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return the turns as a sampler is to see them: without seeds where draws are fixed."""
        if self.draws == "independent":
            return list(turns)
        return [(persona, _plain(history)) for persona, history in turns]

    def _apart(self, raw: str) -> tuple[str, list[str]]:
        """Set reasoning apart; a reply that begins within it has only the mark of its end."""
        begins, ends = re.escape(self.reasoning_begins), re.escape(self.reasoning_ends)
        if not begins or not ends:
            return raw, []
        found: list[str] = []

        def kept(match: re.Match[str]) -> str:
            found.append(match[1].strip())
            return ""

        text = re.sub(rf"{begins}(.*?)(?:{ends}\s*|\Z)", kept, raw, flags=re.DOTALL)
        text = re.sub(rf"\A(.*){ends}\s*", kept, text, flags=re.DOTALL)
        return text, found

    def _of_cut(self, text: str, events: list[ReplyEvent]) -> tuple[str, str]:
        """Return a cut reply as the option wants it, and why it has failed, if it has."""
        if self.on_cut == "again":
            return text, "the reply was cut at its limit of tokens"
        whole = [match.end() for match in _SENTENCE.finditer(text)]
        if self.on_cut == "trim" and whole and text[: whole[-1]] != text:
            events.append("trimmed")
            return text[: whole[-1]], ""
        return text, ""


def rules_of_the_whole(options: Mapping[str, Any]) -> dict[str, str]:
    """Return which options decide only by the whole reply what of it is shown, and the way out.

    Where there is one, no part of a reply can be shown before it is whole: even a mark after
    reasoning makes reasoning of all that stands before it.
    """
    found: dict[str, str] = {}
    if options.get("decoding") == "beam":
        found["decoding"] = "is “beam”; choose greedy, or a way to sample"
    elif options.get("decoding", "greedy") != "greedy" and options["number"] != 1:
        found["number"] = f"is {options['number']}, of which one is shown; choose 1"
    if options["safety"] == "stop":
        found["safety"] = "is “stop”; choose off or flag"
    if options["display"] != "verbatim":
        found["display"] = f"is “{options['display']}”; choose verbatim"
    if options["on_cut"] != "show":
        found["on_cut"] = f"is “{options['on_cut']}”; choose show"
    if options["reasoning_begins"] and options["reasoning_ends"]:
        found["reasoning_ends"] = (
            f"is “{options['reasoning_ends']}”; leave it empty, and let the model set reasoning "
            "apart (a server by reasoning_content, a function by a Reply)"
        )
    return found


def _plain(history: Sequence[Utterance]) -> Sequence[Utterance]:
    return tuple(history) if isinstance(history, SeededHistory) else history


def with_prompt(reply: Reply, prompt: object, *events: ReplyEvent) -> Reply:
    """Return a reply with the prompt that it answers, and what happened to that prompt."""
    return replace(reply, prompt=prompt, events=(*events, *reply.events))
