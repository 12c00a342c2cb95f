"""G8: every state with every event has a screen, something to do, and a rule for pay (R2, R3)."""

from __future__ import annotations

import pytest

from tests.factories import NOW, make_campaign, make_participation
from webapp import notices
from webapp.models import Participation
from webapp.services.participation import consents, screens, steps
from webapp.services.rules import payment, states

pytestmark = pytest.mark.django_db
P, Outcome = Participation.State, Participation.Outcome
EVENTS = states.TRANSITIONS[Participation]
CELLS = [(state, event) for state in P for event in EVENTS]


def outcomes_of(event: str) -> list[str]:
    """Return what may be the outcome where an event ends the participation."""
    if event == "end_between":
        return [Outcome.COMPLETED]
    return [outcome for outcome, rule in payment.RULES.items() if rule.event == event]


def check_screen(person: Participation) -> None:
    """Where the person is, there is a screen with a way on, and what it pays is said."""
    step = steps.STEPS[P(person.state)]
    assert step.screen
    assert step.actions
    if person.state == P.ENDED:
        rule, owed = payment.RULES[person.outcome], payment.due(person, person.outcome)
        assert notices.text(rule.notice, pay="2.00 USD")
        may_be_nothing = rule.code in ("PART", "SCREENED")
        may_be_nothing |= person.outcome in (Outcome.LEFT, Outcome.STOPPED)
        assert may_be_nothing == bool(rule.unpaid)
        is_unpaid = rule.code in (None, "PART", "SCREENED")
        assert (owed is None) == is_unpaid, "nobody here has worked"
        is_out = person.outcome in payment.NOT_ADMITTED
        assert payment.may_return(person) != is_out, "no code: the link must lead on"


def make(state: str) -> Participation:
    outcome = Outcome.LEFT if state == P.ENDED else ""
    return make_participation(make_campaign(personas=0), state=state, outcome=outcome)


@pytest.mark.parametrize(("state", "event"), CELLS)
def test_every_cell_has_a_screen_an_action_and_a_pay_rule(state: str, event: str) -> None:
    origins, target = EVENTS[event]
    ends = target == P.ENDED
    for outcome in outcomes_of(event) if ends else [""]:
        person = make(state)
        if state in origins:
            states.move(person, event, outcome=outcome, state_at=NOW)
            assert person.state == target
        else:
            with pytest.raises(states.Illegal) as refusal:
                states.move(person, event, outcome=outcome, state_at=NOW)
            assert refusal.value.state == person.state == state
        check_screen(person)


def test_every_event_that_ends_has_an_outcome() -> None:
    ending = [event for event, (_, target) in EVENTS.items() if target == P.ENDED]
    assert all(outcomes_of(event) for event in ending)


def test_every_state_can_be_left_for_good_and_is_paid_for_work() -> None:
    for event in ("leave", "stop"):
        assert set(EVENTS[event][0]) == set(states.ACTIVE)
    assert set(steps.STEPS) == set(P)
    assert all("stop" in steps.STEPS[state].actions for state in states.ACTIVE)


def test_every_notice_that_a_service_names_exists() -> None:
    """R34."""
    named = {"full", "paused", "over", "bad_link", "busy", "withdrawn", "away", "missed"}
    named |= {"partner_missed", "partner_left", "locked", "unlabeled", "changed_elsewhere"}
    named |= {rule.notice for rule in payment.RULES.values()}
    named |= {rule.unpaid for rule in payment.RULES.values() if rule.unpaid}
    named |= {consents.PayChanged.notice, *screens.STOPS.values(), *screens.UNPAID.values()}
    assert named <= set(notices.NOTICES)
