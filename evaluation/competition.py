"""Competitions of systems: their rules, what a team submits, and what is refused (CA-P0).

Source: Dinan et al. 2019, The Second Conversational Intelligence Challenge, sections 2.2 to 2.6:
one submission a month in the automatic round, data and ensembling declared, further data only if
public, metrics of one's choice; the best by their smallest rank go on to people, whose round alone
decides the grand prize. Rules and submissions are data: each reads and writes as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any

METRICS = ("ppl", "hits@1", "F1")  # as the board prints them
LOWER_IS_BETTER = frozenset({"ppl"})
TEAM = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
BASELINE, PEOPLE = "baseline", "human"  # in names that reports do not rank
LONGEST = 60  # characters of a name
MOST_SOURCES = 50
ADVANCE, MOST_ADVANCING, LARGEST_NUMBER = 7, 19, 2**31 - 1
FEWEST_CANDIDATES, CANDIDATES, MOST_CANDIDATES = 2, 20, 1000


class InvalidEntry(ValueError):
    """Rules or a submission that cannot be taken: field to complaint."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = dict(problems)


@dataclass(frozen=True, kw_only=True)
class CompetitionRules:
    """Rules of a competition. opens, closes: first and last day of the automatic round.

    metrics: those a team may choose from. advance: how many teams go on to people (7 in the
    paper). baseline: the team that the others must beat in a metric. candidates: of hits@1.
    """

    opens: date
    closes: date
    baseline: str
    metrics: tuple[str, ...] = METRICS
    advance: int = ADVANCE
    candidates: int = CANDIDATES
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """Data that a system learned from. where: an address at which anybody can have it."""

    name: str
    public: bool
    where: str


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What a team submits: a bot with its options, and what it declares."""

    team: str
    bot: str
    options: Mapping[str, Any]
    metrics: tuple[str, ...]
    data: tuple[TrainingData, ...]
    ensemble: bool


def to_json(one: CompetitionRules | Submission) -> dict[str, Any]:
    """Return rules or a submission as JSON holds them."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(one), default=str))
    return found


def rules_of(content: object) -> CompetitionRules:
    """Return rules from JSON. Raises `InvalidEntry`, naming every field that is wrong."""
    read = _Fields(content, CompetitionRules)
    found = CompetitionRules(
        opens=read.take("opens", _day, needed=True),
        closes=read.take("closes", _day, needed=True),
        baseline=read.take("baseline", _team, needed=True),
        metrics=read.take("metrics", _metrics, METRICS),
        advance=read.take("advance", _whole(1, MOST_ADVANCING), ADVANCE),
        candidates=read.take("candidates", _whole(FEWEST_CANDIDATES, MOST_CANDIDATES), CANDIDATES),
        seed=read.take("seed", _whole(0, LARGEST_NUMBER), 0),
    )
    read.refuse()
    if found.closes < found.opens:
        complaint = f"is {found.closes}, before {found.opens}; write a later day"
        raise InvalidEntry({"closes": complaint})
    if BASELINE not in found.baseline:
        complaint = f"is {found.baseline!r}; reports know a baseline by that word in its name"
        raise InvalidEntry({"baseline": complaint})
    return found


def submission_of(content: object, rules: CompetitionRules) -> Submission:
    """Return a submission from JSON. Raises `InvalidEntry`, naming every field that is wrong."""
    read = _Fields(content, Submission)
    found = Submission(
        team=read.take("team", _team, needed=True),
        bot=read.take("bot", _text, needed=True),
        options=read.take("options", _options, {}),
        metrics=read.take("metrics", lambda raw: _chosen(raw, rules.metrics), needed=True),
        data=read.take("data", _data, needed=True),
        ensemble=read.take("ensemble", _yes_or_no, needed=True),
    )
    read.refuse()
    if found.team != rules.baseline and (BASELINE in found.team or found.team == PEOPLE):
        complaint = f"is {found.team!r}; reports would not rank it, so choose another name"
        raise InvalidEntry({"team": complaint})
    return found


def refusal(team: str, rules: CompetitionRules, earlier: Sequence[date], today: date) -> str | None:
    """Return why a team cannot submit today, or None. earlier: the days of its submissions.

    One a month: of the calendar, so the next can come on the first of another.
    """
    if not rules.opens <= today <= rules.closes:
        return f"the automatic round is from {rules.opens} to {rules.closes}, and it is {today}"
    if not _of_month(earlier, today):
        return None
    before = f"{team} submitted on {max(_of_month(earlier, today))}, and may do so once a month"
    following = next_day(rules, earlier, today)
    if following is None:
        return f"{before}; the round closes on {rules.closes}"
    return f"{before}; the next submission is possible from {following}"


