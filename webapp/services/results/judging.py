"""A judge model as a rater: asked the protocol's questions of an export's items, by a chat server.

Its table has the columns of people's ratings, several answers an item, and is a file of its own:
`python -m analysis judge EXPORT --scores TABLE` reads both. What is shown together is shown in
both orders (Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", section
3.4, name the position bias and the swap). Every request and every raw answer is kept, so that a
run that was stopped goes on, and nothing is paid twice.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from analysis.stats.intervals import Interval, t_interval
from bots import Background, Reply, SeededHistory, Turn, Utterance, make_bot
from bots.bot import BatchBot
from evaluation import Protocol, Rate
from evaluation.serialized import digest
from webapp.services.replies import model_keys
from webapp.services.results import judge_prompts
from webapp.services.results.judge_items import JudgeExport, JudgeItem

AT_ONCE = 64  # calls between two looks at the tokens used
TABLE, CALLS, ABOUT = "ratings.csv", "calls.jsonl", "judge.json"
FREE = ("prompt_price", "reply_price", "tries", "seconds", "at_once")  # change no answer
ORDER = "order"  # of a row's page; in no column
COLUMNS = (
    *("campaign", "protocol", "question", "level", "item", "system", "rater", "value", "chosen"),
    *("place", "scale_low", "scale_high", "better", "conversation", "message_seq", "sample"),
)
Call = dict[str, Any]


class JudgeStopped(ValueError):
    """A run that cannot be begun or gone on with; the text says why."""


@dataclass(frozen=True)
class JudgeModel:
    """A judge: its name as a rater, options of `chat_server`, and how often it is asked an item."""

    name: str
    options: Mapping[str, object]
    samples: int = 2
    seed: int = 0


@dataclass(frozen=True)
class PositionBias:
    """How often what stood first beat another, over both orders; half without a bias.

    interval: of the share; none of one item. contradicted: the share of items and questions for
    which the orders have other winners; none where no item was judged in both.
    """

    share: float
    interval: Interval | None
    items: int
    contradicted: float | None

    @property
    def is_shown(self) -> bool:
        """Whether half lies outside the interval."""
        return self.interval is not None and not self.interval.low <= 0.5 <= self.interval.high


@dataclass(frozen=True)
class JudgeRun:
    """What came of a run so far."""

    calls: int
    left: int
    failed: Mapping[str, int]
    unusable: Mapping[str, int]
    tokens: Mapping[str, int]
    cost: float | None
    bias: PositionBias | None
    answers: int  # rows of the table
    steady: float | None  # share of answers that are the most frequent one of their item
    skipped: Sequence[str]


def run(export: JudgeExport, judge: JudgeModel, out: Path, *, most_tokens: int = 0) -> JudgeRun:
    """Ask what is not answered yet, write the table, and return what came of it.

    It stops where as many tokens are used; 0 is no limit. Raises JudgeStopped where the folder is
    of another run, or nothing can be asked.
    """
    steps = [judge_prompts.askable_of(rate) for rate in export.protocol.rates]
    items = [item for item in export.items if steps[item.step] is not None]
    if not items:
        raise JudgeStopped("no question of this protocol can be asked of a model")
    _begin(out, export, judge)
    done = _done(out / CALLS)
    wanted = [call for item in items for call in _calls(item, judge.samples)]
    waiting = [call for call in wanted if _key(call) not in done]
    by_key = {(item.step, item.key): item for item in items}
    model_keys.enter()
    bot = make_bot("chat_server", **{**judge.options, "told": "{{brief}}"})
    assert isinstance(bot, BatchBot)  # noqa: S101
    while waiting and not (most_tokens and _tokens(done.values())["total_tokens"] >= most_tokens):
        part, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
        turns = [_turn(export.protocol, steps, by_key[call["step"], call["item"]], call, judge.seed)
                 for call in part]  # fmt: skip
        for call, reply in zip(part, bot.respond_many(turns), strict=True):
            done[_key(call)] = call | _outcome(reply)
        _append(out / CALLS, [done[_key(call)] for call in part])
    calls = [done[_key(call)] for call in wanted if _key(call) in done]
    rows, unusable = _rows(export, steps, by_key, judge.name, calls)
    with (out / TABLE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    found = _result(export, judge, calls, len(waiting), rows, unusable)
    _note(out, {"result": asdict(found)})
    return found


def _begin(out: Path, export: JudgeExport, judge: JudgeModel) -> None:
    """Note whom the folder's answers are of, or refuse it if they are another's."""
    about = {
        "judge": judge.name,
        "options": {name: judge.options[name] for name in sorted(judge.options.keys() - FREE)},
        "samples": judge.samples,
        "seed": judge.seed,
        "campaign": export.campaign,
        "protocol": export.protocol.name,
        "protocol_sha256": digest(export.protocol),
    }
    out.mkdir(parents=True, exist_ok=True)
    path = out / ABOUT
    if path.is_file():
        before = json.loads(path.read_text("utf-8"))
        other = [name for name in about if before.get(name) != about[name]]
        if other:
            raise JudgeStopped(
                f"{out} holds another run: its {other[0]} is {before.get(other[0])!r}, not "
                f"{about[other[0]]!r}; give another folder"
            )
    else:
        _note(out, about)


def _note(out: Path, facts: Mapping[str, Any]) -> None:
    """Write facts down beside those that are there."""
    path = out / ABOUT
    known = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    text = json.dumps({**known, **facts}, ensure_ascii=False, allow_nan=False, indent=1)
    path.write_text(text + "\n", "utf-8")


def _calls(item: JudgeItem, samples: int) -> Iterator[Call]:
    """Yield the calls for an item: each sample once alone, or in both orders."""
    order = list(range(len(item.candidates)))
    for sample in range(samples):
        for shown in (order, order[::-1]) if len(order) > 1 else (order,):
            yield {"step": item.step, "item": item.key, "sample": sample, "order": shown}


def _key(call: Mapping[str, Any]) -> tuple[Any, ...]:
    return call["step"], call["item"], call["sample"], tuple(call["order"])


def _done(path: Path) -> dict[tuple[Any, ...], Call]:
    """Return the calls of a former run; those that failed are made again."""
    if not path.is_file():
        return {}
    text = path.read_text("utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:  # it was ended within a line
        path.write_text(whole, "utf-8")
    calls = [json.loads(line) for line in whole.split("\n") if line]
    return {_key(call): call for call in calls if not call["error"]}


def _append(path: Path, calls: Sequence[Call]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(call, ensure_ascii=False) + "\n" for call in calls)


def _turn(
    protocol: Protocol,
    steps: Sequence[Rate | None],
    item: JudgeItem,
    call: Call,
    seed: int,
) -> Turn:
    rate, order = steps[item.step], call["order"]
    assert rate is not None  # noqa: S101 # only items of steps with questions are asked
    rubric = judge_prompts.rubric(protocol, rate, judge_prompts.shown_in(item, order))
    page = Utterance("partner", judge_prompts.page(item, order))
    drawn = sha256(repr((seed, _key(call))).encode()).digest()
    return (), SeededHistory([page], int.from_bytes(drawn[:4]) >> 1, Background(brief=rubric))


def _outcome(reply: Reply) -> Call:
    usage = reply.details.get("usage")
    return {
        "request": reply.prompt,
        "raw": reply.raw,
        "text": reply.text,
        "error": "" if reply.raw is not None else str(reply.details.get("error", "")),
        "usage": usage if isinstance(usage, dict) else {},
        "model": str(reply.details.get("model", "")),
    }


def _tokens(calls: Iterable[Call]) -> Counter[str]:
    found: Counter[str] = Counter()
    for call in calls:
        usage = {"prompt_tokens": 0, "completion_tokens": 0} | call["usage"]
        own = usage["prompt_tokens"] + usage["completion_tokens"]
        found.update({**usage, "total_tokens": usage.get("total_tokens", own)})
    return found


def _rows(
    export: JudgeExport,
    steps: Sequence[Rate | None],
    items: Mapping[tuple[int, str], JudgeItem],
    name: str,
    calls: Sequence[Call],
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the table's rows, and how many answers could not be used, by reason."""
    rows: list[dict[str, Any]] = []
    unusable: Counter[str] = Counter()
    for call in calls:
        item = items[call["step"], call["item"]]
        rate = steps[item.step]
        if call["error"] or rate is None:
            continue
        shown = judge_prompts.shown_in(item, call["order"])
        try:
            answers = judge_prompts.read(call["text"], rate, shown)
        except judge_prompts.Unusable as error:
            unusable[str(error)] += 1
            continue
        about = {"campaign": export.campaign, "protocol": export.protocol.name, "rater": name}
        for (letter, question), value in answers.items():
            index = shown.candidates.index(letter)
            row = _row(rate, item, call["order"][index], question, value)
            rows.append(
                about | row | {"place": index, "sample": call["sample"], ORDER: call["order"]}
            )
    return rows, unusable


