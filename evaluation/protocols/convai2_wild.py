"""Volunteers chat with a bot as a character, mark messages as good or bad, and score the whole."""

# CA-P2. Two doors lead in: the open link, and a chat service (docs/chat_service.md).

from __future__ import annotations

from evaluation import (
    Chat,
    Draw,
    Likert,
    NoProfile5Gram,
    PersonaChoice,
    Protocol,
    Rate,
    Source,
    Words,
    YesNo,
    ours,
)
from evaluation.scales import PERSONACHAT_INSTRUCTIONS

PROTOCOL = Protocol(
    name="convai2_wild",
    title="ConvAI2 wild evaluation by volunteers",
    source="Dinan et al. 2019, The Second Conversational Intelligence Challenge, section 2.2",
    minutes=5,
    instructions=(
        *PERSONACHAT_INSTRUCTIONS[:2],  # a set-up similar to that of the paid evaluation
        ours("You are given a character: play that character. Your partner has one, too."),
        ours("You may write several messages in a row, and stop whenever you like."),
        Words(
            "You may mark any message of your partner as good or as bad; you need not.",
            tag="R",
            where="released wild code",
        ),
        ours("Afterwards you score the conversation and pick your partner's character."),
    ),
    steps=(
        Chat(
            partner="bot",
            told=ours("Your partner is a computer program, drawn by chance from several."),
            turns="free",
            minimum=Draw((2,)),
            maximum=1000,
            idle=600,
            partner_checks=(NoProfile5Gram(),),
            pool="test",
        ),
        Rate(
            each=(
                YesNo(
                    name="good",
                    text=Words(
                        "Is this a good or a bad message?", tag="R", where="released wild code"
                    ),
                    yes=Words("Good", tag="R", where="released wild code"),
                    no=Words("Bad", tag="R", where="released wild code"),
                ),
            ),
            over="messages",
            when="live",
            optional=True,
        ),
        Rate(
            each=(
                Likert(
                    name="score",
                    text=Words(
                        "Score the conversation from 1 to 5.", tag="R", where="released wild code"
                    ),
                    points=(ours("worst"), "", "", "", ours("best")),
                ),
                PersonaChoice(
                    name="persona",
                    text=Words(
                        "Which of these two characters did your partner have?",
                        tag="R",
                        where="released wild code",
                    ),
                ),
            )
        ),
    ),
    sources={
        "chat.minimum": Source("D", "no minimum is told; short ones are flagged, not refused"),
        "chat.maximum": Source("R", "released wild code: at most 1,000 messages"),
        "chat.idle": Source("R", "released wild code: 600 seconds without a message"),
        "chat.pool": Source("D", "the paper has new personas, in no data set: import yours"),
        "rate.label_opening": Source("R", "released wild code: any message of the bot"),
    },
)
