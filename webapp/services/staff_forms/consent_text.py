"""The consent text that a new campaign starts from; the requester makes it their own.

Apart because it is wording, which people edit without reading forms.
"""

from __future__ import annotations

from django.utils.translation import override

from evaluation import Protocol
from webapp import languages, notices
from webapp.services.rules.protocols import task_of

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
FOR_OTHERS = "Later other people may read the conversation and judge its messages."
OWN_WORDS = "Other participants may read what you write."
WRITTEN = "The messages were written by people or by computer programs."


def prefilled(protocol: Protocol) -> str:
    """Return a text that fits the protocol."""
    with override(languages.SOURCE):  # as the page above it says
        task = str(notices.TASKS[task_of(protocol)])
    if protocol.chat is not None:
        what = task if protocol.rates else f"{task} {FOR_OTHERS}"
        return STUDY.format(what=what, minutes=protocol.minutes, partner=protocol.chat.told)
    partner = OWN_WORDS if protocol.write else WRITTEN
    return STUDY.format(what=task, minutes=protocol.minutes, partner=partner)
