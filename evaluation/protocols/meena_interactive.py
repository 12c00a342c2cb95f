"""MEENA interactive SSA (ME-P2): chat with a bot and label each of its messages on the way."""

from __future__ import annotations

from evaluation import Chat, Draw, Protocol, Rate, Source
from evaluation.scales import SSA_QUESTIONS

PROTOCOL = Protocol(
    name="meena_interactive",
    title="MEENA interactive sensibleness and specificity",
    source="Adiwardana et al. 2020, Towards a Human-like Open-Domain Chatbot, section 2.3",
    minutes=10,
    instructions=(
        "You will chat with an experimental chatbot.",
        "Talk about anything you like: there is no topic and nothing is expected of you.",
        (
            "Label each of the chatbot's messages as you go: does it make sense, and if it does, "
            "is it specific?"
        ),
    ),
    steps=(
        Chat(
            partner="bot",
            told="Your partner is an experimental chatbot.",
            first="partner",
            opening="Hi!",
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
