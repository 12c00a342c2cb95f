"""The papers' own words, and where each paper states a setting: what protocols are checked against.

Copied by hand from the last section of the specification, independently of the protocol files. A
protocol of these papers shows each of its rows at the field named, to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluation import Protocol, Words
from evaluation.words import texts, words_of

CITED = re.compile(
    r"section \d+(?:\.\d+)*|appendix [A-Z](?:\.\d+)*|table \d+|figure \d+|released \w+ code"
)


@dataclass(frozen=True)
class PrintedWords:
    """Words of a source that a protocol shows at `field`.

    quoted: they stand in quotation marks there, or have a label that does.
    """

    field: str
    words: str
    where: frozenset[str]
    quoted: bool = False

    @property
    def is_released(self) -> bool:
        """Tell whether they come from code, not from the paper."""
        return any(place.startswith("released") for place in self.where)


def printed(field: str, where: str, *words: str, quoted: bool = False) -> list[PrintedWords]:
    """Return a row for each of the words at one field."""
    return [PrintedWords(field, each, frozenset(cited(where)), quoted) for each in words]


def cited(where: str) -> set[str]:
    """Return the sections, tables and released code that a citation names."""
    return set(CITED.findall(where))


def scale(question: str, where: str, *words: str, quoted: bool) -> list[PrintedWords]:
    """Return the rows of a scale of five whose points 1, 3 and 5 are worded."""
    fields = [f"rate.{question}.points.{point}" for point in (1, 3, 5)]
    return [
        row
        for field, each in zip(fields, words, strict=True)
        for row in printed(field, where, each, quoted=quoted)
    ]


def revision(number: int, *words: str, where: str = "section 3.2") -> list[PrintedWords]:
    """Return the rows of a worked example of a revision: the original, and what became of it."""
    fields = (f"write.examples.{number}.original", f"write.examples.{number}.text")
    pairs = zip(fields, words, strict=False)
    return [row for field, each in pairs for row in printed(field, where, each, quoted=True)]


PERSONA = (
    "I am a vegetarian. I like swimming. My father used to work for Ford. My favorite band is "
    "Maroon5. I got a new job last month, which is about advertising design."
)
L2E_DIMENSIONS = ("Goodness", "Relatedness", "Grammaticality", "Helpfulness", "Plausibility")
PERSONACHAT = [
    *printed(
        "chat.told",
        "section 3.3",
        "will chit-chat with another worker, while playing the part of a given character",
    ),
    *printed(
        "instructions.1",
        "section 3.3",
        "chat with the other person naturally and try to get to know each other",
        quoted=True,
    ),
    *printed(
        "instructions.2",
        "section 3.3",
        "both ask questions and answer questions of your chat partner",
        quoted=True,
    ),
    *printed(
        "rate.fluency.text",
        "appendix C",
        "Fluency",
        "judge the fluency of the other speaker as a score from 1 to 5",
    ),
    *scale("fluency", "appendix C", "not fluent at all", "OK", "extremely fluent", quoted=True),
    *printed(
        "rate.engagingness.text",
        "appendix C",
        "Engagingness",
        "judge the engagingness of the other speaker disregarding fluency from 1-5",
    ),
    *scale(
        "engagingness",
        "appendix C",
        *("not engaging at all", "OK", "extremely engaging"),
        quoted=True,
    ),
    *printed(
        "rate.consistency.text",
        "appendix C",
        "Consistency",
        "judge the consistency of the persona of the other speaker",
    ),
    *printed(
        "rate.consistency.help",
        "appendix C",
        "“I have a dog” followed by “I have no pets” is not consistent",
        quoted=True,
    ),
    *scale(
        "consistency",
        "released evaluation code",
        *("not consistent at all", "OK", "extremely consistent"),
        quoted=False,
    ),
    *printed(
        "rate.persona.text",
        "appendix C",
        "Profile Detection",
        "two possible profiles",
        "which is more likely to be the profile of the person",
        "just spoke to",
    ),
]
SSA = [
    *printed(
        "rate.sensible.text", "section 2.1", "whether the response, given the context, makes sense"
    ),
    *printed(
        "rate.sensible.help",
        "section 2.1",
        "use common sense to judge if a response is completely reasonable in context",
    ),
    *printed(
        "rate.sensible.help",
        "section 2.1",
        "If anything seems off — confusing, illogical, out of context, or factually wrong — then "
        "it should be labeled as, “does not make sense”",
        quoted=True,
    ),
    *printed(
        "rate.specific.text", "section 2.1", "determine if it is specific to the given context"
    ),
    *printed(
        "rate.specific.help",
        "section 2.1",
        "if A says, “I love tennis,” and B responds, “That’s nice,” then the utterance should be "
        "marked, “not specific”",
        quoted=True,
    ),
    *printed(
        "rate.specific.help",
        "section 2.1",
        "That reply could be used in dozens of different contexts.",
    ),
    *printed(
        "rate.specific.help",
        "section 2.1",
        "B responds, “Me too, I can’t get enough of Roger Federer!” then it is marked as "
        "“specific”, since it relates closely to what is being discussed",
        quoted=True,
    ),
    *printed(
        "rate.specific.help",
        "section 2.1",
        "Responses labeled not sensible are considered not specific.",
    ),
]
ENJOYMENT = [
    *printed(
        "rate.enjoyment.text",
        "section 3.2.2",
        "How much did you enjoy talking to this user?",
        quoted=True,
    ),
    *(
        row
        for point, word in enumerate(("not at all", "a little", "somewhat", "a lot"), start=1)
        for row in printed(f"rate.enjoyment.points.{point}", "released task code", word)
    ),
]
TOPIC = printed(
    "instructions.2",
    "section 2.3",
    "no expectation or instructions about domain or topic of the conversation",
)
THRED_GRADES = [
    (
        "Excellent",
        "The response is very appropriate, on topic, fluent, interesting and shows understanding "
        "of the context.",
    ),
    (
        "Good",
        "The response is coherent with the context but it is not diverse and informative. It may "
        "imply the answer.",
    ),
    (
        "Poor",
        "The response is interpretable and grammatically correct but completely off-topic.",
    ),
    ("Bad", "The response is grammatically broken and it does not provide an answer."),
]

ASAPP_GRADES = [
    ("Bad", "The response is not relevant to the context."),
    ("Good", "The response is relevant to the context but is vague or generic."),
    (
        "Great",
        "The response is relevant to the context and directly addresses the issue at hand.",
    ),
]

PERSONA_WRITING = [
    *printed(
        "instructions.1",
        "section 3.1",
        "create a character (persona) description using 5 sentences",
    ),
    *printed(
        "instructions.3",
        "section 3.1",
        "make each sentence short, with a maximum of 15 words per sentence",
    ),
    *printed("write.examples.1.text", "section 3.1", PERSONA, quoted=True),
]

PRINTED: Mapping[str, list[PrintedWords]] = {
    "personachat_bot": PERSONACHAT,
    "personachat_human": PERSONACHAT,
    "meena_static": SSA,
    "meena_third_party": SSA,
    "meena_second_panel": SSA,
    "convai2_blind": [
        *printed("rate.score.text", "section 3.2.3", "a score between 1 and 4"),
        *printed("rate.comment.text", "section 3.2.3", "comments about the model's performance"),
    ],
    "meena_interactive": [
        *printed(
            "instructions.1",
            "section 2.3",
            "label what the chatbot says in terms of sensibleness and specificity",
        ),
        *TOPIC,
        *printed("chat.told", "section 2.3", "are about to chat with an experimental chatbot"),
        *printed("chat.opening", "section 2.3", "Hi!", quoted=True),
        *SSA,
    ],
    "meena_human_like": printed(
        "rate.human_like.text",
        "figure 2",
        "judge whether a given response was “human-like”, or in other words, looked like a "
        "response that a human might give in the provided context",
        quoted=True,
    ),
    "convai2_crowd": [
        *(row for row in PERSONACHAT if row.field.startswith("instructions.")),
        *ENJOYMENT,
    ],
    "convai2_wild": [row for row in PERSONACHAT if row.field.startswith("instructions.")],
    "convai2_crowd_reasons": [row for row in PERSONACHAT if row.field.startswith("rate.")],
    "nine_questions": ENJOYMENT,
    "acute_eval": [
        *printed(
            "rate.preferred.text",
            "released ParlAI code",
            "who would you prefer to talk to for a long conversation",
        ),
        *printed("rate.preferred.reply", "released ParlAI code", "I would prefer to talk to"),
    ],
    "answer_plausibility": [
        *printed("rate.plausible.text", "section 4.2", "question-answer pair", "reasonable"),
        *(
            row
            for number, word in enumerate(("yes", "no", "can’t tell"), start=1)
            for row in printed(
                f"rate.plausible.options.{number}.word", "section 4.2", word, quoted=True
            )
        ),
    ],
    "explanation_rating": [
        *printed("instructions.2", "section 5.4", "extremely bad", "extremely good"),
        *(
            row
            for dimension in L2E_DIMENSIONS
            for field, where, words in (
                ("text", "table 5", dimension),
                ("anchors.1.word", "section 5.4", "extremely bad"),
                ("anchors.2.word", "section 5.4", "extremely good"),
            )
            for row in printed(f"rate.{dimension.lower()}.{field}", where, words)
        ),
    ],
    "explanation_ranking": printed(
        "instructions.1",
        "figure 1",
        "The city councilmen refused the demonstrators a permit because ?",
    ),
    "perceived_sentiment": printed(
        "instructions.2", "section 5.3", "if the response was positive, negative, or neutral"
    ),
    "persona_likely": [
        *printed(
            "instructions.2",
            "section 5.3",
            "if the character was likely to say each utterance on the list",
        ),
        *printed("rate.likely.text", "section 5.3", "likely", quoted=True),
        *printed("rate.likely.yes", "figure 5", "Yes"),
        *printed("rate.likely.no", "figure 5", "No"),
    ],
    "student_advisor": [
        *printed(
            "instructions.2",
            "section 3.2",
            "the classes they had taken already, what year of their degree they were in, and "
            "several types of class preferences (workloads, class sizes, topic areas, time of day, "
            "etc.)",
        ),
        *printed(
            "instructions.3",
            "section 3.2",
            "did not know the student’s preferences, but did know what classes they had taken, "
            "what classes were available, and which were suggested",
        ),
    ],
    "role_play": [
        *printed("instructions.1", "section 5.2", "converse as their characters"),
        *printed(
            "instructions.2",
            "section 5.2",
            "start conversations with an utterance regarding a given topic",
        ),
        *printed("chat.brief.topics.1", "section 5.2", "self-introductions"),
        *printed("chat.brief.topics.2", "section 5.2", "movies"),
        *printed("chat.brief.topics.3", "section 5.2", "fashion"),
        *printed("chat.brief.topics.4", "section 5.2", "family"),
    ],
    "reply_ranking": [
        *printed(
            "instructions.2",
            "section 5.2.2",
            "rank the general response quality in terms of relevance and informativeness. Ties are "
            "not allowed.",
        ),
        *printed(
            "rate.quality.text",
            "section 5.2.2",
            "the general response quality in terms of relevance and informativeness",
        ),
    ],
    "graded_pairs": [
        *(
            row
            for number, (word, definition) in enumerate(THRED_GRADES, start=1)
            for row in [
                *printed(f"rate.grade.options.{number}.word", "appendix A.2", word),
                *printed(f"rate.grade.options.{number}.definition", "appendix A.2", definition),
            ]
        ),
        *printed(
            "rate.better.help",
            "appendix A.2",
            "favor response 1 over response 2 if: (1) response 1 is relevant, logically consistent "
            "to the context, fluent and on topic; or (2) Both responses 1 and 2 are relevant, "
            "consistent and fluent but response 1 is more informative than response 2. If judges "
            "cannot tell which one is better, they can rate the responses as Equally good or "
            "Equally Bad.",
        ),
        *printed("rate.better.ties.1.word", "appendix A.2", "Equally good"),
        *printed("rate.better.ties.2.word", "appendix A.2", "Equally Bad"),
    ],
    "reply_grades": [
        *(
            row
            for number, (word, definition) in enumerate(ASAPP_GRADES, start=1)
            for row in [
                *printed(f"rate.grade.options.{number}.word", "section 4.3", word),
                *printed(f"rate.grade.options.{number}.definition", "section 4.3", definition),
            ]
        ),
        *printed(
            "rate.grade.help",
            "section 4.3",
            "“My phone is broken”. Bad response: Goodbye! Good response: I’m sorry to hear that. "
            "Great response: I’m sorry to hear that your phone is broken.",
            quoted=True,
        ),
    ],
    "coherency_pairs": [
        *printed(
            "rate.word_coherency.text",
            "section 3.4",
            "which words in a response are more related to a dialogue history",
            quoted=True,
        ),
        *printed(
            "rate.dialogue_continuity.text",
            "section 3.4",
            "which response is easier to respond to",
            quoted=True,
        ),
        *(
            row
            for name in ("word_coherency", "dialogue_continuity")
            for row in printed(f"rate.{name}.ties.1.word", "table 4, table 5, table 6", "neither")
        ),
    ],
    "reply_quality": [
        *printed(
            "rate.fluency.text",
            "section 5.3",
            "fluent and at an acceptable level to understand its meaning",
        ),
        *printed("rate.fluency.yes", "section 5.3", "fluent"),
        *printed("rate.fluency.no", "section 5.3", "influent"),
        *printed(
            "rate.consistency.text",
            "section 5.3",
            "whether a response is semantically consistent with the utterance",
        ),
        *printed(
            "rate.consistency.help",
            "section 5.3",
            "Generic responses can be regarded as consistent if they are acceptable for given "
            "utterances. Responses judged as influent are automatically annotated as inconsistent.",
        ),
        *printed("rate.consistency.yes", "section 5.3", "consistent"),
        *printed("rate.consistency.no", "section 5.3", "inconsistent"),
        *printed(
            "rate.domain_awareness.text",
            "section 5.3",
            "which one better matched the domain of the input utterance",
        ),
        *printed("rate.sentiment_richness.text", "section 5.3", "one showing salient sentiments"),
    ],
    "personachat_personas": PERSONA_WRITING,
    "personachat_revisions": [
        *printed(
            "instructions.2",
            "section 3.2",
            "a related characteristic that the same person may have",
            quoted=True,
        ),
        *printed(
            "instructions.3",
            "section 3.2",
            "not to trivially rephrase the sentence by copying the original words",
        ),
        *revision(1, "I like basketball", "I am a big fan of Michael Jordan"),
        *revision(2, "I like basketball"),
        *printed("write.examples.2.text", "released revision code", "I am good at basketball"),
        *revision(3, "My father worked for Ford.", "My dad worked in the car industry"),
        *revision(4, "My father worked for Ford.", "My dad was employed by Ford."),
    ],
    "convai2_hidden_personas": PERSONA_WRITING,
    "convai2_hidden_revisions": [
        *revision(
            1,
            "I just got my nails done",
            "I love to pamper myself on a regular basis",
            where="section 2.1",
        ),
        *revision(2, "I am on a diet now", "I need to lose weight.", where="section 2.1"),
    ],
    "convai2_hidden_chats": [
        row for row in PERSONACHAT if row.field.startswith(("instructions.", "chat."))
    ],
    "meena_human": [
        *printed("instructions.1", "section 2.6, appendix A", "Hi!", quoted=True),
        *TOPIC,
    ],
}

# Where a source states what a protocol, or one of its settings, cites it for.
_PERSONACHAT_SETTINGS = {
    "chat.form": "section 3.3",
    "rate.sides": "appendix C",
    "chat.minimum": "section 3.3",
    "chat.max_words.limit": "section 3.3",
    "chat.pool": "section 5.2",
}
STATED: Mapping[str, Mapping[str, str]] = {
    "personachat_bot": {
        **_PERSONACHAT_SETTINGS,
        "source": "section 5.2, appendix C",
        "chat.pace": "released evaluation code",
    },
    "personachat_human": {**_PERSONACHAT_SETTINGS, "source": "section 5.2, table 4"},
    "personachat_personas": {
        "source": "section 3.1",
        "write.sentences": "section 3.1",
        **dict.fromkeys(("write.count", "write.valid", "write.test"), "section 3"),
        "write.sentence_len.most": "section 3.1",
        "write.sentence_len.least": "released collection code",
    },
    "personachat_revisions": {
        "source": "section 3.2",
        "write.writers": "section 3",
        "write.sentence_len.most": "released revision code",
        "write.sentence_len.least": "released revision code",
    },
    "convai2_hidden_personas": {
        "source": "section 2.1",
        "write.count": "section 2.1",
        "write.test": "section 2.1",
    },
    "convai2_hidden_revisions": {"source": "section 2.1", "write.writers": "section 2.1"},
    "convai2_hidden_chats": {"source": "section 2.1", "chat.pool": "section 2.1"},
    "meena_replies": {"source": "section 2.2"},
    "meena_static": {"source": "section 2.2", "rate.votes": "section 2.1, table 1"},
    "meena_third_party": {"source": "section 2.4", "rate.votes": "section 2.4"},
    "meena_second_panel": {"source": "section 2.6", "rate.sample": "section 2.6"},
    "convai2_blind": {"source": "section 3.2.3", "rate.votes": "section 3.2.3"},
    "meena_interactive": {
        "source": "section 2.3",
        "chat.opening": "section 2.3",
        "chat.minimum": "section 2.3",
        "chat.maximum": "section 2.3",
    },
    "meena_human_like": {"source": "section 2.1, figure 2", "rate.votes": "section 2.1, table 1"},
    "convai2_crowd": {
        "source": "section 3.2.2",
        "chat.told": "released task code",
        "chat.tells_of_bots": "released task code",
        "chat.maximum": "section 2.2",
        "chat.max_words.limit": "section 2.2",
        "chat.pace": "released evaluation code",
    },
    "convai2_crowd_reasons": {
        **dict.fromkeys(
            ("source", "chat.minimum", "chat.maximum", "chat.pace"), "released evaluation code"
        ),
        "chat.min_words.limit": "released evaluation code",
        "chat.max_words.limit": "released evaluation code",
        "chat.tells_of_bots": "released task code",
        "chat.told": "released task code",
    },
    "convai2_wild": {
        "source": "section 2.2",
        **dict.fromkeys(("chat.maximum", "chat.idle"), "released wild code"),
        "rate.label_opening": "released wild code",
    },
    "live_engagement": {"source": "section 3"},
    "explanation_rating": {"source": "section 5.4"},
    "explanation_ranking": {"source": "table 4", "rate.batch": ""},
    "perceived_sentiment": {"source": "section 5.3", "rate.votes": "", "rate.batch": ""},
    "persona_likely": dict.fromkeys(("source", "rate.votes", "rate.batch"), "section 5.3"),
    "student_advisor": {"source": "section 3.2"},
    "student_advisor_paraphrases": dict.fromkeys(("source", "write.cuts"), "section 3.2"),
    "role_play": dict.fromkeys(("source", "chat.brief.topics"), "section 5.2"),
    "reply_ranking": {"source": "section 5.2.2", "rate.votes": "section 5.2.2"},
    "graded_pairs": dict.fromkeys(("source", "rate.votes", "rate.batch"), "appendix A.2"),
    "reply_grades": {"source": "section 4.3", "rate.votes": "section 4.3"},
    "coherency_pairs": {
        **dict.fromkeys(("source", "rate.votes"), "section 3.4"),
        "rate.with_first": "table 4, table 5, table 6",
    },
    "reply_quality": dict.fromkeys(("source", "rate.votes", "rate.with_first"), "section 5.3"),
    "acute_eval": dict.fromkeys(
        ("rate.batch", "onboarding.share", "onboarding.silently"), "released ParlAI code"
    ),
    "nine_questions": {
        **dict.fromkeys(("chat.minimum", "chat.maximum"), "released evaluation code"),
        "chat.min_words.limit": "released evaluation code",
        "chat.max_words.limit": "released evaluation code",
        "chat.told": "released task code",
    },
    "answer_plausibility": {"source": "section 4.2"},
    "meena_human": {
        "source": "section 2.4, appendix A",
        "chat.minimum": "appendix A",
        "chat.maximum": "appendix A",
    },
}


def other_words(rows: Iterable[PrintedWords], field: str, words: Words) -> list[str]:
    """Return what is wrong with one text: words that its source does not have, or elsewhere."""
    here = {row.words: row for row in rows if row.field == field}
    strange = [exact for exact in words.exact if exact not in here]
    if strange:
        return [f"{field}: “{exact}” is not printed for it" for exact in strange]
    found = [here[exact] for exact in words.exact]
    about = [
        (cited(words.where), {place for row in found for place in row.where}, "where"),
        (words.quoted, any(row.quoted for row in found), "quoted"),
        (words.tag, "R" if any(row.is_released for row in found) else "S", "tag"),
    ]
    return [
        f"{field}: {name} is {value}, not {right}"
        for value, right, name in about
        if found and value != right
    ]


def wording_faults(protocol: Protocol) -> list[str]:
    """Return what a protocol shows in other words than its source, or not at all."""
    rows = PRINTED.get(protocol.name, [])
    shown = [(field, text) for field, text in texts(protocol) if isinstance(text, Words)]
    exact = {(field, each) for field, text in shown for each in text.exact}
    faults = [fault for field, text in shown for fault in other_words(rows, field, text)]
    lacking = [row for row in rows if (row.field, row.words) not in exact]
    return faults + [f"{row.field}: does not show “{row.words}”" for row in lacking]


def citation_faults(protocol: Protocol) -> list[str]:
    """Return the citations of a protocol that name a section which does not state the thing."""
    stated = STATED.get(protocol.name, {})
    cites = {name: (source.tag, source.where) for name, source in protocol.sources.items()}
    cites["source"] = ("S", protocol.source)
    faults = [
        f"{name}: cites {sorted(cited(where))}, not {sorted(cited(stated.get(name, '')))}"
        for name, (tag, where) in cites.items()
        if cited(where) != cited(stated.get(name, "") if tag != "D" else "")
    ]
    return faults + [
        f"{field}: cites “{words.where}”; known are {sorted(_known(protocol.name))}"
        for field, words in words_of(protocol)
        if words.tag != "D" and not words.exact
        if not cited(words.where) or not cited(words.where) <= _known(protocol.name)
    ]


def _known(name: str) -> set[str]:
    """Return every section that the tables have for a protocol."""
    of_words = {place for row in PRINTED.get(name, []) for place in row.where}
    return of_words.union(*map(cited, STATED.get(name, {}).values()))
