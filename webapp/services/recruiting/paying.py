"""Owed amounts, paid through the panel: by its reward where that fits, then by bonuses (R21).

The panel pays a bulk of bonuses again whenever it is told again, so a lost answer is never simply
repeated. An intent is a row before anything is sent; it counts as paid once the panel's own books
show it; and it is sent again only where nothing of it was seen for `QUIET` after a lost answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from webapp.models import PanelBatch, PanelCall, PanelPayment, PanelStudy, PanelSubmission, PayHold
from webapp.services.recruiting import client, codes, parts, submissions
from webapp.services.rules import ledger

Stage, Call = PanelBatch.Stage, PanelCall.Stage
QUIET = timedelta(hours=1)  # the panel pays "in the following minutes" after it was told to
AGAIN = timedelta(minutes=10)  # between two tries that are safe to repeat
AT_ONCE = 200  # bonuses of one bulk, approvals of one call
REVIEW = "AWAITING REVIEW"
PART_PAID = "PARTIALLY APPROVED"
PAID_THERE = ("APPROVED", "SCREENED OUT", PART_PAID)
UNPAID_THERE = ("RETURNED", "TIMED-OUT")  # terminal: an approval would fail


@dataclass(frozen=True)
class Account:
    """One submission's money in cents. `part` is what the reward pays, None while unknown.

    `rewarded` is what the reward was seen to have paid; `queued` names its queued calls.
    """

    submission: PanelSubmission
    owed: int
    intended: int
    part: int | None
    refused: bool
    rewarded: int = 0
    held: bool = False
    queued: frozenset[str] = frozenset()

    @property
    def bonus_due(self) -> int:
        """Cents to be paid by a bonus that nobody intended yet; paid by hand counts."""
        if self.part is None:
            return 0
        return max(0, self.owed - self.part - self.covered)

    @property
    def covered(self) -> int:
        return max(self.intended, self.submission.bonus_seen)


def accounts(study: PanelStudy) -> list[Account]:
    """Return every submission with its money, in the order they were first seen: three queries."""
    planned: QuerySet[Any, Any] = PanelPayment.objects.filter(submission=OuterRef("pk")).order_by()
    waiting = PayHold.objects.filter(decided_at=None, code__participation=OuterRef("participation"))
    planned = planned.values("submission").annotate(sum=Sum("amount")).values("sum")
    rows = study.submissions.select_related("participation").order_by("pk")
    rows = rows.annotate(
        intended=Coalesce(Subquery(planned), 0),
        is_held=Exists(waiting),
        **ledger.owed("participation"),
    )
    calls = _money_calls(study)
    return [_account(study, row, calls) for row in rows]


@dataclass(frozen=True)
class _MoneyCalls:
    """Calls by submission: approvals and rejections that have not failed, and parts in cents."""

    approving: set[int]
    refused: set[int]
    parts: dict[int, int]
    failed_parts: dict[int, int]
    returning: set[int]  # failed ones, too: nobody is asked twice to return

    def queued(self, pk: int) -> frozenset[str]:
        of = {
            "APPROVE": self.approving,
            "PART": self.parts.keys() | self.failed_parts.keys(),
            "RETURN": self.returning,
        }
        return frozenset(action for action, known in of.items() if pk in known)


def _money_calls(study: PanelStudy) -> _MoneyCalls:
    found: dict[tuple[str, bool], dict[Any, Any]] = defaultdict(dict)
    calls = study.calls.filter(action__in=("APPROVE", "REJECT", "PART", "RETURN"))
    for action, stage, submission, content in calls.values_list(
        "action", "stage", "submission", "content"
    ):
        found[action, stage == Call.FAILED][submission] = content.get("cents")
    return _MoneyCalls(
        set(found["APPROVE", False]),
        set(found["REJECT", False]),
        found["PART", False],
        found["PART", True],
        {*found["RETURN", False], *found["RETURN", True]},
    )


def _account(study: PanelStudy, row: PanelSubmission, calls: _MoneyCalls) -> Account:
    amounts = row.__dict__
    owed = amounts["owed_code"] + amounts["owed_bonus"]
    is_refused = row.status == "REJECTED" and row.pk in calls.refused
    intended = amounts["intended"]
    paid = {
        "APPROVED": study.reward,
        "SCREENED OUT": study.screening_reward,
        PART_PAID: (calls.failed_parts | calls.parts).get(row.pk),  # None: by hand there
        REVIEW: _of_reward(study, row.pk, owed - max(intended, row.bonus_seen), calls),
        **dict.fromkeys(UNPAID_THERE, 0),
    }
    part = paid.get(row.status)
    rewarded = (part or 0) if row.status in PAID_THERE else 0
    if amounts["is_held"]:
        part = None  # a person has to look first: until then nothing is paid
    elif row.status == REVIEW and row.pk in calls.refused:
        part = None  # a person has asked to reject it: nothing is paid until the panel has answered
    owed = 0 if is_refused else owed
    held, queued = amounts["is_held"], calls.queued(row.pk)
    return Account(row, owed, intended, part, is_refused, rewarded, held, queued)


def _of_reward(study: PanelStudy, pk: int, due: int, calls: _MoneyCalls) -> int:
    """Return how many cents of the reward a submission that awaits review is to get."""
    if pk in calls.parts:
        return calls.parts[pk]
    if pk in calls.approving or due >= study.reward:
        return study.reward
    found = parts.part_of(study.reward, due) if study.pays_parts else None
    return found.cents if found and pk not in calls.failed_parts else 0


def intend(study: PanelStudy, now: datetime) -> int:
    """Write down what is to be paid and how; return how much was new. A repeat does nothing."""
    new = 0
    for each in accounts(study):
        if each.submission.status == REVIEW and each.owed:
            new += _ask(study, each, now)
        if each.bonus_due:
            new += _intend_bonus(each, now)
    return new


def _ask(study: PanelStudy, each: Account, now: datetime) -> bool:
    """Queue what the reward is to pay, or that nothing of it is taken; no statement if asked."""
    one, cents = each.submission, each.part
    content: client.Json
    if cents and cents == study.reward:
        action, content = "APPROVE", {}
    elif cents:
        action, content = "PART", {"percentage": cents * 100 // study.reward, "cents": cents}
    elif cents == 0 and not one.return_requested:
        reason = codes.return_reason(study, "partial")
        action, content = "RETURN", {"request_return_reasons": [reason]}
    else:
        return False
    return action not in each.queued and _queue(study, one, action, now, content)


def _queue(
    study: PanelStudy, one: PanelSubmission, action: str, now: datetime, content: client.Json
) -> bool:
    about = {"study": study, "submission": one, "action": action, "due_at": now, "made_at": now}
    about["content"] = content
    key = f"{study.key}:{action.lower()}:{one.pk}"
    found, is_new = PanelCall.objects.get_or_create(key=key, defaults=about)
    if not is_new and action == "APPROVE":  # a person's rejection came first, and was refused there
        failed = PanelCall.objects.filter(pk=found.pk, stage=Call.FAILED)
        return bool(failed.update(stage=Call.DUE, due_at=now, error=""))
    return is_new


def _intend_bonus(each: Account, now: datetime) -> bool:
    """Write down one bonus; another one of the submission has to be paid first."""
    one = each.submission
    if PanelPayment.objects.filter(submission=one, paid_at=None).exists():
        return False
    try:
        with transaction.atomic():
            PanelPayment.objects.create(
                submission=one,
                start=each.covered,
                amount=each.bonus_due,
                due_at=now,
                made_at=now,
            )
    except IntegrityError:  # another process did so a moment ago
        return False
    return True


def approve_due(now: datetime) -> int:
    """Approve what is to be approved, many in one call; the panel ignores repeats."""
    _settle_approvals(now)
    done = 0
    due = PanelCall.objects.filter(action="APPROVE", stage=Call.DUE, due_at__lte=now)
    for study in PanelStudy.objects.filter(pk__in=due.values("study")):
        mine = list(due.filter(study=study).select_related("submission")[:AT_ONCE])
        done += len(mine)
        _approve(mine, now)
    return done


def _settle_approvals(now: datetime) -> None:
    """Let what was read decide: approved, over in another way, or to be sent again."""
    rows = PanelCall.objects.filter(action="APPROVE", stage__in=(Call.DUE, Call.SENT))
    rows.filter(submission__status="APPROVED").update(stage=Call.DONE, error="")
    over = rows.filter(submission__status__in=submissions.TERMINAL)
    over.update(stage=Call.FAILED, error="it ended in another way there: see its status")
    rows.filter(stage=Call.SENT, due_at__lte=now).update(stage=Call.DUE)


def _approve(calls: Sequence[PanelCall], now: datetime) -> None:
    rows = PanelCall.objects.filter(pk__in=[each.pk for each in calls], stage=Call.DUE)
    ids = [each.submission.submission_id for each in calls if each.submission]
    rows.update(attempt=F("attempt") + 1)
    try:
        client.call("POST", "submissions/bulk-approve/", {"submission_ids": ids})
    except client.NotReached as problem:
        rows.update(due_at=now + timedelta(seconds=problem.pause), error=str(problem)[:200])
    except client.PanelRefusal as problem:
        if len(calls) == 1:
            rows.update(stage=Call.SENT, due_at=now + AGAIN, error=str(problem)[:200])
        else:
            for each in calls:
                _approve([each], now)
        _look_again(calls)
    except client.AnswerLost as problem:
        rows.update(stage=Call.SENT, due_at=now + AGAIN, error=str(problem)[:200])
        _look_again(calls)
    else:
        rows.update(stage=Call.SENT, due_at=now + AGAIN, error="")
        _look_again(calls)


def _look_again(calls: Iterable[PanelCall]) -> None:
    found = [each.submission.pk for each in calls if each.submission]
    PanelSubmission.objects.filter(pk__in=found).update(look=True)


def set_up_due(now: datetime) -> int:
    """Set up bonuses in bulk, which pays nothing yet: a bulk whose answer is lost stays unpaid."""
    made = 0
    due = PanelPayment.objects.filter(batch=None, paid_at=None, due_at__lte=now)
    for study in PanelStudy.objects.filter(submissions__payments__in=due).distinct():
        mine = due.filter(submission__study=study).select_related("submission").order_by("pk")
        made += _set_up(study, list(mine[:AT_ONCE]), now)
    return made


def _set_up(study: PanelStudy, mine: list[PanelPayment], now: datetime) -> int:
    rows = PanelPayment.objects.filter(pk__in=[each.pk for each in mine], batch=None, paid_at=None)
    lines = [f"{each.submission.submission_id},{_money(each.amount)}" for each in mine]
    content = {"study_id": study.study_id, "csv_bonuses": "\n".join(lines)}
    try:
        bulk = client.call("POST", "submissions/bonus-payments/", content)
    except client.PanelRefusal as problem:
        if len(mine) > 1:  # one wrong line refuses all
            return sum(_set_up(study, [each], now) for each in mine)
        rows.update(due_at=now + QUIET, error=str(problem)[:200])
        return 0
    except (client.NotReached, client.AnswerLost) as problem:
        pause = problem.pause if isinstance(problem, client.NotReached) else 60.0
        rows.update(due_at=now + timedelta(seconds=pause), error=str(problem)[:200])
        return 0
    return _claim(study, mine, str(bulk["id"]), now)


def _claim(study: PanelStudy, mine: list[PanelPayment], bulk_id: str, now: datetime) -> int:
    """Give the bulk its payments, all or none: a bulk with a payment of another one is dropped."""
    rows = PanelPayment.objects.filter(pk__in=[each.pk for each in mine], batch=None, paid_at=None)
    with transaction.atomic():
        batch = PanelBatch.objects.create(study=study, bulk_id=bulk_id, due_at=now)
        if rows.update(batch=batch, error="") == len(mine):
            return len(mine)
        transaction.set_rollback(True)
    return 0


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def pay_due(now: datetime) -> int:
    """Tell the panel to pay what is set up; each telling is written down before it is sent."""
    ready = PanelBatch.objects.filter(stage=Stage.READY, due_at__lte=now)
    return sum(_pay(batch, now) for batch in ready)


def _pay(batch: PanelBatch, now: datetime) -> bool:
    mine = PanelBatch.objects.filter(pk=batch.pk, stage=Stage.READY, attempt=batch.attempt)
    if not mine.update(stage=Stage.SENDING, sent_at=now, attempt=F("attempt") + 1):
        return False
    held = PanelBatch.objects.filter(pk=batch.pk, stage=Stage.SENDING, attempt=batch.attempt + 1)
    try:
        client.call("POST", f"bulk-bonus-payments/{batch.bulk_id}/pay/", {})
    except client.NotReached as problem:
        due = now + timedelta(seconds=problem.pause)
        held.update(stage=Stage.READY, due_at=due, error=str(problem)[:200])
    except client.PanelRefusal as problem:
        held.update(stage=Stage.READY, due_at=now + AGAIN, error=str(problem)[:200])
    except client.AnswerLost as problem:  # it may have been paid: only the panel's books tell
        held.update(error=str(problem)[:200])
    else:
        held.update(stage=Stage.ACCEPTED, error="")
    return True


def settle_batches(now: datetime) -> int:
    """Close bulks that are seen paid; let one be sent again of which nothing was seen for long."""
    settled = 0
    for batch in PanelBatch.objects.filter(stage__in=(Stage.SENDING, Stage.ACCEPTED)):
        rows = list(batch.payments.select_related("submission"))
        mine = PanelBatch.objects.filter(pk=batch.pk, stage=batch.stage, attempt=batch.attempt)
        if all(each.paid_at for each in rows):
            settled += mine.update(stage=Stage.PAID, error="")
        elif batch.stage == Stage.SENDING and any(each.paid_at for each in rows):
            settled += mine.update(stage=Stage.ACCEPTED)
        elif batch.stage == Stage.SENDING and _never_arrived(batch, rows):
            settled += mine.update(stage=Stage.READY, due_at=now)
    return settled


def _never_arrived(batch: PanelBatch, rows: Iterable[PanelPayment]) -> bool:
    """Tell whether every submission was read long after the telling, and none shows its bonus."""
    if batch.sent_at is None:
        return False
    return all(each.submission.read_at > batch.sent_at + QUIET for each in rows)
