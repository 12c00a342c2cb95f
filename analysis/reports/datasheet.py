"""Datasheet of the evaluation in the shape of HEDS, the Human Evaluation Datasheet.

Headings are in our own words. Answers are written from the frozen plan of the export and from the
ratings; what neither holds is answered by `MISSING` and what the researcher must fill in before the
datasheet is published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.metrics.krippendorff_alpha import krippendorff_alpha
from analysis.output import heds
from analysis.output.methods import conversations, opened_by, scale, shown
from analysis.output.participant_flow import people
from analysis.report import Report, Section
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL


def datasheet(
    ratings: RatingTable, *, seed: int = 0, study: CampaignRecord | None = None
) -> Report:
    """Return the datasheet, section by section."""
    rows = pd.DataFrame(_question_rows(ratings, study), columns=["section", "question", "answer"])
    sections = [
        Section(
            str(name),
            part[["question", "answer"]].reset_index(drop=True),
            key=f"heds-{index}",
        )
        for index, (name, part) in enumerate(rows.groupby("section", sort=False), start=1)
    ]
    sections.insert(-1, _criteria(study))
    sections.insert(-1, _agreement(ratings, seed))
    sections.append(_left_open(ratings, study))
    return Report(
        name="datasheet",
        title="Datasheet of the human evaluation",
        findings=(_finding(rows),),
        sections=tuple(each for each in sections if len(each.frame)),
    )


def _finding(rows: pd.DataFrame) -> str:
    open_ = int(rows["answer"].str.contains(r"\[(?:Fill in|Check)").sum())
    return (
        f"{len(rows) - open_} of {len(rows)} questions are answered by the plan and the ratings; "
        f"{open_} wait for the researcher, marked [Fill in] or [Check]."
    )


def _left_open(ratings: RatingTable, study: CampaignRecord | None) -> Section:
    filled, whole = heds.counts(ratings, study)
    title = f"HEDS 3.0: {filled} of {whole} questions of the form are filled in its file"
    note = (
        "The official form (https://nlp-heds.github.io) loads the file heds.json; these are left."
    )
    return Section(title, heds.open_questions(ratings, study), note, key="heds-open")


def _criteria(study: CampaignRecord | None) -> Section:
    rows = pd.DataFrame(_criterion_rows(study))
    note = "How scores are aggregated, and which tests are used, is in the methods of the summary."
    return Section("4 Quality criteria", rows, note, key="heds-criteria")


def _agreement(ratings: RatingTable, seed: int) -> Section:
    found = krippendorff_alpha(ratings, seed=seed)
    whole = found[found["system"].eq(ALL)]
    rows = whole if len(whole) else found
    if rows["estimate"].isna().all() and "reason" in rows:
        rows = rows[["question", "n", "reason"]].rename(columns={"reason": "why not defined"})
    else:
        rows = rows[["question", "system", "estimate", "low", "high", "n"]]
    note = "Krippendorff's alpha, 95 % bootstrap over the n items with two ratings or more."
    return Section(
        "4 Agreement of raters on each criterion",
        rows.reset_index(drop=True),
        note,
        key="heds-agreement",
    )


MISSING = "Not recorded"
HASH = 40  # characters of a checksum, of which the first are shown
Row = tuple[str, str, str]
NO_PLAN = CampaignRecord(plan={})


def missing(what: str) -> str:
    """Return the answer of a question that only the researcher can answer."""
    return f"{MISSING}. [Fill in: {what}]"


def _question_rows(ratings: RatingTable, study: CampaignRecord | None) -> Iterator[Row]:
    """Yield section, question and answer."""
    known = study or NO_PLAN
    parts = {
        "1 Study": _study(known),
        "2 Systems": _systems(ratings, known),
        "3.1 Sample": _sample(ratings, known),
        "3.2 Raters": _raters(ratings, known),
        "3.3 Procedure": _procedure(known),
        "5 Ethics": _ethics(known),
    }
    for section, answers in parts.items():
        yield from ((section, question, answer) for question, answer in answers)


def _criterion_rows(study: CampaignRecord | None) -> Iterator[dict[str, str]]:
    """Yield a row per question asked: HEDS describes each quality criterion by itself."""
    for question, step in (study or NO_PLAN).questions:
        moment = "while chatting" if step.get("when") == "live" else "afterwards"
        over = {"partner": "the partner as a whole", "messages": "each message"}
        yield {
            "criterion": str(question["name"]),
            "asked as": " ".join(f"{question['text']} {question.get('help') or ''}".split()),
            "about": over.get(str(step.get("over")), "a reply to a fixed context"),
            "when": moment,
            "answers": scale(question),
            "only if": opened_by(question) or "–",
        }


def _study(study: CampaignRecord) -> Iterator[tuple[str, str]]:
    protocol = study.protocol
    yield "Which paper reports the evaluation?", missing("reference")
    yield "Where are data, code and materials?", missing("address of the export's archive")
    yield "Who answers questions?", str(study.plan.get("contact") or missing("name and address"))
    yield (
        "Which published procedure is followed?",
        f"{protocol['title']} ({protocol['source']})" if protocol else missing("protocol"),
    )
    changed = [
        f"{each['label']}: {shown(each['value'])}, in the source {shown(each['source_value'])}"
        for each in study.departures
    ]
    none = "Nowhere: every setting is the source's" if protocol else missing("changes")
    yield "Where does it deviate from that procedure?", "; ".join(changed) or none


def _systems(ratings: RatingTable, study: CampaignRecord) -> Iterator[tuple[str, str]]:
    names = [f"{each['name']} ({each['bot'] or 'people'})" for each in study.systems]
    yield (
        "Which systems are compared?",
        "; ".join(names or sorted(set(ratings["system"]))) or missing("systems"),
    )
    versions = [
        f"{each['name']}: {' '.join(_shortened(v) for v in each['version'].values())}"
        for each in study.systems
        if isinstance(each.get("version"), Mapping)
    ]
    yield "In which versions?", "; ".join(versions) or missing("versions or checkpoints")
    yield "What is their input?", "The conversation so far" + _personas(study)
    yield "What is their output?", "The next message of the conversation, as text"
    yield "Which task is it?", "Open-domain conversation" if study.plan else missing("task")
    languages = sorted(set(_column(study, "language")) - {""})
    yield (
        "In which language?",
        f"Of the consent text: {', '.join(languages)}. [Check: of the conversations]"
        if languages
        else missing("language of the conversations"),
    )


def _shortened(version: object) -> str:
    text = str(version)
    return text if len(text) < HASH else f"{text[:12]}…"


def _personas(study: CampaignRecord) -> str:
    shown_to = [each["name"] for each in study.systems if each.get("sees_persona")]
    return f"; their own persona is seen by {', '.join(shown_to)}" if shown_to else ""


def _sample(ratings: RatingTable, study: CampaignRecord) -> Iterator[tuple[str, str]]:
    items = ratings.groupby("system")["item"].nunique()
    each = ", ".join(f"{name} {n}" for name, n in items.items())
    yield "How many items are judged?", f"{ratings['item'].nunique()} ({each or 'none'})"
    planned = [f"{one['name']} {one['target']}" for one in study.systems]
    yield "How many were planned?", ", ".join(planned) or missing("planned numbers")
    yield "How were they chosen?", _chosen(study)
    yield (
        "Was the sample size computed from a target power?",
        missing("power analysis, or why none"),
    )


def _chosen(study: CampaignRecord) -> str:
    if study.chat is not None:
        return "Every conversation that was held and counts; none is sampled from a larger set"
    if study.rates:
        return f"{len(study.plan.get('contexts', ()))} fixed contexts, a reply of each system"
    return missing("how items were chosen")


def _raters(ratings: RatingTable, study: CampaignRecord) -> Iterator[tuple[str, str]]:
    yield "How many people judge?", str(ratings["rater"].nunique())
    rated = ratings.groupby(["item", "question"])["rater"].nunique()
    least, most = (rated.min(), rated.max()) if len(rated) else (0, 0)
    yield "How many raters judge each item?", f"{least}" if least == most else f"{least} to {most}"
    pay = study.plan.get("pay")
    each, limit = conversations(study)
    yield (
        "Are they paid, and how much?",
        f"{pay['amount']} {pay['currency']} {each} about {pay['minutes']} minutes, {pay['hourly']} "
        f"per hour{limit}"
        if pay
        else missing("pay"),
    )
    yield "Who are they, and how were they recruited?", missing("panel, filters, dates")
    yield "Do they know the authors or systems?", missing("relation to the authors")
    steps = study.protocol.get("instructions", ())
    yield "How were they trained?", " ".join(steps) or missing("instructions or training")


def _procedure(study: CampaignRecord) -> Iterator[tuple[str, str]]:
    yield (
        "Was it registered before data collection?",
        f"The plan was frozen at launch, SHA-256 {study.plan_sha256}. [Fill in: public register]"
        if study.plan_sha256
        else missing("registration"),
    )
    yield "Was it changed afterwards?", " ".join(study.amendments) or _unchanged(study)
    yield (
        "How are answers collected?",
        "A web form on each person's own device" if (study.plan) else missing("medium"),
    )
    yield (
        "What do people know of the partner?",
        (study.chat or {}).get("told") or missing("what raters are told"),
    )
    yield "How is quality assured?", _quality(study)
    yield "How many people were left out, and why?", _left_out(study)
    yield (
        "Where and when do people work?",
        "Wherever and whenever they choose" if (study.plan) else missing("conditions"),
    )


def _unchanged(study: CampaignRecord) -> str:
    return "No amendment is recorded" if study.plan_sha256 else missing("changes")


def _quality(study: CampaignRecord) -> str:
    if not study.plan:
        return missing("checks of quality")
    checks = [_check(each) for each in (study.chat or {}).get("checks", ())]
    written = f"Checks of messages: {', '.join(checks)}. " if checks else ""
    return f"{written}Oddities are flagged for people to judge; a flag excludes nobody by itself"


def _check(check: Mapping[str, Any]) -> str:
    parts = [f"{name} {shown(value)}" for name, value in check.items() if name != "type"]
    return f"{check['type']} ({', '.join(parts)})" if parts else str(check["type"])


def _left_out(study: CampaignRecord) -> str:
    if study.people.empty:
        return missing("exclusions and reasons")
    found = people(study)
    lost = int(found["started"].sum() - found["counted"].sum())
    gone = "" if study.withdrew is None else f"; {study.withdrew} withdrew"
    return f"{lost} of {int(found['started'].sum())} who started{gone}; reasons: see the flow"


def _ethics(study: CampaignRecord) -> Iterator[tuple[str, str]]:
    consent = study.plan.get("consent")
    yield "Was it approved by an ethics committee?", missing("committee and number")
    yield (
        "Did people consent?",
        f"Yes, to a text with SHA-256 {consent['sha256']}" if consent else missing("consent"),
    )
    debrief = str((study.chat or {}).get("debrief") or "")
    yield (
        "Are people deceived?",
        f"Yes, and told afterwards: “{debrief}”"
        if debrief
        else ("The protocol has no debrief" if study.plan else missing("deception")),
    )
    yield (
        "Is there personal data?",
        (
            "Raters are known by pseudonyms; messages are free text and may name people. "
            "[Check before sharing]"
            if study.plan
            else missing("personal data")
        ),
    )
    yield "Is there data of a special category?", missing("health, religion, politics and the like")
    yield "Was the risk to people or others assessed?", missing("impact assessment")


def _column(study: CampaignRecord, name: str) -> list[str]:
    return [str(each) for each in study.people[name]] if name in study.people else []
