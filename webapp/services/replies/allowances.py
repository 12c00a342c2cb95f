"""Tokens and their cost: a call of one's own model reserves before it begins, and settles after.

Each change is one conditional UPDATE, as in the pay ledger (docs/decisions/0038), and the database
refuses what would exceed an allowance. What a server reports is counted; where it reports nothing,
a token for each BYTES_PER_TOKEN bytes of UTF-8, of the request and of the reply. A call that took
more than it had reserved can pass an allowance by that much only, which `beyond` holds. Rehearsals
and test chats are no part of the study, and are not counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Greatest, Least

from bots import Reply, Turn, bot_options, get_bot
from bots.bot import Prompted
from webapp.models import Allowance, Campaign, Conversation, ReplyJob

BYTES_PER_TOKEN = 3  # English has about 4, other scripts fewer: an estimate errs on the high side
USUAL_REPLY = 1000  # tokens reserved for a reply without a limit of its own
MILLION = 1_000_000
Unit = Allowance.Unit
COUNTED = (Conversation.Purpose.STUDY, Conversation.Purpose.CONTEXT)
# Fields of a campaign: the unit, and whether it is each conversation's.
FIELDS: Mapping[str, tuple[str, bool]] = {
    "tokens": (Unit.TOKENS, False),
    "token_cost": (Unit.COST, False),
    "conversation_tokens": (Unit.TOKENS, True),
    "conversation_cost": (Unit.COST, True),
}
LATE = "did not answer within"  # a server may have worked on such a call


class NothingLeft(Exception):
    """An allowance has too little left for a call; `waits` while others under way hold the rest."""

    def __init__(self, row: Allowance) -> None:
        whose = "campaign" if row.conversation_id is None else "conversation"
        words = "tokens" if row.unit == Unit.TOKENS else "money for tokens"
        super().__init__(f"the {whose} has no {words} left")
        self.is_of_campaign = row.conversation_id is None
        self.waits = row.reserved > 0


@dataclass(frozen=True)
class TokenBooks:
    """An allowance as a page shows it, in tokens or in the currency."""

    unit: str
    most: Decimal
    used: Decimal
    reserved: Decimal

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.used / self.most)) if self.most else 0


def is_counted(job: ReplyJob) -> bool:
    """Tell whether a job's call is to stay within an allowance."""
    conversation = job.conversation
    if conversation.purpose not in COUNTED or not any(_limits(conversation.campaign).values()):
        return False
    return any(each.name == "on_cut" for each in bot_options(job.bot))  # of one's own models


def reserve(job: ReplyJob, turn: Turn, options: Mapping[str, Any]) -> None:
    """Reserve what a call takes at most, as far as can be told. Raises `NothingLeft`."""
    prompt, most = _prompt_tokens(job.bot, turn, options), options.get("max_tokens")
    reply = int(most) if isinstance(most, int) else USUAL_REPLY
    if "max_tokens" not in options:
        known = {each.name: each.default for each in bot_options(job.bot)}
        reply = int(known.get("max_tokens") or USUAL_REPLY)
    amounts = {Unit.TOKENS: prompt + reply, Unit.COST: cost(options, prompt, reply)}
    _count_lost(job)
    with transaction.atomic():
        for row in _rows(job.conversation):
            amount = amounts[Unit(row.unit)]
            fits = Q(most__gte=F("reserved") + F("used") + amount)
            if not Allowance.objects.filter(fits, pk=row.pk).update(
                reserved=F("reserved") + amount
            ):
                row.refresh_from_db()
                raise NothingLeft(row)
        _hold(job, amounts[Unit.TOKENS], amounts[Unit.COST])


def settle(job: ReplyJob, reply: Reply, parameters: Mapping[str, Any], error: str) -> None:
    """Turn what a call reserved into what it used."""
    if not (job.held_tokens or job.held_cost):
        return
    used = _used(reply, error)
    if used is None:
        _settle(job, job.held_tokens, job.held_cost)
    else:
        _settle(job, sum(used), cost(parameters, *used))


def cost(options: Mapping[str, Any], prompt: int, reply: int) -> int:
    """Return the cost of tokens in millionths, by a system's prices of a million tokens."""
    prices = (options.get("prompt_price") or 0.0, options.get("reply_price") or 0.0)
    return round(prompt * float(prices[0]) + reply * float(prices[1]))


def books(campaign: Campaign) -> list[TokenBooks]:
    """Return what a campaign's models used of what they may use in all."""
    if not limits(campaign):
        return []
    rows = {row.unit: row for row in campaign.allowances.filter(conversation=None)}
    found = []
    for unit in (Unit.TOKENS, Unit.COST):
        most = _limits(campaign)[unit, False]
        row = rows.get(unit) or Allowance(unit=unit, most=most or 0)
        if most or row.pk:
            used = row.used + row.beyond
            found.append(
                TokenBooks(unit, *(_shown(unit, each) for each in (row.most, used, row.reserved)))
            )
    return found


