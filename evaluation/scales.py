"""Wording shared by several protocols."""

from __future__ import annotations

from evaluation.questions import Likert, PersonaChoice, Question, YesNo

# PERSONA-CHAT section 5.2 words the points 1, 3 and 5 of fluency and engagingness; the released
# evaluation code words those of consistency alike.
PERSONACHAT_QUESTIONS: tuple[Question, ...] = (
    Likert(
        name="fluency",
        text="How fluent was the other speaker?",
        points=("not fluent at all", "", "OK", "", "extremely fluent"),
    ),
    Likert(
        name="engagingness",
        text="How engaging was the other speaker?",
        help="Disregard fluency.",
        points=("not engaging at all", "", "OK", "", "extremely engaging"),
    ),
    Likert(
        name="consistency",
        text="How consistent was the other speaker's character?",
        help="Saying “I have a dog” and later “I have no pets” is not consistent.",
        points=("not consistent at all", "", "OK", "", "extremely consistent"),
    ),
    PersonaChoice(name="persona", text="Which character is more likely the other speaker's?"),
)

# MEENA section 2.1 and its appendix: two questions in sequence; not sensible is never specific.
SSA_QUESTIONS: tuple[Question, ...] = (
    YesNo(
        name="sensible",
        text="Does it make sense?",
        help="Use common sense: is it completely reasonable in context? If anything seems off "
        "(confusing, illogical, out of context, factually wrong, contradicting what was said "
        "before), answer no.",
    ),
    YesNo(
        name="specific",
        text="Is it specific?",
        help="“That's nice” would fit dozens of contexts: no. “Me too, I can't get enough of "
        "Roger Federer!” after “I love tennis” is tied to what is being discussed: yes.",
        only_if="sensible",
        otherwise=0,
    ),
)
