"""The design families, those first that most campaigns are like."""

from __future__ import annotations

from dataclasses import replace

from tests.families.agreeing import Agreement
from tests.families.ratings import (
    Ratings,
    adaptive,
    contexts,
    crowd,
    items,
    linked_phases,
    messages,
    one_gives_half,
    own_system,
    persons,
    phases,
    replies,
    turns,
    unequal,
)
from tests.families.votes import Votes

Family = Ratings | Votes | Agreement

CHAT = Ratings(name="20 raters have a conversation with each system", who=turns)
REPLY = Ratings(name="5 of 20 raters judge a reply", who=replies, votes=5, item=0.5)
SHARED = Ratings(
    name="contexts shared by all systems, 3 of 12 raters judge every reply",
    who=items, raters=12, votes=3, item=0.5,
)  # fmt: skip
SEVEN = replace(CHAT, name="1 to 7", high=7, base=4, rater=1.0, noise=1.7)
TEN = replace(CHAT, name="1 to 10", high=10, base=5.5, rater=1.5, noise=1.9)
HUNDRED = replace(CHAT, name="0 to 100", low=0, high=100, base=50, rater=15, noise=20)
YES_NO = replace(CHAT, name="yes or no", low=0, high=1, base=0.5, rater=0.4, noise=1.0)
YES_NO_REPLY = replace(
    REPLY, name="yes or no, 5 of 20 raters judge a reply",
    low=0, high=1, base=0.5, rater=0.4, noise=0.8,
)  # fmt: skip

RATINGS: tuple[Ratings, ...] = (
    CHAT,
    REPLY,
    SHARED,
    YES_NO,
    replace(CHAT, name="3 raters in all, with every system", raters=3),
    replace(REPLY, name="the same 5 raters judge every reply", raters=5),
    replace(REPLY, name="the same 3 raters, unlike replies", raters=3, votes=3, item=0.8),
    replace(CHAT, name="3 raters with tastes", raters=3, taste=0.5),
    replace(CHAT, name="5 raters with tastes", raters=5, taste=0.5),
    replace(CHAT, name="10 raters with tastes", raters=10, taste=0.5),
    SEVEN,
    TEN,
    HUNDRED,
    YES_NO_REPLY,
    replace(CHAT, name="5 raters of one system each", who=own_system, raters=5),
    replace(CHAT, name="2 raters of one system each", who=own_system, raters=2),
    replace(CHAT, name="one rater per system", who=own_system, raters=1, abstains=True),
    replace(
        HUNDRED, name="0 to 100, one rater per system", who=own_system, raters=1, abstains=True
    ),
    replace(CHAT, name="every rating is another person's", who=persons),
    replace(CHAT, name="a tenth is missing at random", missing=0.1),
    replace(REPLY, name="5 of 20 raters judge a reply, a third missing", missing=0.33),
    replace(CHAT, name="1 of 20 raters gives half of the ratings", who=one_gives_half),
    replace(CHAT, name="a crowd of 40, few of whom do most", who=crowd, raters=40),
    replace(CHAT, name="systems with 6, 12, 24 and 48 conversations", who=unequal),
    replace(CHAT, name="near the top of 1 to 5", base=4.5),
    replace(HUNDRED, name="near the top of 0 to 100", base=92),
    replace(YES_NO, name="yes or no, nine tenths yes", base=1.88),
    replace(SEVEN, name="1 to 7, 5 of 20 raters judge a reply",
            who=replies, votes=5, item=1.0, noise=1.2),
    replace(TEN, name="1 to 10, 100 conversations per system", items=100, raters=100),
    replace(HUNDRED, name="0 to 100, contexts shared by all systems",
            who=contexts, raters=12, votes=3, context=12, reply=8),
    replace(CHAT, name="contexts named in the table, replies of their own",
            who=contexts, raters=12, votes=3, context=0.5, reply=0.4),
    replace(SHARED, name="4 contexts, 10 raters judge every reply",
            items=4, raters=10, votes=10, reply=0.3),
    replace(REPLY, name="5 replies per system, the same 5 raters", items=5, raters=5),
    replace(CHAT, name="8 messages of each conversation",
            who=messages, votes=8, conversation=0.5),
    replace(YES_NO, name="yes or no, 8 messages of each conversation",
            who=messages, votes=8, conversation=0.4),
    replace(CHAT, name="two phases of two systems, other raters in each", who=phases),
    replace(CHAT, name="two phases that share two systems, other raters in each",
            who=linked_phases),
    replace(CHAT, name="one rater in 10 answers at random", odd=0.1),
    replace(REPLY, name="5 of 20 raters judge a reply, one in 10 at random", odd=0.1),
    replace(CHAT, name="systems of unlike noise", noises=(0.4, 0.6, 0.9, 1.4)),
    replace(CHAT, name="every other rater twice as noisy", unlike=2.0, noise=0.6),
    replace(CHAT, name="few severe raters among many mild ones", skewed=True),
    replace(CHAT, name="2 systems", systems=2),
    replace(CHAT, name="10 systems", systems=10, items=20),
    replace(CHAT, name="300 raters", items=300, raters=300),
    replace(REPLY, name="500 replies per system, 3 of 60 raters each",
            items=500, raters=60, votes=3),
    replace(CHAT, name="a gap of .3", gap=0.3),
    replace(REPLY, name="a gap of .3, 5 of 20 raters judge a reply", gap=0.3),
    replace(CHAT, name="a gap of .3, 5 raters with tastes", gap=0.3, raters=5, taste=0.5),
    replace(HUNDRED, name="a gap of 8 on 0 to 100", gap=8),
    replace(YES_NO_REPLY, name="a gap of .3 on yes or no", gap=0.3),
    replace(CHAT, name="all answers alike", rater=0, noise=0, base=4, abstains=True),
    replace(CHAT, name="conversations given to the systems that lead",
            who=adaptive, items=80, cautioned=True),
    replace(CHAT, name="poor conversations lost", lost=1.0, allows=True, cautioned=True),
    replace(CHAT, name="poor conversations lost, a gap of 1",
            lost=2.0, gap=1.0, items=40, allows=True, cautioned=True),
    replace(CHAT, name="poor conversations lost, as the table tells", lost=1.0, told=True,
            allows=True, cautioned=True),
    replace(CHAT, name="poor conversations lost, a gap of 1, as the table tells",
            lost=2.0, gap=1.0, items=40, told=True, allows=True, cautioned=True),
)  # fmt: skip

