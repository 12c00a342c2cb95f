"""Fields that every campaign has, whatever its protocol.

Apart because the form adds the settings of a protocol to them, and its checks.
"""

from __future__ import annotations

import secrets

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.languages import ENGLISH_NAMES, SOURCE
from webapp.services.campaign import campaigns
from webapp.services.staff_forms.fields import (
    completion_address,
    currency,
    language_codes,
    money,
    number,
    one_of,
    optional,
    optional_money,
    optional_text,
    optional_whole,
    panel_address,
    text,
    whole,
    yes_no,
)

LONGEST_NAME = 120
MOST_POINTS = 100_000  # of a scale


def new_seed() -> str:
    """Return a seed that nobody chose."""
    return str(secrets.randbelow(1_000_000))


class CampaignFields(StaffForm):
    """Fields of a campaign, with what a new one starts from."""

    name = TypedField(
        text(most=LONGEST_NAME),
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("For you and your colleagues; participants never see it."),
    )
    minutes = TypedField(
        whole(least=1, most=240), label=gettext_lazy("Duration (minutes)"), kind="number"
    )
    pay = TypedField(money(), label=gettext_lazy("Pay"), kind="number")
    currency = TypedField(
        currency,
        label=gettext_lazy("Currency"),
        help_text=gettext_lazy("A code of three letters, such as USD or EUR."),
        initial="USD",
    )
    waiting_pay = TypedField(
        money(), label=gettext_lazy("Pay if no partner is found"), kind="number", initial="0.50"
    )
    screening_pay = TypedField(
        money(),
        label=gettext_lazy("Pay for who does not pass"),
        kind="number",
        initial="0.00",
        help_text=gettext_lazy(
            "Of a screening, a quiz, an open onboarding or attention checks that end the "
            "participation; stated before consent. Panels ask that people who were screened out "
            "within a study are paid for their time."
        ),
    )
    quit_rule = TypedField(
        one_of(campaigns.QUIT_RULES),
        label=gettext_lazy("Pay for stopping early"),
        kind="select",
        choices=campaigns.QUIT_RULES.items(),
        initial=campaigns.USUAL_QUIT_RULE,
        help_text=gettext_lazy(
            "Stated before consent. The minimum is that of messages of both sides; where there "
            "is no chat, the replies that a participant is given. Never more than the pay."
        ),
    )
    least_work = TypedField(
        whole(least=1, most=1000),
        label=gettext_lazy("Least work that is paid"),
        kind="number",
        initial="4",
        help_text=gettext_lazy(
            "Messages of both sides, or replies judged; stopping earlier pays nothing. The "
            "minimum itself is always enough."
        ),
    )
    budget = TypedField(
        optional_money,
        label=gettext_lazy("Budget"),
        kind="number",
        help_text=gettext_lazy(
            "Codes and bonuses together never exceed it: who cannot be paid in full gets no place. "
            "Empty: what all places cost (work, a wait and a check each), and a tenth more for "
            "people who are paid and do not count. It can be raised while the campaign runs."
        ),
    )
    hold_unusual = TypedField(
        yes_no,
        label=gettext_lazy("Let nobody new in while most people stop early or write single words"),
        kind="checkbox",
        help_text=gettext_lazy(
            "Of the latest 20 endings half or more. Who is at work goes on, and codes are given; "
            "you let people in again on the page of the budget."
        ),
    )
    hold_payments = TypedField(
        yes_no,
        label=gettext_lazy("Look at payments that look wrong before they are made"),
        kind="checkbox",
        help_text=gettext_lazy(
            "Payments of people with flags, and of those who stop early or write single words "
            "while most do, wait on the pay sheet for three days at most. Codes are given; "
            "their owners are told."
        ),
    )
    contact = TypedField(
        text(most=200),
        label=gettext_lazy("Contact"),
        help_text=gettext_lazy(
            "Shown to participants: a name and an address where questions are answered."
        ),
    )
    languages = TypedField(
        language_codes,
        label=gettext_lazy("Languages of participants' pages"),
        initial=SOURCE,
        help_text=format_lazy(
            gettext_lazy(
                "Codes separated by commas, the usual one first: {codes}. Of several a "
                "participant gets the browser's, and may choose. The protocol's words stay as "
                "the source has them unless you enter translations."
            ),
            codes=", ".join(f"{code} {name}" for code, name in ENGLISH_NAMES.items()),
        ),
    )
    consent = TypedField(
        text(most=20_000, least=40),
        label=gettext_lazy("Consent text"),
        kind="textarea",
        help_text=gettext_lazy("Markdown. It is a draft: your ethics board has the last word."),
    )
    panel = TypedField(
        one_of(campaigns.PANELS),
        label=gettext_lazy("Who takes part"),
        kind="select",
        choices=campaigns.PANELS.items(),
        initial=campaigns.USUAL_PANEL,
        help_text=gettext_lazy(
            "Stored with each participant. Give another panel a campaign, and so a link, of its "
            "own."
        ),
    )
    platform = TypedField(
        one_of(campaigns.PLATFORMS),
        label=gettext_lazy("Who may come in"),
        kind="select",
        choices=campaigns.PLATFORMS.items(),
        initial="",
        help_text=gettext_lazy(
            "A link that names another platform is refused. An id in a link is a claim, which "
            "anybody can make; only a signed invitation proves it. Invitations are made on the "
            "page Live."
        ),
    )
    return_url = TypedField(
        completion_address,
        label=gettext_lazy("Panel completion URL"),
        kind="url",
        help_text=gettext_lazy(
            "Where the last page returns participants to, such as "
            "https://app.prolific.com/submissions/complete?cc={code}; empty for none. {code} "
            "becomes the participant's own code."
        ),
    )
    screened_url = TypedField(
        panel_address,
        label=gettext_lazy("Panel URL for who did not pass"),
        kind="url",
        help_text=gettext_lazy(
            "Where the last page leads who was screened out or failed a check: the panel's own "
            "code for them stands in it, such as https://app.prolific.com/submissions/"
            "complete?cc=SCREENED; empty: as for everybody with a code."
        ),
    )
    keep_days = TypedField(
        optional_whole(least=7, most=36_500),
        label=gettext_lazy("Days after the end until what people wrote is deleted"),
        kind="number",
        help_text=gettext_lazy(
            "Messages, answers and texts, as if everybody withdrew; codes and pay stay. "
            "Participants read it before they consent, so it agrees with the consent text. "
            "Exports that you made are yours to delete. Empty: it is kept."
        ),
    )
    crisis_text = TypedField(
        optional_text(most=1_000),
        label=gettext_lazy("Shown where words suggest a crisis"),
        kind="textarea",
        rows=3,
        help_text=gettext_lazy(
            "In the chat, to the person alone, which goes on. Name whom they can call, in their "
            "language, and promise no medical help. Empty: the server's text, in each language."
        ),
    )
    crisis_phrases = TypedField(
        optional_text(most=5_000),
        label=gettext_lazy("Phrases that suggest a crisis"),
        kind="textarea",
        rows=3,
        help_text=gettext_lazy(
            "One a line, besides the usual ones; a star at its end stands for any ending."
        ),
    )
    wait_seconds = TypedField(
        whole(least=15, most=3600),
        label=gettext_lazy("Longest wait for a partner (seconds)"),
        kind="number",
        initial="300",
    )
    reply_seconds = TypedField(
        whole(least=10, most=600),
        label=gettext_lazy("Longest wait for a bot's reply (seconds)"),
        kind="number",
        initial="60",
    )
    troubled_percent = TypedField(
        whole(least=0, most=100),
        label=gettext_lazy("Troubled replies that a rehearsal may have (percent)"),
        kind="number",
        initial="0",
        help_text=gettext_lazy(
            "Replies that are empty, cut, filtered, a fixed line, only punctuation, or the same "
            "each time. With more of them a bot does not pass its rehearsal."
        ),
    )
    tokens = TypedField(
        optional_whole(least=1, most=10**12),
        label=gettext_lazy("Tokens of your own models, in all"),
        kind="number",
        help_text=gettext_lazy(
            "As their servers report them; where one reports none, a token per 3 bytes. A call "
            "that would exceed it is not made: the conversation ends as a failure of ours, with "
            "full pay, and the campaign is paused. Empty: no limit."
        ),
    )
    conversation_tokens = TypedField(
        optional_whole(least=1, most=10**9),
        label=gettext_lazy("Tokens of one conversation"),
        kind="number",
        help_text=gettext_lazy("Only that conversation ends, with full pay. Empty: no limit."),
    )
    token_cost = TypedField(
        optional_money,
        label=gettext_lazy("Cost of tokens, in all"),
        kind="number",
        help_text=gettext_lazy(
            "In the campaign's currency, by the prices of each system; it is apart from pay."
        ),
    )
    conversation_cost = TypedField(
        optional_money, label=gettext_lazy("Cost of tokens of one conversation"), kind="number"
    )
    bot_when_alone = TypedField(
        yes_no,
        label=gettext_lazy("Offer a bot if no partner arrives"),
        kind="checkbox",
    )
    partner_left_counts = TypedField(
        yes_no,
        label=gettext_lazy("A conversation whose partner left counts towards the target"),
        kind="checkbox",
    )
    stop_difference = TypedField(
        optional(number(above=0, most=MOST_POINTS)),
        label=gettext_lazy("Stop rule: difference to be found"),
        kind="number",
        help_text=gettext_lazy(
            "In points of the question's scale. The page Live then says of each pair of systems "
            "whether it is decided, by intervals that hold at every look; they are shortest for "
            "this difference. Only raters who judge both systems of a pair count; where each "
            "participant judges one system, the means of the two are compared, which takes more "
            "of them. Empty: no rule."
        ),
    )
    stop_question = TypedField(
        optional_text(most=60),
        label=gettext_lazy("Stop rule: question"),
        help_text=gettext_lazy("Its name in the protocol; empty where there is only one."),
    )
    stop_alpha = TypedField(
        number(above=0, most=0.5),
        label=gettext_lazy("Stop rule: probability of any wrong decision"),
        kind="number",
        initial="0.05",
        help_text=gettext_lazy("At all looks and over all pairs together."),
    )
    stop_margin = TypedField(
        optional(number(above=0, most=MOST_POINTS)),
        label=gettext_lazy("Stop rule: difference too small to matter"),
        kind="number",
        help_text=gettext_lazy("Pairs may then be decided as equivalent. Empty: never."),
    )
    stop_items = TypedField(
        optional_whole(least=1, most=1_000_000),
        label=gettext_lazy("Stop rule: most items of a pair"),
        kind="number",
        help_text=gettext_lazy(
            "Contexts, or pairs of conversations by one rater; of each system where a participant "
            "judges one. With it the page also says which pairs cannot be decided any more. "
            "Empty: no limit."
        ),
    )
    stop_recruiting = TypedField(
        yes_no,
        label=gettext_lazy("Pause the campaign once every pair is decided"),
        kind="checkbox",
        help_text=gettext_lazy(
            "Nobody new joins then; conversations under way finish. It happens once: a campaign "
            "that is resumed goes on. Otherwise the page only advises."
        ),
    )
    seed = TypedField(
        whole(least=0, most=2**31 - 1),
        label=gettext_lazy("Random seed"),
        kind="number",
        initial=new_seed,
    )
