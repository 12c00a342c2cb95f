"""People chat for six turns, begun by either side, and answer nine questions about it."""

# X-P2. Told of both kinds of partner, because one question asks which it was.

from __future__ import annotations

from evaluation import (
    Chat,
    Choice,
    ChoiceOption,
    Draw,
    MaxWords,
    MinWords,
    PersonaChoice,
    Protocol,
    Rate,
    Source,
    Words,
    ours,
)
from evaluation.scales import EITHER_PARTNER, ENJOYMENT

CODE = "released evaluation code"  # ParlAI, project controllable_dialogue


def paraphrased(text: str) -> Words:
    """Return words that say what the released code says."""
    return Words(text, tag="R", where=CODE)


def graded(name: str, text: str, *words: str, highest_first: bool = False) -> Choice:
    """Return a question whose options are grades from 1, shown from the lowest or the highest."""
    grades = range(len(words), 0, -1) if highest_first else range(1, len(words) + 1)
    options = (
        ChoiceOption(value=value, word=paraphrased(word))
        for value, word in zip(grades, words, strict=True)
    )
    return Choice(name=name, text=paraphrased(text), options=tuple(options))


PROTOCOL = Protocol(
    name="nine_questions",
    title="Nine questions about a conversation",
    source="See et al. 2019, What makes a good conversation?, by its released code",
    minutes=9,
    instructions=(
        paraphrased(
            "Get to know each other, and write as if you were the character that you are given."
        ),
        paraphrased("Write 3 to 20 words per message. Do not copy your character's sentences."),
        ours("Either of you may be the one to begin."),
        ours("Afterwards you answer nine questions about the conversation."),
    ),
    steps=(
        Chat(
            partner="either",
            told=EITHER_PARTNER,
            first="draw",
            minimum=Draw((12,)),
            maximum=12,
            checks=(MinWords(3), MaxWords(20)),
            pool="test",
            pace=0.5,
        ),
        Rate(
            each=(
                ENJOYMENT,
                graded(
                    "interestingness",
                    "Was this conversation interesting or boring?",
                    "It was very boring",
                    "It was rather boring",
                    "It was rather interesting",
                    "It was very interesting",
                ),
                graded(
                    "inquisitiveness",
                    "How hard did this user try to get to know you?",
                    "They asked nothing about me",
                    "They asked a few things about me",
                    "They asked a fair number of things about me",
                    "They asked more than I liked",
                ),
                graded(
                    "listening",
                    "Did this user attend to what you wrote?",
                    "They never did",
                    "They seldom did",
                    "They usually did",
                    "They always did",
                ),
                graded(
                    "repetitiveness",
                    "Did this user repeat things?",
                    "They said the same things again and again",
                    "They said a few things twice",
                    "Each message said something new",
                ),
                graded(
                    "fluency",
                    "How natural was this user's English?",
                    "Not natural at all",
                    "More unnatural than natural",
                    "More natural than unnatural",
                    "Entirely natural",
                ),
                graded(
                    "sense",
                    "How much of what this user wrote failed to make sense?",
                    "None of it: everything made sense",
                    "Some of it",
                    "Most of it",
                    "All of it",
                    highest_first=True,
                ),
                graded(
                    "humanness",
                    "Was this user a person or a computer program?",
                    "A program, I am sure",
                    "A program, I think",
                    "A person, I think",
                    "A person, I am sure",
                ),
                PersonaChoice(
                    name="persona",
                    text=paraphrased("Which of these characters was the other user given?"),
                ),
            )
        ),
    ),
    sources={
        "chat.minimum": Source("R", f"{CODE}: 6 turns each"),
        "chat.maximum": Source("R", f"{CODE}: 6 turns each"),
        "chat.min_words.limit": Source("R", f"{CODE}: fewer than 3 words are refused"),
        "chat.max_words.limit": Source("R", f"{CODE}: announces 30 words, refuses more than 20"),
        "chat.pool": Source("D", "the code takes a split of ConvAI2 by option"),
        "chat.pace": Source("D", "the code waits about 4 seconds, however long the reply is"),
    },
)
