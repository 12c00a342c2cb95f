"""People chat as a character, rate their partner, and learn afterwards that it may be a bot."""

# PC-P4. Deception with a debrief: the participant is told of a partner, not of a bot. Systems may
# be bots and, for the paper's human row, people.

from __future__ import annotations

from evaluation import Chat, Draw, MaxWords, NoPersonaCopy, Protocol, Rate, Source
from evaluation.scales import (
    DECEIVED,
    PERSONACHAT_INSTRUCTIONS,
    PERSONACHAT_NOTICE,
    PERSONACHAT_QUESTIONS,
)

PROTOCOL = Protocol(
    name="personachat_bot",
    title="PERSONA-CHAT evaluation of bots",
    source="Zhang et al. 2018, Personalizing Dialogue Agents, section 5.2 and appendix C",
    minutes=8,
    instructions=PERSONACHAT_INSTRUCTIONS,
    steps=(
        Chat(
            partner="either",
            told=PERSONACHAT_NOTICE,
            minimum=Draw((12, 14, 16)),
            checks=(MaxWords(15), NoPersonaCopy()),
            pool="test",
            pace=0.5,
            debrief=DECEIVED,
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
        "chat.partner_form": Source(
            "D",
            "the paper evaluates with original personas; the released code's default is revised",
        ),
        "chat.pace": Source("R", "released evaluation code: 0.5 seconds per word"),
    },
)
