"""A-REPT: in how many conversations a bot repeats itself, without and with the rule against it.

Source: Adiwardana et al. 2020 (MEENA), section 5: about a third of the base model's conversations.
Here the bot answers the messages that a person of the test part wrote, one after the other, and the
rule's thresholds are ours (`bots.repetition`).
"""

from __future__ import annotations

from bots.bot import Bot
from bots.dialogue import Dialogue, Utterance
from bots.reference import printed
from bots.registry import make_bot
from bots.repetition import Rule
from bots.study import Study, Table

WRITER = "meena"
TALKS = 30


def run(study: Study) -> list[Table]:
    """Return the share of conversations, and of turns, in which the bot repeats itself."""
    inside = study.bot(WRITER)
    options = {"bot": WRITER, "options": {"weights": inside.weights}, "seed": study.seed}
    ruled = {"bot": "sample_and_rank", "options": options}
    systems = {
        "sample-and-rank": make_bot("sample_and_rank", **options),
        "with the rule": make_bot("no_repeat", **ruled),
    }
    chosen = study.original.test[:TALKS]
    rows = [_measured(name, bot, chosen) for name, bot in systems.items()]
    paper = printed("meena_decoding")
    share = paper["conversations_with_cross_turn_repetition_base_about"]
    return [
        Table(
            "cross_turn_repetition",
            "Conversations with a repeated turn (A-REPT)",
            paper["source"],
            rows,
            [{"system": "base", "conversations": share}],
            [f"{len(chosen)} conversations with messages of the test part, bot {WRITER}"],
        )
    ]


def _measured(name: str, bot: object, chosen: tuple[Dialogue, ...]) -> dict[str, object]:
    assert isinstance(bot, Bot)  # noqa: S101
    flagged = [Rule().flagged(_said(bot, each)) for each in chosen]
    turns = [flag for flags in flagged for flag in flags]
    return {
        "system": name,
        "conversations": sum(map(any, flagged)) / len(flagged),
        "turns": sum(turns) / len(turns),
    }


def _said(bot: Bot, dialogue: Dialogue) -> list[str]:
    history: list[Utterance] = []
    for turn in dialogue.turns:
        if turn.speaker == "partner":
            history.append(turn)
            history.append(Utterance("self", bot.respond(dialogue.persona, history).text))
    return [turn.text for turn in history if turn.speaker == "self"]
