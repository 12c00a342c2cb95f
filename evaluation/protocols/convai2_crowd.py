"""People chat as a character, say how much they enjoyed it, and pick their partner's character."""

# CA-P1. Systems may be bots and, for the paper's human row, people.

from __future__ import annotations

from evaluation import (
    Chat,
    Draw,
    MaxWords,
    NoPersonaCopy,
    PersonaChoice,
    Protocol,
    Rate,
    Source,
    Telling,
    Words,
    ours,
)
from evaluation.scales import DECEIVED, EITHER_PARTNER, ENJOYMENT, PERSONACHAT_INSTRUCTIONS

PROTOCOL = Protocol(
    name="convai2_crowd",
    title="ConvAI2 crowd evaluation",
    source="Dinan et al. 2019, The Second Conversational Intelligence Challenge, section 3.2.2",
    minutes=6,
    instructions=(
        *PERSONACHAT_INSTRUCTIONS[:3],  # section 2.2: those of the data set
        ours("You are given a character: play that character."),
        ours("Afterwards you answer two questions about the other user."),
    ),
    steps=(
        Chat(
            partner="either",
            told=EITHER_PARTNER,
            instead=Telling(
                told=Words(
                    "You will chat with another user, to get to know them.",
                    tag="S",
                    where="section 2.2",
                ),
                debrief=DECEIVED,
            ),
            minimum=Draw((8, 10, 12)),
            maximum=12,
            checks=(MaxWords(15), NoPersonaCopy()),
            pool="test",
            pace=0.5,
        ),
        Rate(
            each=(
                ENJOYMENT,
                PersonaChoice(
                    name="persona",
                    text=Words(
                        "Which of these characters was this user playing?",
                        tag="S",
                        where="section 2.2",
                    ),
                ),
            )
        ),
    ),
    sources={
        "chat.tells_of_bots": Source("R", "released task code says so; the paper is silent"),
        "chat.minimum": Source("D", "the paper: 4 to 6 turns each; that one is drawn is ours"),
        "chat.maximum": Source("S", "section 2.2: 4 to 6 turns each"),
        "chat.max_words.limit": Source("S", "section 2.2: instructions of the data set, 15 words"),
        "chat.no_persona_copy.lenient_match": Source("D", "PERSONA-CHAT: simple string matching"),
        "chat.pool": Source("D", "the paper has new personas, in no data set: import yours"),
        "chat.pace": Source("R", "released evaluation code of the variant: 0.5 seconds per word"),
    },
)
