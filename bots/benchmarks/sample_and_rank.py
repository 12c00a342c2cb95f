"""Sample-and-rank: the number of samples, and the lists of a beam beside those of samples.

Source: Adiwardana et al. 2020 (MEENA), sections 3.4 and 5, tables 2 and 3. Sensibleness and
specificity by N need people: a campaign with these systems gives them. Here is what the model and
the text alone say: how likely the reply is, F1 and distinct bigrams.
"""

from __future__ import annotations

from collections.abc import Sequence

from bots.bot import Generator
from bots.candidates import Decoding, ReplyCandidate
from bots.commands.benchmark_data import BenchmarkData, Table
from bots.commands.test_set_replies import distinct, word_f1
from bots.dialogue import Example
from bots.reference import printed

WRITER = "meena"
NUMBERS = (1, 20, 400)
SETTINGS = (("T 0.88, full vocabulary", 0.88, 0), ("T 1.0, top-k 40", 1.0, 40))
PROMPTS = 30
LIST = 10


def run(study: BenchmarkData) -> list[Table]:
    """Return the sweep over N, and the two lists for one prompt with their scores."""
    bot: Generator = study.bot(WRITER)
    tested = study.examples()[:PROMPTS]
    return [_sweep(study, bot, tested), _lists(study, bot, tested[0])]


def _sweep(study: BenchmarkData, bot: Generator, tested: Sequence[Example]) -> Table:
    rows: list[dict[str, object]] = []
    for label, temperature, top_k in SETTINGS:
        for number in NUMBERS:
            decoding = Decoding("sample", number, temperature, top_k, seed=study.seed)
            turns = [(each.persona, each.history) for each in tested]
            best = [found[0] for found in bot.propose(turns, decoding)]
            rows.append({"decoding": label, "N": number, **_measured(best, tested)})
    paper = printed("meena_decoding")
    printed_rows = [
        {"decoding": "N 1 to N 20", "SSA points": paper["ssa_gain_N1_to_N20_points_about"]}
    ]
    printed_rows += [{"decoding": step["change"], "SSA": step["ssa"]} for step in paper["steps"]]
    notes = [f"{len(tested)} prompts, bot {WRITER}", f"N 400: {paper['N400']}"]
    title = "Sample-and-rank by the number of samples"
    return Table("sample_and_rank", title, paper["source"], rows, printed_rows, notes)


def _measured(replies: Sequence[ReplyCandidate], tested: Sequence[Example]) -> dict[str, object]:
    f1 = [word_f1(each.text, example.reply) for each, example in zip(replies, tested, strict=True)]
    return {
        "log P per token": sum(each.score("mean_logp") for each in replies) / len(replies),
        "f1": sum(f1) / len(f1),
        "words": sum(len(each.tokens) for each in replies) / len(replies),
        "distinct-2": distinct([each.text for each in replies], 2),
    }


def _lists(study: BenchmarkData, bot: Generator, example: Example) -> Table:
    turn = (example.persona, example.history)
    beam = bot.propose([turn], Decoding("beam", LIST))[0]
    drawn = bot.propose([turn], Decoding("sample", LIST, 0.88, seed=study.seed))[0]
    rows = [
        {
            "rank": index,
            "beam": one.text,
            "beam log P": sum(one.log_probs),
            "samples": other.text,
            "samples log P": sum(other.log_probs),
        }
        for index, (one, other) in enumerate(zip(beam, drawn, strict=True), start=1)
    ]
    apart = [distinct([each.text for each in found], 2) for found in (beam, drawn)]
    paper = printed("meena_table2")
    scores = zip(paper["beam"], paper["sample_and_rank"], strict=True)
    printed_rows = [{"beam score": one, "samples score": other} for one, other in scores]
    notes = [
        f"prompt: {example.history[-1].text}",
        f"distinct bigrams: beam {apart[0]:.2f}, samples {apart[1]:.2f}",
        paper["note"],
    ]
    title = "Ten replies to one prompt: beam search and samples"
    return Table("beam_and_samples", title, paper["source"], rows, printed_rows, notes)
