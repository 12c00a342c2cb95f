"""People read two whole conversations and say which marked speaker they would rather talk to."""

# X-P1 (ACUTE-Eval). Pairs with a known answer (a weak baseline beside people) come first; whoever
# is below the share ends in silence, and everything that they said is set aside.

from __future__ import annotations

from evaluation import FreeText, Onboarding, Preference, Protocol, Rate, Source, Words, ours

CODE = "released ParlAI code"  # of the task acute_eval


def _released(text: str) -> Words:
    return Words(text, tag="R", where=CODE)


PROTOCOL = Protocol(
    name="acute_eval",
    title="Preference between speakers of two conversations (ACUTE-Eval)",
    source="Li et al. 2019, ACUTE-EVAL: Improved Dialogue Evaluation with Optimized Questions and "
    "Multi-turn Comparisons, by its released code",
    minutes=10,
    instructions=(
        ours("You will read two whole conversations side by side, five times."),
        ours("One speaker of each is marked: Speaker 1 and Speaker 2. Attend to these two only."),
        ours("Choose one of them, also where it is hard to tell, and say briefly why."),
    ),
    steps=(
        Onboarding(items=2, share=0.75),
        Rate(
            each=(),
            together=(
                Preference(
                    name="preferred",
                    text=_released(
                        "Your choice: «who would you prefer to talk to for a long conversation»?"
                    ),
                    reply=_released("«I would prefer to talk to» Speaker"),
                    numbered=True,
                ),
                FreeText(
                    name="reason",
                    text=ours("Why? A sentence or two is enough."),
                    most_characters=1_000,
                ),
            ),
            over="speakers",
            show="pairs",
            votes=3,
            batch=5,
        ),
    ),
    sources={
        "onboarding.items": Source("D", "of the five of a worker; the code takes what it is given"),
        "onboarding.share": Source("R", "released ParlAI code: the onboarding threshold"),
        "onboarding.silently": Source("R", "released ParlAI code: nobody is told"),
        "rate.votes": Source("D", "the fewest by which a pair has a majority in any case"),
        "rate.batch": Source("R", "released ParlAI code: five comparisons of a worker"),
        "rate.with_first": Source("D", "every two systems are compared"),
    },
)
