"""HEDS 3.0 of a campaign, as a file that the official form loads, and what is left to fill in.

Answers come from the frozen plan, the people and the ratings; what a researcher typed, on the page
of results or into a file of their own, goes before them. What none of them holds is left empty in
the file and listed by `open_questions`, with what was inferred and has to be confirmed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.output.heds_criteria import Answers, criteria_answers
from analysis.output.heds_form import CRITERIA, Entry, FormAnswer, FormQuestion, entries, form
from analysis.output.heds_form import criteria as criteria_entry
from analysis.output.heds_own import Own, listed, of_criteria, own_answers
from analysis.output.methods import conversations, shown
from analysis.output.participant_flow import people
from analysis.report import many
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import RatingTable

NO_PLAN = CampaignRecord(plan={})
LANGUAGES = {"ar": 8, "en": 42, "fr": 49, "de": 56, "es": 150}  # options of the form
OTHER_LANGUAGE = 185
EXPERT, WORKER = "expert", "worker"
PANELS = {WORKER: "Paid workers", "volunteer": "Volunteers", EXPERT: "Experts"}
AUTOMATIC, MANUAL, EXCLUDED = 2, 3, 4
NOTHING = FormAnswer()
NOBODYS: Own = {}
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
BOARD = re.compile(r"\bethic|\breview board\b|\bIRB\b", re.IGNORECASE)
By = dict[str, Answers]


def heds(
    ratings: RatingTable, study: CampaignRecord | None = None, own: Own = NOBODYS
) -> dict[str, Entry]:
    """Return the entries of the form's file by element; a question without an answer is empty."""
    by = _answers(ratings, study or NO_PLAN, own)
    names = [name for name in by if name]
    file = {CRITERIA: criteria_entry(names)} if names else {}
    for question in form():
        keys = names if question.of_criterion else [""]
        answers = {name: by[name].get(question.id, NOTHING) for name in keys}
        file |= dict(entries(question, answers))
    return file


def written(file: Mapping[str, Entry]) -> str:
    """Return the file's text, as the form itself indents it."""
    return json.dumps(file, indent=4, ensure_ascii=False) + "\n"


def open_questions(
    ratings: RatingTable, study: CampaignRecord | None = None, own: Own = NOBODYS
) -> pd.DataFrame:
    """Return a row per question that is open: its number, criterion, what is asked, and what to do.

    It is to be filled in where nothing is known, and to be checked where it was inferred.
    """
    by = _answers(ratings, study or NO_PLAN, own)
    rows = [
        {"number": question.number, "criterion": name, "question": question.asks, "to do": todo}
        for question, name, answer in _each(by)
        if (todo := _todo(question, answer))
    ]
    return pd.DataFrame(rows, columns=["number", "criterion", "question", "to do"])


def known(ratings: RatingTable, study: CampaignRecord | None = None) -> list[dict[str, str]]:
    """Return a row per question and criterion: what Parley says without a researcher's answers."""
    record = replace(study or NO_PLAN, datasheet={})
    return [
        {
            "number": question.number,
            "criterion": name,
            "text": " ".join((*_labels(question, answer), answer.text)).strip(),
            "check": answer.check,
        }
        for question, name, answer in _each(_answers(ratings, record, NOBODYS))
    ]


def _labels(question: FormQuestion, answer: FormAnswer) -> Iterator[str]:
    return (question.options[str(each)] for each in answer.options)


def counts(
    ratings: RatingTable, study: CampaignRecord | None = None, own: Own = NOBODYS
) -> tuple[int, int]:
    """Return how many questions are filled in, and how many there are, each of every criterion."""
    answers = [answer for _, _, answer in _each(_answers(ratings, study or NO_PLAN, own))]
    return sum(each != NOTHING for each in answers), len(answers)


def _each(by: By) -> Iterator[tuple[FormQuestion, str, FormAnswer]]:
    names = [name for name in by if name]
    for question in form():
        for name in names if question.of_criterion else [""]:
            yield question, name, by[name].get(question.id, NOTHING)


