"""People chat with a bot for as long and as often as they like; nobody asks them anything."""

# NL-P12. There are no questions: what counts is the log, which the report ruuh_engagement reads.

from __future__ import annotations

from evaluation import Chat, Draw, Protocol, ours

PROTOCOL = Protocol(
    name="live_engagement",
    title="Engagement with a live bot",
    source="Ruuh (NLP4ConvAI 2019), section 3: figures of a live product, from its log",
    minutes=5,
    instructions=(
        ours("Chat about whatever you like, for as long as you like."),
        ours("You can leave at any time; this page brings you back, also on another day."),
    ),
    steps=(
        Chat(
            partner="bot",
            told=ours("Your partner is a computer program."),
            turns="free",
            endless=True,
            minimum=Draw((2,)),
        ),
    ),
)
