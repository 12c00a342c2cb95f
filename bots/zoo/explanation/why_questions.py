"""Why-questions as statements: "Why did she sell the car?" becomes "She sold the car."

Source: L2E (NLP4CONVAI 2019): drop "Why", put the subject before the auxiliary and the verb phrase;
do-support goes, and the verb takes its tense. A subject is taken to be a pronoun, or a determiner
and what follows up to the first word after it; a name is one word [our default: the paper parses].
"""

from __future__ import annotations

import re

_WHY = re.compile(r"^\W*(?:so |and |but )?why\s+(\w+(?:['’]\w+)?)\s+(.+?)\W*$", re.IGNORECASE)
_DO = {"do": "", "does": "s", "did": "ed"}
_OTHER = frozenset(
    {"am", "is", "are", "was", "were", "have", "has", "had", "can", "could", "will", "would"}
    | {"shall", "should", "may", "might", "must"}
)
_DETERMINERS = frozenset(
    {"the", "a", "an", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our"}
    | {"their", "some", "many", "most", "all", "every", "no"}
)
_PAST = {
    **{"be": "was", "break": "broke", "bring": "brought", "build": "built", "buy": "bought"},
    **{"catch": "caught", "choose": "chose", "come": "came", "cut": "cut", "do": "did"},
    **{"draw": "drew", "drink": "drank", "drive": "drove", "eat": "ate", "fall": "fell"},
    **{"feel": "felt", "fight": "fought", "find": "found", "fly": "flew", "forget": "forgot"},
    **{"get": "got", "give": "gave", "go": "went", "grow": "grew", "have": "had", "hear": "heard"},
    **{"hit": "hit", "hold": "held", "hurt": "hurt", "keep": "kept", "know": "knew"},
    **{"leave": "left", "let": "let", "lose": "lost", "make": "made", "mean": "meant"},
    **{"meet": "met", "pay": "paid", "put": "put", "read": "read", "ride": "rode", "run": "ran"},
    **{"say": "said", "see": "saw", "sell": "sold", "send": "sent", "sing": "sang", "sit": "sat"},
    **{"sleep": "slept", "speak": "spoke", "spend": "spent", "stand": "stood", "swim": "swam"},
    **{"take": "took", "teach": "taught", "tell": "told", "think": "thought", "throw": "threw"},
    **{"wake": "woke", "wear": "wore", "win": "won", "write": "wrote"},
}


def statement(question: str) -> str | None:
    """Return the statement that a why-question presupposes, or None if it is no such question."""
    found = _WHY.match(question)
    if found is None:
        return None
    auxiliary, rest = found[1].lower().replace("’", "'"), found[2].split()
    size = _subject(rest)
    subject, after = rest[:size], rest[size:]
    if not after or not (auxiliary in _OTHER or auxiliary in _DO or auxiliary.endswith("n't")):
        return None
    if auxiliary in _DO:
        stated = [*subject, _inflected(after[0], _DO[auxiliary]), *after[1:]]
    else:
        stated = [*subject, auxiliary, *after]
    text = " ".join(stated)
    return text[0].upper() + text[1:] + "."


def _subject(rest: list[str]) -> int:
    return 2 if rest[0].lower() in _DETERMINERS and len(rest) > 1 else 1


def _inflected(verb: str, ending: str) -> str:
    if ending == "s":
        return _third(verb)
    return verb if not ending else _past(verb)


def _third(verb: str) -> str:
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(?:s|x|z|ch|sh)$", verb) else "s")


def _past(verb: str) -> str:
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    doubled = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb)
    return verb + (verb[-1] if doubled else "") + "ed"
