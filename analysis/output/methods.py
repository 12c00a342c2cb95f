"""Methods text of a report, ready to paste: from the frozen plan and what was computed.

Citations are those that the protocol and the metrics themselves name; where the plan says nothing,
the text says that it is not recorded.
"""

from __future__ import annotations

import inspect
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pandas as pd

from analysis import registry
from analysis.output import measured
from analysis.output.ranking import FOLLOWED, LOST_MUCH, SystemRanking, rankings
from analysis.output.scored import compared
from analysis.output.scored import sentences as scored_by
from analysis.report import Section, many
from analysis.scores.allocation import LOST
from analysis.tables.campaign_record import CampaignRecord
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL

PACKAGES = ("numpy", "pandas", "scipy", "krippendorff")
# What the text says of the usual metrics; how every number was computed is in a table of its own.
# Each with the key of the table that shows it: without the table, the text does not say it.
SENTENCES = {
    "calibrated_score": (
        "calibrated-",
        "The published calibration of annotator bias with unit variances (Kulikov et al. 2018) "
        "stands beside them in a section of its own.",
    ),
    "persona_detection": (
        "detection-",
        "Persona detection is the share of raters who told the partner's persona from a random one "
        "(Zhang et al. 2018), with Wilson's 95% interval; chance is .5.",
    ),
    "human_accuracy": (
        "accuracy-",
        "Human accuracy is the share of yes among the answers yes and no, with Wilson's 95% "
        "interval for clustered shares (Korn & Graubard 1998).",
    ),
    "ssa": (
        "ssa",
        "SSA is the mean of the unrounded shares of sensible and of specific replies (Adiwardana "
        "et al. 2020), with Wilson's 95% interval for clustered shares (Korn & Graubard 1998).",
    ),
    "win_rate": (
        "preferred-",
        "Win rates count a tie as half a win, with Wilson's 95% interval for clustered shares "
        "(Dean & Pagano 2015), clustered by rater and by context (Cameron, Gelbach & Miller 2011; "
        "Bell & McCaffrey 2002).",
    ),
    "krippendorff_alpha": (
        "agreement",
        "Agreement is Krippendorff's alpha (Krippendorff 2011) at the level of each question, with "
        "a 95% bootstrap over items, of more than 400 by the jackknife.",
    ),
}
# What a question of any kind has in a plan; one of yes or no has nothing else.
UNKNOWN_LOSSES = (
    "Nothing in it tells what was lost: scores, differences and their intervals hold if whatever "
    "is missing is missing alike for good and for poor answers."
)
OF_LOOKS = (
    f"{FOLLOWED}, so errors of differences are wider by the ratio of Pocock's constant for two "
    "looks to that for one (Pocock 1977)."
)
OF_LOSSES = (
    "As a part of what systems were given brought no answer, intervals hold for those who are "
    "missing having rated by up to one SD lower or higher than those who stayed, alike for all "
    "systems (after Rubin 1977)."
)
WRITTEN = {
    "revision": "Revisions of personas",
    "reply": "Replies to contexts",
    "paraphrase": "Paraphrases of messages",
}
SHARED_FIELDS = {"name", "text", "help", "only_if", "otherwise", "type"}
# Metrics whose rows have names of their own.
SEVERAL = {
    "ssa": ("sensibleness",),
    "icc": ("icc_1_1",),
    "recall": ("recall_1",),
    "distinct": ("distinct_1",),
}


def methods(
    ratings: RatingTable,
    results: pd.DataFrame,
    study: CampaignRecord | None = None,
    *,
    printed: Sequence[Section] = (),
) -> tuple[str, ...]:
    """Return the paragraphs: design, systems, participants, questions, analysis, software.

    The analysis is told of what is `printed` alone: a number that no table shows has no sentence.
    """
    planned = () if study is None else tuple(_planned(study))
    if not planned:
        names = ", ".join(sorted(ratings["protocol"].unique())) or "none"
        has_losses = LOST in ratings or "lost_off" in results
        unknown = "" if has_losses else f" {UNKNOWN_LOSSES}"
        planned = (f"Design. Protocol: {names}. No plan came with this table of ratings.{unknown}",)
    if study is not None and study.writing is not None:
        return (*planned, _software(study))  # nothing is rated
    return (*planned, _sample(ratings), _analysis(results, printed), _software(study))


