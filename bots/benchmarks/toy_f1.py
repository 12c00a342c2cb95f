"""Constant string of frequent words against models, by word F1.

Source: Dinan et al. 2019 (ConvAI2), section 3.1.2: "i am you to do and your is like" gets 19.6 on
the test set, where the best model gets 19.5.
"""

from __future__ import annotations

from bots.commands.benchmark_data import BenchmarkData, Table
from bots.commands.test_set_replies import answers, word_f1
from bots.dialogue import Example
from bots.reference import printed

MODELS = (
    *("toy_f1", "generic", "parrot", "tfidf", "kv_profile_memory"),
    *("seq2seq", "language_model", "hred", "two_head"),
)


def run(study: BenchmarkData) -> list[Table]:
    """Return F1 in percent, the best first; toy_f1 with its own string is the one it derived."""
    tested = study.examples()
    rows: list[dict[str, object]] = []
    for name in MODELS:
        replies = list(answers(study.bot(name), tested))
        scores = [word_f1(text, each.reply) for text, each in zip(replies, tested, strict=True)]
        rows.append(
            {"model": name, "f1 %": 100 * sum(scores) / len(scores), "first reply": replies[0]}
        )
    toy = printed("convai2_toy_f1")
    rows.append(_string(toy["reply"], tested))
    rows.sort(key=lambda row: -float(str(row["f1 %"])))
    paper = [
        {"model": toy["reply"], "f1 % test": toy["f1_percent_test"]},
        {"model": "Hugging Face", "f1 % test": toy["hugging_face_f1_percent_test"]},
    ]
    return [Table("toy_f1", "A constant reply by F1", toy["source"], rows, paper)]


def _string(reply: str, tested: list[Example]) -> dict[str, object]:
    scores = [word_f1(reply, each.reply) for each in tested]
    return {"model": "the paper's string", "f1 %": 100 * sum(scores) / len(scores),
            "first reply": reply}  # fmt: skip
