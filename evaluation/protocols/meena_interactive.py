"""People chat with a bot and label each of its messages as sensible, and as specific."""

# ME-P2

from __future__ import annotations

from evaluation import Chat, Draw, Protocol, Rate, Source, Words
from evaluation.scales import MEENA_TOPIC, SSA_QUESTIONS

PROTOCOL = Protocol(
    name="meena_interactive",
    title="MEENA interactive sensibleness and specificity",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.3",
    minutes=10,
    instructions=(
        Words(
            "As you go, please «label what the chatbot says in terms of sensibleness and "
            "specificity».",
            tag="S",
            where="section 2.3",
        ),
        MEENA_TOPIC,
    ),
    steps=(
        Chat(
            partner="bot",
            told=Words(
                "You «are about to chat with an experimental chatbot».",
                tag="S",
                where="section 2.3",
            ),
            first="partner",
            opening=Words("Hi!", tag="S", where="section 2.3", quoted=True),
            minimum=Draw((14,)),
            maximum=28,
        ),
        Rate(each=SSA_QUESTIONS, over="messages", when="live"),
    ),
    sources={
        "chat.opening": Source("S", "section 2.3: the bot opens with “Hi!”"),
        "chat.minimum": Source("S", "section 2.3: at least 14 turns, 7 of them the bot's"),
        "chat.maximum": Source("S", "section 2.3: at most 28 turns"),
        "rate.label_opening": Source("D", "700 labeled turns of 100 chats imply it is counted"),
    },
)
