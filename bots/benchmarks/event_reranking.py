"""A-EVENT: how many replies change when candidates are re-ordered by event causality.

Source: the event-causality paper (NLP4CONVAI 2019), tables 2 and 3: HRED and a one-level model, the
last one or five messages as history, pairs and their embedding.
"""

from __future__ import annotations

from bots.reference import printed
from bots.registry import make_bot
from bots.study import Study, Table
from bots.wording import distinct, word_f1

MODELS = ("seq2seq", "hred")
WAYS = (("Re-ranking", "pairs"), ("Re-ranking (emb)", "embedding"))
WINDOWS = (1, 5)


def run(study: Study) -> list[Table]:
    """Return the share re-ranked, and F1, diversity and length before and after."""
    asked = study.examples()
    turns = [(each.persona, each.history) for each in asked]
    rows: list[dict[str, object]] = []
    for name in MODELS:
        inside = study.bot(name)
        options = {"bot": name, "options": {"weights": inside.weights}, "number": 10}
        plain = make_bot("beam", **options)
        first = [found[0].text for found in plain.propose(turns)]  # type: ignore[attr-defined]
        gold = [each.reply for each in asked]
        rows.append({"model": name, "rerank": "1-best", **_measured(first, gold)})
        for window in WINDOWS:
            for label, matching in WAYS:
                bot = make_bot("event_causality", **options, matching=matching, window=window)
                said = [found[0].text for found in bot.propose(turns)]  # type: ignore[attr-defined]
                changed = sum(one != other for one, other in zip(first, said, strict=True))
                row: dict[str, object] = {"model": name, "history": window, "rerank": label}
                row["reranked %"] = 100 * changed / len(said)
                rows.append({**row, **_measured(said, gold)})
    paper = printed("event_causality_table3")
    notes = ["the pairs that come with the package are few, so that few replies change"]
    title = "Re-ranking by event causality (A-EVENT)"
    return [Table("event_reranking", title, paper["source"], rows, paper["rows"], notes)]


def _measured(said: list[str], gold: list[str]) -> dict[str, object]:
    f1 = [word_f1(text, other) for text, other in zip(said, gold, strict=True)]
    return {
        "f1": sum(f1) / len(f1),
        "dist1": distinct(said, 1),
        "dist2": distinct(said, 2),
        "length": sum(len(text.split()) for text in said) / len(said),
    }
