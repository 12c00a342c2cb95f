"""Events in sentences, and which event tends to cause which.

Source: the event-causality paper of NLP4CONVAI 2019: an event is a predicate and its arguments, and
its pool holds 420,000 pairs with their lift. The paper takes events from parses; here a verb is
what follows a subject (and its auxiliaries), its argument is the next word that is not a stop word,
and denials are not told from claims [our default]. The pairs that come with the package are a few
of our own; a file of one's own has cause, effect and lift in each line, separated by tabs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path

from bots.line_files import BadLine, InvalidData, read_lines
from bots.text.tokens import STOP, words

BUNDLED = Path(__file__).parents[1] / "datasets" / "text" / "event_pairs.tsv"
UNKNOWN_LIFT = 2.0  # so that log2 is 1 and a score is unchanged

_SUBJECTS = frozenset({"i", "you", "we", "they", "he", "she", "it", "who", "that"})
_LIGHT = """
am is are was were be been being have has had do does did will would can could shall should may
might must to just really also always often never not don't didn't doesn't won't can't couldn't i'm
you're we're they're he's she's it's i've you've we've they've i'll you'll
"""
_AUXILIARIES = frozenset(_LIGHT.split())
_CONTRACTED = ("i'm", "you're", "we're", "they're", "i've", "you've", "we've", "they've", "i'll")
_IRREGULAR = {
    **{"went": "go", "gone": "go", "got": "get", "gotten": "get", "made": "make", "ate": "eat"},
    **{"eaten": "eat", "took": "take", "taken": "take", "came": "come", "saw": "see"},
    **{"seen": "see", "found": "find", "lost": "lose", "felt": "feel", "fell": "fall"},
    **{"broke": "break", "broken": "break", "bought": "buy", "slept": "sleep", "ran": "run"},
    **{"met": "meet", "left": "leave", "kept": "keep", "told": "tell", "said": "say"},
    **{"won": "win", "caught": "catch", "taught": "teach", "thought": "think", "drank": "drink"},
}


@dataclass(frozen=True)
class PredicateEvent:
    """A predicate and its argument, both as base forms; the argument may be empty."""

    predicate: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.predicate} {self.argument}".strip()


def events(text: str) -> Iterator[PredicateEvent]:
    """Yield the events of a text in order."""
    tokens = words(text)
    for index, word in enumerate(tokens):
        if word in _SUBJECTS or word in _CONTRACTED:
            found = _event(tokens[index + 1 :])
            if found is not None:
                yield found


def _event(after: list[str]) -> PredicateEvent | None:
    rest = iter(after)
    verb = next((word for word in rest if word not in _AUXILIARIES), "")
    if not verb or (verb in STOP and base(verb) not in _IRREGULAR.values()):
        return None
    near = takewhile(lambda word: word not in _SUBJECTS, rest)
    argument = next((word for word in near if word not in STOP), "")
    return PredicateEvent(base(verb), base(argument))


def base(word: str) -> str:
    """Return a word without the endings of English verbs and plurals; a guess."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, instead in (("ies", "y"), ("ing", ""), ("ied", "y"), ("ed", ""), ("es", "e")):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            return _undoubled(stem + instead)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _undoubled(stem: str) -> str:
    doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] in "bdgmnprt"
    return stem[:-1] if doubled else stem.removesuffix("e") if stem.endswith("ee") else stem


Pairs = Mapping[tuple[str, str], float]


def read_pairs(path: Path) -> Pairs:
    """Read cause, effect and lift, a pair in each line; every bad line is named.

    Raises InvalidData.
    """
    found: dict[tuple[str, str], float] = {}
    problems = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            if line.strip():
                cause, effect, lift = _pair(line)
                found[cause, effect] = lift
        except BadLine as problem:
            problems.append(f"{path}, line {number}: {problem}")
    if problems:
        raise InvalidData(problems)
    return found


def _pair(line: str) -> tuple[str, str, float]:
    cells = line.split("\t")
    if len(cells) != 3 or not all(cell.strip() for cell in cells[:2]):
        raise BadLine(f"is {line!r}, but must be cause, TAB, effect, TAB, lift")
    try:
        lift = float(cells[2])
    except ValueError:
        lift = 0.0
    if not 1 < lift < float("inf"):
        raise BadLine(f"lift is {cells[2]!r}, but must be a number above 1")
    cause, effect = (" ".join(map(base, words(cell))) for cell in cells[:2])
    return cause, effect, lift


def mined(conversations: Iterable[Sequence[str]], window: int = 5, least: int = 2) -> Pairs:
    """Return pairs of an event and one of the reply to it that lift each other, with their lift.

    The lift of the pool: P(cause, effect) / (P(cause) P(effect)), here over messages and the
    up to `window` ones before each; pairs found at least so often and more than by chance.
    """
    causes: Counter[str] = Counter()
    effects: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    replies = 0
    for conversation in conversations:
        found = [{str(event) for event in events(text)} for text in conversation]
        for index in range(1, len(found)):
            before = set().union(*found[max(0, index - window) : index])
            replies += 1
            causes.update(before)
            effects.update(found[index])
            both.update((one, other) for one in before for other in found[index])
    lifts = {
        pair: times * replies / (causes[pair[0]] * effects[pair[1]])
        for pair, times in sorted(both.items())
        if times >= least
    }
    return {pair: lift for pair, lift in lifts.items() if lift > 1}


def write_pairs(found: Pairs, path: Path) -> None:
    """Write pairs as `read_pairs` reads them."""
    lines = (f"{cause}\t{effect}\t{lift:.6g}\n" for (cause, effect), lift in found.items())
    path.write_text("".join(lines), "utf-8")


@cache
def pairs(path: str) -> Pairs:
    """Return the pairs of a file, or those that come with the package."""
    return read_pairs(Path(path) if path else BUNDLED)