TWOS = Votes(name="votes, one per context, 12 raters")
VOTES: tuple[Votes, ...] = (
    TWOS,
    replace(TWOS, name="votes of 10 of 30 raters, contexts alike",
            contexts=8, votes=10, raters=30),
    replace(TWOS, name="votes of 10 of 30 raters, contexts unlike",
            contexts=8, votes=10, raters=30, context=1.0),
    replace(TWOS, name="2 systems, votes of 20 of 40 raters, contexts unlike",
            systems=2, votes=20, raters=40, context=1.0),
    replace(TWOS, name="votes of the same 5 raters with tastes",
            contexts=10, votes=5, raters=5, taste=0.8),
    replace(TWOS, name="votes about contexts shared by all pairs",
            contexts=15, votes=3, raters=20, context=1.0, shared=True),
    replace(TWOS, name="what is shown first wins more often",
            votes=3, raters=20, first=0.7, context=0.5),
    replace(TWOS, name="every vote is another person's", contexts=30, once=True),
    replace(TWOS, name="a third of the votes missing", votes=4, raters=16, missing=0.33,
            context=0.5),
    replace(TWOS, name="abilities .4 apart, contexts unlike",
            contexts=10, votes=6, raters=24, context=0.8, gap=0.4),
    replace(TWOS, name="rankings of 4 systems by 3 of 15 raters",
            contexts=30, votes=3, raters=15, context=0.8, ranked=True),
    replace(TWOS, name="votes of 3 raters", votes=3, raters=3, abstains=True),
)  # fmt: skip

PANEL = Agreement(name="agreement of the same 5 raters on 1 to 5")
AGREEMENT: tuple[Agreement, ...] = (
    PANEL,
    replace(PANEL, name="agreement on yes or no", low=0, high=1, base=0.5, rater=0.4, noise=0.5),
    replace(PANEL, name="agreement of 3 of 12 raters per item", raters=12, votes=3),
    replace(PANEL, name="agreement of 10 raters taken as drawn from many",
            raters=10, votes=10, others=True),
)  # fmt: skip
FAMILIES: tuple[Family, ...] = (
    *RATINGS[:10], *VOTES[:4], *AGREEMENT[:1], *RATINGS[10:], *VOTES[4:], *AGREEMENT[1:],
)  # fmt: skip
