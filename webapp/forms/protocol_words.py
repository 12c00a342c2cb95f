"""Words of the builder: labels, help, and what a choice's values are called.

Apart because they are words alone, and change for other reasons than the fields that bear them.
"""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

LABELS: dict[str, str | Promise] = {
    "instructions": gettext_lazy("Instructions, one per line"),
    "language": gettext_lazy("Language of the texts (a code, such as en)"),
    "minutes": gettext_lazy("Duration (minutes)"),
    "source": gettext_lazy("Where it comes from"),
    "told": gettext_lazy("What participants are told of the partner"),
    "first": gettext_lazy("Number of the first point"),
    "debrief": gettext_lazy("What participants are told at the end"),
    "show": gettext_lazy("Replies to a context are shown"),
    "keep": gettext_lazy("What all items of a participant have in common"),
    "messages": gettext_lazy("Messages of a context, least and most"),
    "name": gettext_lazy("Short name, for the data"),
    "text": gettext_lazy("Question"),
    "help": gettext_lazy("Help below the question"),
    "examples": gettext_lazy("Examples, one per line"),
    "points": gettext_lazy("Points of the scale, one per line"),
    "options": gettext_lazy("Options, one per line"),
    "only_if": gettext_lazy("Asked only after an answer to (short name of an earlier question)"),
    "only_if.values": gettext_lazy("Answers that open it, as stored, separated by commas"),
    "otherwise": gettext_lazy("Stored where it is not asked"),
    "better": gettext_lazy("Better end of the values, for rankings"),
    "right": gettext_lazy("Answers that pass, as stored, separated by commas"),
    "explanation": gettext_lazy("Explanation for who was wrong"),
    "turns": gettext_lazy("Turns"),
    "endless": gettext_lazy("Without an end: who leaves finds the conversation again"),
    "yours": gettext_lazy("Heading of the own sheet"),
    "theirs": gettext_lazy("Heading of what is told of the partner's sheet"),
    "one_group": gettext_lazy("Both sheets are of one group, such as a series"),
    "optional": gettext_lazy("No message has to be labeled"),
    "not_before": gettext_lazy("Nobody judges a conversation that they judged before"),
    "makes": gettext_lazy("What is written"),
}
OF_CHAT_LABELS: dict[str, str | Promise] = {
    "partner": gettext_lazy("With whom"),
    "first": gettext_lazy("Who writes first"),
}
HELP: dict[str, str | Promise] = {
    "points": gettext_lazy("A line with only - is a point without a word."),
    "examples": gettext_lazy("What is judged | the answer | why. Shown with the instructions too."),
    "options": gettext_lazy("A word, or: stored value | word | definition."),
    "anchors": gettext_lazy("A position and its word: 0 | very bad. Both ends need one."),
    "opening": gettext_lazy("Said where the partner writes first; may be empty."),
    "pool": gettext_lazy("train, valid or test, or a split that you import; empty: no personas."),
    "only_if": gettext_lazy("Empty: it is always asked. Yes is stored as 1, no as 0."),
    "otherwise": gettext_lazy("Empty: such an answer has no row in the data."),
    "debrief": gettext_lazy("May be empty."),
    "right": gettext_lazy("Yes is stored as 1, no as 0. Of a screening empty: it decides nothing."),
    "yours": gettext_lazy(
        "Such as: You are this character. Sheets are imported with the personas of a campaign; "
        "with all of these fields empty there are none."
    ),
    "theirs": gettext_lazy("Such as: Your partner is this character."),
    "idle": gettext_lazy("0: it goes on until somebody ends it."),
    "not_before": gettext_lazy("Not in another campaign either: a second, blind panel."),
    "explanation": gettext_lazy("Shown beside a wrong answer before the next try."),
}
WORDS: dict[str, str | Promise] = {
    "one": gettext_lazy("one at a time"),
    "pairs": gettext_lazy("in pairs, side by side"),
    "all": gettext_lazy("all on one page"),
    "either": gettext_lazy("a bot or a person"),
    "bot": gettext_lazy("a bot"),
    "person": gettext_lazy("a person"),
    "participant": gettext_lazy("the participant"),
    "partner": gettext_lazy("the partner"),
    "draw": gettext_lazy("drawn for each conversation"),
    "": gettext_lazy("nothing"),
    "group": gettext_lazy("the data set of the contexts"),
    "high": gettext_lazy("high"),
    "low": gettext_lazy("low"),
    "system": gettext_lazy("the system"),
    "alternate": gettext_lazy("one message each, in turn"),
    "free": gettext_lazy("several messages in a row are allowed"),
    "original": gettext_lazy("original"),
    "revised": gettext_lazy("revised"),
    "sides.one": gettext_lazy("one of them, drawn"),
    "both": gettext_lazy("both"),
    "persona": gettext_lazy("personas"),
    "revision": gettext_lazy("revisions of others' personas"),
    "reply": gettext_lazy("replies to contexts"),
    "staff": gettext_lazy("staff"),
    "automatic": gettext_lazy("nobody: what keeps the rules"),
}
