"""A study as an export tells it: a plan of two questions, and people who were lost on the way."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.tables.campaign_record import CampaignRecord

PLAN: dict[str, Any] = {
    "protocol": {
        "name": "humor",
        "title": "Humor after a chat",
        "source": "this study, section 2",
        "instructions": ["Chat for a while."],
        "settings": [
            {"setting": "chat.maximum", "label": "Most messages", "value": 8, "source_value": None}
            | {"departure": True},
        ],
        "steps": [
            {
                "step": "chat",
                "told": "You may talk to a machine.",
                "minimum": {"options": [4, 6]},
                "maximum": 8,
                "checks": [{"type": "MaxWords", "limit": 15}],
                "debrief": "It was a machine.",
            },
            {
                "step": "rate",
                "over": "partner",
                "when": "after",
                "each": [
                    {"name": "funny", "text": "How funny?", "type": "Likert", "first": 1}
                    | {"points": ["not at all", "", "very"]},
                    {"name": "again", "text": "Once more?", "type": "YesNo", "only_if": "funny"},
                ],
            },
        ],
    },
    "systems": [
        {"name": "a", "bot": "tfidf", "target": 10, "version": {"model": "m1"}},
        {"name": "b", "bot": "", "target": 12, "sees_persona": True},
    ],
    "pay": {"amount": "2.00", "currency": "GBP", "minutes": 8, "hourly": "15.00"},
    "consent": {"text": "Yes.", "sha256": "c0ffee"},
    "contact": "ada@example.org",
    "seed": 7,
    "versions": {"parley": "0.1.0"},
}
OUTCOMES = {"COMPLETED": "completed", "LEFT": "left and did not return", "FULL": "full"}
# participant, system, outcome, excluded by a reviewer, language
PEOPLE = [
    ("p1", "a", "COMPLETED", "", "en"),
    ("p2", "b", "COMPLETED", "", "en"),
    ("p3", "a", "COMPLETED", "spam", "en"),
    ("p4", "b", "LEFT", "", "en"),
    ("p5", "", "FULL", "", "en"),
    ("p6", "a", "", "", "en"),
    ("p7", "b", "COMPLETED", "", "en"),
]
ANSWERS = [
    ("p1", "a", "", ""),
    ("p2", "b", "", "quick"),
    ("p3", "a", "reviewer: spam", ""),
    ("p4", "b", "left and did not return", ""),
]


def study(**changes: Any) -> CampaignRecord:
    """Return the study: 7 who consented and 2 who withdrew; 4 finished, 2 count."""
    usual: dict[str, Any] = {
        "plan": PLAN,
        "plan_sha256": "abc123",
        "state": "CLOSED",
        "people": pd.DataFrame(
            PEOPLE, columns=["participant", "system", "outcome", "excluded", "language"]
        ),
        "answers": pd.DataFrame(ANSWERS, columns=["rater", "system", "excluded", "flags"]),
        "withdrew": 2,
        "outcomes": OUTCOMES,
    }
    return CampaignRecord(**{**usual, **changes})
