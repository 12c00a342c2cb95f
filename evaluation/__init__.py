"""What people are asked: protocols, their questions and checks. Standard library only."""

from evaluation.checks import Check, MaxWords, NoPersonaCopy, word_count
from evaluation.protocol import Chat, InvalidAnswers, Protocol, Rate, Step
from evaluation.questions import (
    InvalidAnswer,
    Level,
    Likert,
    PersonaChoice,
    Question,
    Shown,
    Value,
    YesNo,
)
from evaluation.settings import TAGS, Draw, InvalidSetting, Setting, Source

__all__ = [
    "TAGS",
    "Chat",
    "Check",
    "Draw",
    "InvalidAnswer",
    "InvalidAnswers",
    "InvalidSetting",
    "Level",
    "Likert",
    "MaxWords",
    "NoPersonaCopy",
    "PersonaChoice",
    "Protocol",
    "Question",
    "Rate",
    "Setting",
    "Shown",
    "Source",
    "Step",
    "Value",
    "YesNo",
    "word_count",
]
