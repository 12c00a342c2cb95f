"""Five raters per reply say whether a person might have given it in the same fixed contexts."""

# ME-P6: ME-P1 with one different question; the report meena_human_likeness sets both side by side.

from __future__ import annotations

from evaluation import Protocol, Rate, Source, Words, YesNo, ours

PROTOCOL = Protocol(
    name="meena_human_like",
    title="MEENA human-likeness of replies",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.1 and "
    "figure 2",
    minutes=5,
    instructions=(
        ours("You will read short conversations. The last message of each is a reply."),
        ours("For each reply say whether a person might have given it there."),
    ),
    steps=(
        Rate(
            each=(
                YesNo(
                    name="human_like",
                    text=Words(
                        "Please «judge whether a given response was “human-like”, or in other "
                        "words, looked like a response that a human might give in the provided "
                        "context».",
                        tag="S",
                        where="caption of figure 2",
                        quoted=True,
                    ),
                ),
            ),
            over="contexts",
            votes=5,
            batch=20,
        ),
    ),
    sources={
        "rate.votes": Source("S", "section 2.1, caption of table 1: five raters, as for the SSA"),
        "rate.batch": Source("D", "items given to one participant"),
    },
)