def limits(campaign: Campaign) -> dict[str, int | Decimal]:
    """Return the limits that a campaign has, by field."""
    found = {name: getattr(campaign, name) for name in FIELDS}
    return {name: value for name, value in found.items() if value is not None}


def raise_limit(campaign: Campaign, name: str, value: int | Decimal) -> None:
    """Set a higher limit, for what is under way too."""
    unit, is_of_one = FIELDS[name]
    most = int(value * MILLION) if unit == Unit.COST else int(value)
    Campaign.objects.filter(pk=campaign.pk).update(**{name: value})
    rows = Allowance.objects.filter(campaign=campaign.pk, unit=unit, most__lt=most)
    rows.filter(conversation__isnull=not is_of_one).update(most=most)


def _shown(unit: str, amount: int) -> Decimal:
    if unit == Unit.TOKENS:
        return Decimal(amount)
    return (Decimal(amount) / MILLION).quantize(Decimal("0.0001"))


def _limits(campaign: Campaign) -> dict[tuple[str, bool], int]:
    """Return each allowance by unit, and whether it is a conversation's; 0 for none."""
    found = {}
    for name, (unit, is_of_one) in FIELDS.items():
        scale = MILLION if unit == Unit.COST else 1
        found[unit, is_of_one] = int((getattr(campaign, name) or 0) * scale)
    return found


def _rows(conversation: Conversation) -> list[Allowance]:
    """Return what a call of a conversation has to stay within: the campaign's come first."""
    found = []
    for (unit, is_of_one), most in _limits(conversation.campaign).items():
        if most:
            whose = conversation if is_of_one else None
            row, _made = Allowance.objects.get_or_create(
                campaign=conversation.campaign,
                conversation=whose,
                unit=unit,
                defaults={"most": most},
            )
            found.append(row)
    return found


def _prompt_tokens(bot: str, turn: Turn, options: Mapping[str, Any]) -> int:
    """Estimate the tokens of a prompt; a model is not loaded for it."""
    if any(each.name == "url" for each in bot_options(bot)):
        made = get_bot(bot, **options)
        if isinstance(made, Prompted):
            return tokens_of(made.request(turn))
    persona, history = turn
    return tokens_of([*persona, *(each.text for each in history)])


def tokens_of(value: object) -> int:
    """Estimate the tokens of a text, or of a request as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def _used(reply: Reply, error: str) -> tuple[int, int] | None:
    """Return the tokens of prompt and reply; None where all that was reserved has to count."""
    usage = reply.details.get("usage")
    counted = usage if isinstance(usage, Mapping) else {}
    prompt, written = counted.get("prompt_tokens"), counted.get("completion_tokens")
    if isinstance(prompt, int) and isinstance(written, int) and min(prompt, written) >= 0:
        return prompt, written
    if not reply.raw and error:
        return (tokens_of(reply.prompt), 0) if LATE in error and reply.prompt else (0, 0)
    if reply.prompt is None:
        return None
    raw = reply.text if reply.raw is None else reply.raw
    return tokens_of(reply.prompt), tokens_of(raw + reply.reasoning)


def _count_lost(job: ReplyJob) -> None:
    """Count what a call reserved whose end nobody saw: it may have been made."""
    if job.held_tokens or job.held_cost:
        _settle(job, job.held_tokens, job.held_cost)


def give_back(jobs: Sequence[ReplyJob]) -> None:
    """Count what calls reserved that nobody waits for any more."""
    for job in jobs:
        _count_lost(job)


def _settle(job: ReplyJob, tokens: int, money: int) -> None:
    used = {Unit.TOKENS: (job.held_tokens, tokens), Unit.COST: (job.held_cost, money)}
    with transaction.atomic():
        for row in _rows(job.conversation):
            held, amount = used[Unit(row.unit)]
            left = F("most") - F("used") - F("reserved") + held
            Allowance.objects.filter(pk=row.pk).update(
                reserved=F("reserved") - held,
                used=F("used") + Least(Value(amount), left),
                beyond=F("beyond") + Greatest(Value(0), Value(amount) - left),
            )
        _hold(job, 0, 0)


def _hold(job: ReplyJob, tokens: int, money: int) -> None:
    ReplyJob.objects.filter(pk=job.pk).update(held_tokens=tokens, held_cost=money)
    job.held_tokens, job.held_cost = tokens, money
