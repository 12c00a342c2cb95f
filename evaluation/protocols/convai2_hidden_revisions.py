"""People put the personas of a hidden test into words that share none with the original."""

# CA-P4, second phase: PC-P2 again, with the two pairs that this paper prints.

from __future__ import annotations

from evaluation import (
    FreeText,
    NoNonstopOverlap,
    Protocol,
    SentenceLength,
    Source,
    Words,
    WorkedExample,
    Write,
    ours,
)


def _quoted(text: str) -> Words:
    return Words(f"«{text}»", tag="S", where="section 2.1", quoted=True)


PROTOCOL = Protocol(
    name="convai2_hidden_revisions",
    title="ConvAI2 hidden test: revision of personas",
    source="Dinan et al. 2019, The Second Conversational Intelligence Challenge, section 2.1",
    minutes=6,
    instructions=(
        ours("You will read the description of a person, sentence by sentence."),
        ours(
            "For each sentence, please write a related characteristic that the same person may "
            "have: say it in other words, more generally, or more specifically."
        ),
        ours("Take care not to copy words of the sentence."),
    ),
    steps=(
        Write(
            makes="revision",
            asks=FreeText(
                name="revision",
                text=ours("A related characteristic of the same person"),
                most_characters=200,
            ),
            checks=(SentenceLength(), NoNonstopOverlap()),
            examples=(
                WorkedExample(
                    original=_quoted("I just got my nails done"),
                    text=_quoted("I love to pamper myself on a regular basis"),
                ),
                WorkedExample(
                    original=_quoted("I am on a diet now"),
                    text=_quoted("I need to lose weight."),
                ),
            ),
        ),
    ),
    sources={
        "write.writers": Source("S", "section 2.1: each persona has a revised version"),
        "write.batch": Source("D", "personas of one participant"),
        "write.review": Source("D", "the paper does not say who looked at them"),
        "write.sentence_len.most": Source("D", "as in PERSONA-CHAT"),
        "write.sentence_len.least": Source("D", "as in PERSONA-CHAT"),
        "write.no_nonstop_overlap.stop_words": Source("D", "our list of stop words"),
        "write.no_nonstop_overlap.allowed": Source("D", "as in PERSONA-CHAT"),
    },
)
