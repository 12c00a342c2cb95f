"""Judges grade two replies to one context, then say which of them is better, or how they tie."""

# NL-P1 and NL-P2 (THRED): one protocol, because raters, items and blinding are the same. The model
# studied comes first among the systems and is paired with each baseline.

from __future__ import annotations

from evaluation import Choice, ChoiceOption, Preference, Protocol, Rate, Source, Words, ours


def _printed(text: str) -> Words:
    return Words(text, tag="S", where="appendix A.2")


GRADES = (
    ChoiceOption(
        value=3,
        word=_printed("«Excellent»"),
        definition=_printed(
            "«The response is very appropriate, on topic, fluent, interesting and shows "
            "understanding of the context.»"
        ),
    ),
    ChoiceOption(
        value=2,
        word=_printed("«Good»"),
        definition=_printed(
            "«The response is coherent with the context but it is not diverse and informative. "
            "It may imply the answer.»"
        ),
    ),
    ChoiceOption(
        value=1,
        word=_printed("«Poor»"),
        definition=_printed(
            "«The response is interpretable and grammatically correct but completely off-topic.»"
        ),
    ),
    ChoiceOption(
        value=0,
        word=_printed("«Bad»"),
        definition=_printed(
            "«The response is grammatically broken and it does not provide an answer.»"
        ),
    ),
)

PROTOCOL = Protocol(
    name="graded_pairs",
    title="Grades and preference of two replies",
    source="The THRED paper of the workshop NLP for Conversational AI, 2019, appendix A.2",
    minutes=180,
    instructions=(
        ours("You will read the beginnings of conversations, each with two responses."),
        ours("Grade each response by itself, then say which of the two is better."),
    ),
    steps=(
        Rate(
            each=(Choice(name="grade", text=ours("How good is this response?"), options=GRADES),),
            together=(
                Preference(
                    name="better",
                    text=ours("Which response is better?"),
                    help=_printed(
                        "Please «favor response 1 over response 2 if: (1) response 1 is relevant, "
                        "logically consistent to the context, fluent and on topic; or (2) Both "
                        "responses 1 and 2 are relevant, consistent and fluent but response 1 is "
                        "more informative than response 2. If judges cannot tell which one is "
                        "better, they can rate the responses as Equally good or Equally Bad.» "
                        "Response 1 stands for either of the two."
                    ),
                    ties=(
                        ChoiceOption(value="equally good", word=_printed("«Equally good»")),
                        ChoiceOption(value="equally bad", word=_printed("«Equally Bad»")),
                    ),
                ),
            ),
            over="contexts",
            show="pairs",
            messages=(2, 2),
            votes=5,
            batch=300,
            with_first=True,
        ),
    ),
    sources={
        "rate.votes": Source("S", "appendix A.2: five raters"),
        "rate.batch": Source("S", "appendix A.2: each rater sees 300 conversations"),
        "rate.with_first": Source(
            "D",
            "the model studied is paired with every baseline; the paper does not say whether all "
            "baselines are paired on every context",
        ),
    },
)
