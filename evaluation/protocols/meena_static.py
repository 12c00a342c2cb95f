"""Five raters per reply label the systems' replies to the same fixed contexts."""

# ME-P1

from __future__ import annotations

from evaluation import Protocol, Rate, Source, ours
from evaluation.scales import SSA_QUESTIONS

PROTOCOL = Protocol(
    name="meena_static",
    title="MEENA static sensibleness and specificity",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.2",
    minutes=6,
    instructions=(
        ours("You will read short conversations. The last message of each is a reply."),
        ours("For each reply say whether it makes sense, and if it does, whether it is specific."),
    ),
    steps=(Rate(each=SSA_QUESTIONS, over="contexts", votes=5, batch=20),),
    sources={
        "rate.votes": Source("S", "section 2.1, caption of table 1: each item goes to five raters"),
        "rate.batch": Source("D", "items given to one participant"),
    },
)
