"""MEENA labels by third parties (ME-P3): five people judge each message of others' conversations.

The messages are those of people in a campaign that has ended (`meena_human`). Nobody judges a
conversation that they took part in; a message stays open until five others have judged it.
"""

from __future__ import annotations

from evaluation import Protocol, Rate, Source
from evaluation.scales import SSA_QUESTIONS

PROTOCOL = Protocol(
    name="meena_third_party",
    title="MEENA sensibleness and specificity by third parties",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.4",
    minutes=8,
    instructions=(
        "You will read conversations of others, message by message.",
        (
            "For the last message shown say whether it makes sense, and if it does, whether it is "
            "specific."
        ),
    ),
    steps=(Rate(each=SSA_QUESTIONS, over="messages", votes=5, batch=28),),
    sources={
        "rate.votes": Source("S", "section 2.4: five workers a turn, majority vote"),
        "rate.batch": Source("D", "one long conversation"),
    },
)
