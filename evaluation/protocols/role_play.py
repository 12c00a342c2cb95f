"""Two people who know a series talk as two of its characters, on a topic that opens it."""

# PM-P1. Characters are imported with `name` and `group`, the series; topics are a setting, those of
# one series with its name in front. Of the 26 topics of the paper (18 general ones, 4 of each of
# two series) it prints four; the others here are ours. `bots.datasets.role_play` reads the export.

from __future__ import annotations

from evaluation import (
    Brief,
    Chat,
    Choice,
    ChoiceOption,
    Draw,
    Gate,
    Protocol,
    Screening,
    Source,
    Words,
    YesNo,
    ours,
)

WHERE = "section 5.2"


def _printed(topic: str) -> Words:
    return Words(f"«{topic}»", tag="S", where=WHERE)


TOPICS = (
    *map(_printed, ("self-introductions", "movies", "fashion", "family")),
    *map(
        ours,
        (
            *("food", "music", "work", "travel", "sports", "the weather", "friends"),
            *("holidays", "school days", "health", "money", "pets", "hopes", "the place you live"),
        ),
    ),
)

PROTOCOL = Protocol(
    name="role_play",
    title="Role-play conversations by character and topic",
    source="The PERSONA-METRICS paper (Miyazaki et al. 2021), section 5.2",
    minutes=15,
    instructions=(
        Words(
            "You and your partner each get a character of one series. People here «converse as "
            "their characters»: say what yours would say, the way it would say it.",
            tag="S",
            where=WHERE,
        ),
        Words(
            "People here «start conversations with an utterance regarding a given topic»: "
            "whoever of you writes first begins on the topic that both of you are shown.",
            tag="S",
            where=WHERE,
        ),
        ours("From there on talk about whatever your characters would talk about."),
    ),
    steps=(
        Screening(
            questions=(
                YesNo(
                    name="watched",
                    text=ours("Have you watched the series whose characters are played here?"),
                ),
                Choice(
                    name="episodes",
                    text=ours("How many episodes of it have you watched?"),
                    options=(
                        ChoiceOption(value=1, word=ours("Ten or fewer")),
                        ChoiceOption(value=2, word=ours("More than ten")),
                    ),
                    only_if=Gate("watched"),
                    otherwise=0,
                ),
            ),
            passes=(Gate("watched"),),
        ),
        Chat(
            partner="person",
            told=ours("Your partner is another participant, who plays another character."),
            first="draw",
            minimum=Draw((10,)),
            pool="test",
            brief=Brief(
                yours=ours("You are this character"),
                theirs=ours("Your partner is this character:"),
                one_group=True,
                topics=TOPICS,
            ),
        ),
    ),
    sources={
        "chat.minimum": Source("D", "the paper does not give a length"),
        "chat.maximum": Source("D", "the paper does not give a length"),
        "chat.pool": Source("D", "characters that are imported without a split are of this one"),
        "chat.brief.topics": Source(
            "S", "section 5.2: 18 general topics and 4 of each series; four are printed"
        ),
    },
)
