"""Tokenizers by name: as an option of metrics, and refused where a package is missing."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import get_metric, get_report, metric_names, prediction_table, rendered
from analysis.__main__ import main
from analysis.conversations.transcripts import joined_lines
from analysis.registry import options_of, table_of
from analysis.tables.options import BadOption
from analysis.text import tokenizers
from analysis.text.tokenizers import CHARACTERS, SPLIT, WORDS, NamedTokenizer, tokenizer
from analysis.text.tokens import nonstop, split_lower
from tests.analysis.examples import ratings
from tests.analysis.samples import tables
from tests.analysis.talks import of_rows, talks

HERE = all(importlib.util.find_spec(name) for name in tokenizers.MECAB_PACKAGES)
TAKEN = [name for name in metric_names() if "tokenizer" in options_of(get_metric(name))]


def test_the_printed_sentence_splits_as_printed() -> None:
    if not HERE:
        pytest.skip("the extra japanese (fugashi, unidic-lite) is not installed")
    # fugashi 1.4.0 with unidic-lite 1.0.8: [w.surface for w in fugashi.Tagger()("俺は学生だ")]
    assert tokenizer("mecab")("俺は学生だ") == ["俺", "は", "学生", "だ"]
    assert tokenizer("mecab").content("俺は学生だ。") == ["学生"]


def test_a_missing_package_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tokenizers, "MECAB_PACKAGES", ("no_such_package",))
    tokenizers.mecab.cache_clear()
    with pytest.raises(BadOption, match=r"no-such-package.*pip install .*parley\[japanese\]"):
        tokenizer("mecab")
    talks([[("s", "俺は学生だ"), ("human", "そうか")]]).to_csv(
        tmp_path / "messages.csv", index=False
    )
    assert main([str(tmp_path / "messages.csv"), "--json", "--tokenizer", "mecab"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "no-such-package" in printed.err
    tokenizers.mecab.cache_clear()
    with pytest.raises(BadOption, match="one of split, words"):
        tokenizer("spaces")


def test_characters_part_what_has_no_spaces() -> None:
    assert CHARACTERS("俺は学生だ。I'm 21!") == [*"俺は学生だ。", "i'm", "21", "!"]
    assert CHARACTERS("สวัสดี ok") == [*"สวัสดี", "ok"]
    assert CHARACTERS("") == []


def test_the_defaults_are_the_papers_rules() -> None:
    text = "The cat’s hat, isn't it?"
    assert SPLIT(text) == split_lower(text)
    assert WORDS.content(text) == nonstop(text)


@pytest.mark.parametrize("name", TAKEN)
def test_every_metric_of_text_takes_one_and_names_it(name: str) -> None:
    metric, table = get_metric(name), tables()[table_of(get_metric(name))]
    usual, other = metric(table), metric(table, tokenizer=CHARACTERS)
    assert set(other["tokenizer"]) == {"characters"}
    assert usual["tokenizer"].notna().all()
    assert "characters" not in set(usual["tokenizer"])


def test_metrics_of_text_are_all_there() -> None:
    wanted = {"bleu", "nist", "rouge", "distinct", "entropy", "nasl", "repetition_rate", "word_f1"}
    wanted |= {"pmi_coherence", "echo_index", "semantic_distance", "vector_extrema", "perplexity"}
    wanted |= {"message_length", "rare_words", "repeats", "persona_description", "human_length"}
    assert wanted <= set(TAKEN)


def test_a_tokenizer_changes_what_is_counted() -> None:
    table = talks([[("s", "猫が好き"), ("human", "はい")], [("s", "犬"), ("human", "そう")]])

    def words(by: NamedTokenizer) -> float:
        found = get_metric("message_length")(table, tokenizer=by)
        own = found[(found["question"] == "own messages")].set_index("metric")["estimate"]
        return float(own["words_per_message"])

    assert words(SPLIT) == 1
    assert words(CHARACTERS) == 2.5
    row = {"prediction": "p", "system": "s", "dataset": "d", "example": "e", "context": "x"}
    row |= {"gold": "猫が大好き", "response": "猫が好き", "candidates": "", "scores": ""}
    given = prediction_table(pd.DataFrame([{**row, "log_probs": ""}]))
    assert get_metric("word_f1")(given)["estimate"].tolist() == [0]
    # Four of four characters, of five: 2 * 1 * .8 / 1.8.
    found = get_metric("word_f1")(given, tokenizer=CHARACTERS)["estimate"].tolist()
    assert found == pytest.approx([8 / 9])


def test_the_order_of_sentence_bleu_is_chosen_and_told() -> None:
    table = tables()["predictions"]
    found = get_metric("bleu")(table, bleu_n=2)
    sentences = found[found["metric"] == "bleu_sentence"]
    assert sentences["variant"].str.startswith("BLEU-2, split tokens").all()
    usual = get_metric("bleu")(table)
    whole = usual[usual["metric"] == "bleu_sentence"]
    assert (sentences["estimate"].to_numpy() > whole["estimate"].to_numpy()).all()
    for n in (0, 5):
        with pytest.raises(BadOption, match="from 1 to 4"):
            get_metric("bleu")(table, bleu_n=n)


JAPANESE = {
    "剣士": ("俺は剣を", "行くぞ", "戦うぜ", "剣が好きだ"),
    "料理人": ("私は料理を", "食べてね", "作りますよ", "魚が好きです"),
}


def japanese() -> tuple[object, object]:
    """Return votes and lines of two characters, whose words differ, without a space in them."""
    rng = np.random.default_rng(2)
    rows: list[dict[str, object]] = []
    votes: list[dict[str, object]] = []
    for who, parts in JAPANESE.items():
        for k in range(30):
            text = "".join(rng.permutation(parts)[:3])
            row = {"message": f"{who}{k}", "conversation": who, "seq": k, "text": text}
            rows.append({**row, "persona": who, "persona_text": "\n".join(parts)})
            for rater in range(5 if k < 10 else 0):
                for other in JAPANESE:
                    vote = {"item": f"{who}{k}", "rater": other + str(rater), "question": "likely"}
                    likely = int(who == other) if rater < 3 + k % 3 else 1
                    votes.append({**vote, "character": other, "system": "s", "value": likely})
    return ratings(votes, level="nominal"), of_rows(rows)


@pytest.mark.parametrize("name", ["characters", *(["mecab"] if HERE else [])])
def test_the_whole_persona_table_runs_on_japanese_lines(name: str) -> None:
    votes, messages = japanese()
    by = tokenizer(name)
    report = get_report("persona_metrics_nol")(votes, messages, tokenizer=by, bleu_n=2)
    table = report.sections[0]
    assert {"P-F1", "P-Cover", "PSProb", "PTSal", "uPPL", "MaxBLEU"} <= set(table.frame)
    assert f"Tokens: {name}. MaxBLEU is BLEU-2." in table.note
    for metric in ("PSProb", "PTSal", "MaxBLEU", "P-F1"):
        found = table.frame[metric].str.split().str[0].astype(float)
        assert (found > 0.5).all(), metric
    speakers = get_report("persona_metrics_speakers")(messages, tokenizer=by)
    assert name in rendered(speakers)
    # Between spaces there are no words to tell who speaks by: whole lines seldom come again.
    plain = get_report("persona_metrics_nol")(votes, messages).sections[0].frame
    assert not (plain["MaxBLEU"].str.split().str[0].replace("-", "0").astype(float) > 0.5).any()


def test_consecutive_lines_of_a_side_are_joined() -> None:
    table = talks([[("s", "a"), ("s", "b"), ("human", "c"), ("s", "d")], [("s", "e")]])
    found = joined_lines(table.iloc[::-1].reset_index(drop=True))
    assert found["text"].tolist() == ["a b", "c", "d", "e"]
    assert found["message"].tolist() == ["m0", "m2", "m3", "m4"]
    aside = table.assign(excluded=["", "spam", "", "", ""])
    assert joined_lines(aside)["text"].tolist() == ["a", "b", "c", "d", "e"]
    assert joined_lines(table.iloc[:0]).empty


def test_the_command_takes_all_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = talks([[("s", "猫が"), ("s", "好き"), ("human", "はい")], [("s", "犬")]])
    path = tmp_path / "messages.csv"
    table.to_csv(path, index=False)
    chosen = [str(path), "--tokenizer", "characters"]
    assert main([*chosen, "--join-lines", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    (row,) = (r for r in rows if r["metric"] == "words_per_message"
              and r["question"] == "own messages")  # fmt: skip
    assert (row["estimate"], row["n"], row["tokenizer"]) == (2.5, 2, "characters")
    assert main([*chosen, "--report", "convai2_length"]) == 0
    assert "Tokens: characters." in capsys.readouterr().out
    assert main([*chosen, "--report", "spam_flags"]) == 2
    assert "the report spam_flags takes no --tokenizer" in capsys.readouterr().err
    notebook = ["--report", "convai2_length", "--notebook", str(tmp_path / "n.ipynb")]
    assert main([*chosen, *notebook]) == 2
    assert "does not keep --tokenizer" in capsys.readouterr().err
