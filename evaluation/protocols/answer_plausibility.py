"""People say whether a system's answer to a question is reasonable, or that they can't tell."""

# NL-P10. Contexts are the questions, one message each; systems answer them.

from __future__ import annotations

from evaluation import Choice, ChoiceOption, Protocol, Rate, Source, Words, ours


def _printed(word: str) -> Words:
    return Words(word, tag="S", where="section 4.2", quoted=True)


PROTOCOL = Protocol(
    name="answer_plausibility",
    title="Plausibility of answers",
    source="The nex-cv paper of the workshop NLP for Conversational AI, 2019, section 4.2",
    minutes=6,
    instructions=(
        ours("You will read questions of users, each with the answer of a system."),
        ours("For each pair say whether the answer is a reasonable one to the question."),
    ),
    steps=(
        Rate(
            each=(
                Choice(
                    name="plausible",
                    text=Words(
                        "Does this «question-answer pair» seem «reasonable»?",
                        tag="S",
                        where="section 4.2",
                    ),
                    options=(
                        ChoiceOption(value="yes", word=_printed("yes")),
                        ChoiceOption(value="no", word=_printed("no")),
                        ChoiceOption(value="can't tell", word=_printed("can’t tell")),
                    ),
                ),
            ),
            over="contexts",
            votes=1,
            batch=20,
        ),
    ),
    sources={
        "rate.votes": Source("D", "the paper does not say how many people judged a pair"),
        "rate.batch": Source("D", "pairs given to one participant"),
    },
)