def _todo(question: FormQuestion, answer: FormAnswer) -> str:
    if answer != NOTHING:
        return answer.check and f"check: {answer.check}"
    options = listed(question)
    return f"fill in ({options})" if options else "fill in"


def _answers(ratings: RatingTable, study: CampaignRecord, own: Own) -> By:
    """Return answers by criterion and element; "" has those of the whole experiment.

    What a researcher typed goes before what Parley knows, and into a command before what a page
    kept.
    """
    parts = (
        *_reference(study),
        *_systems(study),
        *_sample(ratings, study),
        *_power(study),
        *_raters(ratings, study),
        *_procedure(study),
        *_ethics(study),
    )
    whole = {f"heds-{id_}": answer for id_, answer in parts if answer != NOTHING}
    found = {"": whole} | criteria_answers(ratings, study)
    names = [name for name in found if name]
    typed = own_answers(of_criteria(study.datasheet, names) | dict(own), names)
    return {name: answers | typed[name] for name, answers in found.items()}


Found = Iterator[tuple[str, FormAnswer]]


def _reference(study: CampaignRecord) -> Found:
    protocol = study.protocol
    if protocol:
        named = study.plan.get("campaign", {}).get("name")
        systems = ", ".join(str(each["name"]) for each in study.systems)
        criteria = ", ".join(str(each["name"]) for each, _ in study.questions)
        text = (
            f"{f'Campaign “{named}”. ' if named else ''}Protocol “{protocol['title']}” "
            f"({protocol['source']}). Systems: {systems}. Quality criteria: {criteria}."
        )
        yield "paper_and_resources-paper-experiment_identification", FormAnswer(text=text)
    contact = str(study.plan.get("contact") or "")
    if "@" in contact:
        id_ = "paper_and_resources-names_and_affiliations-contact_author-email"
        yield id_, FormAnswer(text=contact, check="this is the contact that participants were told")


def _systems(study: CampaignRecord) -> Found:
    if study.chat is None and not study.rates:
        return
    output = "The next message of a conversation: one or more sentences"
    yield "system-input_types", FormAnswer(options=(8,))
    yield "system-output_types", FormAnswer(options=(9,), text=output)
    yield "system-tasks", FormAnswer(options=(10,))
    codes = list(study.plan.get("languages") or ())
    if codes:
        options = sorted({LANGUAGES.get(each, OTHER_LANGUAGE) for each in codes})
        others = ", ".join(each for each in codes if each not in LANGUAGES)
        check = f"these are the languages of participants' pages ({', '.join(codes)})"
        answer = FormAnswer(options=tuple(options), text=others, check=check)
        yield "system-input_languages", answer
        yield "system-output_languages", answer


def _sample(ratings: RatingTable, study: CampaignRecord) -> Found:
    items = ratings.groupby("system")["item"].nunique()
    if len(items):
        sizes = sorted(set(items))
        each = ", ".join(f"{name} {n}" for name, n in items.items())
        text = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}: {each}"
        planned = ", ".join(f"{one['name']} {one['target']}" for one in study.systems)
        text += f". Planned: {planned}" if planned else ""
        yield "sample_evaluators_design-sample-number_of_system_outputs", FormAnswer(text=text)
    if study.chat is not None:
        text = "Every conversation that was held and counts; none is sampled from a larger set"
    elif study.plan.get("contexts"):
        number = len(study.plan["contexts"])
        text = f"{many(number, 'fixed context')}, with a reply of each system"
    else:
        return
    yield (
        "sample_evaluators_design-sample-system_output_selection",
        FormAnswer(options=(6,), text=text),
    )


