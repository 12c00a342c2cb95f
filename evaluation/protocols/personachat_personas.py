"""People write the personas that others will have in conversations, five short sentences each."""

# PC-P1

from __future__ import annotations

from evaluation import Protocol, SentenceLength, Source, Write
from evaluation.scales import PERSONA_EXAMPLE, PERSONA_INSTRUCTIONS, PERSONA_SENTENCE

PROTOCOL = Protocol(
    name="personachat_personas",
    title="PERSONA-CHAT writing of personas",
    source="Zhang et al. 2018, Personalizing Dialogue Agents, section 3.1",
    minutes=5,
    instructions=PERSONA_INSTRUCTIONS,
    steps=(
        Write(
            makes="persona",
            asks=PERSONA_SENTENCE,
            checks=(SentenceLength(),),
            examples=(PERSONA_EXAMPLE,),
            count=1155,
            valid=100,
            test=100,
        ),
    ),
    sources={
        "write.sentences": Source("S", "section 3.1: a description of 5 sentences"),
        "write.count": Source("S", "section 3: 1155 personas"),
        "write.valid": Source("S", "section 3: 100 are for validation, never seen before"),
        "write.test": Source("S", "section 3: 100 are for test"),
        "write.batch": Source("D", "personas of one participant"),
        "write.review": Source("D", "the paper does not say who looked at them"),
        "write.sentence_len.most": Source("S", "section 3.1: at most 15 words per sentence"),
        "write.sentence_len.least": Source("R", "released collection code: at least 3 words"),
    },
)
