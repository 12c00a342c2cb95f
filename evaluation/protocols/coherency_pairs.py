"""Workers compare two responses to one context: word coherency, and dialogue continuity."""

# NL-P5 (event causality). The paper's dialogues have fewer than three utterances of the user: with
# those of the partner four messages at most.

from __future__ import annotations

from evaluation import ChoiceOption, Preference, Protocol, Rate, Source, Words, ours

# The third row of the paper's tables; what its option said is not printed.
NEITHER = (
    ChoiceOption(
        value="neither", word=Words("«neither»", tag="S", where="table 4, table 5, table 6")
    ),
)


def _criterion(name: str, title: str, question: str) -> Preference:
    text = Words(f"{title}: «{question}»?", tag="S", where="section 3.4", quoted=True)
    return Preference(name=name, text=text, ties=NEITHER)


PROTOCOL = Protocol(
    name="coherency_pairs",
    title="Word coherency and dialogue continuity of two responses",
    source="The event-causality paper of the workshop NLP for Conversational AI, 2019, section 3.4",
    minutes=20,
    instructions=(
        ours("You will read short dialogues, each with two responses."),
        ours(
            "Two questions ask which response is better in one respect. Answer each by itself; "
            "if neither is better in that respect, say neither."
        ),
    ),
    steps=(
        Rate(
            each=(),
            together=(
                _criterion(
                    "word_coherency",
                    "Word coherency",
                    "which words in a response are more related to a dialogue history",
                ),
                _criterion(
                    "dialogue_continuity",
                    "Dialogue continuity",
                    "which response is easier to respond to",
                ),
            ),
            over="contexts",
            show="pairs",
            messages=(1, 4),
            votes=10,
            batch=20,
        ),
    ),
    sources={
        "rate.votes": Source("S", "section 3.4: ten workers"),
        "rate.batch": Source("D", "pairs given to one worker; the paper does not say"),
        "rate.with_first": Source("S", "table 4, table 5, table 6: every two systems are compared"),
    },
)
