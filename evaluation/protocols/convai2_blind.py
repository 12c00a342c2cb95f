"""Two experts, who do not know the systems, score finished conversations and comment on them."""

# CA-P3: the conversations are those of a campaign of `convai2_crowd`, drawn per system and mixed.

from __future__ import annotations

from evaluation import Protocol, Rate, Source, ours
from evaluation.scales import BLIND_QUESTIONS

PROTOCOL = Protocol(
    name="convai2_blind",
    title="ConvAI2 blind annotation",
    source="Dinan et al. 2019, The Second Conversational Intelligence Challenge, section 3.2.3",
    minutes=200,
    instructions=(
        ours("You will read conversations of others, one after another."),
        ours("Speaker B of each is a chatbot. Which one, you are not told; they are mixed."),
        ours("Give each conversation a score from 1 to 4, and comment on what speaker B did."),
    ),
    steps=(
        Rate(
            each=BLIND_QUESTIONS,
            over="conversation",
            not_before=True,
            sample=50,
            votes=2,
            batch=100,
        ),
    ),
    sources={
        "rate.votes": Source("S", "section 3.2.3: two of the organizers"),
        "rate.sample": Source("D", "not printed; a common number near 50 fits all six means"),
        "rate.batch": Source("D", "50 conversations of each of two systems"),
    },
)
