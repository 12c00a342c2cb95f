"""Conversations of people with bots, as ConvAI2's organizers released them, with their scores.

Source: ConvAI2's wild evaluation (Dinan et al. 2019) and DeepHack.Chat, both 2018: a JSON list of
chats, or one chat a line. A chat has "dialog" (messages with "sender", "text" and, where
known, "sender_class" and "evaluation_score" 1 good, 0 bad), "eval_score" 1 to 5, "profile_match" 1
(the right persona was told from another) or 0, and the personas "bot_profile", "user_profile".
Where a file does not mark the bot, participant2 is taken: it is the bot in every marked chat. These
are real people's words; filter them before anybody is shown any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, objects_of, one_of, read_listed, text_of, texts_of

BOT = "participant2"
SIDES = ("participant1", "participant2")
UNKNOWN = "unknown"
PROTOCOL = "convai2_wild"


@dataclass(frozen=True)
class RatedMessage:
    """One message; `rating` is its reader's, where there is one."""

    from_bot: bool
    text: str
    rating: int | None


@dataclass(frozen=True)
class HumanBotChat:
    """One released conversation with all ratings of it."""

    id: str
    messages: tuple[RatedMessage, ...]
    score: int | None
    persona_guess: int | None
    bot: str
    user: str
    bot_persona: tuple[str, ...]
    user_persona: tuple[str, ...]

    @property
    def dialogue(self) -> Dialogue:
        """The chat as the bot sees it."""
        turns = (Utterance("self" if m.from_bot else "partner", m.text) for m in self.messages)
        return Dialogue(self.id, tuple(turns), self.bot_persona, self.user_persona)


def read(source: str) -> list[Dialogue]:
    """Read the file at this path, each chat as its bot sees it."""
    return [chat.dialogue for chat in chats(source)]


def chats(source: str) -> list[HumanBotChat]:
    """Read the file at this path with scores and ratings; a chat without an id gets its number."""
    found = read_listed(Path(source), _chat)
    indices = enumerate(found, start=1)
    return [chat if chat.id else replace(chat, id=f"chat {index}") for index, chat in indices]


def rating_rows(found: Iterable[HumanBotChat], campaign: str) -> Iterator[dict[str, object]]:
    """Yield a row of a RatingTable for each score, each persona guess and each message's rating."""
    for chat in found:
        about = {
            "campaign": campaign,
            "protocol": PROTOCOL,
            "system": chat.bot,
            "rater": chat.user if chat.user != UNKNOWN else f"user of {chat.id}",
            "place": "",
        }
        for item, question, level, value in _answers(chat):
            answer = {"answer": f"{item}:{question}", "item": item, "question": question}
            ends = {"scale_low": 1, "scale_high": 5} if level == "ordinal" else {}
            yield {**about, **answer, "level": level, "value": value, **ends}


def message_rows(found: Iterable[HumanBotChat]) -> Iterator[dict[str, object]]:
    """Yield a row of a MessageTable for each message."""
    for chat in found:
        for seq, message in enumerate(chat.messages, start=1):
            yield {
                "message": f"{chat.id}:{seq}",
                "conversation": chat.id,
                "seq": seq,
                "side": "bot" if message.from_bot else "human",
                "system": chat.bot if message.from_bot else "human",  # so analysis knows people
                "persona": " ".join(chat.bot_persona if message.from_bot else chat.user_persona),
                "text": message.text,
                "sent_at": "",
            }


def _answers(chat: HumanBotChat) -> Iterator[tuple[str, str, str, int]]:
    if chat.score is not None:
        yield chat.id, "score", "ordinal", chat.score
    if chat.persona_guess is not None:
        yield chat.id, "persona", "nominal", chat.persona_guess
    for seq, message in enumerate(chat.messages, start=1):
        if message.rating is not None:
            yield f"{chat.id}:{seq}", "good_message", "nominal", message.rating


def _chat(record: Mapping[str, Any]) -> HumanBotChat:
    bot, user = _who(record)
    messages = tuple(_message(each, bot[0]) for each in objects_of(record, "dialog"))
    if not messages:
        raise BadLine("dialog is empty, but must be a list of messages")
    return HumanBotChat(
        id=text_of(record, "dialog_id") if "dialog_id" in record else "",
        messages=messages,
        score=one_of(record, "eval_score", (None, 1, 2, 3, 4, 5)),
        persona_guess=one_of(record, "profile_match", (None, 0, 1)),
        bot=bot[1],
        user=user[1],
        bot_persona=texts_of(record, "bot_profile"),
        user_persona=texts_of(record, "user_profile"),
    )


def _who(record: Mapping[str, Any]) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return side and name of the bot, then of its user."""
    named = {side: record[f"{side}_id"] for side in SIDES if f"{side}_id" in record}
    if not named:
        return (BOT, UNKNOWN), (SIDES[0], UNKNOWN)
    classes = {side: each.get("class") for side, each in named.items() if isinstance(each, dict)}
    if sorted(map(str, classes.values())) != ["Bot", "User"]:
        raise BadLine(f"participants are {classes}, but must be one User and one Bot")
    bot, user = sorted(classes, key=lambda side: str(classes[side]))
    return (bot, text_of(named[bot], "user_id")), (user, text_of(named[user], "user_id"))


def _message(record: Mapping[str, Any], bot: str) -> RatedMessage:
    sender = one_of(record, "sender", SIDES)
    return RatedMessage(
        from_bot=sender == bot,
        text=text_of(record, "text"),
        rating=one_of(record, "evaluation_score", (None, 0, 1)),
    )
