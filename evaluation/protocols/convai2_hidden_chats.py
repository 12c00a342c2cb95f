"""Two people chat as characters of a hidden test; nobody rates, and no team sees what they said."""

# CA-P4, third phase: PC-P3 again, with the personas of the first two.

from __future__ import annotations

from evaluation import Chat, Draw, MaxWords, NoPersonaCopy, Protocol, Source
from evaluation.scales import PERSONACHAT_INSTRUCTIONS, PERSONACHAT_NOTICE

PROTOCOL = Protocol(
    name="convai2_hidden_chats",
    title="ConvAI2 hidden test: conversations",
    source="Dinan et al. 2019, The Second Conversational Intelligence Challenge, section 2.1",
    minutes=8,
    instructions=PERSONACHAT_INSTRUCTIONS[:3],
    steps=(
        Chat(
            partner="person",
            told=PERSONACHAT_NOTICE,
            minimum=Draw((12, 14, 16)),
            checks=(MaxWords(15), NoPersonaCopy()),
            pool="test",
        ),
    ),
    sources={
        "chat.minimum": Source("D", "as in PERSONA-CHAT: 6 to 8 turns each"),
        "chat.maximum": Source("D", "as in PERSONA-CHAT, which enforces none"),
        "chat.max_words.limit": Source("D", "as in PERSONA-CHAT"),
        "chat.no_persona_copy.lenient_match": Source("D", "as in PERSONA-CHAT"),
        "chat.pool": Source("S", "section 2.1: the new personas, all for test"),
        "chat.form": Source("D", "as in PERSONA-CHAT: original personas"),
    },
)
