"""Judges rank the replies of several systems to one context, without ties."""

# NL-P4 (hredGAN). Contexts have several turns; the normalized score is metric `rank_score`.

from __future__ import annotations

from evaluation import Protocol, Ranking, Rate, Source, Words, ours

PROTOCOL = Protocol(
    name="reply_ranking",
    title="Ranking of replies",
    source="The hredGAN paper of the workshop NLP for Conversational AI, 2019, section 5.2.2",
    minutes=15,
    instructions=(
        ours("You will read the beginnings of conversations, each with several responses."),
        Words(
            "For each, «rank the general response quality in terms of relevance and "
            "informativeness. Ties are not allowed.»",
            tag="S",
            where="section 5.2.2",
        ),
    ),
    steps=(
        Rate(
            each=(
                Ranking(
                    name="quality",
                    text=Words(
                        "Rank of «the general response quality in terms of relevance and "
                        "informativeness»",
                        tag="S",
                        where="section 5.2.2",
                    ),
                ),
            ),
            over="contexts",
            show="all",
            messages=(1, 20),
            votes=3,
            batch=20,
        ),
    ),
    sources={
        "rate.votes": Source("S", "section 5.2.2: three judges"),
        "rate.batch": Source("D", "contexts given to one participant; the paper does not say"),
    },
)
