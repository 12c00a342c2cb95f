"""Annotators grade five responses to one context, of hidden sources, as bad, good or great."""

# NL-P3 (ASAPP): one response of each of four whitelists, and the agent's own. A response is
# acceptable where it is good or great, which report `asapp_human` adds up.

from __future__ import annotations

from evaluation import Choice, ChoiceOption, Protocol, Rate, Source, Words, ours


def _printed(text: str) -> Words:
    return Words(text, tag="S", where="section 4.3")


PROTOCOL = Protocol(
    name="reply_grades",
    title="Bad, good and great responses",
    source="The ASAPP paper of the workshop NLP for Conversational AI, 2019, section 4.3",
    minutes=240,
    instructions=(
        ours("You will read the beginnings of conversations, each with several responses."),
        ours("Grade each response by itself; several may have the same grade."),
    ),
    steps=(
        Rate(
            each=(
                Choice(
                    name="grade",
                    text=ours("How good is this response?"),
                    # Whether the paper's annotators saw its example is not said.
                    help=Words(
                        "For example, «“My phone is broken”. Bad response: Goodbye! Good response: "
                        "I’m sorry to hear that. Great response: I’m sorry to hear that your phone "
                        "is broken.»",
                        tag="S",
                        where="section 4.3",
                        quoted=True,
                    ),
                    options=(
                        ChoiceOption(
                            value=0,
                            word=_printed("«Bad»"),
                            definition=_printed("«The response is not relevant to the context.»"),
                        ),
                        ChoiceOption(
                            value=1,
                            word=_printed("«Good»"),
                            definition=_printed(
                                "«The response is relevant to the context but is vague or generic.»"
                            ),
                        ),
                        ChoiceOption(
                            value=2,
                            word=_printed("«Great»"),
                            definition=_printed(
                                "«The response is relevant to the context and directly addresses "
                                "the issue at hand.»"
                            ),
                        ),
                    ),
                ),
            ),
            over="contexts",
            show="all",
            messages=(1, 20),
            votes=3,
            batch=322,
        ),
    ),
    sources={
        "rate.votes": Source("S", "section 4.3: three annotators"),
        "rate.batch": Source(
            "D", "all contexts of the paper, so that the same three do all; it does not say so"
        ),
    },
)
