"""A student and an advisor, each with a sheet of their own, talk about which courses to take."""

# NL-P11. Sheets are imported in pairs: two of one `group`, named Student and Advisor. What only one
# of them knows stands in `sentences`, what both know in `shared`. Other people paraphrase messages
# afterwards, where chats are cut: `student_advisor_paraphrases`.

from __future__ import annotations

from evaluation import Brief, Chat, Draw, Protocol, Source, Words, ours

WHERE = "section 3.2"

PROTOCOL = Protocol(
    name="student_advisor",
    title="Student and advisor",
    source="The advising data of DSTC7, track 1 (Gunasekara et al. 2019), section 3.2",
    minutes=15,
    instructions=(
        ours("One of you plays a student, the other one an advisor. Your sheet says which."),
        Words(
            "The student's sheet says «the classes they had taken already, what year of their "
            "degree they were in, and several types of class preferences (workloads, class sizes, "
            "topic areas, time of day, etc.)».",
            tag="S",
            where=WHERE,
        ),
        Words(
            "The advisor «did not know the student’s preferences, but did know what classes they "
            "had taken, what classes were available, and which were suggested».",
            tag="S",
            where=WHERE,
        ),
        ours("Talk until it is clear which class the student takes next."),
    ),
    steps=(
        Chat(
            partner="person",
            told=ours("Your partner is another participant, with the other sheet."),
            first="draw",
            minimum=Draw((8,)),
            pool="test",
            brief=Brief(
                yours=ours("Your sheet: your partner does not see it"),
                theirs=ours("You talk to the"),
                one_group=True,
            ),
        ),
    ),
    sources={
        "chat.minimum": Source("D", "the paper does not give a length"),
        "chat.maximum": Source("D", "the paper does not give a length"),
        "chat.pool": Source("D", "sheets that are imported without a split are of this one"),
        "chat.brief.topics": Source("D", "there are none: what is talked about is the sheets"),
    },
)
