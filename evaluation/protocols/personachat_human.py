"""Two people chat as characters and rate each other, as an upper bound for bots."""

# PC-P5

from __future__ import annotations

from evaluation import Chat, Draw, MaxWords, NoPersonaCopy, Protocol, Rate, Source
from evaluation.scales import (
    PERSONACHAT_INSTRUCTIONS,
    PERSONACHAT_NOTICE,
    PERSONACHAT_QUESTIONS,
)

PROTOCOL = Protocol(
    name="personachat_human",
    title="PERSONA-CHAT evaluation of people",
    source="Zhang et al. 2018, Personalizing Dialogue Agents, section 5.2 (human row of table 4)",
    minutes=10,
    instructions=PERSONACHAT_INSTRUCTIONS,
    steps=(
        Chat(
            partner="person",
            told=PERSONACHAT_NOTICE,
            minimum=Draw((12, 14, 16)),
            checks=(MaxWords(15), NoPersonaCopy()),
            pool="test",
        ),
        Rate(each=PERSONACHAT_QUESTIONS, sides="one"),
    ),
    sources={
        "chat.minimum": Source("S", "section 3.3: at least 6 to 8 turns each, one per dialogue"),
        "chat.maximum": Source("D", "the paper enforces no maximum"),
        "chat.max_words.limit": Source("S", "section 3.3: at most 15 words per message"),
        "chat.no_persona_copy.lenient_match": Source("D", "the paper: simple string matching"),
        "chat.pool": Source("S", "section 5.2: personas of the test set"),
        "chat.form": Source("S", "section 3.3: original personas"),
        "rate.sides": Source("S", "appendix C: one speaker is asked about the other"),
    },
)
