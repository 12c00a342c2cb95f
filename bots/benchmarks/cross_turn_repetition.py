"""Cross-turn repetition: conversations in which a bot repeats itself, with and without the rule.

Source: Adiwardana et al. 2020 (MEENA), section 5: about a third of the base model's conversations.
Base is its sample-and-rank, N 20 and T 0.88, as it is: the likeliest of the samples is said, even
if it was said before. Here the bot talks with itself, beginning with the first message of a test
dialogue, both with that dialogue's personas; only the side that answers first has the rule, whose
thresholds are ours (`bots.text.repetition`).
"""

from __future__ import annotations

from collections.abc import Sequence

from bots.bot import Generator
from bots.commands.benchmark_data import BenchmarkData, Table
from bots.dialogue import Dialogue, Utterance
from bots.reference import printed
from bots.registry import make_bot
from bots.text.repetition import RepetitionRule

WRITERS = ("meena", "seq2seq")
CONVERSATIONS = 20
EXCHANGES = 10


def run(study: BenchmarkData) -> list[Table]:
    """Return the share of conversations, and of turns, in which the bot repeats itself."""
    chosen = study.original.test[:CONVERSATIONS]
    rows: list[dict[str, object]] = []
    for name in WRITERS:
        options = {"bot": name, "options": {"weights": study.bot(name).weights}, "seed": study.seed}
        base: Generator = make_bot("sample_and_rank", **options)  # type: ignore[assignment]
        ruled: Generator = make_bot("no_repeat", bot="sample_and_rank", options=options)  # type: ignore[assignment]
        for label, bot in (("base", base), ("with the rule", ruled)):
            turns = converse(bot, base, chosen, EXCHANGES)
            rows.append({"model": name, "system": label, **_measured(turns)})
    paper = printed("meena_decoding")
    share = paper["conversations_with_cross_turn_repetition_base_about"]
    return [
        Table(
            "cross_turn_repetition",
            "Conversations with a repeated turn",
            paper["source"],
            rows,
            [{"system": "base", "conversations": share}],
            [f"{len(chosen)} conversations of {EXCHANGES} exchanges with itself"],
        )
    ]


def converse(
    bot: Generator, partner: Generator, chosen: Sequence[Dialogue], exchanges: int
) -> list[list[str]]:
    """Let two bots converse, all conversations at once; return the first one's messages in each."""
    all_turns = [[Utterance("partner", each.turns[0].text)] for each in chosen]
    for exchange in range(exchanges):
        turns = [(each.persona, one) for each, one in zip(chosen, all_turns, strict=True)]
        for one, found in zip(all_turns, bot.propose(turns), strict=True):
            one.append(Utterance("self", found[0].text))
        if exchange + 1 == exchanges:
            break
        turns = [
            (each.partner_persona, [turn.swapped() for turn in one])
            for each, one in zip(chosen, all_turns, strict=True)
        ]
        for one, found in zip(all_turns, partner.propose(turns), strict=True):
            one.append(Utterance("partner", found[0].text))
    return [[turn.text for turn in one if turn.speaker == "self"] for one in all_turns]


def _measured(spoken: Sequence[Sequence[str]]) -> dict[str, object]:
    flagged = [RepetitionRule().flagged(each) for each in spoken]
    turns = [flag for flags in flagged for flag in flags]
    return {
        "conversations": sum(map(any, flagged)) / len(flagged),
        "turns": sum(turns) / len(turns),
    }
