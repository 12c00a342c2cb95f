"""Checks before the work in simulated campaigns: what is planted of who fails, and what came back.

`--admission` adds a screening, a quiz and, where replies are judged, an onboarding to any protocol;
one that has some of them is simulated with its own.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from scipy.stats import binomtest

from evaluation import (
    Gate,
    KnownAnswer,
    Onboarding,
    Preference,
    Protocol,
    Question,
    Quiz,
    Screening,
    YesNo,
)
from webapp.crowd.people import Mix, Quality, draw_people

FITS = 0.75  # the share of people who have what a question of a screening asks for
UNDERSTANDS = 0.8  # the chance of a right answer to a question of a quiz, at each try
CARELESS = 0.4  # the share of raters who answer by chance, where there is an onboarding
EXPERT, NOVICE = "expert", "novice"  # whose replies are known to differ
MOST_WRONG = 0.1  # of careful raters whom an onboarding may drop, and of careless ones it may miss
UNLIKELY = 0.001  # of a count that the planted share would hardly bring

OWN = YesNo(name="has_time", text="Do you have half an hour?")
UNDERSTOOD = YesNo(name="may_stop", text="May you stop at any time?")


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """What the crowd noted before the work, and what the export has of it."""

    rows: Sequence[Mapping[str, str]] = ()  # of admission.csv
    tries: Sequence[Mapping[str, str]] = ()  # answers that the server took, by field
    pages: Mapping[str, int] = dataclasses.field(default_factory=dict)  # rated, by person


def with_admission(protocol: Protocol) -> Protocol:
    """Return the protocol with everything before the work that it has not."""
    before: list[Any] = []
    if protocol.screening is None:
        before.append(Screening(questions=(OWN,), passes=(Gate(OWN.name),)))
    if protocol.quiz is None:
        answer = KnownAnswer(UNDERSTOOD.name, (1,), "You may: the button is on every page.")
        before.append(Quiz(questions=(UNDERSTOOD,), answers=(answer,)))
    judges = protocol.after is not None and protocol.after.over == "contexts"
    if judges and protocol.onboarding is None:
        before.append(Onboarding(items=4, share=0.75))
    return dataclasses.replace(protocol, steps=(*before, *protocol.steps))


def mix_of(protocol: Protocol, mix: Mix) -> Mix:
    """Return how people differ: with an onboarding some of them are careless."""
    return dataclasses.replace(mix, spam=CARELESS) if protocol.onboarding else mix


def planted_before(protocol: Protocol) -> dict[str, Quality]:
    """Return the chance of each answer that passes, and the quality of replies of known answers."""
    share = {"screening": FITS, "quiz": UNDERSTANDS}
    chances: Quality = {
        f"{step.prefix}.{question.name}": share[step.prefix]
        for step in protocol.admissions
        for question in step.questions
    }
    asked = protocol.after.questions if protocol.after and protocol.onboarding else ()
    known: dict[str, Quality] = {
        system: {question.name: _quality(question, high) for question in asked}
        for system, high in ((EXPERT, 1.0), (NOVICE, 0.0))
    }
    return {"admission": chances} | (known if asked else {})


def known_contexts(protocol: Protocol) -> Iterator[dict[str, Any]]:
    """Yield contexts with known answers, twice as many as a rater gets of them."""
    rate, onboarding = protocol.after, protocol.onboarding
    for number in range(2 * onboarding.items if rate and onboarding else 0):
        assert rate is not None
        names = (EXPERT, NOVICE) if rate.show != "one" else ((EXPERT, NOVICE)[number % 2],)
        yield {
            "id": f"known{number}",
            "messages": [f"Statement {number} is known."] * max(1, rate.messages[0]),
            "replies": {name: f"Known reply {number}.{names.index(name)}." for name in names},
            "known": dict(_known(rate.questions, names)),
        }


def _known(questions: Sequence[Question], names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for question in questions:
        if question.compares:
            yield question.name, EXPERT
        elif question.scale is not None and question.is_scale:
            low, high = question.scale
            middle = (low + high) / 2
            points = {EXPERT: (middle, high), NOVICE: (low, middle)}
            yield question.name, {name: _between(question, *points[name]) for name in names}


def _between(question: Question, low: float, high: float) -> list[int]:
    return [n for n in range(round(low), round(high) + 1) if low <= n <= high and question.gives(n)]


def _quality(question: Question, share: float) -> float:
    if not question.is_scale or question.scale is None:
        return share
    low, high = question.scale
    return low + share * (high - low)


# --- what came back -----------------------------------------------------------------------------


def read(
    rows: Sequence[Mapping[str, str]], notes: Sequence[Mapping[str, Any]], protocol: Protocol
) -> Admitted:
    """Return what the crowd noted and what the export has."""
    done = {(note["person"], note["id"]) for note in notes if note["what"] == "ok"}
    steps = tuple(f"{step.prefix}-" for step in protocol.admissions)
    tries = {
        (note["person"], note["id"]): note["answers"]
        for note in notes
        if note["what"] == "invoke" and str(note["id"]).startswith(steps or ("\0",))
    }
    rated = Counter(person for person, what in done if str(what).startswith("rate "))
    return Admitted(
        rows=rows, tries=[given for key, given in tries.items() if key in done], pages=rated
    )


def not_admitted(outcomes: Sequence[str]) -> int:
    """Count the people who did not get to the work, or not through it, by a check."""
    return sum(outcome in ("SCREENED_OUT", "CHECK_FAILED", "ONBOARDING") for outcome in outcomes)


def problems(protocol: Protocol, found: Admitted, outcomes: Sequence[str]) -> Iterator[str]:
    """Yield in what the people who failed are not those planted, as sentences."""
    if protocol.admissions:
        yield from _of_tries(found)
    if protocol.screening:
        share = FITS ** len(protocol.screening.passes)
        yield from _of_share("screening", outcomes.count("SCREENED_OUT"), len(outcomes), 1 - share)
    if protocol.quiz:
        wrong = 1 - UNDERSTANDS ** len(protocol.quiz.questions)
        came = len(outcomes) - outcomes.count("SCREENED_OUT")
        failed = wrong**protocol.quiz.tries
        yield from _of_share("quiz", outcomes.count("CHECK_FAILED"), came, failed)
    if protocol.onboarding:
        yield from _of_onboarding(protocol, protocol.onboarding, found, outcomes)


def _of_tries(found: Admitted) -> Iterator[str]:
    """Compare each answer that was sent with the export."""
    stored = Counter((f"{row['step']}.{row['question']}", row["value"]) for row in found.rows)
    sent = Counter(pair for given in found.tries for pair in given.items())
    if not sent or stored != sent:
        yield f"admission: people sent {sent.total()} answers, the export has {stored.total()}"


def _of_share(name: str, failed: int, people: int, share: float) -> Iterator[str]:
    if not people or binomtest(failed, people, share).pvalue < UNLIKELY:
        yield f"{name}: {failed} of {people} failed where a share of {share:.2f} was planted"


def _of_onboarding(
    protocol: Protocol, onboarding: Onboarding, found: Admitted, outcomes: Sequence[str]
) -> Iterator[str]:
    """Compare who was dropped with who is careless."""
    careless = {name for name in found.pages if is_careless(name)}
    careful = set(found.pages) - careless
    dropped = {name for name, pages in found.pages.items() if pages == onboarding.items}
    if len(dropped) != outcomes.count("ONBOARDING"):
        count = outcomes.count("ONBOARDING")
        yield f"onboarding: {len(dropped)} people were stopped by it, the export has {count}"
    missed, lucky = len(careless - dropped), _lucky(protocol, onboarding)
    is_odd = lucky < MOST_WRONG or binomtest(missed, len(careless) or 1, lucky).pvalue < UNLIKELY
    if not careless or (missed > MOST_WRONG * len(careless) and is_odd):
        yield f"onboarding: {len(careless & dropped)} of {len(careless)} careless raters dropped"
    if not careful or len(careful & dropped) > MOST_WRONG * len(careful):
        yield f"onboarding: {len(careful & dropped)} of {len(careful)} careful raters dropped"


def _lucky(protocol: Protocol, onboarding: Onboarding) -> float:
    """Return the chance to pass by guessing which of two is better; 0 where more is asked."""
    asked = (
        [one for one in protocol.after.questions if one.level != "text"] if protocol.after else []
    )
    right = 1.0
    for question in asked:
        right *= 1 / (2 + len(question.ties)) if isinstance(question, Preference) else 0.0
    counts = range(onboarding.items + 1)
    return sum(
        comb(onboarding.items, n) * right**n * (1 - right) ** (onboarding.items - n)
        for n in counts
        if onboarding.passes(n, onboarding.items)
    )


def is_careless(name: str) -> bool:
    """Tell whether a person of the crowd answers by chance, which follows from their name."""
    prefix, seed, number = name.split("-")
    drawn = draw_people(int(number) + 1, seed=int(seed), mix=Mix(spam=CARELESS), prefix=prefix)
    return drawn[-1].spammer
