"""Data that the analyses of `bots/benchmarks/` run on, and the tables they make.

Bots are trained once for each kind of data and options, whatever analyses ask for them, and kept
in a directory: running a study again only tests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Literal, cast

from bots.bot import Ranker, Trainable
from bots.commands.predictions import Condition, Task, predict
from bots.dialogue import Dialogue, Example, Sides, examples
from bots.options import InvalidOption
from bots.registry import bot_options, bot_presets, make_bot, preset
from bots.weights import ARRAYS, data_digest, digest_of

Form = Literal["original", "revised"]
SHARES = {"kv_profile_memory": "profile_memory"}  # answers with another bot's weights


@dataclass(frozen=True)
class Table:
    """Rows of ours in the layout of a paper, and the printed rows they stand beside."""

    name: str
    title: str
    source: str
    rows: Sequence[Mapping[str, object]]
    printed: Sequence[Mapping[str, object]] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Split:
    """Training and test data; the same dialogues with both persona forms."""

    train: tuple[Dialogue, ...]
    test: tuple[Dialogue, ...]


@dataclass(frozen=True)
class BenchmarkData:
    """Data, size and seed of a run; `limit` bounds the examples of a test, 0 does not."""

    name: str
    forms: Mapping[Form, Split]
    directory: Path
    size: str = "toy"
    seed: int = 0
    limit: int = 0
    candidates: int = 20
    sides: Sides = "both"  # sides whose messages are tested
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def original(self) -> Split:
        """The data with personas as their authors wrote them."""
        return self.forms["original"]

    def bot(
        self,
        name: str,
        persona: Condition = "self",
        form: Form = "original",
        **options: object,
    ) -> Any:
        """Return a bot, trained, where it is trained, on this condition of the training part."""
        wanted = {**self._preset(name), **options}
        if all(each.name != "weights" for each in bot_options(name)):
            return make_bot(name, **wanted)
        learner = SHARES.get(name, name)
        learned = {**self._preset(learner), **({} if learner != name else options)}
        path = self._weights(learner, persona, form, learned)
        return make_bot(name, **{**wanted, "weights": str(path)})

    def _preset(self, name: str) -> dict[str, Any]:
        sized = preset(name, self.size) if self.size in bot_presets(name) else {}
        return {**sized, **self.options.get(name, {})}

    def _weights(
        self, name: str, persona: Condition, form: Form, options: Mapping[str, object]
    ) -> Path:
        if form not in self.forms:
            raise InvalidOption(f"the study {self.name} has no {form} personas")
        shown = [conditioned(each, persona) for each in self.forms[form].train]
        run = digest_of([name, dict(options), self.seed, data_digest(shown)])
        path = self.directory / "weights" / f"{name}-{run[:16]}"
        if not (path / ARRAYS).is_file():
            bot = cast(Trainable, make_bot(name, **options))
            bot.train(shown, seed=self.seed)
            bot.save(path)
        return path

    def rows(
        self,
        bot: Ranker,
        persona: Condition = "self",
        form: Form = "original",
        *,
        parrot: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the rows of a PredictionTable for the test part, at most `limit`."""
        task = Task(
            self.name,
            self.candidates,
            self.seed,
            persona,
            self.sides,
            parrot=parrot,
            limit=self.limit,
        )
        return list(predict(bot, type(bot).__name__, self.forms[form].test, task))

    def examples(self, form: Form = "original", persona: Condition = "self") -> list[Example]:
        """Return the examples of the test part, at most `limit`, drawn by the seed."""
        shown = [conditioned(each, persona) for each in self.forms[form].test]
        found = list(examples(shown, self.sides))
        return Random(self.seed).sample(found, min(self.limit or len(found), len(found)))  # noqa: S311


def conditioned(dialogue: Dialogue, persona: Condition) -> Dialogue:
    """Return a dialogue in which each side has the persona that this condition gives it."""
    own, partner = dialogue.persona, dialogue.partner_persona
    shown: dict[Condition, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "none": ((), ()),
        "self": (own, partner),
        "their": (partner, own),
        "both": (own + partner, partner + own),
    }
    mine, yours = shown[persona]
    return replace(dialogue, persona=mine, partner_persona=yours)


def render(table: Table) -> str:
    """Return a table as Markdown, our rows first and the printed ones after them."""
    lines = [f"## {table.title}", "", f"Printed: {table.source}", ""]
    lines += _markdown("ours", table.rows)
    if table.printed:
        lines += ["", *_markdown("printed", table.printed)]
    lines += ["", *(f"Note: {note}" for note in table.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(whose: str, rows: Sequence[Mapping[str, object]]) -> list[str]:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = [whose, *columns]
    body = [["", *(_cell(row.get(name)) for name in columns)] for row in rows]
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body)]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "\\|")


def write(table: Table, directory: Path) -> None:
    """Write a table as Markdown and as JSON."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{table.name}.md").write_text(render(table), "utf-8")
    about = {
        "title": table.title,
        "source": table.source,
        "rows": [dict(row) for row in table.rows],
        "printed": [dict(row) for row in table.printed],
        "notes": list(table.notes),
    }
    text = json.dumps(about, indent=1, ensure_ascii=False)
    (directory / f"{table.name}.json").write_text(text + "\n", "utf-8")


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Return a printed row with its nested columns joined by spaces."""
    found: dict[str, object] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name} ")
        else:
            found[prefix + name] = value
    return found
