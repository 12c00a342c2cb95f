"""Five people, none of whom took part, label each message of conversations that have ended."""

# ME-P3, second half: the conversations are those of a campaign of `meena_human`.

from __future__ import annotations

from evaluation import Protocol, Rate, Source, ours
from evaluation.scales import SSA_QUESTIONS

PROTOCOL = Protocol(
    name="meena_third_party",
    title="MEENA sensibleness and specificity by third parties",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.4",
    minutes=8,
    instructions=(
        ours("You will read conversations of others, message by message."),
        ours(
            "For the last message shown say whether it makes sense, and if it does, whether it is "
            "specific."
        ),
    ),
    steps=(Rate(each=SSA_QUESTIONS, over="messages", votes=5, batch=28),),
    sources={
        "rate.votes": Source("S", "section 2.4: five workers per turn, majority vote"),
        "rate.batch": Source("D", "one long conversation"),
    },
)
