"""Parts of the participants' pages that a client reads, as the schema has them.

Apart because it is a table: tests look for each part in the templates.
"""

from __future__ import annotations

from collections.abc import Mapping

PARTS: Mapping[str, str] = {
    "form[action]": "where a form goes. Send all its inputs of type hidden as they stand, "
    "csrfmiddlewaretoken among them, and an answer for each of its questions",
    "fieldset[data-name]": "a question. Its answer goes by the name data-name; data-kind is one of "
    "x-kinds; aria-invalid marks one whose answer was refused",
    "fieldset[data-gate]": "asked only where the question of that name has an answer among "
    "data-gate-values, a list of JSON; else leave it out",
    "fieldset input[type=radio]": "an option: answer with one `value`. With data-alone no two "
    "questions of the page may have the same value",
    "fieldset input[type=range]": "answer with a number from min to max, in steps of step",
    "fieldset textarea": "answer with a text of data-least-words to data-most-words words, "
    "data-least-characters to maxlength characters",
    "meta[name=csrf-token]": "what X-CSRFToken has to be",
    "[data-frames]": "the conversation's address for plain HTTP, with its key and the version",
    "[data-socket]": "the conversation's address for a websocket, with its key and the version",
    "#chat-data": "JSON of a chat page: `questions` are asked of each message of the partner, by "
    "`name`, with `options` (value and word), `input`, `only_if` and `only_if_values`; `optional` "
    "says whether they can be left out",
    "[data-part=persona]": "the character to play, as a list",
    "#code": "the completion code, on the page of the step ENDED",
    'a[href*="/private/"]': "the private link, at the foot of the pages around the work",
}
