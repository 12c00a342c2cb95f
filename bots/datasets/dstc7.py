"""Candidate sets of 100 replies, also with several right ones or none: DSTC7, track 1.

Source: Gunasekara et al. 2019 (NLP4CONVAI) and the released files: a JSON list of {"example-id",
"messages-so-far": [{"speaker", "utterance"}], "options-for-next": [{"candidate-id", "utterance"}],
"options-for-correct-answers": [...]}. Subtask 3 has the paraphrases of the reply among the right
ones, subtask 4 sets with no right one; then the right answer is `NONE`. `build` makes such sets out
of any dialogues. Read as a dialogue, the first right reply comes last, with its candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bots.dialogue import Dialogue, Example, Utterance, examples
from bots.line_files import BadLine, InvalidData, objects_of, read_listed, text_of
from bots.text.tokens import normalize_answer

NONE = "(none)"
TRIES = 1000


@dataclass(frozen=True)
class CandidateSet:
    """Candidates after some messages; `right` is empty where none of them is right."""

    id: str
    messages: tuple[Utterance, ...]
    candidates: tuple[str, ...]
    right: tuple[str, ...]
    persona: tuple[str, ...] = ()

    @property
    def gold(self) -> tuple[str, ...]:
        """The right answers: candidates, or that there is none."""
        return self.right or (NONE,)

    @property
    def choices(self) -> tuple[str, ...]:
        """The candidates, and that none of them is right."""
        return (*self.candidates, NONE)


def read(source: str) -> list[Dialogue]:
    """Read the file at this path; a set without a right candidate ends before the reply."""
    return [_dialogue(each) for each in read_sets(source)]


def read_sets(source: str) -> list[CandidateSet]:
    """Read the file at this path as it is."""
    return read_listed(Path(source), _set)


def build(
    dialogues: Sequence[Dialogue],
    *,
    seed: int,
    size: int = 100,
    none_share: float = 0.0,
    paraphrases: Mapping[str, Sequence[str]] | None = None,
) -> list[CandidateSet]:
    """Return a set for each of one's own messages that answers another.

    The others are drawn from other dialogues; nothing in a set says the same as a right reply.
    A share of the sets, drawn by lot, is left without the right one. `paraphrases` are other ways
    to say a reply, which are right too.
    """
    found = list(examples(dialogues, "self"))
    replies = {normalize_answer(each.reply): (each.dialogue, each.reply) for each in found}
    _enough(len(replies), size)
    chance = Random(seed)  # noqa: S311
    others = paraphrases or {}
    return [_built(each, replies, size, none_share, others, chance) for each in found]


def build_at(
    found: Mapping[Example, Sequence[str]],
    dialogues: Iterable[Dialogue],
    *,
    seed: int,
    size: int = 100,
) -> list[CandidateSet]:
    """Return a set for each example; its reply is right, and so are the paraphrases beside it.

    The others are messages of other dialogues, and none says the same as a right one. Where these
    are too few a set is smaller; without any there is none.
    """
    messages = {
        normalize_answer(turn.text): (each.id, turn.text)
        for each in dialogues
        for turn in each.turns
    }
    chance = Random(seed)  # noqa: S311
    sets = (
        _set_at(each, (each.reply, *more), messages, size, chance) for each, more in found.items()
    )
    return [each for each in sets if each is not None]


def _set_at(
    example: Example,
    texts: Sequence[str],
    messages: Mapping[str, tuple[str, str]],
    size: int,
    chance: Random,
) -> CandidateSet | None:
    right = {normalize_answer(text): text for text in reversed(texts)}
    others = [
        text
        for answer, (dialogue, text) in messages.items()
        if dialogue != example.dialogue and answer not in right
    ]
    if not others:
        return None
    right_ones = [text for text in dict.fromkeys(texts) if text in right.values()]
    drawn = chance.sample(others, min(len(others), max(1, size - len(right))))
    order = chance.sample([*right_ones, *drawn], len(right_ones) + len(drawn))
    return CandidateSet(
        example.id, example.history, tuple(order), tuple(right_ones), example.persona
    )


def _enough(replies: int, size: int) -> None:
    if replies < size:
        raise InvalidData(
            [f"dialogues have {replies} different replies, but sets of {size} need as many"]
        )


def _built(
    example: Example,
    replies: Mapping[str, tuple[str, str]],
    size: int,
    none_share: float,
    paraphrases: Mapping[str, Sequence[str]],
    chance: Random,
) -> CandidateSet:
    right = tuple(dict.fromkeys((example.reply, *paraphrases.get(example.reply, ()))))
    offered = {normalize_answer(text): text for text in right}
    own, known = set(offered), list(replies.values())
    absent = chance.random() < none_share
    wanted = size + len(own) if absent else size
    for _ in range(TRIES * size):
        if len(offered) >= wanted:
            break
        dialogue, text = chance.choice(known)
        if dialogue != example.dialogue:
            offered.setdefault(normalize_answer(text), text)
    if len(offered) < wanted:
        raise InvalidData([f"example {example.id}: other dialogues have too few replies"])
    listed = [text for answer, text in offered.items() if not (absent and answer in own)]
    order = tuple(chance.sample(listed, size))
    return CandidateSet(
        example.id, example.history, order, () if absent else right, example.persona
    )


def _dialogue(found: CandidateSet) -> Dialogue:
    turns = found.messages
    if found.right:
        turns = (*turns, Utterance("self", found.right[0], found.candidates))
    return Dialogue(found.id, turns, found.persona)


def _set(record: Mapping[str, Any]) -> CandidateSet:
    messages = [
        (text_of(each, "speaker"), text_of(each, "utterance"))
        for each in objects_of(record, "messages-so-far")
    ]
    if not messages:
        raise BadLine("messages-so-far is empty, but must be a list of messages")
    offered = _options(record, "options-for-next")
    right = _options(record, "options-for-correct-answers")
    missing = set(right) - set(offered)
    if missing:
        raise BadLine(f"candidate {min(missing)!r} is right, but not among options-for-next")
    own = _own_side([speaker for speaker, _ in messages])
    turns = (Utterance("self" if who == own else "partner", text) for who, text in messages)
    name = record.get("example-id")
    if not isinstance(name, int | str) or isinstance(name, bool) or name == "":
        raise BadLine(f"example-id is {name!r}, but must be a number or a name")
    return CandidateSet(str(name), tuple(turns), tuple(offered.values()), tuple(right.values()))


def _own_side(speakers: Sequence[str]) -> str:
    """Return the answering speaker: participant_2 or the advisor, else who did not speak last."""
    for name in ("participant_2", "advisor"):
        if name in speakers:
            return name
    others = [who for who in speakers if who != speakers[-1]]
    return others[-1] if others else ""


def _options(record: Mapping[str, Any], field: str) -> dict[str, str]:
    return {
        text_of(each, "candidate-id"): text_of(each, "utterance")
        for each in objects_of(record, field)
    }


def record(found: CandidateSet) -> dict[str, Any]:
    """Return a set as the released files have it; who answers is participant_2."""
    speakers = {"self": "participant_2", "partner": "participant_1"}
    options = [
        {"candidate-id": f"{found.id}-{number}", "utterance": text}
        for number, text in enumerate(found.candidates)
    ]
    return {
        "example-id": found.id,
        "messages-so-far": [
            {"speaker": speakers[turn.speaker], "utterance": turn.text} for turn in found.messages
        ],
        "options-for-next": options,
        "options-for-correct-answers": [o for o in options if o["utterance"] in found.right],
    }


def rows(
    found: Iterable[CandidateSet], scores: Iterable[Sequence[float]], system: str, dataset: str
) -> Iterator[dict[str, Any]]:
    """Yield rows of a PredictionTable, given a score for each of a set's choices, NONE last."""
    for index, (each, row) in enumerate(zip(found, scores, strict=True)):
        best = max(range(len(each.choices)), key=list(row).__getitem__)
        yield {
            "prediction": f"{system}:{index}",
            "system": system,
            "dataset": dataset,
            "example": each.id,
            "context": [turn.text for turn in each.messages],
            "gold": list(each.gold),
            "response": each.choices[best],
            "candidates": list(each.choices),
            "scores": list(row),
            "log_probs": None,
        }
