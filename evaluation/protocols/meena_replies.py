"""People reply to fixed contexts, so that their replies can be judged beside those of systems."""

# ME-P5

from __future__ import annotations

from evaluation import FreeText, Protocol, Source, Write, ours

PROTOCOL = Protocol(
    name="meena_replies",
    title="MEENA replies of people to contexts",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.2",
    minutes=8,
    instructions=(
        ours("You will read short conversations."),
        ours("For each one, write what you would say next."),
        ours("Please do not write names, addresses or anything else about real people."),
    ),
    steps=(
        Write(
            makes="reply",
            asks=FreeText(name="reply", text=ours("What would you say next?"), most_characters=300),
            batch=20,
        ),
    ),
    sources={
        "write.writers": Source("D", "one reply per context, as of each system"),
        "write.batch": Source("D", "contexts given to one participant"),
        "write.review": Source("D", "the paper does not say whether replies were read before"),
    },
)
