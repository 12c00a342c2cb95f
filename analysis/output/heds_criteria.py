"""Answers of HEDS to what it asks of each quality criterion: each question of the plan is one.

Apart because they are of one question, and the other answers of the whole experiment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.output.heds_form import CRITERIA, FormAnswer
from analysis.output.methods import SENTENCES, scale
from analysis.raters.alpha import alpha
from analysis.raters.votes import votes
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import LEVELS, RatingTable
from analysis.tables.tidy import ALL

Answers = dict[str, FormAnswer]
Plan = Mapping[str, Any]
LEVEL = {
    "Likert": "ordinal",
    "Slider": "interval",
    "YesNo": "nominal",
    "Choice": "nominal",
    "PersonaChoice": "nominal",
    "Preference": "rank",
    "Ranking": "rank",
    "FreeText": "text",
}
NOT_APPLICABLE = "N/A"
NO_SCALE = {
    "Ranking": "Raters put the replies that are shown together in order; the place of each is kept",
    "FreeText": "Raters write an answer in their own words; the text is kept",
}
SHOWN_AS = {"Slider": 3, "Ranking": 4, "FreeText": 4}
FORMS = {
    "Slider": 2,
    "YesNo": 7,
    "Choice": 7,
    "PersonaChoice": 9,
    "Preference": 3,
    "Ranking": 3,
    "FreeText": 5,
}
MODELED = (
    "A score per system from a linear model with systems fixed and random effects of whatever the "
    "table crosses or repeats (raters, items, contexts, conversations); raw means stand beside it. "
    "Without several raters or items per system scores are raw means."
)
# What becomes of answers, and how differences are tested, by level of measurement.
STATISTICS = {
    "rank": (SENTENCES["win_rate"][1], "Win rates of systems and their 95 % intervals."),
    "text": ("Results were not processed or aggregated before being reported", "None"),
}
OF_SCALES = (
    MODELED,
    "Differences of systems with 95 % intervals and Cohen's d; Student's t with Satterthwaite's "
    "degrees of freedom, p values by Holm (1979) over the pairs of systems.",
)


def criteria_answers(ratings: RatingTable, study: CampaignRecord) -> dict[str, Answers]:
    """Return the answers by criterion; of a table without a plan, those of its questions."""
    rated = {each.question: each for each in questions(ratings, *LEVELS)}
    planned = dict(_named(study)) or {name: ({}, {}) for name in rated}
    return {
        name: {
            f"{CRITERIA}-{id_}": answer
            for id_, answer in _of_question(
                question, step, rated.get(str(question.get("name", name)))
            )
        }
        for name, (question, step) in planned.items()
    }


def _named(study: CampaignRecord) -> Iterator[tuple[str, tuple[Plan, Plan]]]:
    """Yield each question of the plan with its step; of two of a name the second is numbered."""
    times: dict[str, int] = {}
    for question, step in study.questions:
        name = str(question["name"])
        times[name] = times.get(name, 0) + 1
        yield name if times[name] == 1 else f"{name} ({times[name]})", (question, step)


def _of_question(
    question: Plan, step: Plan, rated: QuestionRatings | None
) -> Iterator[tuple[str, FormAnswer]]:
    yield "evaluation_mode-objective_or_subjective", FormAnswer(options=(2,))
    yield "evaluation_mode-intrinsic_or_extrinsic", FormAnswer(options=(1,))
    if question:
        yield "evaluation_mode-absolute_or_relative", FormAnswer(options=(_mode(question, step),))
        for name, answer in (*_wording(question), *_instrument(question, step)):
            yield f"response_elicitation-{name}", answer
    level = LEVEL.get(str(question.get("type")), "nominal") if question else ""
    for name, text in (*_statistics(level or (rated.level if rated else "")), *_agreement(rated)):
        yield f"response_elicitation-{name}", FormAnswer(text=text)


def _mode(question: Plan, step: Plan) -> int:
    """Return 2, relative, where replies of several systems are on one form."""
    together = step.get("show") in ("pairs", "all")
    return 2 if together or LEVEL.get(str(question.get("type"))) == "rank" else 1


def _wording(question: Plan) -> Iterator[tuple[str, FormAnswer]]:
    text, help_ = str(question["text"]), str(question.get("help") or "")
    definition = help_ or "no definition given"
    yield "qc_name-participant_criterion_name", FormAnswer(text="no name given")
    yield "participant_criterion_definiiton", FormAnswer(text=definition)
    yield "verbatim_question", FormAnswer(text=f"{text} {help_}".strip())


def _instrument(question: Plan, step: Plan) -> Iterator[tuple[str, FormAnswer]]:
    kind = str(question.get("type"))
    task, size = NO_SCALE.get(kind), _size(question, step)
    yield "size_of_scale", FormAnswer(text=size)
    yield "list_or_range", FormAnswer(text=NOT_APPLICABLE if task else scale(question))
    yield "scale_presented_as", FormAnswer(options=(SHOWN_AS.get(kind, 1),))
    yield "task_description", FormAnswer(text=task or NOT_APPLICABLE)
    yield "form_of_response", FormAnswer(options=(FORMS.get(kind, _of_points(question)),))


def _of_points(question: Plan) -> int:
    """Return 1 for degrees of agreement, 2 for degrees of quality."""
    return 1 if any("agree" in str(word).lower() for word in question.get("points", ())) else 2


def _size(question: Plan, step: Plan) -> str:
    """Return how many answers there are, N/A without a scale, or nothing where it is not known."""
    kind = str(question.get("type"))
    if kind in NO_SCALE:
        return NOT_APPLICABLE
    if kind == "Slider":
        steps = (question["high"] - question["low"]) / question["step"]
        return str(round(steps) + 1)
    if kind == "Preference":
        return "" if step.get("show") != "pairs" else str(2 + len(question.get("ties", ())))
    if kind == "PersonaChoice":
        return str(int(question.get("distractors", 1)) + 1)
    listed = question.get("points") or question.get("options")
    return str(len(listed)) if listed else "2"


def _statistics(level: str) -> Iterator[tuple[str, str]]:
    if level:
        aggregated, tested = STATISTICS.get(level, OF_SCALES)
        yield "response_aggregation", aggregated
        yield "effect_size_method", tested


def _agreement(rated: QuestionRatings | None) -> Iterator[tuple[str, str]]:
    """Yield how raters agree; nobody judges anything twice, so there is none with themselves."""
    measure, score = "InterAA not assessed", "InterAA not assessed"
    if rated is not None:
        found = votes(rated, ALL, slice(None))
        value = math.nan if found.undefined else alpha(found)
        measure = f"Krippendorff's alpha, {found.level} level, items with two ratings or more"
        score = f"{value:.3f} ({found.units} items)" if value == value else ""
        score = score or f"InterAA not assessed: {found.undefined or 'alpha is undefined'}"
    yield "inter_annotator-agreement", measure
    yield "inter_annotator-agreement_score", score
    yield "intra_annotator-intra_annotator_agreement", "IntraAA not assessed"
    yield "intra_annotator-intra_annotator_agreement_score", "IntraAA not assessed"
