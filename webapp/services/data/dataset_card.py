"""The README of an export: what the data is, how it came about, and what to mind in using it.

Apart because it is text, and the export around it is files.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Count

from webapp.models import Campaign
from webapp.services.data import tables

CARD = """# {name}

Ratings of chatbots, collected with Parley under the protocol “{title}”
({source}).

- Systems: {systems}
- Conversations: {conversations}
- Answers that the results rest on: {answers}
- Raters are known by pseudonyms only. What people withdrew is not here.
- Plan, frozen when the campaign opened: {plan}

## Files

| file | holds |
|---|---|
| ratings.csv, ratings.parquet | one answer a row: what the results rest on |
| ratings_all.csv | every answer; `excluded` says why one is set aside |
| contributions.csv | one text a row that people wrote, such as a sentence of a persona |
| dstc7.json | where messages were paraphrased: sets of candidates in the layout of DSTC7, track 1 |
| conversations.jsonl | every conversation with its whole log, ratings and flags, lossless |
| messages.csv | one message a row |
| replies.csv | one call of a bot a row: raw text, prompt, what was shown, seed, tokens, times |
| reply_events.csv | one system a row: how many calls failed, were empty, cut, filtered, ... |
| reviewed_answers.csv | one answer a row that was reviewed at the staff desk, with its intent |
| participants.csv | how each participation went |
| personas.jsonl | the characters that were given out |
| codebook.md, codebook.json | every column and question, with wording and scale |
| plan.json | the frozen plan |
| protocol.json | what people did, with the settings used; it can be imported as a protocol |
| heds.json | the datasheet, as the form of HEDS 3.0 (https://nlp-heds.github.io) loads it |
| manifest.json | what was included, row counts, and SHA-256 of every file |

In CSV files a text that begins with one of = + - @ ' (or a tab, a carriage return, or a full-width
form of these) has one apostrophe in front, so that no spreadsheet runs it; take one away to have
the original.

## The same numbers as on the results page

In a checkout of Parley, after `script/bootstrap`:

    .venv/bin/python -m analysis export.zip

## Before you share it

People wrote freely: read the conversations for what may identify them, and check that the consent
they gave covers your use. Ratings are of these people, at this time, under these instructions.
"""


def dataset_card(campaign: Campaign, book: dict[str, Any], *, answers: int) -> str:
    """Return the card of a campaign, in Markdown."""
    by_state = tables.conversations(campaign).order_by().values_list("state")
    counts = dict(by_state.annotate(number=Count("pk")).order_by("state"))
    states = ", ".join(f"{number} {state.lower()}" for state, number in counts.items())
    return CARD.format(
        name=campaign.name,
        title=book["protocol"]["title"],
        source=book["protocol"]["source"],
        systems=", ".join(tables.system_names(campaign).values()) or "none",
        conversations=states or "none",
        answers=answers,
        plan=f"SHA-256 {campaign.plan_hash}" if campaign.plan_hash else "none yet",
    )
