"""People chat as a character, rate their partner on three scales and write why for each."""

# CA-P1b: a task that the organizers of ConvAI2 released beside the one of the paper.

from __future__ import annotations

from evaluation import (
    Chat,
    Draw,
    MaxWords,
    MinWords,
    NoPersonaCopy,
    Protocol,
    Rate,
    Source,
    Telling,
    Words,
    ours,
)
from evaluation.scales import DECEIVED, EITHER_PARTNER, PERSONACHAT_QUESTIONS, with_reasons

CODE = "released evaluation code"  # ParlAI, task convai2_model_eval

PROTOCOL = Protocol(
    name="convai2_crowd_reasons",
    title="ConvAI2 crowd evaluation with reasons",
    source="A released evaluation code of ConvAI2 (ParlAI, convai2_model_eval); not in a paper",
    minutes=10,
    instructions=(
        Words(
            "Get to know each other, and write as if you were the character that you are given.",
            tag="R",
            where=CODE,
        ),
        Words(
            "Write 3 to 20 words per message. Do not copy the sentences of your character.",
            tag="R",
            where=CODE,
        ),
        ours(
            "Afterwards you rate the other speaker, give a reason for each rating, and tell which "
            "of two characters was theirs."
        ),
    ),
    steps=(
        Chat(
            partner="either",
            told=EITHER_PARTNER,
            instead=Telling(
                told=ours("You will chat with another user, to get to know them."),
                debrief=DECEIVED,
            ),
            minimum=Draw((12,)),
            checks=(MinWords(3), MaxWords(20), NoPersonaCopy()),
            pool="test",
            pace=0.5,
        ),
        Rate(each=with_reasons(PERSONACHAT_QUESTIONS)),
    ),
    sources={
        "chat.tells_of_bots": Source("R", "released task code says so"),
        "chat.minimum": Source("R", f"{CODE}: at least 6 turns each"),
        "chat.maximum": Source("R", f"{CODE}: people may go on"),
        "chat.min_words.limit": Source("R", f"{CODE}: fewer than 3 words are refused"),
        "chat.max_words.limit": Source("R", f"{CODE}: more than 20 words are refused"),
        "chat.no_persona_copy.lenient_match": Source("D", "the code heeds case and punctuation"),
        "chat.pool": Source("D", "personas that are in no data set: import yours"),
        "chat.pace": Source("R", f"{CODE}: 0.5 seconds per word"),
    },
)