def _row(rate: Rate, item: JudgeItem, number: int, name: str, value: Any) -> dict[str, Any]:
    question, candidate = rate.question(name), item.candidates[number]
    cell, chosen = question.cells(value, "")
    low, high = question.cell_scale or ("", "")
    is_rank = question.level == "rank"
    return {
        "question": name,
        "level": question.level,
        "item": item.key if is_rank else candidate.item,
        "system": candidate.system,
        "value": cell,
        "chosen": chosen,
        "scale_low": low,
        "scale_high": high,
        "better": question.better if low != "" and not is_rank else "",
        "conversation": candidate.conversation,
        "message_seq": candidate.message_seq,
    }


def _result(
    export: JudgeExport,
    judge: JudgeModel,
    calls: Sequence[Call],
    left: int,
    rows: Sequence[Mapping[str, Any]],
    unusable: Mapping[str, int],
) -> JudgeRun:
    tokens = _tokens(calls)
    every = {q.name for rate in export.protocol.rates for q in rate.questions}
    could = {
        question.name
        for rate in map(judge_prompts.askable_of, export.protocol.rates)
        if rate is not None
        for question in rate.questions
    }
    return JudgeRun(
        calls=len(calls),
        left=left,
        failed=dict(Counter(call["error"] for call in calls if call["error"])),
        unusable=dict(unusable),
        tokens=dict(tokens),
        cost=_cost(judge.options, tokens),
        bias=position_bias(rows),
        answers=len(rows),
        steady=_steady(rows),
        skipped=sorted(every - could),
    )