def _power(study: CampaignRecord) -> Found:
    """Yield what the planner of the campaign simulated, where it was asked before the launch."""
    plan = study.plan.get("power") or {}
    if "power" not in plan:
        return
    at, params = "sample_evaluators_design-sample-statistical_power-", plan["params"]
    of = f"{many(plan['items'], 'item')} for each of {plan['systems']} systems"
    method = (
        f"Simulation of {plan['campaigns']} campaigns: {of}, {many(plan['raters'], 'rater')}, "
        f"{plan['votes']} for each item; Student's t with Satterthwaite's degrees of freedom and "
        f"variances of raters and items, both tails; variances: {plan['source']}"
    )
    value = (
        f"{plan['power']:.3f} for a difference of {params['difference']:g}, in points of the scale"
    )
    version = study.plan.get("versions", {}).get("parley")
    script = "python -m analysis plan" + (f", of Parley {version}" if version else "")
    planned = "this was planned before the launch; compare it with what was collected"
    yield f"{at}method", FormAnswer(text=method)
    yield f"{at}value", FormAnswer(text=value, check=planned)
    yield f"{at}script", FormAnswer(text=script, check="add where the code can be had")


def _raters(ratings: RatingTable, study: CampaignRecord) -> Found:
    at = "sample_evaluators_design-evaluators-"
    if len(ratings):
        number = str(ratings["rater"].nunique())
        yield f"{at}number_of_evaluators", FormAnswer(text=number)
    panel = str(study.plan.get("panel", ""))
    if panel == EXPERT:
        yield f"{at}evaluators-expertise", FormAnswer(options=(1,), check="experts of this domain")
    yield f"{at}evaluators-payment", _payment(study)
    if panel in PANELS:
        text = f"{PANELS[panel]} who followed the link of this campaign"
        yield f"{at}recruitment_method", FormAnswer(text=text, check="add where it was posted")
    yield f"{at}training_practice", FormAnswer(text=" ".join(_training(study)))
    yield f"{at}characteristics", FormAnswer(text=_characteristics(study))


def _payment(study: CampaignRecord) -> FormAnswer:
    pay = study.plan.get("pay")
    if not pay:
        return NOTHING
    if float(pay["amount"]) == 0:
        return FormAnswer(options=(3,))
    each, limit = conversations(study)
    text = (
        f"{pay['amount']} {pay['currency']} {each} about {pay['minutes']} minutes, "
        f"{pay['hourly']} {pay['currency']} per hour{limit}"
    )
    return FormAnswer(options=(1,), text=text)


def _training(study: CampaignRecord) -> Iterator[str]:
    """Yield what raters are told and tried with before their work, in order."""
    yield from map(str, study.protocol.get("instructions", ()))
    quiz, onboarding = _step(study, "quiz"), _step(study, "onboarding")
    if quiz:
        size, tries = many(len(quiz["questions"]), "question"), many(quiz["tries"], "try", "tries")
        yield f"[A quiz of {size} about the instructions, {tries}.]"
    if onboarding:
        yield f"[{many(onboarding['items'], 'first item')} with known answers.]"


def _characteristics(study: CampaignRecord) -> str:
    parts = []
    if "language" in study.people:
        found = study.people.loc[study.people["language"] != "", "language"].value_counts()
        counted = ", ".join(f"{code} {n}" for code, n in found.items())
        parts = [f"Language of their pages: {counted}."] if counted else []
    screening = _step(study, "screening")
    if screening:
        texts = "; ".join(str(each["text"]) for each in screening["questions"])
        parts.append(f"Asked before they were let in: {texts}")
    return " ".join(parts)


