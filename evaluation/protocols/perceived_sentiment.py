"""Annotators say whether each response is positive, negative or neutral."""

# NL-P7 (Chikai et al., task 2). Contexts are utterances, one message each; responses are imported
# with what they were `intended` to be, which nobody who rates sees. Report: `chikai_sentiment`.

from __future__ import annotations

from evaluation import Choice, ChoiceOption, Protocol, Rate, Source, Words, ours

PROTOCOL = Protocol(
    name="perceived_sentiment",
    title="Perceived sentiment",
    source="Chikai et al. at the workshop NLP for Conversational AI, 2019, section 5.3",
    minutes=45,
    instructions=(
        ours("You will read single utterances, each with one response."),
        Words(
            "For each, judge «if the response was positive, negative, or neutral».",
            tag="S",
            where="section 5.3",
        ),
    ),
    steps=(
        Rate(
            each=(
                Choice(
                    name="sentiment",
                    text=ours("What is the sentiment of the response?"),
                    options=(
                        ChoiceOption(value="positive", word=ours("Positive")),
                        ChoiceOption(value="negative", word=ours("Negative")),
                        ChoiceOption(value="neutral", word=ours("Neutral")),
                    ),
                ),
            ),
            over="contexts",
            messages=(1, 1),
            votes=5,
            batch=300,
        ),
    ),
    sources={
        "rate.votes": Source("S", "task 2: five annotators, all of the same items"),
        "rate.batch": Source("S", "task 2: 300 utterances, 1,500 annotations of five people"),
    },
)
