"""Safety filter of what bots say, and the rule that no reply is given twice.

The same filter is used when real people's dialogues are read and at a bot's mouth. It is a list of
words (better-profanity's) and patterns for what word lists miss: sexual remarks, insults, threats,
ways to get in touch. It errs towards refusing: that costs nothing, another candidate is said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from random import Random

from bots.bot import Reply, ReplyEvent
from bots.dialogue import Example, TooLittleData, Utterance
from bots.text.repetition import RepetitionRule
from bots.text.tokens import display, key, word_count, words

_EVERYDAY = """
arian breasts chink cowgirl cowgirls dink dinks dong dopey drunk dummy erect facial fanny fat flange
foobar gae gai gay gays glans god guido hemp homey hooch hookah hoor hump jerked junky kill knob len
lesbians lmao loin loins mams massa maxi muff murder nad napalm nob oral orally omg organ ovary
paddy pastie pasty pawn pee pollock poop pot potty prude puss queer queers racy reich revue rum rump
sandbar screw screwed seaman seamen slave slope sniper snuff souse stoned strip stroke sumo teat
thrust thug tinkle titi toots tramp transsexual tush unwed urine uterus uzi vixen vodka vomit wad
wang whiz willies willy womb woody yury ugly trashy doofus doggy doggie pms prig
"""
EVERYDAY = frozenset(_EVERYDAY.split())  # on the package's list, but with an innocent sense

_SEXUAL = (
    r"\bsex(?:y|ier|iest|ual\w*|ting)?\b",
    r"\b(?:sext|nudes?|naked|horny|kinky|boobs?|orgasm\w*|porn\w*)\b",
    r"\b(?:pics?|pictures?|photos?|selfies?) of (?:you|your)",
    r"\b(?:what are you|are you) wearing\b|\btake (?:it|your \w+|that) off\b|\bmake ?out with\b",
    r"\b(?:you(?:'re| are|r)?|ur) (?:so |really |pretty |kinda )*hot\b",
    r"\bhot (?:girls?|guys?|chicks?)\b|\bin bed with\b",
    r"\b(?:sleep|hook(?:ing)? up|shower|cuddle|netflix and chill) with (?:me|you)\b",
    r"\b(?:turn(?:s|ed)? (?:me|you) on|get laid|one night stand)\b",
    r"\b(?:friends with benefits|sugar daddy)\b",
    r"\b(?:kiss|lick|spank|undress|touch) (?:me|you|my|your)\b",
)
_INSULT = (
    r"\b(?:idiots?|idiotic|morons?|dumb|dumber|stupid\w*|retard\w*|imbecile|scumbag)\b",
    r"\b(?:creep(?! me)|creepy|pathetic|psycho|lame|weirdos?)\b|^get lost\b",
    r"\b(?:shut up|(?:just|now|so) get lost|go to hell|drop dead|screw (?:you|off))\b",
    r"\b(?:hate you|you suck|u suck)\b|\b(?:a|you|u|big|total) losers?\b",
    r"\b(?:you|u|you're|ur|your|you are) (?:so |really |such a |a |an )*(?:gay|ugly|fat|worthless"
    r"|disgusting|annoying|boring|garbage|trash|racist|sexist|freaks?)\b",
    r"\b(?:that's|thats|that is|this is|so) (?:so )?(?:gay|retarded|racist)\b",
    r"\b(?:ur|yo) (?:mom|mama|momma|mother)\b|\byour (?:mom|mama|momma|mother)\W*$",
)
_THREAT = (
    r"\bkill (?:you|u|him|her|them|me|my ?self|your ?self|people|someone|everyone)\b",
    r"\bk(?:ys|ms)\b|\bsuicid\w*|\bself[- ]harm\b",
    r"\b(?:hang (?:your|my)self|cut myself|end my life|want to die)\b",
    r"\b(?:i'?ll|i will|gonna|going to) (?:hunt|hurt|beat|stab|shoot|punch) (?:you|u|him|her)\b",
    r"\b(?:rap(?:e|ed|ist|ing)|molest\w*|terroris[tm]\w*|nazis?|hitler|isis)\b",
    r"\bbomb(?:ing|s|ed)\b|\ba bomb\b",
)
_CONTACT = (
    r"@\w+\.\w|\bhttps?:|\bwww\.|\w\.(?:com|net|org|edu|io|co|me|ly|tv)\b",
    r"(?<!\w)(?:\+?\d[\s().-]*){7,}(?!\w)|\b\d{3}-\d{3,4}\b",
    r"\b(?:my|your|ur) (?:(?:phone )?number|cell(?! phone)|address|e-?mail)\b",
    r"\b(?:my|your|ur) (?:snap(?:chat)?|insta(?:gram)?)\b",
    r"\b(?:my|your|ur) (?:facebook|ig|last name|full name|socials?|kik|discord|venmo)\b",
    r"(?:^|\s)@\w{2,}|\b(?:text|dm|message|email|snap|add|friend) me\b",
    r"\b(?:call|follow) me (?:at(?! all)|on|maybe|tonight|later|sometime|now)\b",
    r"^(?:just |please |so )?call me\W*$",
    r"\b(?:facebook|snapchat|instagram|whatsapp|tinder)\b",
    r"\b\d{1,5} (?:\w+ ){1,2}(?:street|st|avenue|ave|road|rd|drive|dr|lane|ln|apt|apartment)\b",
    r"\b(?:meet|meeting|come|hang) (?:out |up )?(?:with )?(?:me|you) "
    r"(?:at|in|over|tonight|tomorrow)\b",
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

EMPTY = "the bot said nothing"
ECHOED, REPEATED = "the partner's words", "said before"
UNFILTERED = frozenset({"empty", REPEATED, ECHOED, "too long"})  # reasons that are not the filter's
NEAR_COPY = RepetitionRule(run=6, share=0.9, least=4)  # of a message, by a reply that is chosen

_LEET = str.maketrans("013457@$!|", "oieastasil")
_LOOKALIKES = str.maketrans("аеорсухіѕјԁɡοαει", "aeopcyxisjdgoaei")
_TOKENS = re.compile(r"[a-z0-9@$!|*]+(?:['-][a-z]+)*")
_DRAWN_OUT = re.compile(r"(.)\1{2,}")
_SPACED = re.compile(r"\b(?:[a-z][\s._*-]){2,}[a-z]\b")
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def unsafe(text: str) -> str | None:
    """Return the reason why a text is unsafe, or None."""
    plain = _plain(text)
    for reason, pattern in PATTERNS.items():
        if pattern.search(plain):
            return reason
    return "profanity" if _profane(plain) else None


def safe(text: str) -> bool:
    """Return whether a text is safe."""
    return unsafe(text) is None


def keys_by(speaker: str, history: Iterable[Utterance]) -> set[str]:
    """Return the keys of all messages of a speaker."""
    return {key(turn.text) for turn in history if turn.speaker == speaker}


def fallback(history: Sequence[Utterance]) -> str:
    """Return a neutral reply, new in this conversation as long as there is one."""
    earlier = {key(turn.text) for turn in history}
    fresh = [text for text in FALLBACKS if key(text) not in earlier]
    return (fresh or FALLBACKS)[0 if fresh else len(history) % len(FALLBACKS)]


def safe_reply(
    text: str,
    history: Sequence[Utterance],
    score: float | None = None,
    details: Mapping[str, object] | None = None,
) -> Reply:
    """Return the reply of a bot that writes tokens, fit to be shown; a neutral one if it is unsafe.

    A reply without text has failed, and stays empty.
    """
    if not text.strip():
        return empty_reply(text, details)
    reason = unsafe(text)
    if reason is not None:
        refused = [*_listed_reasons(details), reason]
        return canned(history, text, {**(details or {}), "refused": refused}, ("filtered",))
    shown = display(text)
    altered: tuple[ReplyEvent, ...] = () if shown == text else ("altered",)
    return Reply(shown, score, dict(details or {}), text, events=altered)


def empty_reply(raw: str, details: Mapping[str, object] | None = None) -> Reply:
    """Return the failed reply of a model that wrote nothing."""
    found = {"error": EMPTY, **(details or {})}
    return Reply("", None, found, raw, events=("empty",))


def canned(
    history: Sequence[Utterance],
    raw: str | None,
    details: Mapping[str, object],
    events: tuple[ReplyEvent, ...] = (),
) -> Reply:
    """Return a fixed neutral line in place of what cannot be said, with the raw text beside it."""
    about = {**details, "fallback": True}
    return Reply(fallback(history), None, about, raw, events=(*events, "canned"))


def _listed_reasons(details: Mapping[str, object] | None) -> list[str]:
    found = (details or {}).get("refused", [])
    return [str(each) for each in found] if isinstance(found, list) else []


def choose(
    ranked: Iterable[tuple[str, float]],
    history: Sequence[Utterance],
    max_words: int,
    *,
    written: bool = False,
) -> Reply:
    """Return the first candidate that is safe, short enough and new; log why others were not.

    New is what is no copy, nor near copy, of either side's message; of what a model has `written`
    itself, what differs from its own messages: it may well greet back.
    """
    earlier = _Earlier(history, written=written)
    refused: list[str] = []
    long: tuple[str, float] | None = None
    best: str | None = None  # that was refused, but holds something
    for text, score in ranked:
        reason = _against(text, earlier)
        if reason is None and word_count(text) <= max_words:
            return safe_reply(text, history, score, {"refused": refused} if refused else None)
        if reason is None:
            long, reason = long or (text, score), "too long"
        refused.append(reason)
        best = best or (text.strip() and text) or None
    if long is not None:
        return safe_reply(long[0], history, long[1], {"refused": refused})
    if refused and best is None:
        return empty_reply("", {"refused": refused})
    stopped: tuple[ReplyEvent, ...] = ("filtered",) if {*refused} - UNFILTERED else ()
    return canned(history, best, {"refused": refused}, stopped)


class _Earlier:
    """A conversation's messages, as far as a new one must differ from them."""

    def __init__(self, history: Sequence[Utterance], *, written: bool) -> None:
        heard = () if written else [turn for turn in history if turn.speaker != "self"]
        own = [turn for turn in history if turn.speaker == "self"]
        self._keys = {key(turn.text): ECHOED for turn in heard}
        self._keys |= {key(turn.text): REPEATED for turn in own}
        sides = () if written else ((own, REPEATED), (heard, ECHOED))
        self._words = [(words(turn.text), why) for turns, why in sides for turn in turns]

    def same(self, text: str) -> str | None:
        """Return whose message a text repeats, as a reason, or None."""
        exact = self._keys.get(key(text))
        if exact is not None:
            return exact
        listed = words(text)
        return next((why for old, why in self._words if NEAR_COPY.alike(listed, old)), None)