def next_day(rules: CompetitionRules, earlier: Sequence[date], today: date) -> date | None:
    """Return the first day, from today on, of a next submission; None where the round ends first.

    earlier: the days of the team's submissions.
    """
    first = _next_month(today) if _of_month(earlier, today) else today
    first = max(first, rules.opens)
    return first if first <= rules.closes else None


def _of_month(days: Sequence[date], today: date) -> list[date]:
    return [day for day in days if (day.year, day.month) == (today.year, today.month)]


def beats(scores: Mapping[str, float], baseline: Mapping[str, float]) -> bool:
    """Tell whether a team is better than the baseline in a metric that both have."""
    return any(
        score < baseline[name] if name in LOWER_IS_BETTER else score > baseline[name]
        for name, score in scores.items()
        if name in baseline
    )


def _next_month(today: date) -> date:
    after_december = today.month == 12
    return date(today.year + after_december, 1 if after_december else today.month + 1, 1)


# --- one field after another ----------------------------------------------------------------------


class _Wrong(ValueError):
    """A value that a field cannot have; the text says what would be right."""


class _Fields:
    """Fields of a JSON object; complaints are collected, and raised together."""

    def __init__(self, content: object, of: type) -> None:
        if not isinstance(content, dict):
            raise InvalidEntry({"file": "holds no JSON object"})
        self._content: dict[str, Any] = content
        known = [field.name for field in fields(of)]
        self._problems = {
            str(name): f"is no field; the fields are {', '.join(known)}"
            for name in content
            if name not in known
        }

    def take(
        self,
        name: str,
        read: Callable[[Any], Any],
        otherwise: Any = None,
        *,
        needed: bool = False,
    ) -> Any:
        """Return a field's value; one that is wrong is remembered."""
        if name not in self._content:
            if needed:
                self._problems[name] = "is missing"
            return otherwise
        try:
            return read(self._content[name])
        except _Wrong as problem:
            value = self._content[name]
            is_short = not isinstance(value, list | dict)
            self._problems[name] = (
                f"is {str(value)[:100]!r}; {problem}" if is_short else str(problem)
            )
            return otherwise

    def refuse(self) -> None:
        if self._problems:
            raise InvalidEntry(self._problems)


def _day(raw: Any) -> date:
    try:
        return date.fromisoformat(raw)
    except (TypeError, ValueError):
        raise _Wrong("write a day such as 2018-04-21") from None


def _team(raw: Any) -> str:
    if not isinstance(raw, str) or len(raw) > LONGEST or not TEAM.fullmatch(raw):
        raise _Wrong("write small letters, digits and hyphens, such as team-1")
    return raw


def _text(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise _Wrong("write a text")
    return raw.strip()


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(raw: Any) -> int:
        if type(raw) is not int or not least <= raw <= most:
            raise _Wrong(f"write a whole number from {least} to {most}")
        return raw

    return read


def _yes_or_no(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise _Wrong("write true or false")
    return raw


def _metrics(raw: Any) -> tuple[str, ...]:
    return _chosen(raw, METRICS)


def _chosen(raw: Any, known: Sequence[str]) -> tuple[str, ...]:
    is_list = isinstance(raw, list) and bool(raw) and all(isinstance(each, str) for each in raw)
    if not is_list or not set(raw) <= set(known) or len(set(raw)) < len(raw):
        raise _Wrong(f"list one or more of {', '.join(known)}, each once")
    return tuple(raw)


def _options(raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise _Wrong("write an object of options")
    return raw


def _data(raw: Any) -> tuple[TrainingData, ...]:
    """Return what a system learned from: at least one source, all of them public."""
    if not isinstance(raw, list) or not 1 <= len(raw) <= MOST_SOURCES:
        raise _Wrong("list all that the system learned from, each with name, public and where")
    return tuple(map(_one_source, raw))


def _one_source(raw: Any) -> TrainingData:
    names = {"name", "public", "where"}
    if not isinstance(raw, dict) or set(raw) != names or not isinstance(raw["public"], bool):
        raise _Wrong("each source has a name, public (true or false), and where it can be had")
    if not raw["public"]:
        raise _Wrong(f"{raw['name']} is not public; only public data may be learned from")
    return TrainingData(name=_text(raw["name"]), public=True, where=_text(raw["where"]))
