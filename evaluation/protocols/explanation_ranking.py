"""Raters rank seven to nine explanations of a statement, for ten statements of one data set."""

# NL-P8 (L2E). Contexts are the prompts, one message each, with their `dataset`; the original
# explanation and those of models are imported as replies. Metric: `explanation_rank`.

from __future__ import annotations

from evaluation import Protocol, Ranking, Rate, Source, Words, ours

PROTOCOL = Protocol(
    name="explanation_ranking",
    title="Ranking of explanations",
    source="The L2E paper of the workshop NLP for Conversational AI, 2019, table 4",
    minutes=20,
    instructions=(
        Words(
            "You will read statements that lack an explanation, such as: “«The city councilmen "
            "refused the demonstrators a permit because ?»”",
            tag="S",
            where="figure 1",
        ),
        ours("Rank the explanations below each from the best to the worst, without ties."),
    ),
    steps=(
        Rate(
            each=(
                Ranking(
                    name="explanation",
                    text=ours("Rank of the explanation, the best first"),
                ),
            ),
            over="contexts",
            show="all",
            keep="group",
            messages=(1, 1),
            votes=3,
            batch=10,
        ),
    ),
    sources={
        "rate.votes": Source("D", "the paper has 75 workers and does not say how many per prompt"),
        "rate.batch": Source("S", "the ranking study: ten prompts of one data set per worker"),
    },
)
