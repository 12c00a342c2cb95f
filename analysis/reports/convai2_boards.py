"""The two result boards of ConvAI2 (Dinan et al. 2019, tables 3 and 5).

Automatic: perplexity, hits@1 of 20 and F1 of the predictions, teams by their best rank over the
three (`analysis.comparisons.best_rank`); a metric without a value was not entered, and is a dash.
Human: engagingness after calibration (Kulikov et al. 2018), which orders, the raw mean beside it,
and persona detection. A system whose name holds "baseline", and people, stand below without a rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.comparisons.best_rank import best_ranks
from analysis.conversations.transcripts import HUMAN
from analysis.metrics.calibrated_score import calibrated_score
from analysis.metrics.hits import hits
from analysis.metrics.perplexity import perplexity
from analysis.metrics.persona_detection import persona_detection
from analysis.metrics.word_f1 import word_f1
from analysis.output.paper_layouts import ENGAGING, printed
from analysis.predictions.gold_ranks import sized
from analysis.predictions.vocabularies import differing
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.tables.schema import PredictionTable, RatingTable

METRICS = {"ppl": 2, "hits@1": 1, "F1": 2}  # with the decimals of the print
LOWER = frozenset({"ppl"})
SIZE = sized(20)
DASH = "-"
NONE = (
    "No system has predictions with a perplexity, 20 candidates or a reply, or ratings of how "
    "engaging it was."
)
RULE = "By the smallest rank over the metrics entered; a dash was not entered, and is no rank."


def convai2_boards(
    ratings: RatingTable | None = None,
    predictions: PredictionTable | None = None,
    *,
    seed: int = 0,
) -> Report:
    """Return both boards of one's own systems, then those of the paper."""
    automatic = [] if predictions is None else list(_automatic(predictions, seed))
    human = [] if ratings is None else list(_human(ratings, seed))
    own = [*automatic, *human]
    teams = pd.DataFrame(list(reference("convai2_automatic").rows))
    stored = ranked(teams.set_index("team")[list(METRICS)].astype(float))
    return Report(
        name="convai2_boards",
        title="Automatic and human board",
        findings=tuple(f"{each.title}." for each in own) or (NONE,),
        sections=(
            *own,
            Section("The same rule on the printed scores", _shown(stored), RULE),
            printed("convai2_automatic"),
            printed("convai2_human"),
        ),
        cautions=() if predictions is None else tuple(_cautions(predictions)),
    )


def ranked(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row per team in the order of the board; baselines follow without a rank."""
    is_team = pd.Series([not _unranked(name) for name in scores.index], scores.index)
    ranks = best_ranks(scores[is_team], lower_is_better=LOWER)
    table = scores.assign(rank=ranks.astype("Int64").reindex(scores.index))
    table = table.rename_axis("team").reset_index()
    kept = table.sort_values(["rank"], kind="stable", na_position="last", ignore_index=True)
    return kept[["rank", "team", *scores.columns]]


def _unranked(name: object) -> bool:
    return "baseline" in str(name).lower() or str(name).lower() == HUMAN


# --- automatic --------------------------------------------------------------------------------


def _automatic(predictions: PredictionTable, seed: int) -> Iterator[Section]:
    found = hits(predictions, seed=seed, ks=(1,))
    columns: Mapping[str, pd.DataFrame] = {
        "ppl": perplexity(predictions).query("metric == 'perplexity'"),
        "hits@1": found[found["question"] == SIZE].assign(estimate=lambda t: 100 * t["estimate"]),
        "F1": word_f1(predictions).assign(estimate=lambda t: 100 * t["estimate"]),
    }
    known = {
        name: rows.set_index(["protocol", "system"])["estimate"] for name, rows in columns.items()
    }
    scores = pd.DataFrame(known).dropna(how="all").sort_index()
    for dataset, part in scores.groupby(level="protocol", sort=True):
        board = ranked(part.droplevel("protocol"))
        title = f"Automatic board on {dataset}: {_first(board)}"
        yield Section(title, _shown(board), RULE, key=f"automatic-{dataset}")


def _shown(board: pd.DataFrame) -> pd.DataFrame:
    """Return a board as it is printed: a dash for what was not entered, and for no rank."""
    cells = {
        name: [DASH if pd.isna(value) else f"{value:.{digits}f}" for value in board[name]]
        for name, digits in METRICS.items()
    }
    ranks = [DASH if pd.isna(rank) else str(rank) for rank in board["rank"]]
    return pd.DataFrame({"rank": ranks, "team": board["team"].astype(str), **cells})


def _first(board: pd.DataFrame) -> str:
    teams = board[board["rank"].notna()]
    if teams.empty:
        return "baselines only"
    leading = " and ".join(teams.loc[teams["rank"] == 1, "team"].astype(str))
    return f"{leading} first of {len(teams)}"


def _cautions(predictions: PredictionTable) -> Iterator[str]:
    for dataset, part in predictions.groupby("dataset", sort=True):
        reason = differing(predictions, str(dataset), part["system"].unique())
        if reason:
            yield f"{dataset}: {reason}; their ranks by perplexity say nothing."


# --- human ------------------------------------------------------------------------------------


def _human(ratings: RatingTable, seed: int) -> Iterator[Section]:
    scored = calibrated_score(ratings, seed=seed)
    scored = scored[scored["question"].astype(str).str.contains(ENGAGING)]
    guesses = persona_detection(ratings)
    for (protocol, question), rows in scored.groupby(["protocol", "question"], sort=True):
        if rows["estimate"].isna().any():
            continue
        detection = guesses[guesses["protocol"] == protocol].groupby("system")["estimate"].mean()
        board = _of_people(rows, detection)
        yield Section(
            f"Human board, {question}: {_first(board)}",
            board,
            "Ordered by the calibrated score; intervals of 95 % are its.",
            key=f"human-{protocol}-{question}",
        )


def _of_people(rows: pd.DataFrame, detection: pd.Series) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "team": rows["system"].astype(str),
            "calibrated": rows["estimate"],
            "low": rows["low"],
            "high": rows["high"],
            "raw": rows["raw"],
            "persona detection": rows["system"].map(detection),
            "n": rows["n"],
        }
    )
    is_team = ~table["team"].map(_unranked).astype(bool)
    ranks = table["calibrated"].where(is_team).rank(ascending=False, method="min")
    table.insert(0, "rank", ranks.astype("Int64"))
    order = ["rank", "calibrated", "team"]
    return table.sort_values(order, ascending=[True, False, True], ignore_index=True)
