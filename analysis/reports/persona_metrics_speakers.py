"""Speaker classifier and language models of characters (Miyazaki et al. 2021, tables B.2 and B.3).

Precision and recall of the classifier on held-out lines against the chance rate, and the perplexity
of every character's held-out lines under every character's model: the diagonal should be smallest.
A message's character is its `persona`; `series`, where there is one, tells casts apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.conversations.language_model import voices
from analysis.conversations.persona_likeness import monologues
from analysis.conversations.speakers import LEAST, speakers
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.stats.significance import stars
from analysis.tables.schema import MessageTable
from analysis.text.tokenizers import SPLIT, NamedTokenizer

SIMULATED_AS = ("simple tests",)

HELD_OUT = 0.1


def persona_metrics_speakers(
    messages: MessageTable, *, seed: int = 0, tokenizer: NamedTokenizer = SPLIT
) -> Report:
    """Return a table of each kind per series, above the printed ones."""
    own = [
        section
        for series, cast in monologues(messages).items()
        if len(cast) > 1 and min(map(len, cast.values())) >= LEAST
        for section in _of_series(series, cast, seed, tokenizer)
    ]
    nothing = f"No cast of two personas with {LEAST} lines or more each."
    return Report(
        name="persona_metrics_speakers",
        title="Speaker classifier and language models",
        findings=tuple(section.title for section in own) or (nothing,),
        sections=sections(own, "persona_metrics_speakers", "persona_metrics_perplexity"),
    )


def _of_series(
    series: str, cast: dict[str, list[str]], seed: int, tokenizer: NamedTokenizer
) -> Iterator[Section]:
    named = f"{series}: " if series else ""
    table = pd.DataFrame(_classified(cast, seed, tokenizer))
    above = int((table["recall"] > table["chance"]).sum())
    yield Section(
        f"{named}the classifier's recall is above chance for {above} of {len(table)} personas",
        table,
        f"Stars: two-sided binomial test against the chance rate. Tokens: {tokenizer.name}.",
    )
    matrix = _perplexities(cast, seed, tokenizer)
    rows, columns = _least(matrix)
    yield Section(
        f"{named}{columns} of {len(matrix)} personas' lines surprise their own model least",
        matrix,
        "Perplexity of the column's held-out lines under the row's model. The paper looks along "
        f"rows: there, the diagonal is smallest in {rows} of {len(matrix)}.",
    )


def _least(matrix: pd.DataFrame) -> tuple[int, int]:
    """Return in how many rows, and in how many columns, the diagonal is smallest."""
    values = matrix.drop(columns="model").to_numpy(dtype=float)
    own = np.arange(len(values))
    by_row, by_column = values.argmin(axis=1) == own, values.argmin(axis=0) == own
    return int(by_row.sum()), int(by_column.sum())


def _classified(
    cast: dict[str, list[str]], seed: int, tokenizer: NamedTokenizer
) -> Iterator[dict[str, object]]:
    for line in speakers(cast, seed=seed, tokens=tokenizer).report():
        yield {
            "persona": line.persona,
            "train": line.train,
            "eval": line.evaluated,
            "precision": line.precision,
            "p (precision)": _stars(line.precision_p),
            "recall": line.recall,
            "p (recall)": _stars(line.recall_p),
            "chance": line.chance,
        }


def _stars(p: float) -> str:
    return stars(p) if p == p else "-"


def _perplexities(cast: dict[str, list[str]], seed: int, tokenizer: NamedTokenizer) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shuffled = {name: [own[k] for k in rng.permutation(len(own))] for name, own in cast.items()}
    cut = {name: max(1, round(HELD_OUT * len(own))) for name, own in shuffled.items()}
    known = {name: own[cut[name] :] for name, own in shuffled.items()}
    heard = voices(known, tokens=tokenizer)
    held_out = {name: own[: cut[name]] for name, own in shuffled.items()}
    return pd.DataFrame(
        [
            {"model": name, **{of: heard.of_lines(name, held_out[of]) for of in cast}}
            for name in cast
        ]
    )
