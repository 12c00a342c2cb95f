"""Offenses said to the face, beyond what the filter of replies knows: contempt, insults, dismissal.

The Ruuh paper prints no list; these are our own words. They count only where they are said of or to
the partner ("you are a ...", "get lost"), so that talk about others, or about oneself, is let be.
Apart because these are lists of words, which grow by themselves.
"""

from __future__ import annotations

import re

_NOUNS = """
airhead amateur blockhead bonehead brat buffoon bully cheat clown coward crook dimwit dirtbag
disappointment disgrace dolt donkey dork dunce failure fake fool fraud freak goon halfwit hypocrite
ignoramus jackass jerk joke liar loser lunatic maniac menace mistake monster nightmare nitwit nobody
nuisance numbskull oaf parasite pest pig rat reject scum simpleton slimeball slob snake snob thief
traitor twit vermin wimp wreck
"""
_STUFF = "dirt|garbage|junk|nothing|rubbish|scum|trash|vermin"
_ADJECTIVES = """
abysmal appalling arrogant atrocious awful beneath braindead brainless clueless clumsy contemptible
dense deranged despicable detestable dimwitted disgraceful disgusting dreadful embarrassing foolish
gross hateful hideous hopeless horrible horrid ignorant illiterate incompetent infuriating insane
insufferable intolerable irritating laughable lousy mediocre mindless miserable moronic nasty
nauseating obnoxious pitiful pointless repugnant repulsive revolting ridiculous rotten rude
senseless shameful shameless sickening spineless stinking talentless terrible tiresome twisted
unbearable unhinged useless vile witless worthless wretched
"""
_NOUN, _ADJECTIVE = ("|".join(each.split()) for each in (_NOUNS, _ADJECTIVES))
# "You" as whom it is said of: not "do you", "are you" and the like, which ask.
_YOU = (
    r"(?<!\bdo )(?<!\bare )(?<!\bdid )(?<!\bcan )(?<!\bsorry )(?<!\bthat )(?<!\bhave )"
    r"\b(?:(?:you|u)(?:'re| are| r| sound| look| seem| were)?|ur|youre)"
)
_MORE = r"(?:(?:so|such|really|very|just|truly|totally|completely|absolutely|all|always|still) )*"
_BAD = rf"(?:{_ADJECTIVE}|stupid|dumb|ugly|{_STUFF})"
_PATTERNS = (
    rf"{_YOU} {_MORE}(?:an? |the |one )?{_MORE}(?:{_ADJECTIVE})\b",
    rf"{_YOU} {_MORE}(?:an? |the |one )(?:\w+ )?(?:{_NOUN})\b",
    rf"{_YOU} {_MORE}(?:{_STUFF})\b(?! to (?:do|lose|worry|fear))",
    rf"{_YOU} (?:\w+ )?(?:{_NOUN}|{_STUFF})$",
    rf"{_YOU} {_MORE}(?:an? )?(?:\w+ )?waste of \w+",
    r"\b(?:piece|pile|heap|bucket|load|sack) of "
    r"(?:bolts|code|dirt|garbage|junk|metal|rubbish|rust|scrap|software|trash)\b",
    r"\b(?:sick|tired|fed up) (?:of|with) (?:you|u|your)\b",
    rf"^(?:you |what an? |such an? )?{_BAD} (?:\w+ )?"
    rf"(?:{_NOUN}|bot|robot|machine|program|computer|thing|toy)\b",
    r"\b(?:i|we|they|people|everyone|everybody) (?:all |really |so |truly )*"
    r"(?:hates?|despises?|detests?|loathes?|(?:can't|cant|cannot) stand) (?:you|u)\b(?! to\b)",
    r"\b(?:nobody|no one) (?:here )?(?:likes|loves|wants|needs|cares about|asked) (?:you|u)\b",
    r"\b(?:you|u) (?:really |just )?(?:disgust|sicken|repulse|stink|reek)\b",
    r"\byou make me (?:sick|puke|vomit|gag)\b",
    r"\byou (?:know|understand|are good for) nothing\b|\bgood for nothing\b",
    r"\byou(?:'ve)? (?:have |got |have got )?(?:no|zero|half a) "
    r"(?:brains?|clue|shame|manners|heart|soul|friends)\b",
    r"\b(?:your|ur) (?:face|brain|head|voice|jokes?|opinions?|replies|answers?)"
    rf"(?: is| are|'s) (?:so |really )*{_BAD}\b",
    r"\b(?:shut|zip) (?:it|your (?:\w+ )?(?:mouth|face|trap|pie ?hole))\b",
    r"^(?:now |just )?be quiet\b",
    r"^(?:now |just |please |oh |so )*(?:go away|get out|stop talking|buzz off|beat it|take a hike"
    r"|back off|clear off|get a life|eat dirt|get bent|get stuffed|bite me)$",
    r"\bwhat(?: is|'s|s) wrong with (?:you|u)\b",
    r"\bare you (?:really |that )*(?:thick|dense|brain ?dead|out of your mind)\b",
    r"\bhope (?:you|u) (?:all )?(?:die|rot|fail|choke|crash|suffer|get (?:deleted|scrapped))\b",
    r"\b(?:you|u) (?:should|ought to|deserve to) be "
    r"(?:ashamed|deleted|scrapped|shut down|switched off|turned off)\b",
    r"\b(?:worst|dumbest|stupidest|ugliest|rudest) (?:\w+ )?(?:bot|robot|machine|chatbot)\b",
    r"\b(?:don't|dont|do not) (?:you )?(?:ever |even )?talk to me\b",
)
OFFENSE = re.compile("|".join(_PATTERNS))


def offends(plain: str) -> bool:
    """Tell whether a message in small letters, without punctuation, offends whom it is said to."""
    return OFFENSE.search(plain) is not None
