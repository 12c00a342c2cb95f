"""Chat step of a protocol: a conversation with a partner, and what is told of them.

Lengths are counted in messages of both sides, because the papers' turns differ (PERSONA-CHAT: one
message by each side; MEENA: one message). A field that a requester may change is declared by
`setting` (`evaluation.settings`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from evaluation.checks import MaxWords, MessageCheck, MinWords
from evaluation.sentences import Sentence
from evaluation.setting_types import (
    Draw,
    Number,
    OneOf,
    OnOff,
    Text,
    TextLines,
    WholeNumber,
    WholeNumbers,
)
from evaluation.settings import (
    InvalidSetting,
    Setting,
    Source,
    replaced,
    setting,
    settings_of,
)
from evaluation.words import like

FORMS = ("original", "revised")  # of a persona: its own sentences, or those that reword them


@dataclass(frozen=True, kw_only=True)
class Telling:
    """What participants are told of their partner: before the conversation, and at the end."""

    told: str
    debrief: str = ""


@dataclass(frozen=True, kw_only=True)
class Brief:
    """Sheets of the two sides, such as a character or a role: one's own, and what both know.

    yours, theirs: what stands above the own sheet, and above what is told of the partner's. Sheets
    are personas with a name, and lines that the partner sees too. one_group: both are of one group,
    such as a series, or a student and their advisor. topics: one is drawn for each conversation and
    told to both, and it opens on that topic.
    """

    prefix: ClassVar[str] = "brief"
    yours: str
    theirs: str
    one_group: bool = False
    topics: tuple[str, ...] = setting(
        "Topics, one per line",
        TextLines(most_lines=200, longest=200),
        default=(),
        help="One is drawn for each conversation, and told to both. “Group | topic” is for pairs "
        "of one group only, such as a series. Empty: there is none.",
    )

    def topics_for(self, group: str) -> tuple[str, ...]:
        """Return the topics that a pair of a group can get."""
        parts = (line.rpartition(" | ") for line in self.topics)
        return tuple(topic for of, _bar, topic in parts if of in ("", group))

    def topic_like(self, topic: str, source: Brief) -> str:
        """Return a topic of the source's in the words that this brief, a translation, has."""
        lines = zip(source.topics, self.topics, strict=False)
        shown = (own for line, own in lines if line.rpartition(" | ")[2] == topic)
        found = next(shown, topic)
        return like(found, found.rpartition(" | ")[2])


