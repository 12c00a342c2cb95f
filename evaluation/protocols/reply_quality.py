"""Annotators label two responses to one utterance: fluent, consistent, domain-aware, rich."""

# NL-P6 (Chikai et al., task 1). An influent response is inconsistent. Sentiment-richness is asked
# only where the response was generated with a positive or negative intent, which the import says.

from __future__ import annotations

from evaluation import Gate, Preference, Protocol, Rate, Source, Words, YesNo, ours


def _printed(text: str) -> Words:
    return Words(text, tag="S", where="section 5.3")


PROTOCOL = Protocol(
    name="reply_quality",
    title="Fluency, consistency, domain-awareness and sentiment-richness",
    source="Chikai and others, workshop NLP for Conversational AI, 2019, section 5.3",
    minutes=240,
    instructions=(
        ours("You will read single utterances, each with two responses."),
        ours(
            "Label each response by itself, then compare the two. One of them has to be chosen, "
            "however close they are."
        ),
    ),
    steps=(
        Rate(
            each=(
                YesNo(
                    name="fluency",
                    text=_printed(
                        "Fluency: is this response «fluent and at an acceptable level to "
                        "understand its meaning»?"
                    ),
                    yes=_printed("«fluent»"),
                    no=_printed("«influent»"),
                ),
                YesNo(
                    name="consistency",
                    text=_printed(
                        "Consistency: say «whether a response is semantically consistent with the "
                        "utterance»."
                    ),
                    help=_printed(
                        "«Generic responses can be regarded as consistent if they are acceptable "
                        "for given utterances. Responses judged as influent are automatically "
                        "annotated as inconsistent.»"
                    ),
                    yes=_printed("«consistent»"),
                    no=_printed("«inconsistent»"),
                    only_if=Gate("fluency"),
                    otherwise=0,
                ),
            ),
            together=(
                Preference(
                    name="domain_awareness",
                    text=_printed(
                        "Domain-awareness: «which one better matched the domain of the input "
                        "utterance»?"
                    ),
                ),
                Preference(
                    name="sentiment_richness",
                    text=_printed(
                        "Sentiment-richness: which is the «one showing salient sentiments»?"
                    ),
                    intended=("positive", "negative"),
                ),
            ),
            over="contexts",
            show="pairs",
            messages=(1, 1),
            votes=5,
            batch=300,
        ),
    ),
    sources={
        "rate.votes": Source("S", "section 5.3: five annotators"),
        "rate.batch": Source(
            "D",
            "150 utterances of each of two domains: all of the paper's first task, so that all "
            "annotators label the same",
        ),
        "rate.with_first": Source("S", "section 5.3: two systems are compared"),
    },
)
