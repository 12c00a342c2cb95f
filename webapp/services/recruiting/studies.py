"""A campaign's study at the panel: made, published, paused, started again, given openings, stopped.

Staff queue what is to be done (`PanelCall`); `send_due` does it, outside any request (R29).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from webapp.models import PanelCall, PanelStudy
from webapp.services.recruiting import client, codes
from webapp.services.rules import audit, states
from webapp.services.rules.access import AnyCampaign, row_of

Stage = PanelCall.Stage
LEASE = timedelta(seconds=60)  # that one attempt may take
ATTEMPTS = 40  # with pauses of 30 s and more
AT_ONCE = 50
NOT_YET = "not created yet"
PLACEHOLDERS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
# action: the states it is possible in, and those that show it has happened
ACTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "PUBLISH": (("UNPUBLISHED",), ("PUBLISHING", "ACTIVE", "SCHEDULED")),
    "PAUSE": (("ACTIVE",), ("PAUSED",)),
    "START": (("PAUSED",), ("ACTIVE",)),
    "STOP": (("ACTIVE", "PAUSED"), ("AWAITING REVIEW", "COMPLETED")),
}


def study_of(campaign: AnyCampaign) -> PanelStudy | None:
    """Return a campaign's study, if it has one."""
    return PanelStudy.objects.filter(campaign=campaign.pk).first()


def make(
    *, campaign: AnyCampaign, values: dict[str, Any], start_link: str, by: Any, now: datetime
) -> PanelStudy:
    """Fix what the study will be, with its codes, and queue its creation; once per campaign."""
    screening = round(campaign.screening_pay * 100)
    with transaction.atomic():
        _forget_refused(campaign)
        study = PanelStudy.objects.create(
            campaign=row_of(campaign),
            key=uuid.uuid4().hex,
            address=f"{start_link}?{PLACEHOLDERS}",
            # the panel takes only less than the reward; else it is a bonus
            screening_reward=screening if screening < values["reward"] else 0,
            codes=codes.new_codes(pays_parts=values.get("pays_parts", False)),
            made_by=by,
            **values,
        )
        queue(study=study, action="CREATE", key="create", by=by, now=now)
        return study


def may_make(campaign: AnyCampaign) -> bool:
    """Tell whether a campaign has no study, or one that the panel refused to create."""
    study = study_of(campaign)
    return study is None or _is_refused(study)


def _is_refused(study: PanelStudy) -> bool:
    return not study.study_id and study.calls.filter(action="CREATE", stage=Stage.FAILED).exists()


def _forget_refused(campaign: AnyCampaign) -> None:
    study = study_of(campaign)
    if study is not None and _is_refused(study):
        study.calls.all().delete()
        study.delete()


def queue(
    *, study: PanelStudy, action: str, key: str, by: Any, now: datetime, **content: Any
) -> PanelCall:
    """Queue a call once: a repeat with the same key returns the first one."""
    with transaction.atomic():
        found, is_new = PanelCall.objects.get_or_create(
            key=f"{study.key}:{key}",
            defaults={
                "study": study,
                "action": action,
                "content": content,
                "due_at": now,
                "made_at": now,
            },
        )
        if is_new:
            shown = {name: content[name] for name in ("openings",) if name in content}
            audit.append(
                actor=by.get_username(),
                action=f"panel: {action.lower()} asked for",
                campaign=study.campaign,
                now=now,
                **shown,
            )
        return found


def change(*, study: PanelStudy, action: str, by: Any, now: datetime) -> PanelCall:
    """Queue a change of the study's state. Raises `states.Illegal` where it is not possible now."""
    if study.status not in ACTIONS[action][0] or is_waiting(study):
        raise states.Illegal(study, action.lower(), study.status or NOT_YET)
    count = study.calls.filter(action=action).count()
    return queue(study=study, action=action, key=f"{action}:{count}", by=by, now=now)


def add_openings(*, study: PanelStudy, openings: int, by: Any, now: datetime) -> PanelCall:
    """Queue a larger number of places; the panel takes no smaller one."""
    if not study.study_id or openings <= study.openings or is_waiting(study):
        raise states.Illegal(study, "add places", study.status or NOT_YET)
    return queue(
        study=study, action="PLACES", key=f"openings:{openings}", by=by, now=now, openings=openings
    )


def is_waiting(study: PanelStudy) -> bool:
    """Tell whether a change of the study is still to be sent."""
    kinds = ("CREATE", "PLACES", *ACTIONS)
    return study.calls.filter(action__in=kinds, stage=Stage.DUE).exists()


