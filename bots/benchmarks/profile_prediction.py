"""Profile prediction: the persona of a speaker found by the TF-IDF similarity of messages.

Source: Zhang et al. 2018 (PERSONA-CHAT), appendix D, tables 13 and 14. There people talked with the
bots; here a bot answers the messages that a person of the test part wrote, one after the other.
The error is read as pairwise, ties counted as errors: chance is .5 (the paper does not define it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from bots.bot import Bot, Ranker
from bots.commands.benchmark_data import BenchmarkData, Table, flat
from bots.dialogue import Dialogue, Utterance
from bots.reference import printed

MOST = 100  # conversations, and negative profiles, as in the paper
LENGTHS = range(1, 9)


@dataclass(frozen=True)
class ProfiledConversation:
    """Messages and profiles of two speakers: 0 is the person, 1 the bot."""

    messages: tuple[tuple[str, ...], tuple[str, ...]]
    profiles: tuple[tuple[str, ...], tuple[str, ...]]


def run(study: BenchmarkData) -> list[Table]:
    """Return the error for each speaker and profile, and by the number of utterances."""
    scorer = study.bot("tfidf", "none")
    known = _profiles(study)
    bot = study.bot("kv_profile_memory")
    blank = study.bot("kv_profile_memory", "none")
    chosen = study.original.test[:MOST]
    conversations = {
        "KV Profile": [converse(bot, each, profiled=True) for each in chosen],
        "KV w/o Profile": [converse(blank, each, profiled=False) for each in chosen],
    }
    return [
        _by_profile(study, scorer, conversations, known),
        _by_length(study, scorer, conversations["KV Profile"], known),
    ]


def converse(bot: Bot, dialogue: Dialogue, *, profiled: bool) -> ProfiledConversation:
    """Let the bot answer each message of the partner in turn, with its own messages before."""
    history: list[Utterance] = []
    persona = dialogue.persona if profiled else ()
    for turn in dialogue.turns:
        if turn.speaker == "partner":
            history.append(turn)
            history.append(Utterance("self", bot.respond(persona, history).text))
    messages = tuple(
        tuple(turn.text for turn in history if turn.speaker == speaker)
        for speaker in ("partner", "self")
    )
    return ProfiledConversation(
        (messages[0], messages[1]), (dialogue.partner_persona, dialogue.persona)
    )


def _profiles(study: BenchmarkData) -> list[tuple[str, ...]]:
    found = [
        each
        for dialogue in (*study.original.train, *study.original.test)
        for each in (dialogue.persona, dialogue.partner_persona)
        if each
    ]
    return list(dict.fromkeys(found))


def error(
    scorer: Ranker,
    messages: Sequence[str],
    profile: Sequence[str],
    others: Sequence[Sequence[str]],
    *,
    sentences: bool,
) -> float:
    """Return the share of negatives that score at least what the true profile does.

    A profile is one bag of words, or each of its sentences is compared with each of theirs.
    """
    true = list(profile) if sentences else [" ".join(profile)]
    wrong = [text for other in others for text in (other if sentences else [" ".join(other)])]
    scores = scorer.rank((), (Utterance("partner", " ".join(messages)),), [*true, *wrong])
    negatives = scores[len(true) :]
    beaten = [sum(other >= mine for other in negatives) for mine in scores[: len(true)]]
    return sum(beaten) / (len(true) * len(negatives))


def _mean_error(
    study: BenchmarkData,
    scorer: Ranker,
    conversations: Sequence[ProfiledConversation],
    known: Sequence[tuple[str, ...]],
    pair: tuple[int, int],
    *,
    sentences: bool,
    most: int | None = None,
) -> float | None:
    """Average over conversations; each draws its own negatives, the same for every pair."""
    errors = []
    for index, conversation in enumerate(conversations):
        speaker, owner = pair
        chance = Random(study.seed * MOST + index)  # noqa: S311
        others = [each for each in known if each not in conversation.profiles]
        drawn = chance.sample(others, min(MOST, len(others)))
        messages, profile = conversation.messages[speaker][:most], conversation.profiles[owner]
        if messages and profile and (most is None or len(conversation.messages[speaker]) >= most):
            errors.append(error(scorer, messages, profile, drawn, sentences=sentences))
    return sum(errors) / len(errors) if errors else None


def _by_profile(
    study: BenchmarkData,
    scorer: Ranker,
    conversations: dict[str, list[ProfiledConversation]],
    known: Sequence[tuple[str, ...]],
) -> Table:
    rows: list[dict[str, object]] = []
    for pair in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row: dict[str, object] = {"speaker": f"PERSON {pair[0]}", "profile": f"Profile {pair[1]}"}
        for level, sentences in (("profile_level", False), ("sentence_level", True)):
            for system, held in conversations.items():
                row[f"{level} {system}"] = _mean_error(
                    study, scorer, held, known, pair, sentences=sentences
                )
        rows.append(row)
    paper = printed("personachat_table13")
    return Table(
        "profile_prediction",
        "Profile prediction error: PERSON 0 is the person, PERSON 1 the bot",
        paper["source"],
        rows,
        [flat(row) for row in paper["rows"]],
        [
            f"{min(MOST, len(known) - 2)} negative profiles; "
            f"{len(conversations['KV Profile'])} talks"
        ],
    )


def _by_length(
    study: BenchmarkData,
    scorer: Ranker,
    conversations: Sequence[ProfiledConversation],
    known: Sequence[tuple[str, ...]],
) -> Table:
    rows: list[dict[str, object]] = []
    for speaker, owner in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row: dict[str, object] = {"speaker": f"PERSON {speaker}", "profile": f"Profile {owner}"}
        for most in LENGTHS:
            row[str(most)] = _mean_error(
                study, scorer, conversations, known, (speaker, owner), sentences=True, most=most
            )
        rows.append(row)
    paper = printed("personachat_table14")
    return Table(
        "profile_prediction_by_length",
        "Profile prediction error by number of utterances, sentence level",
        paper["source"],
        rows,
        [
            {
                "speaker": row["speaker"],
                "profile": row["profile"],
                **{str(index): value for index, value in enumerate(row["error"], start=1)},
            }
            for row in paper["rows"]
        ],
        [paper["note"], "a conversation counts up to the number of utterances it has"],
    )