def _against(text: str, earlier: _Earlier) -> str | None:
    """Return the reason why a candidate is not said, or None."""
    if not text.strip():
        return "empty"
    return earlier.same(text) or unsafe(text)


def nearest_to_try(nearest: int, history: Sequence[Utterance]) -> int:
    """Return how many candidates to look at: as many as asked for beside those that are stale."""
    return nearest + len(history)


def speakable(
    examples: Iterable[Example], most: int, max_words: int, seed: int
) -> list[tuple[str, str]]:
    """Choose the pairs of message and reply that a bot may serve.

    Each reply once, safe and short; those of speakers with a persona first, the rest at random.
    Raises `TooLittleData` where no reply is.
    """
    lot = list(examples)
    Random(seed).shuffle(lot)  # noqa: S311
    chosen: dict[str, tuple[str, str]] = {}
    for example in sorted(lot, key=lambda each: not each.persona):
        if len(chosen) == most:
            break
        if key(example.reply) not in chosen and _speakable(example.reply, max_words):
            chosen[key(example.reply)] = (example.history[-1].text, example.reply)
    if not chosen:
        raise TooLittleData(
            f"none of the {len(lot)} replies can be said to anybody: they are not safe, or do not "
            f"have 2 to {max_words} words"
        )
    return list(chosen.values())


def _speakable(reply: str, max_words: int) -> bool:
    return 1 < word_count(reply) <= max_words and safe(reply)


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
    if any(map(_listed, _TOKENS.findall(plain))):
        return True
    phrases = [phrase for phrase in _profanities()[1] if phrase in plain]
    return any(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", plain) for phrase in phrases)


@lru_cache(maxsize=1 << 16)
def _listed(token: str) -> bool:
    """Return whether a token is on the list, or looks like a word that is."""
    bare = token.strip("!|*-'")
    forms = {bare, _DRAWN_OUT.sub(r"\1", bare), bare.translate(_LEET), bare.split("'")[0]}
    return not forms.isdisjoint(_profanities()[0])


@cache
def _profanities() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the words of the list, and what on it is more than one word."""
    listed = (files("better_profanity") / "profanity_wordlist.txt").read_text("utf-8")
    entries = {line.strip().lower() for line in listed.splitlines()} - EVERYDAY - {""}
    return frozenset(entries), tuple(sorted(entry for entry in entries if not entry.isalnum()))
