"""Four people label messages of finished conversations again, and do not know the first labels."""

# ME-P7: the conversations are those of a campaign of `meena_interactive`, or were labeled in one of
# `meena_third_party`, by people of whom none may label them again.

from __future__ import annotations

from evaluation import Protocol, Rate, Source, ours
from evaluation.scales import SSA_QUESTIONS

PROTOCOL = Protocol(
    name="meena_second_panel",
    title="MEENA sensibleness and specificity by a second panel",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.6",
    minutes=100,
    instructions=(
        ours("You will read conversations of others, message by message."),
        ours(
            "For the last message shown say whether it makes sense, and if it does, whether it is "
            "specific."
        ),
    ),
    steps=(
        Rate(each=SSA_QUESTIONS, over="messages", not_before=True, sample=25, votes=4, batch=350),
    ),
    sources={
        "rate.sample": Source("S", "section 2.6: 25 conversations"),
        "rate.votes": Source("D", "four people; that each of them labels every message is ours"),
        "rate.batch": Source("D", "all messages of 25 conversations of the longest, 14 by the bot"),
    },
)
