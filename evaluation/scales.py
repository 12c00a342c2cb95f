"""Instructions and questions that several protocols share, in the words of their sources."""

from __future__ import annotations

from evaluation.kinds.free_text import FreeText
from evaluation.kinds.likert import Likert
from evaluation.kinds.persona_choice import PersonaChoice
from evaluation.kinds.yes_no import YesNo
from evaluation.questions import Gate, Question
from evaluation.words import Words, ours
from evaluation.writing import WorkedExample

# --- PERSONA-CHAT -------------------------------------------------------------------------------

PERSONACHAT_NOTICE = Words(
    "You «will chit-chat with another worker, while playing the part of a given character».",
    tag="S",
    where="section 3.3",
)
PERSONACHAT_INSTRUCTIONS: tuple[str, ...] = (
    Words(
        "Please «chat with the other person naturally and try to get to know each other».",
        tag="S",
        where="section 3.3",
        quoted=True,
    ),
    Words(
        "Please «both ask questions and answer questions of your chat partner».",
        tag="S",
        where="section 3.3",
        quoted=True,
    ),
    Words(
        "Keep each message to 15 words. Do not copy the sentences of your character.",
        tag="S",
        where="section 3.3",
    ),
    ours("Afterwards you may be asked four questions about the other speaker."),
)


def _anchor(text: str) -> Words:
    return Words(text, tag="S", where="appendix C", quoted=True)


def _released_anchor(text: str) -> Words:
    return Words(f"«{text}»", tag="R", where="released evaluation code")


# The paper words the points 1, 3 and 5 of fluency and engagingness; the released evaluation code
# words those of consistency alike.
PERSONACHAT_QUESTIONS: tuple[Question, ...] = (
    Likert(
        name="fluency",
        text=Words(
            "«Fluency»: «judge the fluency of the other speaker as a score from 1 to 5».",
            tag="S",
            where="appendix C",
        ),
        points=(
            *(_anchor("not fluent at all"), ""),
            *(_anchor("OK"), ""),
            _anchor("extremely fluent"),
        ),
    ),
    Likert(
        name="engagingness",
        text=Words(
            "«Engagingness»: «judge the engagingness of the other speaker disregarding fluency "
            "from 1-5».",
            tag="S",
            where="appendix C",
        ),
        points=(
            *(_anchor("not engaging at all"), ""),
            *(_anchor("OK"), ""),
            _anchor("extremely engaging"),
        ),
    ),
    Likert(
        name="consistency",
        text=Words(
            "«Consistency»: «judge the consistency of the persona of the other speaker».",
            tag="S",
            where="appendix C",
        ),
        help=Words(
            "For example, «“I have a dog” followed by “I have no pets” is not consistent».",
            tag="S",
            where="appendix C",
            quoted=True,
        ),
        points=(
            *(_released_anchor("not consistent at all"), ""),
            *(_released_anchor("OK"), ""),
            _released_anchor("extremely consistent"),
        ),
    ),
    PersonaChoice(
        name="persona",
        text=Words(
            "«Profile Detection»: here are «two possible profiles»; «which is more likely to be "
            "the profile of the person» you «just spoke to»?",
            tag="S",
            where="appendix C",
        ),
    ),
)


def with_reasons(questions: tuple[Question, ...]) -> tuple[Question, ...]:
    """Return the questions, each scale followed by one that asks for the reason in words."""
    found: list[Question] = []
    for question in questions:
        found.append(question)
        if question.is_scale:
            found.append(
                FreeText(
                    name=f"{question.name}_reason",
                    text=ours(f"Why this answer about {question.name}?"),
                    help=ours("Give an example from the conversation where you can."),
                )
            )
    return tuple(found)


DECEIVED = ours(
    "Your partner may have been a computer program. We did not say so before, because knowing it "
    "changes how people rate. If you would rather not have your conversation used, withdraw it "
    "with the link below; you are paid either way."
)

# --- ConvAI2 ------------------------------------------------------------------------------------

ENJOYMENT = Likert(
    name="enjoyment",
    text=Words(
        "How much did you enjoy talking to this user?",
        tag="S",
        where="section 3.2.2",
        quoted=True,
    ),
    points=tuple(
        Words(f"«{word}»", tag="R", where="released task code")
        for word in ("not at all", "a little", "somewhat", "a lot")
    ),
)
# The paper prints neither the labels of the four points nor the question; the numbers are labels.
BLIND_QUESTIONS: tuple[Question, ...] = (
    Likert(
        name="score",
        text=Words(
            "Give this conversation «a score between 1 and 4».",
            tag="S",
            where="section 3.2.3",
        ),
        help=ours("Judge what speaker B did. 1 is the lowest score, 4 the highest."),
        points=("", "", "", ""),
    ),
    FreeText(
        name="comment",
        text=Words(
            "Write «comments about the model's performance».",
            tag="S",
            where="section 3.2.3",
        ),
        help=ours("The model is speaker B."),
        required=False,
    ),
)
# Said by the released task, whose words are not in the specification.
EITHER_PARTNER = Words(
    "Your partner may be a person or a computer program.", tag="R", where="released task code"
)

# --- MEENA --------------------------------------------------------------------------------------

MEENA_TOPIC = Words(
    "We have «no expectation or instructions about domain or topic of the conversation».",
    tag="S",
    where="section 2.3",
)
# Two questions in sequence; not sensible is never specific.
SSA_QUESTIONS: tuple[Question, ...] = (
    YesNo(
        name="sensible",
        text=Words(
            "Say «whether the response, given the context, makes sense».",
            tag="S",
            where="section 2.1",
        ),
        help=Words(
            "Please «use common sense to judge if a response is completely reasonable in context». "
            "«If anything seems off — confusing, illogical, out of context, or factually wrong — "
            "then it should be labeled as, “does not make sense”». The same holds where it "
            "contradicts what was said before.",
            tag="S",
            where="section 2.1",
            quoted=True,
        ),
    ),
    YesNo(
        name="specific",
        text=Words(
            "If it does, «determine if it is specific to the given context».",
            tag="S",
            where="section 2.1",
        ),
        help=Words(
            "For example, «if A says, “I love tennis,” and B responds, “That’s nice,” then the "
            "utterance should be marked, “not specific”». «That reply could be used in dozens of "
            "different contexts.» But if «B responds, “Me too, I can’t get enough of Roger "
            "Federer!” then it is marked as “specific”, since it relates closely to what is being "
            "discussed». «Responses labeled not sensible are considered not specific.»",
            tag="S",
            where="section 2.1",
            quoted=True,
        ),
        only_if=Gate("sensible"),
        otherwise=0,
    ),
)

# --- writing of personas ------------------------------------------------------------------------

PERSONA_INSTRUCTIONS: tuple[str, ...] = (
    Words(
        "Please «create a character (persona) description using 5 sentences».",
        tag="S",
        where="section 3.1",
    ),
    Words(
        "Be natural and descriptive. Use interests that people have and may talk about.",
        tag="S",
        where="section 3.1",
    ),
    Words(
        "Please «make each sentence short, with a maximum of 15 words per sentence».",
        tag="S",
        where="section 3.1",
    ),
    ours("Invent the character: do not use your own details, or those of anybody you know."),
)
PERSONA_EXAMPLE = WorkedExample(
    text=Words(
        "«I am a vegetarian. I like swimming. My father used to work for Ford. My favorite band is "
        "Maroon5. I got a new job last month, which is about advertising design.»",
        tag="S",
        where="section 3.1",
        quoted=True,
    )
)
PERSONA_SENTENCE = FreeText(
    name="sentence", text=ours("A sentence about the character"), most_characters=200
)
