"""People write new personas for a hidden test, which no team of a competition sees."""

# CA-P4, first phase: PC-P1 again, all of whose personas are for test.

from __future__ import annotations

from evaluation import Protocol, SentenceLength, Source, Write
from evaluation.scales import PERSONA_EXAMPLE, PERSONA_INSTRUCTIONS, PERSONA_SENTENCE

PROTOCOL = Protocol(
    name="convai2_hidden_personas",
    title="ConvAI2 hidden test: personas",
    source="Dinan et al. 2019, The Second Conversational Intelligence Challenge, section 2.1",
    minutes=5,
    instructions=PERSONA_INSTRUCTIONS,
    steps=(
        Write(
            makes="persona",
            asks=PERSONA_SENTENCE,
            checks=(SentenceLength(),),
            examples=(PERSONA_EXAMPLE,),
            count=100,
            test=100,
        ),
    ),
    sources={
        "write.sentences": Source("D", "as in PERSONA-CHAT, which this continues"),
        "write.count": Source("S", "section 2.1: 100 new personas"),
        "write.test": Source("S", "section 2.1: all of the hidden test set"),
        "write.valid": Source("D", "none: nobody is to see them before the test"),
        "write.batch": Source("D", "personas of one participant"),
        "write.review": Source("D", "the paper does not say who looked at them"),
        "write.sentence_len.most": Source("D", "as in PERSONA-CHAT"),
        "write.sentence_len.least": Source("D", "as in PERSONA-CHAT"),
    },
)