def estimators(results: pd.DataFrame) -> Section:
    """Return how each number was computed, in the words and with the source of its metric."""
    used = set(results["metric"])
    rows = [
        (name, _docstring(name))
        for name in registry.metric_names()
        if name in used or used & set(SEVERAL.get(name, ()))
    ]
    return Section(
        f"Computation of each number: {len(rows)} metrics",
        pd.DataFrame(rows, columns=["metric", "computed as"]),
        key="estimators",
        appendix=True,
    )


def _docstring(name: str) -> str:
    source = inspect.getmodule(registry.get_metric(name))
    return " ".join(((source and source.__doc__) or "").replace("`", "").split())


def _planned(study: CampaignRecord) -> Iterator[str]:
    protocol = study.protocol
    if not protocol:
        return
    frozen = (
        f" The plan was frozen before data collection (SHA-256 {study.plan_sha256})."
        if study.plan_sha256
        else " The plan is not frozen yet."
    )
    yield (
        f"Design. We followed the protocol “{protocol['title']}” ({protocol['source']})"
        f"{_departing(study.departures)}.{frozen}{_amended(study.amendments)}"
    )
    if study.writing is not None:
        yield _written(study.writing, study.plan.get("seed", "not recorded"))
        yield from _participants(study)
        return
    yield _systems(study)
    if study.chat is not None:
        yield _conversations(study.chat)
    yield from _participants(study)
    yield _questions(study)
    yield _exclusions()


def _departing(departures: Sequence[Mapping[str, Any]]) -> str:
    if not departures:
        return ", every setting as in the source"
    changed = "; ".join(
        f"{_lower(each['label'])}: {shown(each['value'])} in place of {shown(each['source_value'])}"
        for each in departures
    )
    settings = "one setting" if len(departures) == 1 else f"{len(departures)} settings"
    return f", departing from it in {settings} ({changed})"


def _amended(amendments: Sequence[str]) -> str:
    if not amendments:
        return ""
    times = "once" if len(amendments) == 1 else f"{len(amendments)} times"
    return f" It was amended {times}: {' '.join(amendments)}"


def _systems(study: CampaignRecord) -> str:
    names = ", ".join(f"{each['name']} ({each['bot'] or 'people'})" for each in study.systems)
    start = f"Systems and assignment. {len(study.systems)} systems were compared: {names}."
    seed = study.plan.get("seed", "not recorded")
    if study.chat is None:
        about = next(iter(study.rates), {})
        return (
            f"{start} A rater judged {about.get('batch', '–')} items, each of which needs "
            f"{about.get('votes', '–')} raters, in random order (seed {seed})."
        )
    targets = sorted({int(each["target"]) for each in study.systems})
    span = " to ".join(str(each) for each in (targets[:1] + targets[-1:])[: len(targets)])
    return (
        f"{start} Each person talked with one: that with the most free places at the moment "
        f"({span or '–'} were planned per system), ties broken at random (seed {seed})."
        f"{_one_rates(study)}"
    )


def _written(step: Mapping[str, Any], seed: object) -> str:
    writers = step.get("writers", 1)
    if step["makes"] == "persona":
        what = (
            f"{step['count']} personas of {step['sentences']} sentences were planned, of which "
            f"{step['valid']} were set aside for validation and {step['test']} for test"
        )
    elif writers == 1:
        what = f"{WRITTEN[step['makes']]} were planned, one of every original"
    else:
        what = f"{WRITTEN[step['makes']]} were planned, {writers} of every original"
    review = (
        "Each text was read before it could be used; one that was refused was asked for again."
        if step.get("review") == "staff"
        else "What kept the rules was accepted at once."
    )
    return (
        f"Writing. {what}; each participant was asked for {step['batch']}. {review} Assignment was "
        f"random (seed {seed})."
    )


