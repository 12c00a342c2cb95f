"""Protocols of human evaluation: their steps, questions and message checks.

Standard library only.
"""

from evaluation.admission import (
    Admission,
    Attention,
    KnownAnswer,
    Onboarding,
    Quiz,
    Screening,
    form_of,
)
from evaluation.chat import FORMS, Brief, Chat, Telling
from evaluation.checks import (
    MaxWords,
    MessageCheck,
    MinWords,
    NoNonstopOverlap,
    NoPersonaCopy,
    NoProfile5Gram,
    SentenceLength,
    word_count,
)
from evaluation.images import Image
from evaluation.kinds.choice import Choice
from evaluation.kinds.free_text import FreeText
from evaluation.kinds.likert import Likert
from evaluation.kinds.persona_choice import PersonaChoice
from evaluation.kinds.preference import Preference
from evaluation.kinds.ranking import Ranking
from evaluation.kinds.slider import Anchor, Slider
from evaluation.kinds.yes_no import YesNo
from evaluation.protocol import Protocol, Step
from evaluation.questions import (
    AnsweredExample,
    AnswerField,
    AnswerOption,
    ChoiceOption,
    Gate,
    InvalidAnswer,
    Level,
    Question,
    Shown,
    SimulatedRater,
    Value,
    letter,
)
from evaluation.rating import InvalidAnswers, Rate
from evaluation.setting_types import Draw, InvalidValue, OneOf
from evaluation.settings import TAGS, InvalidSetting, Setting, Source
from evaluation.words import Words, ours
from evaluation.writing import WorkedExample, Write

__all__ = [
    "FORMS",
    "TAGS",
    "Admission",
    "Anchor",
    "AnswerField",
    "AnswerOption",
    "AnsweredExample",
    "Attention",
    "Brief",
    "Chat",
    "Choice",
    "ChoiceOption",
    "Draw",
    "FreeText",
    "Gate",
    "Image",
    "InvalidAnswer",
    "InvalidAnswers",
    "InvalidSetting",
    "InvalidValue",
    "KnownAnswer",
    "Level",
    "Likert",
    "MaxWords",
    "MessageCheck",
    "MinWords",
    "NoNonstopOverlap",
    "NoPersonaCopy",
    "NoProfile5Gram",
    "Onboarding",
    "OneOf",
    "PersonaChoice",
    "Preference",
    "Protocol",
    "Question",
    "Quiz",
    "Ranking",
    "Rate",
    "Screening",
    "SentenceLength",
    "Setting",
    "Shown",
    "SimulatedRater",
    "Slider",
    "Source",
    "Step",
    "Telling",
    "Value",
    "Words",
    "WorkedExample",
    "Write",
    "YesNo",
    "form_of",
    "letter",
    "ours",
    "word_count",
]
