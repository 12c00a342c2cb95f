"""Row of the boards of DSTC7: entrants on several subtasks, and the paper's two tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis import get_report, read
from bots import Ranker, Trainable, Utterance, make_bot
from bots.commands import entry
from bots.datasets import dstc7
from bots.datasets.dstc7 import CandidateSet
from bots.line_files import write_records
from tests.acceptance.shell import Shell, Shown, slow
from tests.bots.examples import demo

LIMIT = 60
CHANCE = (10 / 100 + sum(1 / k for k in range(1, 101)) / 100) / 2  # of the track score, 100 offered
HELD = ("valid", "test")
PARTS = {"Demo 1 initial": ("train",), "Demo 1": HELD, "Demo 3": HELD, "Demo 4": HELD}


@dataclass
class Entrant:
    """A ranker that notes what it is shown; `sign` -1 puts the best last."""

    inner: Ranker
    sign: int = 1
    seen: list[str] = field(default_factory=list)

    def rank(
        self, persona: Sequence[str], history: Sequence[Utterance], candidates: Sequence[str]
    ) -> list[float]:
        """Return the scores of the ranker inside."""
        self.seen += [*persona, *(turn.text for turn in history)]
        return [self.sign * float(x) for x in self.inner.rank(persona, history, candidates)]


def sets(name: str) -> list[CandidateSet]:
    """Return 100 candidates per message, as the subtask has them."""
    about = {"Demo 3": {"paraphrases": _Paraphrases()}, "Demo 4": {"none_share": 0.2}}
    given = [each for part in PARTS[name] for each in demo(part)]
    both = [each for dialogue in given for each in (dialogue, dialogue.swapped())]
    return dstc7.build(both, seed=1, **about.get(name, {}))[:LIMIT]  # type: ignore[arg-type]


class _Paraphrases(dict[str, Sequence[str]]):
    def get(self, reply: str, default: object = ()) -> Sequence[str]:
        return (f"Well, {reply[:1].lower()}{reply[1:]}",)


def entered(system: str, ranker: Entrant, name: str) -> Iterator[dict[str, Any]]:
    """Yield the predictions of an entrant, who never says that there is no right one."""
    found = sets(name)
    scores = [
        [*(given := ranker.rank(each.persona, each.messages, each.candidates)), min(given) - 1]
        for each in found
    ]
    yield from (
        {**row, "prediction": f"{name}:{row['prediction']}"}
        for row in dstc7.rows(found, scores, system, name)
    )


def entrants() -> dict[str, tuple[Entrant, tuple[str, ...]]]:
    """Return who enters, with the sets: two that learned, one by lot, and one turned over."""
    found = {name: (Entrant(_ranker(name)), tuple(PARTS)) for name in ("tfidf", "bm25")}
    lot = (Entrant(_ranker("random_candidate")), tuple(PARTS)[:3])
    return {**found, "lot": lot, "turned over": (Entrant(found["tfidf"][0].inner, -1), ("Demo 1",))}


def _ranker(name: str) -> Ranker:
    made = make_bot(name)
    if isinstance(made, Trainable):
        made.train(demo("train"), seed=1)
    assert isinstance(made, Ranker)
    return made


@slow
def a_dstc7(shell: Shell) -> Shown:
    known = entrants()
    rows = [
        row
        for system, (ranker, names) in known.items()
        for name in names
        for row in entered(system, ranker, name)
    ]
    file = shell.folder / "dstc7.jsonl"
    write_records(rows, file)
    text = shell.analysis(str(file), "--report", "dstc7_boards")
    table = read(file).predictions
    report = get_report("dstc7_boards")(table)
    own, versions, scores, ours, slips, printed = (each.frame for each in report.sections)
    got = scores[scores["dataset"] == "Demo 1"].set_index("system")
    floor = got["low"]["tfidf"] > CHANCE > got["low"]["lot"] and got["high"]["lot"] > CHANCE
    mutated = got["high"]["turned over"] < CHANCE
    order, wanted = ours["team"].tolist(), printed["team"].tolist()
    at = wanted.index(11)
    wanted[at : at + 2] = [12, 11]
    named = slips["data and team"].tolist()
    hidden, told = _unread(shell, known["tfidf"][0])
    result = f"20 teams in the printed order but 12 before 11: {order == wanted}; not table 3's: "
    result += f"{', '.join(named)}; own board {', '.join(own['team'])}; subtask 1 "
    result += ", ".join(
        f"{name} {row['estimate']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        for name, row in got.iterrows()
    )
    result += f" (chance {CHANCE:.3f}); {len(versions)} scores on both test sets; {told}"
    holds = order == wanted and named == ["Ubuntu 5", "Ubuntu 20"] and floor and mutated and hidden
    holds = holds and own["team"].iloc[-1] == "turned over" and "As printed" in text
    return shell.shown(holds and len(versions) == 3, result)


def _unread(shell: Shell, entrant: Entrant) -> tuple[bool, str]:
    """Tell whether an entrant got no right answer, and running one hidden prints nothing of it."""
    right = {text for name in PARTS for each in sets(name) for text in each.right}
    before = {turn.text for name in PARTS for each in sets(name) for turn in each.messages}
    leaked = len(set(entrant.seen) & (right - before))
    asked: dict[str, object] = {
        "bot": "tfidf",
        "team": "tfidf",
        "options": {"weights": shell.weights("tfidf")},
    }
    asked |= {
        "metrics": [entry.HITS],
        "data": ["demo:valid", "demo:test"],
        "dictionary": ["demo:train"],
    }
    asked |= {"candidates": 100, "seed": 1, "out": shell.path("entered.jsonl")}
    said = shell.apart("bots", "enter", shell.written("entry.json", json.dumps(asked)))
    scored = len(shell.records("entered.jsonl"))
    told = f"{leaked} right answers shown to entrants; an entry scored on {scored} hidden messages"
    return not leaked and not said and bool(scored), f"{told} prints {said or 'nothing'}"
