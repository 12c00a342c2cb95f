"""Raters put five sliders for each explanation, of the original ones or of generated ones only."""

# NL-P9 (L2E). Contexts are the prompts, one message each; explanations are imported as replies of
# the systems `original` and `generated`, which are the arms. Report: `explanation_ratings`.

from __future__ import annotations

from evaluation import Anchor, Protocol, Rate, Slider, Source, Words, ours


def _anchor(position: float, word: str) -> Anchor:
    return Anchor(position=position, word=Words(f"«{word}»", tag="S", where="section 5.4"))


def _slider(dimension: str) -> Slider:
    return Slider(
        name=dimension.lower(),
        text=Words(f"«{dimension}» of the explanation", tag="S", where="table 5"),
        anchors=(_anchor(0, "extremely bad"), _anchor(1, "extremely good")),
    )


DIMENSIONS = ("Goodness", "Relatedness", "Grammaticality", "Helpfulness", "Plausibility")
PROTOCOL = Protocol(
    name="explanation_rating",
    title="Rating of explanations",
    source="The L2E paper of the workshop NLP for Conversational AI, 2019, section 5.4",
    minutes=12,
    instructions=(
        ours("You will read statements that end in “because”, each with an explanation."),
        Words(
            "Rate each explanation on five dimensions, each from 0 («extremely bad») to "
            "1 («extremely good»).",
            tag="S",
            where="section 5.4",
        ),
    ),
    steps=(
        Rate(
            each=tuple(map(_slider, DIMENSIONS)),
            over="contexts",
            keep="system",
            messages=(1, 1),
            votes=3,
            batch=10,
        ),
    ),
    sources={
        "rate.votes": Source("D", "the paper has 60 workers and does not say how many per item"),
        "rate.batch": Source("D", "explanations given to one participant; the paper does not say"),
    },
)
