"""L2E's tables of models: ranks per data set, dashes, scores, and the print."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import RatingTable, Report, get_report, prediction_table, rating_table
from tests.analysis.prediction_tables import predictions, said
from tests.analysis.preferring import preferring

L2E = "L2E at the workshop NLP for Conversational AI, 2019"


def ranked(dataset: str, orders: list[list[str]], *, prompts: int = 2) -> pd.DataFrame:
    """Return ranks by a participant per order, who ranks all prompts of the set alike."""
    acts = [
        (f"{dataset}{prompt}", f"{dataset}-w{who}", order, list(range(1, len(order) + 1)))
        for who, order in enumerate(orders)
        for prompt in range(prompts)
    ]
    return preferring(acts).assign(dataset=dataset)


def study() -> RatingTable:
    """Return two sets: all of three models in one, two in the other."""
    table = pd.concat(
        [
            ranked("COPA", [["ours", "lm", "chat"], ["lm", "ours", "chat"]]),
            ranked("NC", [["ours", "lm"], ["ours", "lm"], ["lm", "ours"]]),
        ],
        ignore_index=True,
    )
    return rating_table(table.assign(answer=[f"a{k}" for k in range(len(table))]))


def made(**tables: Any) -> Report:
    return get_report("explanation_models")(**tables)


def section(report: Report, title: str) -> Any:
    (found,) = (each.frame for each in report.sections if each.title.startswith(title))
    return found


def test_ranks_are_means_per_data_set_and_an_absent_model_is_a_dash() -> None:
    report = made(ratings=study())
    table = section(report, "Scores, and ranks").set_index("model")
    assert table["rank, COPA"].to_dict() == {"chat": "1.000", "lm": "0.250", "ours": "0.250"}
    assert table["rank, NC"].to_dict() == {"chat": "-", "lm": "0.667", "ours": "0.333"}
    assert report.findings == (
        "lm ranks best on COPA: 0.250 of 3 models.",
        "ours ranks best on NC: 0.333 of 2 models.",
    )


def test_resamples_are_of_participants_with_all_their_prompts() -> None:
    """Three people, each of one mind over twenty prompts: drawn by prompts the ends would close."""
    orders = [["ours", "lm"], ["ours", "lm"], ["lm", "ours"]]
    ranks = section(made(ratings=rating_table(ranked("NC", orders, prompts=20))), "Ranks with")
    row = ranks.set_index("model").loc["ours"]
    assert (row["percentile_low"], row["percentile_high"]) == (0.0, 1.0)
    assert (row["people"], row["judgments"]) == (3, 60)
    assert ranks["estimate"].between(0, 1).all()


def test_without_data_sets_there_is_one_column() -> None:
    table = RatingTable(ranked("NC", [["ours", "lm"]]).drop(columns="dataset"))
    assert list(section(made(ratings=table), "Scores, and").columns) == ["model", "rank"]


def test_accuracy_and_perplexity_per_data_set() -> None:
    rows = [
        {"gold": "a b c d", "token_hits": [1, 0, 0, 1], "log_probs": [-math.log(8.0)] * 4},
        {"gold": "a b c d", "token_hits": [1, 1, 1, 1], "log_probs": [-math.log(8.0)] * 4},
    ]
    table = predictions(rows, system="LSTM", dataset="L2E")
    report = made(predictions=table)
    assert section(report, "Accuracy").to_dict("records") == [
        {"model": "LSTM", "accuracy, L2E": "75.0", "perplexity, L2E": "8.0"}
    ]


def test_scores_stand_before_ranks_and_the_reference_has_100() -> None:
    gold = "the mayor refused because they feared more violence"
    frames = [
        said((gold, gold), system="reference", dataset="NC"),
        said(("no idea", gold), system="ours", dataset="NC"),
    ]
    table = pd.concat(frames, ignore_index=True)
    table = prediction_table(table.assign(prediction=["p0", "p1"], example=["e0", "e1"]))
    scores = section(made(ratings=study(), predictions=table), "Scores, and ranks")
    assert list(scores.columns) == [
        "model", "BLEU, NC", "ROUGE, NC", "METEOR, NC", "rank, COPA", "rank, NC",
    ]  # fmt: skip
    rows = scores.set_index("model")
    assert float(rows.loc["reference", "BLEU, NC"]) == pytest.approx(100)
    assert float(rows.loc["reference", "ROUGE, NC"]) == pytest.approx(100)
    assert rows.loc["ours", "BLEU, NC"] == "0.000"
    assert rows.loc["reference", "rank, NC"] == "-"
    assert rows.loc["lm", "METEOR, NC"] == "-"


def test_the_print_comes_back_with_its_dashes() -> None:
    report = made()
    assert report.findings[0].startswith("No model has ranks")
    accuracy, models = (section(report, f"As printed: {L2E}, table {n}") for n in (3, 4))
    assert accuracy.iloc[1].tolist() == ["Transformer", 38.2, 33.1, 27.8, 96.7]
    rows = models.set_index("model")
    assert rows.loc["L2EC-Seq2Seq", ["rank, COPA", "rank, WSCG", "rank, NC"]].tolist() == [
        "-", "-", 0.433,
    ]  # fmt: skip
    assert rows.loc["L2E-Seq2Seq", ["BLEU, greedy", "BLEU, beam"]].tolist() == [0.55, 0.37]
    assert rows.loc["LM-1B", "BLEU, beam"] == "-"
    known = pd.to_numeric(rows["rank, NC"])
    assert known.idxmin() == "Reference"
    assert np.isclose(known["OpenSubtitle"], 0.811)