def _one_rates(study: CampaignRecord) -> str:
    people = any(each["bot"] in ("", "people") for each in study.systems)
    if not people or not any(each.get("sides") == "one" for each in study.rates):
        return ""
    return " Of two people who talked with each other one, drawn at random, rated the other."


def _conversations(chat: Mapping[str, Any]) -> str:
    lengths = [str(each) for each in chat["minimum"]["options"]]
    least = " or ".join([", ".join(lengths[:-1]), lengths[-1]] if lengths[1:] else lengths)
    drawn = ", drawn for each conversation" if lengths[1:] else ""
    most = "" if chat.get("maximum") is None else f", and at most {chat['maximum']}"
    return (
        f"Conversations. People were told: “{chat['told']}” A conversation had at least {least} "
        f"messages of both sides{drawn}{most}."
    )


def _participants(study: CampaignRecord) -> Iterator[str]:
    pay, consent = study.plan.get("pay"), study.plan.get("consent")
    if pay:
        each, limit = conversations(study)
        offer = (
            f"were paid {pay['amount']} {pay['currency']} {each} about {pay['minutes']} minutes "
            f"({pay['hourly']} {pay['currency']} per hour)"
            if float(pay["amount"])
            else f"took part without pay, {each} about {pay['minutes']} minutes"
        )
        yield (
            f"Participants. People gave consent before they began and {offer}{limit}. How they "
            "were recruited is not recorded: [fill in]."
            + (f" Consent text: SHA-256 {consent['sha256']}." if consent else "")
        )


def conversations(study: CampaignRecord) -> tuple[str, str]:
    """Return what the pay is for, and how many conversations there may be where it is several."""
    most = int((study.chat or {}).get("conversations", 1))
    if most == 1:
        return "for", ""
    others = f", each of up to {most} with another system, in a balanced order"
    return "per conversation of", others


def _questions(study: CampaignRecord) -> str:
    sentences = " ".join(_question(each, step) for each, step in study.questions)
    return f"Questions. {sentences}" if sentences else "Questions. None are in the plan."


def _question(question: Mapping[str, Any], step: Mapping[str, Any]) -> str:
    when = " (while chatting)" if step.get("when") == "live" else ""
    gate = f", asked only if {opened_by(question)}" if question.get("only_if") else ""
    return f"{question['name']}{when}: “{question['text']}” ({scale(question)}{gate})."


def opened_by(question: Mapping[str, Any]) -> str:
    """Return the question, and the answers unless it is yes, that open a question of the plan."""
    gate = question.get("only_if")
    if not gate or isinstance(gate, str):
        return gate or ""
    values = " or ".join(map(str, gate["values"]))
    return str(gate["question"]) if gate["values"] == [1] else f"{gate['question']} is {values}"


def scale(question: Mapping[str, Any]) -> str:
    """Return what can be answered to a question of the plan, in the words of its kind."""
    return str(question["offer"]) if "offer" in question else _scale_of_fields(question)


def _scale_of_fields(question: Mapping[str, Any]) -> str:
    """Return the same for a plan frozen before kinds put it into words: a kind has its fields."""
    points = question.get("points")
    if points:
        first = int(question.get("first", 1))
        words = [f"{n} = {word}" for n, word in enumerate(points, start=first) if word]
        ends = f"{first} to {first + len(points) - 1}"
        return f"{ends}; {', '.join(words)}" if words else ends
    if "distractors" in question:
        others = "another" if question["distractors"] == 1 else f"{question['distractors']} others"
        return f"a choice between the partner's persona and {others}, at random"
    return "as stored" if set(question) - SHARED_FIELDS else "yes or no"


def _exclusions() -> str:
    return (
        "Exclusions. The results rest on current answers that are complete, of participations "
        "that count and conversations that ended as the protocol says, unless a reviewer set them "
        "aside with a reason; nothing is deleted. People who withdrew are not included. "
        "The flow of participants counts every loss."
    )