def _procedure(study: CampaignRecord) -> Found:
    if not study.protocol:
        return
    at = "sample_evaluators_design-experimental_design-"
    yield f"{at}collection_method", FormAnswer(text="Parley, web pages on each person's own device")
    yield from ((f"{at}quality_assurance-{name}", answer) for name, answer in _quality(study))
    yield f"{at}what_evaluators_see-description", FormAnswer(text=_rating_form(study))
    free = "None: people work when they like, and the pages keep a form that is not sent yet"
    if study.chat is not None and study.chat.get("idle"):
        free = f"A conversation ends after {study.chat['idle']} seconds without a message"
    yield f"{at}evaluator_freedom", FormAnswer(options=(5,), text=free)
    if study.plan.get("contact"):
        yield f"{at}evaluators_can_ask_questions", FormAnswer(options=(2,))
    yield f"{at}experimental_conditions", FormAnswer(options=(1,))
    differ = "Place, time, device and browser are each person's own"
    yield f"{at}evaluators_place_of_choosing", FormAnswer(text=differ)
    names = "Raters are known by pseudonyms; messages are free text and may name people."
    consent = " People consented first and may withdraw their data." * ("consent" in study.plan)
    check = "how personal data was handled"
    yield "ethics-personal_data", FormAnswer(options=(2,), text=names + consent, check=check)


def _ethics(study: CampaignRecord) -> Found:
    """Yield what the consent text says of an ethics board, in its own words."""
    text = str((study.plan.get("consent") or {}).get("text") or "")
    sentences = [each.strip() for each in SENTENCE.split(text) if BOARD.search(each)]
    if sentences:
        quote = f"The consent text says: “{' '.join(sentences)}”"
        yield "ethics-review_body", FormAnswer(text=quote, check="name the body and its reference")


def _quality(study: CampaignRecord) -> Found:
    """Yield the kinds of quality assurance, and what was done."""
    options, sentences = {AUTOMATIC}, []
    checks = [_check(each) for each in (study.chat or {}).get("checks", ())]
    if checks:
        sentences.append(f"Checks of messages: {', '.join(checks)}.")
    for name in ("screening", "quiz", "onboarding"):
        if _step(study, name):
            sentences.append(f"A step before the work: {name}.")
    if attention := _step(study, "attention"):
        questions = many(len(attention["questions"]), "attention check")
        each = many(attention["every"], "form")
        sentences.append(f"Within the work: {questions} in turn, one every {each}.")
    sentences.append("Oddities are flagged for people to judge.")
    reviewed = study.people["excluded"].astype(str).ne("").sum()
    if reviewed:
        options |= {MANUAL, EXCLUDED}
        sentences.append(f"A reviewer excluded {many(int(reviewed), 'participation')}.")
    aside = int(study.answers["excluded"].ne("").sum())
    if aside:
        whole = many(len(study.answers), "answer")
        sentences.append(f"{aside} of {whole} are set aside{_lost(study)}; each has its reason.")
    yield "method", FormAnswer(options=tuple(sorted(options)))
    yield "description", FormAnswer(text=" ".join(sentences))


def _lost(study: CampaignRecord) -> str:
    if study.people.empty:
        return ""
    found = people(study)
    started = int(found["started"].sum())
    return f", of {started - int(found['counted'].sum())} of {started} people who started"


def _check(check: Mapping[str, Any]) -> str:
    parts = [f"{name} {shown(value)}" for name, value in check.items() if name != "type"]
    return f"{check['type']} ({', '.join(parts)})" if parts else str(check["type"])


def _rating_form(study: CampaignRecord) -> str:
    about = {
        "partner": "the conversation that they had",
        "messages": "a message within its conversation",
        "conversation": "a conversation of others",
        "speakers": "a speaker within a conversation",
    }
    steps = [
        f"{about.get(str(step.get('over', 'partner')), 'a context with its replies')} and "
        f"{many(len(step.get('each', ())) + len(step.get('together', ())), 'question')} with their "
        "answers; systems are not named"
        for step in study.rates
    ]
    notice = (study.chat or {}).get("told")
    text = "; ".join(steps)
    return text[:1].upper() + text[1:] + (f". They were told: “{notice}”" if notice else "")


def _step(study: CampaignRecord, name: str) -> Mapping[str, Any] | None:
    steps = study.protocol.get("steps", ())
    return next((step for step in steps if step.get("step") == name), None)
