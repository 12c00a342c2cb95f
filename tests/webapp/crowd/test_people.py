"""Simulated people: repeatable, different from each other, and true to what is planted."""

from __future__ import annotations

import statistics

from webapp.crowd.people import Mix, Person, agrees, draw_people, picks, scale_point, scale_position

POINTS = (1, 2, 3, 4, 5)
HONEST = Mix(severity=0.3, noise=0.5, spam=0.0)


def test_the_same_seed_draws_the_same_people() -> None:
    assert draw_people(20, seed=3, mix=Mix()) == draw_people(20, seed=3, mix=Mix())
    assert draw_people(20, seed=3, mix=Mix()) != draw_people(20, seed=4, mix=Mix())


def test_more_people_leave_the_first_ones_as_they_were() -> None:
    assert draw_people(50, seed=3, mix=Mix())[:20] == draw_people(20, seed=3, mix=Mix())


def test_shares_are_those_of_the_mix() -> None:
    people = draw_people(4000, seed=1, mix=Mix(spam=0.1, dropout=0.2, slow=0.3, plain=0.4))
    assert abs(sum(each.spammer for each in people) / 4000 - 0.1) < 0.03
    assert abs(sum(each.drops_after is not None for each in people) / 4000 - 0.2) < 0.03
    assert abs(sum(each.plain for each in people) / 4000 - 0.4) < 0.03
    assert not any(each.spammer and each.drops_after is not None for each in people)
    assert abs(statistics.stdev(each.severity for each in people) - 0.3) < 0.02


def test_a_scale_is_answered_around_the_planted_quality_and_stays_on_it() -> None:
    people = draw_people(3000, seed=1, mix=HONEST)
    middle = [scale_point(each, 3.2, POINTS, "fluency") for each in people]
    assert abs(statistics.fmean(middle) - 3.2) < 0.05
    assert {scale_point(each, 9.0, POINTS) for each in people} == {5}
    assert {scale_point(each, -9.0, POINTS) for each in people} == {1}


def test_a_slider_is_put_around_the_planted_quality_and_stays_on_its_length() -> None:
    people = draw_people(3000, seed=1, mix=HONEST)
    middle = [scale_position(each, 6.0, 0.0, 10.0, "warmth") for each in people]
    assert abs(statistics.fmean(middle) - 6.0) < 0.1
    assert abs(statistics.stdev(middle) - 2.5 * (0.3**2 + 0.5**2) ** 0.5) < 0.1
    assert {scale_position(each, 90.0, 0.0, 10.0) for each in people} == {10.0}
    assert {scale_position(each, -90.0, 0.0, 10.0) for each in people} == {0.0}
    spammers = [Person(name=str(n), seed=1, spammer=True) for n in range(2000)]
    given = [scale_position(each, 10.0, 0.0, 10.0) for each in spammers]
    assert abs(statistics.fmean(given) - 5.0) < 0.3


def test_a_severe_person_gives_less_whatever_the_question() -> None:
    mild = Person(name="a", seed=1, severity=1.0)
    severe = Person(name="a", seed=1, severity=-1.0)
    assert scale_point(severe, 3.0, POINTS) < scale_point(mild, 3.0, POINTS)


def test_a_spammer_answers_without_regard_to_the_quality() -> None:
    spammers = [Person(name=str(n), seed=1, spammer=True) for n in range(2000)]
    given = [scale_point(each, 5.0, POINTS) for each in spammers]
    assert all(abs(given.count(point) / 2000 - 0.2) < 0.04 for point in POINTS)
    assert abs(sum(agrees(each, 1.0) for each in spammers) / 2000 - 0.5) < 0.05


def test_yes_and_the_right_option_come_with_their_probability() -> None:
    people = draw_people(3000, seed=1, mix=HONEST)
    assert abs(sum(agrees(each, 0.8, 1) for each in people) / 3000 - 0.8) < 0.03
    right = [picks(each, 0.7, "p2", ("p1", "p2"), 1) for each in people]
    assert abs(right.count("p2") / 3000 - 0.7) < 0.03


def test_where_the_right_option_is_not_known_chance_decides() -> None:
    people = draw_people(2000, seed=1, mix=HONEST)
    given = [picks(each, 0.9, "", ("p1", "p2")) for each in people]
    assert abs(given.count("p1") / 2000 - 0.5) < 0.05
