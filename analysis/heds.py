"""The questions of a datasheet in the shape of HEDS, the Human Evaluation Datasheet.

Headings are in our own words; answers come from the frozen plan and the ratings. What neither holds
is answered by `MISSING` and what the researcher must fill in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.flow import people
from analysis.methods import scale, shown
from analysis.study import Study
from analysis.tables import RatingTable

MISSING = "Not recorded"
HASH = 40  # characters of a checksum, of which the first are shown
Row = tuple[str, str, str]
NO_PLAN = Study(plan={})


def missing(what: str) -> str:
    """Return the answer of a question that only the researcher can answer."""
    return f"{MISSING}. [Fill in: {what}]"


def rows(ratings: RatingTable, study: Study | None) -> Iterator[Row]:
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


def criteria(study: Study | None) -> Iterator[dict[str, str]]:
    """Yield a row per question asked: HEDS describes each quality criterion by itself."""
    for question, step in (study or NO_PLAN).questions:
        asked = "while chatting" if step.get("when") == "live" else "afterwards"
        over = {"partner": "the partner as a whole", "messages": "each message"}
        yield {
            "criterion": str(question["name"]),
            "asked as": " ".join(f"{question['text']} {question.get('help') or ''}".split()),
            "about": over.get(str(step.get("over")), "a reply to a fixed context"),
            "when": asked,
            "answers": scale(question),
            "only if": str(question.get("only_if") or "–"),
        }


def _study(study: Study) -> Iterator[tuple[str, str]]:
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
    yield "Where does it depart from that?", "; ".join(changed) or none


def _systems(ratings: RatingTable, study: Study) -> Iterator[tuple[str, str]]:
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
    yield "What do they take in?", "The conversation so far" + _personas(study)
    yield "What do they give out?", "The next message of the conversation, as text"
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


def _personas(study: Study) -> str:
    seen = [each["name"] for each in study.systems if each.get("sees_persona")]
    return f"; their own persona is seen by {', '.join(seen)}" if seen else ""


def _sample(ratings: RatingTable, study: Study) -> Iterator[tuple[str, str]]:
    items = ratings.groupby("system")["item"].nunique()
    each = ", ".join(f"{name} {n}" for name, n in items.items())
    yield "How many items are judged?", f"{ratings['item'].nunique()} ({each or 'none'})"
    planned = [f"{one['name']} {one['target']}" for one in study.systems]
    yield "How many were planned?", ", ".join(planned) or missing("planned numbers")
    yield "How were they chosen?", _chosen(study)
    yield "Was the size computed from a wanted power?", missing("power analysis, or why none")


def _chosen(study: Study) -> str:
    if study.chat is not None:
        return "Every conversation that was held and counts; none is sampled from a larger set"
    if study.rates:
        return f"{len(study.plan.get('contexts', ()))} fixed contexts, a reply of each system"
    return missing("how items were chosen")


def _raters(ratings: RatingTable, study: Study) -> Iterator[tuple[str, str]]:
    yield "How many people judge?", str(ratings["rater"].nunique())
    rated = ratings.groupby(["item", "question"])["rater"].nunique()
    least, most = (rated.min(), rated.max()) if len(rated) else (0, 0)
    yield "How many judge one item?", f"{least}" if least == most else f"{least} to {most}"
    pay = study.plan.get("pay")
    yield (
        "Are they paid, and what?",
        f"{pay['amount']} {pay['currency']} for about {pay['minutes']} minutes, {pay['hourly']} "
        "an hour"
        if pay
        else missing("pay"),
    )
    yield "Who are they, and how were they recruited?", missing("panel, filters, dates")
    yield "Do they know the authors or systems?", missing("relation to the authors")
    steps = study.protocol.get("instructions", ())
    yield "How were they trained?", " ".join(steps) or missing("instructions or training")


def _procedure(study: Study) -> Iterator[tuple[str, str]]:
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


def _unchanged(study: Study) -> str:
    return "No amendment is recorded" if study.plan_sha256 else missing("changes")


def _quality(study: Study) -> str:
    if not study.plan:
        return missing("checks of quality")
    checks = [_check(each) for each in (study.chat or {}).get("checks", ())]
    written = f"Checks of messages: {', '.join(checks)}. " if checks else ""
    return f"{written}Oddities are flagged for people to judge; a flag excludes nobody by itself"


def _check(check: Mapping[str, Any]) -> str:
    given = [f"{name} {shown(value)}" for name, value in check.items() if name != "type"]
    return f"{check['type']} ({', '.join(given)})" if given else str(check["type"])


def _left_out(study: Study) -> str:
    if study.people.empty:
        return missing("exclusions and reasons")
    found = people(study)
    lost = int(found["started"].sum() - found["counted"].sum())
    gone = "" if study.withdrew is None else f"; {study.withdrew} withdrew"
    return f"{lost} of {int(found['started'].sum())} who started{gone}; reasons: see the flow"


def _ethics(study: Study) -> Iterator[tuple[str, str]]:
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


def _column(study: Study, name: str) -> list[str]:
    return [str(each) for each in study.people[name]] if name in study.people else []
