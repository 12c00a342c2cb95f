"""The consent text that a new campaign starts from; the requester makes it their own.

Apart because it is wording, which people edit without reading forms.
"""

from __future__ import annotations

from evaluation import Protocol

STUDY = """\
## What this is about

You are asked to take part in a study of conversations. {what} It takes about {minutes} minutes.

## What we keep

- what you write and answer here, with times, under a random name;
- the id your panel gives us, kept apart and only to pay you. It is deleted later.

Please do not write names, addresses or anything else about real people. What you wrote may be \
published for research without your id.

## Your rights

Taking part is voluntary. You can stop at any time; the page then says what you are paid. At the \
end you get a private link to withdraw with: what you wrote is deleted and your pay stays.

## Please note

You must be 18 or older. {partner} Conversations may be odd or unpleasant; stop whenever you like.
"""
CHAT = "You chat with a partner and then say what the conversation was like."
CHAT_FOR_OTHERS = (
    "You chat with a partner. Later other people read the conversation and judge its messages."
)
READ = "You read short conversations and say what the last message of each is like."
WRITE = "You write short texts, following a few instructions, which the study then uses."
OWN_WORDS = "Other participants may read what you write."
WRITTEN = "The messages were written by people or by computer programs."


def prefilled(protocol: Protocol) -> str:
    """Return a text that fits the protocol."""
    chat = protocol.chat
    chatting = CHAT if protocol.rates else CHAT_FOR_OTHERS
    alone = (WRITE, OWN_WORDS) if protocol.write else (READ, WRITTEN)
    what, partner = (chatting, chat.told) if chat else alone
    return STUDY.format(what=what, minutes=protocol.minutes, partner=partner)
