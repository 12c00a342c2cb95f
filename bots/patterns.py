"""What the safety filter looks for: patterns by reason, in text that is already in lower case."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
