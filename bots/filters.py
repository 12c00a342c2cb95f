"""What must not be said: a first safety filter, and no reply twice.

The same filter is used when real people's dialogues are read and at a bot's mouth. It is a list of
words (better-profanity's, less those with an everyday sense) and patterns for what word lists miss:
sexual remarks, insults, threats, ways to get in touch. It errs towards refusing: a refused candidate
costs nothing, another one is said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from bots.bot import Reply
from bots.dialogue import Utterance
from bots.text import display, key, word_count

EVERYDAY = frozenset(
    """
arian breasts chink cowgirl cowgirls dink dinks dong dopey drunk dummy erect facial fanny fat flange
foobar gae gai gay gays glans god guido hemp homey hooch hookah hoor hump jerked junky kill knob len
lesbians lmao loin loins mams massa maxi muff murder nad napalm nob oral orally omg organ ovary
paddy pastie pasty pawn pee pollock poop pot potty prude puss queer queers racy reich revue rum rump
sandbar screw screwed seaman seamen slave slope sniper snuff souse stoned strip stroke sumo teat
thrust thug tinkle titi toots tramp transsexual tush unwed urine uterus uzi vixen vodka vomit wad
wang whiz willies willy womb woody yury doofus doggy doggie pms prig
""".split()
)
_SEXUAL = (
    r"\bsex(?:y|ier|iest|ual\w*|ting)?\b|\b(?:sext|nudes?|naked|horny|kinky|boobs?|orgasm\w*|porn\w*)\b",
    r"\b(?:send|show|want|see|trade) (?:me |you |some |your )*(?:a )?(?:pics?|pictures?|photos?|selfies?)"
    r" of (?:you|your)",
    r"\b(?:what are you|are you) wearing\b|\btake (?:it|your \w+|that) off\b|\bmake ?out with\b",
    r"\b(?:you(?:'re| are|r)?|ur) (?:so |really |pretty |kinda )*hot\b|\bhot (?:girls?|guys?|chicks?)\b",
    r"\b(?:sleep|hook(?:ing)? up|shower|cuddle|netflix and chill) with (?:me|you)\b|\bin bed with\b",
    r"\b(?:turn(?:s|ed)? (?:me|you) on|get laid|one night stand|friends with benefits|sugar daddy)\b",
    r"\b(?:kiss|lick|spank|undress|touch) (?:me|you|my|your)\b",
)
_INSULT = (
    r"\b(?:idiots?|idiotic|morons?|dumb|dumber|stupid\w*|loser|losers|retard\w*|imbecile|scumbag|creep"
    r"|creepy|pathetic|psycho|freaks?|trash|lame|weirdos?)\b",
    r"\b(?:shut up|get lost|go to hell|drop dead|screw (?:you|off)|hate you|you suck|u suck)\b",
    r"\b(?:you|u|you're|ur|that's|thats|is|so|are) (?:so |really |such a |a |an )*"
    r"(?:gay|ugly|fat|worthless|disgusting|annoying|boring|garbage|racist|sexist)\b",
    r"\b(?:your|ur|yo) (?:mom|mama|momma|mother)\b(?! (?:is|was|has|do|does|did|live|work|like|cook)\w*)",
)
_THREAT = (
    r"\bkill (?:you|u|him|her|them|me|my ?self|your ?self|people|someone|everyone)\b|\bk(?:ys|ms)\b",
    r"\b(?:suicid\w*|self[- ]harm|hang (?:your|my)self|cut myself|end my life|want to die)\b",
    r"\b(?:i'?ll|i will|gonna|going to) (?:find|hunt|hurt|beat|stab|shoot|punch) (?:you|u|him|her)\b",
    r"\b(?:rap(?:e|ed|ist|ing)|molest\w*|terroris[tm]\w*|bomb(?:ing|s)?|nazis?|hitler|isis)\b",
)
_CONTACT = (
    r"\S+@\S+\.\w+|\bhttps?:|\bwww\.|\b\w+\.(?:com|net|org|edu|io|co|me|ly|tv)\b",
    r"(?<!\w)(?:\+?\d[\s().-]*){7,}(?!\w)|\b\d{3}-\d{3,4}\b",
    r"\b(?:my|your|ur) (?:number|cell|phone number|address|email|e-mail|snap(?:chat)?|insta(?:gram)?"
    r"|facebook|ig|last name|full name|socials?|kik|discord|venmo)\b",
    r"(?:^|\s)@\w{2,}|\b(?:text|call|dm|message|email|follow|snap|add|friend) me\b|\bfacebook\b",
    r"\b(?:snapchat|instagram|whatsapp|tinder)\b",
    r"\b\d{1,5} (?:\w+ ){1,2}(?:street|st|avenue|ave|road|rd|drive|dr|lane|ln|apt|apartment)\b",
    r"\b(?:meet|meeting|come|hang out|hang) (?:up )?(?:with )?(?:me|you) (?:at|in|tonight|tomorrow|over)\b",
)
PATTERNS: Mapping[str, re.Pattern[str]] = {
    "sexual remark": re.compile("|".join(_SEXUAL)),
    "insult": re.compile("|".join(_INSULT)),
    "threat": re.compile("|".join(_THREAT)),
    "contact data": re.compile("|".join(_CONTACT)),
}
FALLBACKS = (
    "Tell me a bit more about that.",
    "What do you like to do in your free time?",
    "What was the best part of your week?",
    "Let's talk about something else. What do you enjoy reading or watching?",
    "What are you looking forward to?",
    "How did you come to like that?",
)

_LEET = str.maketrans("013457@$!|", "oieastasil")
_LOOKALIKES = str.maketrans("аеорсухіѕјԁɡοαει", "aeopcyxisjdgoaei")
_TOKENS = re.compile(r"[a-z0-9@$!|*]+(?:['-][a-z]+)*")
_DRAWN_OUT = re.compile(r"(.)\1{2,}")
_SPACED = re.compile(r"\b(?:[a-z][\s._*-]){2,}[a-z]\b")
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def unsafe(text: str) -> str | None:
    """Return why a text must not be said, or None."""
    plain = _plain(text)
    for reason, pattern in PATTERNS.items():
        if pattern.search(plain):
            return reason
    return "profanity" if _profane(plain) else None


def safe(text: str) -> bool:
    """Tell whether a text may be said."""
    return unsafe(text) is None


def said_by(speaker: str, history: Iterable[Utterance]) -> set[str]:
    """Return the keys of all that a speaker has said."""
    return {key(turn.text) for turn in history if turn.speaker == speaker}


def fallback(history: Sequence[Utterance]) -> str:
    """Return something neutral to say, new in this conversation as long as there is any."""
    said = said_by("self", history)
    fresh = [text for text in FALLBACKS if key(text) not in said]
    return (fresh or FALLBACKS)[0 if fresh else len(history) % len(FALLBACKS)]


def say(
    text: str,
    history: Sequence[Utterance],
    score: float | None = None,
    details: Mapping[str, object] | None = None,
) -> Reply:
    """Return the reply, fit to be shown; or a neutral one where the text must not be said."""
    reason = unsafe(text) if text.strip() else "empty"
    if reason is None:
        return Reply(display(text), score, dict(details or {}))
    return Reply(
        fallback(history), None, {**(details or {}), "refused": [reason], "fallback": True}
    )


def choose(
    ranked: Iterable[tuple[str, float]], history: Sequence[Utterance], max_words: int
) -> Reply:
    """Return the first candidate that is safe, short enough and new; say why others were not."""
    said = said_by("self", history)
    refused: list[str] = []
    long: tuple[str, float] | None = None
    for text, score in ranked:
        reason = "said before" if key(text) in said else unsafe(text)
        if reason is None and word_count(text) <= max_words:
            return say(text, history, score, {"refused": refused} if refused else None)
        if reason is None:
            long, reason = long or (text, score), "too long"
        refused.append(reason)
    if long is not None:
        return say(long[0], history, long[1], {"refused": refused})
    return Reply(fallback(history), None, {"refused": refused, "fallback": True})


def _plain(text: str) -> str:
    """Undo what hides a word: look-alike characters, marks, invisible characters."""
    text = unicodedata.normalize("NFKD", _HIDDEN.sub("", text)).casefold().replace("’", "'")
    if text.isascii():
        return text
    text = text.translate(_LOOKALIKES)
    return "".join(letter for letter in text if not unicodedata.combining(letter))


def _profane(plain: str) -> bool:
    if _SPACED.search(plain):
        plain += " " + _SPACED.sub(lambda found: re.sub(r"[^a-z]", "", found[0]), plain)
    single, several = _profanities()
    return any(
        not _forms(token).isdisjoint(single) for token in set(_TOKENS.findall(plain))
    ) or any(
        phrase in plain and re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", plain)
        for phrase in several
    )


def _forms(token: str) -> set[str]:
    """Return what a token may stand for: look-alike signs, drawn-out letters, a possessive."""
    bare = token.strip("!|*-'")
    if bare.isalpha():
        return {bare, _DRAWN_OUT.sub(r"\1", bare)}
    return {bare, bare.translate(_LEET), bare.split("'")[0]}


@cache
def _profanities() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the words of the list, and what on it is more than one word."""
    listed = (files("better_profanity") / "profanity_wordlist.txt").read_text("utf-8")
    entries = {line.strip().lower() for line in listed.splitlines()} - EVERYDAY - {""}
    return frozenset(entries), tuple(sorted(entry for entry in entries if not entry.isalnum()))
