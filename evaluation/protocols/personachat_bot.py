"""PERSONA-CHAT human evaluation (PC-P4): chat under a persona, then rate the partner.

The participant is told of a partner, not of a bot (deception, with a debrief at the end). Systems
may be bots and, for the paper's human row, people.
"""

from __future__ import annotations

from evaluation import Chat, Draw, MaxWords, NoPersonaCopy, Protocol, Rate, Source
from evaluation.scales import PERSONACHAT_QUESTIONS

PROTOCOL = Protocol(
    name="personachat_bot",
    title="PERSONA-CHAT evaluation of bots",
    source="Zhang et al. 2018, Personalizing Dialogue Agents, section 5.2 and appendix",
    minutes=8,
    instructions=(
        "You will chat with another speaker. You are given a character: play that character.",
        (
            "Chat naturally and try to get to know each other: both ask questions and answer the "
            "questions of your chat partner."
        ),
        "Keep each message to 15 words. Do not copy the sentences of your character.",
        "Afterwards you answer four questions about the other speaker.",
    ),
    steps=(
        Chat(
            partner="either",
            told="You will chat with another participant.",
            minimum=Draw((12, 14, 16)),
            checks=(MaxWords(15), NoPersonaCopy()),
            pool="test",
            pace=0.5,
            debrief="Your partner may have been a computer program. We did not say so before, "
            "because knowing it changes how people rate. If you would rather not have your "
            "conversation used, withdraw it with the link below; you are paid either way.",
        ),
        Rate(each=PERSONACHAT_QUESTIONS),
    ),
    sources={
        "chat.minimum": Source("S", "section 3.3: at least 6 to 8 turns each, one per dialogue"),
        "chat.maximum": Source("D", "the paper enforces no maximum"),
        "chat.max_words.limit": Source("S", "section 3.3: at most 15 words a message"),
        "chat.no_persona_copy.lenient_match": Source("D", "the paper: simple string matching"),
        "chat.pool": Source("S", "section 5.2: personas of the test set"),
        "chat.pace": Source("R", "released evaluation code: 0.5 seconds a word"),
    },
)
