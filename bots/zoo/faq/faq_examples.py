"""Example FAQ of an invented bicycle rental, and small talk, to answer and to test with: ours.

Each intent has its answer and ways to ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping

Intents = Mapping[str, tuple[str, tuple[str, ...]]]

GENERAL: Intents = {
    "greeting": (
        "Hello! What would you like to know?",
        ("hello", "hi there", "good morning", "hey", "good evening to you", "hi, anybody there?"),
    ),
    "thanks": (
        "You are welcome.",
        ("thank you", "thanks a lot", "many thanks for the help", "great, thanks", "cheers"),
    ),
    "farewell": (
        "Goodbye, and safe riding!",
        ("goodbye", "bye", "see you later", "that was all, bye", "have a nice day"),
    ),
    "person": (
        "I will ask a colleague to join us.",
        (
            "can I talk to a person?",
            "I want to speak to a human",
            "give me a real person please",
            "is there somebody from the staff?",
            "connect me to an agent",
        ),
    ),
}

COMPANY: Intents = {
    "price": (
        "The first half hour is free; after that an hour costs two euros.",
        (
            "how much does it cost?",
            "what is the price of an hour?",
            "what are your prices?",
            "is it expensive to hire a bike?",
            "how much is a bicycle for a day?",
            "do I pay for the first minutes?",
        ),
    ),
    "unlock": (
        "Scan the code above the rear wheel with the app, and the lock opens.",
        (
            "how do I unlock a bike?",
            "the lock does not open",
            "how can I open the lock?",
            "where do I scan the code?",
            "my phone cannot unlock the bicycle",
            "unlocking does not work",
        ),
    ),
    "return": (
        "Leave the bike at any station and close its lock.",
        (
            "where do I return the bike?",
            "how can I give the bicycle back?",
            "where can I park it at the end?",
            "can I leave the bike at another station?",
            "how do I end my ride?",
            "where should I put the bike when I am done?",
        ),
    ),
    "broken": (
        "Please tap Report in the app; we fetch broken bikes within a day.",
        (
            "the bike is broken",
            "my bicycle has a flat tire",
            "the brakes do not work",
            "how do I report a damaged bike?",
            "the chain came off",
            "a pedal fell off, what now?",
        ),
    ),
    "refund": (
        "Write to us within two weeks, and we pay back what was charged by mistake.",
        (
            "can I get my money back?",
            "I was charged twice",
            "I want a refund",
            "you took too much money from my card",
            "how do I get a refund?",
            "the charge on my card is wrong",
        ),
    ),
    "account": (
        "Choose Forgot password in the app, and we send you a link.",
        (
            "I forgot my password",
            "how do I change my password?",
            "I cannot log in to my account",
            "how can I reset the password?",
            "my login does not work",
            "how do I sign in again?",
        ),
    ),
    "helmet": (
        "Helmets hang at the larger stations, and cost nothing.",
        (
            "do you have helmets?",
            "can I get a helmet?",
            "where are the helmets?",
            "is a helmet included?",
            "do I need my own helmet?",
        ),
    ),
    "children": (
        "From fourteen years on one may ride alone, with a parent's account.",
        (
            "may my child ride alone?",
            "how old do you have to be?",
            "is there a minimum age?",
            "can kids use the bikes?",
            "do you have bikes for children?",
        ),
    ),
    "hours": (
        "The bikes can be hired day and night, all year.",
        (
            "when are you open?",
            "what are your opening hours?",
            "can I hire a bike at night?",
            "are you open on Sundays?",
            "at what time do you close?",
        ),
    ),
}