@dataclass(frozen=True, kw_only=True)
class Chat:
    """A conversation with a partner.

    minimum: messages of both sides before the participant may finish; maximum: where it ends by
    itself. pool: the split that both sides' personas come from, "" for none. pace: seconds per
    word that a bot seems to type. first: who writes first; a draw decides for each conversation.
    brief: what each side knows beside its persona, which then is a sheet with a name.
    streams: a bot's reply is shown as it is written, where its system streams it.
    instead: what is told where the requester turns `tells_of_bots` round; None: there is no choice.
    turns: free where the participant may write several messages in a row, each of which a bot
    answers. idle: seconds without a message after which the conversation ends; 0 for never.
    endless: nobody finishes; who leaves finds the conversation again. partner_checks: rules for
    what a bot says; a reply that breaks one is not shown, and another one is asked for.
    """

    prefix: ClassVar[str] = "chat"
    partner: Literal["bot", "person", "either"]
    told: str
    tells_of_bots: bool = setting(
        "Tell participants that the partner may be a bot",
        OnOff(),
        default=True,
        help="Off: they read of another user only, and are told at the end.",
    )
    instead: Telling | None = None
    first: Literal["participant", "partner", "draw"] = "participant"
    turns: Literal["alternate", "free"] = "alternate"
    endless: bool = False
    opening: str = setting(
        "First message of the partner",
        Text(most=200, optional=True),
        default="",
        help="Empty: the partner begins in words of their own.",
    )
    minimum: Draw = setting(  # noqa: RUF009 (a field)
        "Minimum messages (one value is drawn per conversation)",
        WholeNumbers(least=2, most=1000),
        help="Whole numbers, separated by commas. Messages of both sides count.",
    )
    maximum: int | None = setting(
        "Maximum messages",
        WholeNumber(least=2, most=1000, optional=True),
        default=None,
        help="Leave it empty for no limit.",
    )
    idle: int = setting(
        "Seconds without a message that end the conversation",
        WholeNumber(least=30, most=86_400),
        default=0,
    )
    checks: tuple[MessageCheck, ...] = ()
    partner_checks: tuple[MessageCheck, ...] = ()
    pool: str = setting(
        "Split that personas are drawn from",
        Text(most=10),
        default="",
        help="train, valid or test, or a split that the personas you import name.",
    )
    form: str = setting(
        "Form of the participant's persona",
        OneOf(FORMS),
        default="original",
        help="Revised: the other wording that each persona of the split has to be imported with.",
    )
    partner_form: str = setting(
        "Form of a bot's persona",
        OneOf(FORMS),
        default="original",
        help="What the bot is given. The choice between personas shows the form of the partner.",
    )
    conversations: int = setting(
        "Conversations per participant",
        WholeNumber(least=1, most=20),
        default=1,
        help="Each is with another system, in a balanced order, and earns the pay once.",
    )
    brief: Brief | None = None
    pace: float = setting("Typing delay (seconds per word)", Number(0, 10), default=0.0)
    streams: bool = setting(
        "Show a bot's reply while it is written",
        OnOff(),
        default=False,
        help="For systems that stream their replies. It shows that the partner is a program, and "
        "when it began to answer: leave it off where times are to be equal.",
    )
    debrief: str = ""

    def has_setting(self, name: str) -> bool:
        """Tell whether a setting applies to this chat."""
        applies = {
            "tells_of_bots": self.instead is not None,
            "opening": self.first == "partner",
            "pool": bool(self.pool),
            "form": bool(self.pool) and self.brief is None,  # a sheet has one form
            "partner_form": bool(self.pool) and self.brief is None and self.partner != "person",
            # who would be the same system each time
            "conversations": self.partner != "person" and not self.endless,
            "minimum": not self.endless,
            "maximum": not self.endless,
            "idle": self.idle > 0,
            "pace": self.partner != "person",
            "streams": self._may_stream,
        }
        return applies.get(name, True)

    def changed(self, values: Mapping[str, object]) -> Chat:
        """Return this chat with some settings replaced, those of its checks too.

        Raises `InvalidSetting`.
        """
        checks = tuple(replaced(c, f"chat.{c.name}", values) for c in self.checks)
        brief = self.brief and replaced(self.brief, f"chat.{self.brief.prefix}", values)
        chat = replaced(self, self.prefix, values)
        chat = dataclasses.replace(chat, checks=checks, brief=brief)
        if chat.instead is not None and chat.tells_of_bots != self.tells_of_bots:
            other = Telling(told=chat.told, debrief=chat.debrief)
            chat = dataclasses.replace(chat, **vars(chat.instead), instead=other)
        least = max(chat.minimum.options)
        if chat.maximum is not None and chat.maximum < least:
            raise InvalidSetting(
                f"chat.maximum: “{chat.maximum}” is below the minimum; write {least} or more"
            )
        most_words = min((c.limit for c in checks if isinstance(c, MaxWords)), default=None)
        for check in checks:
            if isinstance(check, MinWords) and most_words is not None and check.limit > most_words:
                raise InvalidSetting(
                    f"chat.min_words.limit: “{check.limit}” is above the maximum of words; "
                    f"write {most_words} or less"
                )
        if problem := chat.streaming_problem():
            raise InvalidSetting(f"chat.streams: {problem}")
        return chat

    @property
    def _may_stream(self) -> bool:
        """Whether a bot's reply is shown as it comes, as the next message."""
        is_next = self.turns == "alternate" and not self.partner_checks
        return self.partner != "person" and is_next

    def streaming_problem(self) -> str | None:
        """Return why replies cannot be shown as they are written, where they are to be."""
        if not self.streams:
            return None
        if self.pace:
            return (
                f"is on, but a reply waits for a typing delay of {self.pace:g} seconds per word "
                "(chat.pace); set that to 0, or turn this off"
            )
        if self.partner_checks:
            return "is on, but the protocol checks a bot's reply before it is shown; turn this off"
        if self.turns == "free":
            return "is on, but turns are free, and nothing tells which message grows; turn this off"
        return None

    def settings(self, sources: Mapping[str, Source]) -> list[Setting]:
        """Return the settings of the chat, then those of its checks."""
        own = settings_of(self, self.prefix, sources, self.has_setting)
        if self.brief is not None:
            own += settings_of(self.brief, f"chat.{self.brief.prefix}", sources)
        return own + [s for c in self.checks for s in settings_of(c, f"chat.{c.name}", sources)]

    def complaint(self, text: str, persona: tuple[str, ...]) -> Sentence | None:
        """Return the first check's complaint about a message, or None."""
        return _first_complaint(self.checks, text, persona)

    def partner_complaint(self, text: str, persona: tuple[str, ...]) -> Sentence | None:
        """Return the first complaint about a bot's message, or None."""
        return _first_complaint(self.partner_checks, text, persona)


def _first_complaint(
    checks: tuple[MessageCheck, ...], text: str, persona: tuple[str, ...]
) -> Sentence | None:
    complaints = (check(text, persona) for check in checks)
    return next((complaint for complaint in complaints if complaint), None)