def send_due(now: datetime) -> int:
    """Make the calls about studies that are due; return how many."""
    due = PanelCall.objects.filter(stage=Stage.DUE, due_at__lte=now, action__in=SENDERS)
    return sum(
        attempt(one, SENDERS[one.action], now) for one in due.select_related("study")[:AT_ONCE]
    )


def attempt(one: PanelCall, send: Callable[[PanelCall, datetime], None], now: datetime) -> bool:
    """Make one attempt, if this sender is the one that claims it."""
    mine = PanelCall.objects.filter(pk=one.pk, attempt=one.attempt, stage=Stage.DUE)
    if not mine.update(attempt=F("attempt") + 1, due_at=now + LEASE):
        return False
    one.attempt += 1
    held = PanelCall.objects.filter(pk=one.pk, attempt=one.attempt, stage=Stage.DUE)
    try:
        send(one, now)
    except client.PanelRefusal as problem:
        held.update(stage=Stage.FAILED, error=str(problem)[:200])
    except (client.NotReached, client.AnswerLost) as problem:
        pause = problem.pause if isinstance(problem, client.NotReached) else 30.0
        # A part that may have been paid is never given up: else a bonus would pay it again.
        is_over = one.attempt >= ATTEMPTS and one.action != "PART"
        stage = Stage.FAILED if is_over else Stage.DUE
        due = now + timedelta(seconds=pause)
        held.update(stage=stage, due_at=due, error=str(problem)[:200])
    else:
        held.update(stage=Stage.DONE, error="")
    return True


def _create(one: PanelCall, now: datetime) -> None:
    """Create the draft; where an answer was lost before, it is looked for by its key first."""
    study = one.study
    found = _made_before(study) if one.attempt > 1 else None
    note(study, found or client.call("POST", "studies/", _draft(study)), now)


def _made_before(study: PanelStudy) -> client.Json | None:
    name = _internal_name(study)
    return next((row for row in client.pages("studies/") if row.get("internal_name") == name), None)


def _internal_name(study: PanelStudy) -> str:
    return f"parley {study.key}"


def _draft(study: PanelStudy) -> client.Json:
    return {
        "name": study.title,
        "internal_name": _internal_name(study),
        "description": study.description,
        "external_study_url": study.address,
        "prolific_id_option": "url_parameters",
        "completion_codes": codes.for_panel(study),
        "total_available_places": study.openings,
        "estimated_completion_time": study.minutes,
        "maximum_allowed_time": 3 * study.minutes + 20,
        "reward": study.reward,
        "device_compatibility": ["desktop", "mobile", "tablet"],
        "filters": [],
        "submissions_config": {"max_submissions_per_participant": 1},
    }


def _transition(one: PanelCall, now: datetime) -> None:
    """Change the state; one that is there already is done, whoever did it."""
    path = f"studies/{one.study.study_id}/"
    found = client.call("GET", path)
    if found.get("status") not in ACTIONS[one.action][1]:
        client.call("POST", f"{path}transition/", {"action": one.action})
        found = client.call("GET", path)
    note(one.study, found, now)


def _send_openings(one: PanelCall, now: datetime) -> None:
    content = {"total_available_places": one.content["openings"]}
    note(one.study, client.call("PATCH", f"studies/{one.study.study_id}/", content), now)


SENDERS: dict[str, Callable[[PanelCall, datetime], None]] = {
    "CREATE": _create,
    "PLACES": _send_openings,
    **dict.fromkeys(ACTIONS, _transition),
}


def read(study: PanelStudy, now: datetime) -> None:
    """Read a study's state. Raises what `client.call` raises."""
    note(study, client.call("GET", f"studies/{study.study_id}/"), now)


def note(study: PanelStudy, found: client.Json, now: datetime) -> None:
    """Store what the panel says of a study; what it leaves out stays as it is."""
    names = {
        "id": "study_id",
        "status": "status",
        "total_available_places": "openings",
        "average_reward_per_hour": "hourly",
        "is_underpaying": "is_underpaying",
        "total_cost": "total_cost",
        "places_taken": "openings_taken",
    }
    values = {
        ours: found[theirs] for theirs, ours in names.items() if found.get(theirs) is not None
    }
    for name in ("hourly", "total_cost"):
        if name in values:
            values[name] = round(values[name])
    PanelStudy.objects.filter(pk=study.pk).update(**values)
    study.refresh_from_db()
