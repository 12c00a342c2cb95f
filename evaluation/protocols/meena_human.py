"""MEENA conversations of people (ME-P3): two people chat, each told that the other is a person.

Once the campaign has ended, people who took part in none of its conversations judge the messages:
a campaign of the protocol `meena_third_party` takes them from here.
"""

from __future__ import annotations

from evaluation import Chat, Draw, Protocol, Source

PROTOCOL = Protocol(
    name="meena_human",
    title="MEENA conversations between people",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.4",
    minutes=10,
    instructions=(
        "You will chat with another participant, a person like you.",
        "Talk about anything you like: there is no topic and nothing is expected of you.",
        "Later other people read the conversation, without names, and judge each message.",
    ),
    steps=(
        Chat(
            partner="person",
            told="Your partner is another participant, a person.",
            minimum=Draw((14,)),
            maximum=28,
        ),
    ),
    sources={
        "chat.minimum": Source("S", "section 2.4: mostly as in 2.3, at least 14 turns"),
        "chat.maximum": Source("S", "section 2.4: mostly as in 2.3, at most 28 turns"),
    },
)
