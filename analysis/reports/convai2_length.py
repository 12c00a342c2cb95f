"""Length of messages in the layout of ConvAI2 table 6 (Dinan et al. 2019).

Mean words (tokens of `split`, marks included) and characters (spaces included) per message, of each
system and of the people who talked with it.
"""

from __future__ import annotations

from analysis.metrics.message_length import message_length
from analysis.output.paper_layouts import both_sides, extremes, sections, with_engagingness
from analysis.report import Report, Section
from analysis.tables.schema import MessageTable, RatingTable
from analysis.text.tokenizers import SPLIT, NamedTokenizer

COLUMNS = {"words_per_message": "words", "characters_per_message": "characters"}


def convai2_length(
    messages: MessageTable,
    ratings: RatingTable | None = None,
    *,
    tokenizer: NamedTokenizer = SPLIT,
) -> Report:
    """Return the table of one's own systems above the printed one."""
    found = message_length(messages, tokenizer=tokenizer)
    own = with_engagingness(both_sides(found, COLUMNS), ratings)
    finding = extremes(own, "words model", "words per message")
    note = f"Means over messages. Tokens: {tokenizer.name}."
    return Report(
        name="convai2_length",
        title="Length of messages in the layout of ConvAI2 table 6",
        findings=(finding,),
        sections=sections([Section(finding, own, note)], "convai2_length"),
    )
