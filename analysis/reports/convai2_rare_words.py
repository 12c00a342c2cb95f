"""Rare words in the layout of ConvAI2 table 7 (Dinan et al. 2019).

Percent of words that occur fewer than 100 (Freq1h) or 1,000 times (Freq1k, which includes Freq1h)
in the training corpus; below, the exclusive bins of the released script.
"""

from __future__ import annotations

from analysis.metrics.rare_words import rare_words
from analysis.output.paper_layouts import both_sides, extremes, sections, with_engagingness
from analysis.report import Report, Section
from analysis.tables.schema import MessageTable, RatingTable
from analysis.text.frequencies import STAND_IN, WordFrequencies
from analysis.text.tokenizers import SPLIT, NamedTokenizer

CUMULATIVE = {"freq1h": "Freq1h", "freq1k": "Freq1k"}
EXCLUSIVE = {"freq1h_exclusive": "up to 100", "freq1k_exclusive": "101 to 1,000"}


def convai2_rare_words(
    messages: MessageTable,
    ratings: RatingTable | None = None,
    *,
    corpus: WordFrequencies = STAND_IN,
    tokenizer: NamedTokenizer = SPLIT,
) -> Report:
    """Return the table of one's own systems above the printed one."""
    found = rare_words(messages, corpus=corpus, tokenizer=tokenizer)
    own = with_engagingness(both_sides(found, CUMULATIVE, times=100, counted="words"), ratings)
    finding = extremes(own, "Freq1k model", "words of fewer than 1,000 occurrences", unit=" %")
    bins = both_sides(found, EXCLUSIVE, times=100, counted="words")
    note = f"Percent of words. Corpus: {corpus.source}. Tokens: {tokenizer.name}."
    return Report(
        name="convai2_rare_words",
        title="Rare words in the layout of ConvAI2 table 7",
        findings=(finding,),
        sections=sections(
            [
                Section(finding, own, note),
                Section("The same words in exclusive bins", bins, "As the released script bins."),
            ],
            "convai2_rare_words",
        ),
    )
