"""A-PROF, A-PROFLEN: whose profile is it? Told from what was said, by tf-idf similarity.

Source: Zhang et al. 2018 (PERSONA-CHAT), appendix D, tables 13 and 14. There people talked with the
bots; here a bot answers the messages that a person of the test part wrote, one after the other.
The error is read as pairwise, ties counted as errors: chance is .5 (the paper does not define it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from bots.bot import Bot, Ranker
from bots.dialogue import Dialogue, Utterance
from bots.reference import printed
from bots.study import Study, Table, flat

MOST = 100  # conversations, and negative profiles, as in the paper
LENGTHS = range(1, 9)


@dataclass(frozen=True)
class Talk:
    """What two said, and the profile of each: 0 is the person, 1 the bot."""

    said: tuple[tuple[str, ...], tuple[str, ...]]
    profiles: tuple[tuple[str, ...], tuple[str, ...]]


def run(study: Study) -> list[Table]:
    """Return the error for each speaker and profile, and by the number of utterances."""
    scorer = study.bot("tfidf", "none")
    known = _profiles(study)
    bot = study.bot("kv_profile_memory")
    blank = study.bot("kv_profile_memory", "none")
    chosen = study.original.test[:MOST]
    talks = {
        "KV Profile": [converse(bot, each, told=True) for each in chosen],
        "KV w/o Profile": [converse(blank, each, told=False) for each in chosen],
    }
    return [
        _by_profile(study, scorer, talks, known),
        _by_length(study, scorer, talks["KV Profile"], known),
    ]


def converse(bot: Bot, dialogue: Dialogue, *, told: bool) -> Talk:
    """Let the bot answer each message of the partner in turn, with what it said itself before."""
    history: list[Utterance] = []
    persona = dialogue.persona if told else ()
    for turn in dialogue.turns:
        if turn.speaker == "partner":
            history.append(turn)
            history.append(Utterance("self", bot.respond(persona, history).text))
    said = tuple(
        tuple(turn.text for turn in history if turn.speaker == speaker)
        for speaker in ("partner", "self")
    )
    return Talk((said[0], said[1]), (dialogue.partner_persona, dialogue.persona))


def _profiles(study: Study) -> list[tuple[str, ...]]:
    found = [
        each
        for dialogue in (*study.original.train, *study.original.test)
        for each in (dialogue.persona, dialogue.partner_persona)
        if each
    ]
    return list(dict.fromkeys(found))


def error(
    scorer: Ranker,
    said: Sequence[str],
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
    scores = scorer.rank((), (Utterance("partner", " ".join(said)),), [*true, *wrong])
    negatives = scores[len(true) :]
    beaten = [sum(other >= mine for other in negatives) for mine in scores[: len(true)]]
    return sum(beaten) / (len(true) * len(negatives))


def _mean_error(
    study: Study,
    scorer: Ranker,
    talks: Sequence[Talk],
    known: Sequence[tuple[str, ...]],
    pair: tuple[int, int],
    *,
    sentences: bool,
    most: int | None = None,
) -> float | None:
    """Average over conversations; each draws its own negatives, the same for every pair."""
    errors = []
    for place, talk in enumerate(talks):
        speaker, owner = pair
        chance = Random(study.seed * MOST + place)  # noqa: S311
        others = [each for each in known if each not in talk.profiles]
        drawn = chance.sample(others, min(MOST, len(others)))
        said, profile = talk.said[speaker][:most], talk.profiles[owner]
        if said and profile and (most is None or len(talk.said[speaker]) >= most):
            errors.append(error(scorer, said, profile, drawn, sentences=sentences))
    return sum(errors) / len(errors) if errors else None


def _by_profile(
    study: Study,
    scorer: Ranker,
    talks: dict[str, list[Talk]],
    known: Sequence[tuple[str, ...]],
) -> Table:
    rows: list[dict[str, object]] = []
    for pair in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row: dict[str, object] = {"speaker": f"PERSON {pair[0]}", "profile": f"Profile {pair[1]}"}
        for level, sentences in (("profile_level", False), ("sentence_level", True)):
            for system, held in talks.items():
                row[f"{level} {system}"] = _mean_error(
                    study, scorer, held, known, pair, sentences=sentences
                )
        rows.append(row)
    paper = printed("personachat_table13")
    return Table(
        "profile_prediction",
        "Profile prediction error (A-PROF): PERSON 0 is the person, PERSON 1 the bot",
        paper["source"],
        rows,
        [flat(row) for row in paper["rows"]],
        [f"{min(MOST, len(known) - 2)} negative profiles; {len(talks['KV Profile'])} talks"],
    )


def _by_length(
    study: Study, scorer: Ranker, talks: Sequence[Talk], known: Sequence[tuple[str, ...]]
) -> Table:
    rows: list[dict[str, object]] = []
    for speaker, owner in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row: dict[str, object] = {"speaker": f"PERSON {speaker}", "profile": f"Profile {owner}"}
        for most in LENGTHS:
            row[str(most)] = _mean_error(
                study, scorer, talks, known, (speaker, owner), sentences=True, most=most
            )
        rows.append(row)
    paper = printed("personachat_table14")
    return Table(
        "profile_prediction_by_length",
        "Profile prediction error by number of utterances (A-PROFLEN), sentence level",
        paper["source"],
        rows,
        [
            {
                "speaker": row["speaker"],
                "profile": row["profile"],
                **{str(place): value for place, value in enumerate(row["error"], start=1)},
            }
            for row in paper["rows"]
        ],
        [paper["note"], "a conversation counts up to the number of utterances it has"],
    )
