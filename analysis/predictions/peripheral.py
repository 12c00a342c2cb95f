"""Metrics of the proceedings' tasks that are not open-domain chat: small functions of plain values.

`python -m analysis tasks` computes them for a file (`analysis/predictions/tasks.py`). Apart because
each is its paper's formula, whatever a file looks like.

Reading comprehension (CoQA, Reddy et al. 2019; QuAC, Choi et al. 2018), mention ranking and
referring expressions (POSNet, 2019), dialogue state tracking (energy-based DST, 2019) and slot
carryover (2019), all in NLP4CONVAI or cited there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from analysis.text.overlap import harmonic, word_f1


@dataclass(frozen=True)
class Scores:
    """Precision, recall and F1; 0 where there is nothing to divide by."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Carried:
    """A slot that may be carried into the current turn, from `distance` turns ago."""

    distance: int
    gold: bool
    predicted: bool


def answer_f1(answer: str, golds: Sequence[str]) -> float:
    """Return QuAC's word F1 of an answer: the best over several human answers."""
    return word_f1(answer, golds)


def left_out_f1(answer: str, golds: Sequence[str]) -> float:
    """Return CoQA's: with several human answers, the mean over leaving each of them out.

    A person's answer is compared with the others' only, so this is what compares with people.
    """
    if len(golds) < 2:
        return word_f1(answer, golds)
    rest = [[gold for k, gold in enumerate(golds) if k != left] for left in range(len(golds))]
    return sum(word_f1(answer, others) for others in rest) / len(rest)


def human_f1(golds: Sequence[str]) -> float | None:
    """Return people's F1 of a question: the mean over each answer's best F1 with the others'.

    None where there is one answer only, which has nobody to be compared with.
    """
    if len(golds) < 2:
        return None
    others = [[gold for k, gold in enumerate(golds) if k != left] for left in range(len(golds))]
    pairs = zip(golds, others, strict=True)
    return sum(word_f1(answer, rest) for answer, rest in pairs) / len(golds)


def heq(dialogues: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """Return HEQ-Q and HEQ-D from each question's F1 of the system and of people.

    The share of questions, and of dialogues with all their questions, where the system is not
    below people.

    Raises:
        ValueError: there are no questions.
    """
    reached = [[system >= human for system, human in questions] for questions in dialogues]
    count = sum(map(len, reached))
    if not count:
        raise ValueError("dialogues have no questions; HEQ needs at least one")
    return sum(map(sum, reached)) / count, sum(map(all, reached)) / len(reached)


def precision_at(ranked: Sequence[Sequence[Hashable]], gold: Sequence[Hashable], k: int) -> float:
    """Return P@k of mention ranking: the share of cases whose gold is among the first k.

    Raises:
        ValueError: there are no cases.
    """
    cases = list(zip(ranked, gold, strict=True))
    if not cases:
        raise ValueError("ranked has no cases; P@k needs at least one")
    return sum(right in order[:k] for order, right in cases) / len(cases)


def joint_goal_accuracy(
    predicted: Sequence[Mapping[str, str]], gold: Sequence[Mapping[str, str]]
) -> float:
    """Return the share of turns whose whole state, every slot with its value, is right.

    Raises:
        ValueError: there are no turns.
    """
    turns = list(zip(predicted, gold, strict=True))
    if not turns:
        raise ValueError("predicted has no turns; joint goal accuracy needs at least one")
    return sum(dict(state) == dict(true) for state, true in turns) / len(turns)


def carryover_f1(slots: Iterable[Carried], last: int = 3) -> dict[str, float]:
    """Return F1 of carried slots by distance, all from `last` on together, and of all."""
    by_distance: dict[str, list[Carried]] = defaultdict(list)
    for slot in slots:
        name = f"{last}+" if slot.distance >= last else str(slot.distance)
        by_distance[name].append(slot)
        by_distance["all"].append(slot)
    return {name: _of_slots(found).f1 for name, found in sorted(by_distance.items())}


def expression_scores(
    predicted: Sequence[AbstractSet[Hashable]], gold: Sequence[AbstractSet[Hashable]]
) -> Scores:
    """Return P, R and F1 of referring expressions, averaged over sentences.

    A sentence in which there are none and none are found counts as right.

    Raises:
        ValueError: there are no sentences.
    """
    pairs = list(zip(predicted, gold, strict=True))
    if not pairs:
        raise ValueError("predicted has no sentences; scores need at least one")
    each = [_of_sets(found, true) for found, true in pairs]
    return Scores(
        precision=sum(one.precision for one in each) / len(each),
        recall=sum(one.recall for one in each) / len(each),
        f1=sum(one.f1 for one in each) / len(each),
    )


def _of_sets(found: AbstractSet[Hashable], true: AbstractSet[Hashable]) -> Scores:
    if not found and not true:
        return Scores(1.0, 1.0, 1.0)
    return _scores(len(found & true), len(found), len(true))


def _of_slots(slots: Sequence[Carried]) -> Scores:
    right = sum(slot.gold and slot.predicted for slot in slots)
    return _scores(right, sum(s.predicted for s in slots), sum(s.gold for s in slots))


def _scores(right: int, found: int, true: int) -> Scores:
    precision = right / found if found else 0.0
    recall = right / true if true else 0.0
    return Scores(precision, recall, harmonic(precision, recall))
