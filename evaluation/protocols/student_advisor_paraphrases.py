"""People paraphrase messages of finished conversations, where these are cut."""

# NL-P11, after `student_advisor`: messages of its conversations are taken from there. The paper
# prints no words for the task, and names no scale: nothing is rated.

from __future__ import annotations

from evaluation import FreeText, Protocol, Source, Write, ours

PROTOCOL = Protocol(
    name="student_advisor_paraphrases",
    title="Student and advisor: paraphrases",
    source="The advising data of DSTC7, track 1 (Gunasekara et al. 2019), section 3.2",
    minutes=10,
    instructions=(
        ours("You will read messages from conversations of a student with an advisor."),
        ours("Say each message in other words: whoever reads yours should learn the same."),
        ours("The messages before it are shown so that you understand it. Leave them as they are."),
    ),
    steps=(
        Write(
            makes="paraphrase",
            asks=FreeText(
                name="paraphrase",
                text=ours("The message in other words"),
                most_characters=1_000,
            ),
            cuts=5,
            batch=10,
        ),
    ),
    sources={
        "write.cuts": Source("S", "section 3.2: test conversations are cut at five points"),
        "write.writers": Source(
            "D", "82,094 paraphrases of 815 conversations; how many each, the paper does not say"
        ),
        "write.before": Source("D", "the paper does not say what was shown beside a message"),
        "write.batch": Source("D", "messages given to one participant; the paper does not say"),
        "write.review": Source("D", "the paper does not say whether paraphrases were read before"),
    },
)
