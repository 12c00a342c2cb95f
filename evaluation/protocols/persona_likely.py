"""Raters say for each utterance of a list whether a character is likely to say it."""

# PM-P2. A line of the import is a list for one character: no messages, `character`, and `replies`
# from each author to the texts. Metric `nol`; reports `persona_metrics_nol`, `..._aupr`.

from __future__ import annotations

from evaluation import Protocol, Rate, Source, Words, YesNo, ours

PROTOCOL = Protocol(
    name="persona_likely",
    title="Utterances likely for a character",
    source="The PERSONA-METRICS paper (Miyazaki et al. 2021), section 5.3",
    minutes=15,
    instructions=(
        ours("Take part only if you know the series and its characters well."),
        Words(
            "You will be given a character and a list of utterances. Judge «if the character was "
            "likely to say each utterance on the list».",
            tag="S",
            where="section 5.3",
        ),
    ),
    steps=(
        Rate(
            each=(
                YesNo(
                    name="likely",
                    text=Words(
                        "Is the character «likely» to say this?",
                        tag="S",
                        where="section 5.3",
                        quoted=True,
                    ),
                    yes=Words("«Yes»", tag="S", where="figure 5"),
                    no=Words("«No»", tag="S", where="figure 5"),
                ),
            ),
            over="contexts",
            show="all",
            messages=(0, 0),
            votes=5,
            batch=1,
        ),
    ),
    sources={
        "rate.votes": Source("S", "section 5.3: five workers judge each list for a character"),
        "rate.batch": Source("S", "section 5.3: one list and one character per worker"),
    },
)