def _cost(options: Mapping[str, object], tokens: Mapping[str, int]) -> float | None:
    prices = options.get("prompt_price"), options.get("reply_price")
    if None in prices:
        return None
    counts = tokens["prompt_tokens"], tokens["completion_tokens"]
    return sum(float(str(p)) * n / 1e6 for p, n in zip(prices, counts, strict=True))


def position_bias(rows: Sequence[Mapping[str, Any]]) -> PositionBias | None:
    """Return the bias for what stands first, from ranks; None where nothing was ranked.

    Each item was shown in both orders, so who is better takes no side; items are the unit of the
    interval (Student's t).
    """
    pages: dict[tuple[Any, ...], dict[int, tuple[str, float]]] = defaultdict(dict)
    for row in rows:
        if row["level"] == "rank":
            about = row["item"], row["question"], row["sample"], tuple(row[ORDER])
            pages[about][row["place"]] = row["conversation"], float(row["value"])
    shares, winners = defaultdict(list), defaultdict(list)
    for (item, question, sample, _), page in pages.items():
        first, *others = [page[index][1] for index in sorted(page)]
        beaten = [1.0 if first < other else 0.5 if first == other else 0.0 for other in others]
        shares[item].append(float(np.mean(beaten)))
        best = {key for key, rank in page.values() if rank == min(r for _, r in page.values())}
        winners[item, question, sample].append(best)
    if not shares:
        return None
    means = np.array([np.mean(each) for each in shares.values()])
    mean, count = float(means.mean()), len(means)
    interval = None
    if count > 1:
        interval = t_interval(mean, float(means.std(ddof=1)) / math.sqrt(count), count - 1)
    both = [pair for pair in winners.values() if len(pair) == 2]
    contradicted = [not one & other for one, other in both]
    share = float(np.mean(contradicted)) if contradicted else None
    return PositionBias(mean, interval, count, share)


def _steady(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the share of answers equal to the most frequent one of their item and question.

    Only what was answered more than once counts; without any there is none.
    """
    answers: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for row in rows:
        answers[row["item"], row["system"], row["question"]][row["value"]] += 1
    repeated = [counts for counts in answers.values() if counts.total() > 1]
    total = sum(counts.total() for counts in repeated)
    return sum(max(counts.values()) for counts in repeated) / total if total else None
