"""Two people chat, each told that the other is a person; others judge their messages later."""

# ME-P3, first half; the campaign of `meena_third_party` takes the messages once this one has ended.

from __future__ import annotations

from evaluation import Chat, Draw, Protocol, Source, Words, ours
from evaluation.scales import MEENA_TOPIC

PROTOCOL = Protocol(
    name="meena_human",
    title="MEENA conversations between people",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.4 and "
    "appendix A",
    minutes=10,
    instructions=(
        Words(
            "Whoever writes first begins with “«Hi!»”.",
            tag="S",
            where="section 2.6 and appendix A",
            quoted=True,
        ),
        MEENA_TOPIC,
        ours("Later other people read the conversation, without names, and judge each message."),
    ),
    steps=(
        Chat(
            partner="person",
            told=ours("Your partner is another participant, a person like you."),
            minimum=Draw((16,)),
            maximum=32,
        ),
    ),
    sources={
        "chat.minimum": Source("S", "appendix A: where a human starts, at least 16 turns in total"),
        "chat.maximum": Source("S", "appendix A: where a human starts, at most 32 turns in total"),
    },
)