def _sample(ratings: RatingTable) -> str:
    raters, items, systems = (ratings[name].nunique() for name in ("rater", "item", "system"))
    return (
        f"Sample. {many(raters, 'rater')} gave {many(len(ratings), 'answer')} on "
        f"{many(items, 'item')} of {many(systems, 'system')}."
    )


def _analysis(results: pd.DataFrame, printed: Sequence[Section]) -> str:
    sentences = [text for _, text in analysis_sentences(results, printed)]
    return " ".join(["Analysis.", *sentences] if sentences else ["Analysis. No metric applies."])


def analysis_sentences(
    results: pd.DataFrame, printed: Sequence[Section]
) -> Iterator[tuple[str, str]]:
    """Yield each sentence on the analysis after the key of the printed table that it is of."""
    keys = [section.key for section in printed]
    ranked = [each for each in rankings(results) if f"ranking-{each.key}" in keys]
    yield from scored_by(ranked)
    paired = "compare" if "compare" in keys else _first(keys, "differences-")
    for sentence in compared(_in_pairs(ranked, keys)):
        yield paired, sentence
    for sentence in measured.sentences(results) if ranked else ():
        yield f"ranking-{ranked[0].key}", sentence
    for each in ranked:
        if LOST_MUCH in each.note:
            yield f"ranking-{each.key}", OF_LOSSES
            break
    for section in printed:
        if FOLLOWED in section.note:
            yield section.key, OF_LOOKS
            break
    known = set(results.loc[results["estimate"].notna(), "metric"])
    for name, (start, sentence) in SENTENCES.items():
        if name in known and (key := _first(keys, start)):
            yield key, sentence
    yield from _of_raters(results, keys)
    for section in printed:
        if section.key == "sensitivity":
            yield section.key, _choices(section)


def _in_pairs(ranked: Sequence[SystemRanking], keys: Sequence[str]) -> list[SystemRanking]:
    """Return the rankings whose pairs are printed."""
    return [each for each in ranked if "compare" in keys or f"differences-{each.key}" in keys]


def _first(keys: Sequence[str], start: str) -> str:
    """Return the first key that is this one, or begins with it where it ends in a hyphen."""
    is_of = (
        each for each in keys if each == start or (start[-1] == "-" and each.startswith(start))
    )
    return next(is_of, "")


def _of_raters(results: pd.DataFrame, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the sentence on ratings standardized per rater, with how many raters were dropped."""
    rows = results[(results["metric"] == "standardized_score") & (results["question"] == ALL)]
    for protocol, part in rows.groupby("protocol", sort=True):
        key = _first(keys, "standardized") or _first(keys, f"standardized-{protocol}")
        if key:
            raters, kept = (int(part[name].iloc[0]) for name in ("raters", "raters_kept"))
            control = part["control"].dropna()
            why = " or did not rate the control lower" if len(control) else ""
            dropped = (
                f"{raters - kept} of {many(raters, 'rater')} who judged several systems were "
                f"dropped, who had no spread{why}"
            )
            yield key, f"Ratings were also standardized per rater (Ji et al. 2022); {dropped}."


def _choices(sensitivity: Section) -> str:
    others = [str(each) for each in sensitivity.frame.columns[2:-2]]
    return (
        f"The highest system of each question was determined again by these choices: "
        f"{', '.join(others)}."
    )


def _software(study: CampaignRecord | None) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    collected = dict(study.plan.get("versions", {})) if study else {}
    with_ = ", ".join(f"{name} {number}" for name, number in sorted(collected.items()))
    started = f"Data were collected with {with_}. " if with_ else ""
    return f"Software. {started}Analysis: Python {platform.python_version()}, {packages}."


def shown(value: Any) -> str:
    """Return a setting's value as text."""
    if isinstance(value, list | tuple):
        return ", ".join(shown(each) for each in value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return str(value)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
