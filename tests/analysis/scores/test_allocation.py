"""Seats without a result by system, directions of questions, and how rare is rare."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import BadTable, RatingTable, rating_table, summary
from analysis.metrics.system_difference import system_difference
from analysis.metrics.system_score import system_score
from analysis.output.ranking import rankings
from analysis.scores import allocation
from analysis.scores.allocation import of_study, with_losses
from analysis.scores.cautions import cautions
from analysis.scores.question_ratings import questions
from analysis.tables.campaign_record import CampaignRecord
from tests.analysis.examples import ratings, raw, simulated


def _study(lost: dict[str, int], seats: int = 40, unfinished: int = 0) -> CampaignRecord:
    """Return a campaign in which so many of each system's seats gave no result."""
    people, answers = [], []
    for system, without in lost.items():
        for k in range(seats + unfinished):
            name = f"{system}{k}"
            outcome = "" if k >= seats else "QUIT" if k < without else "COMPLETED"
            people.append({"participant": name, "system": system, "outcome": outcome})
            if without <= k < seats:
                answers.append({"rater": name, "system": system, "excluded": ""})
    return CampaignRecord(plan={}, people=pd.DataFrame(people), answers=pd.DataFrame(answers))


def test_losses_that_differ_by_system_are_told() -> None:
    (told,) = of_study(_study({"a": 20, "b": 4}))
    assert told.startswith("of the assigned seats unequal shares gave no result (a 50%, b 10%; p")


@pytest.mark.parametrize(
    "lost",
    [{"a": 7, "b": 4}, {"a": 0, "b": 0}, {"a": 7}],
    ids=["by chance", "none", "one system"],
)
def test_few_losses_alike_are_not(lost: dict[str, int]) -> None:
    assert list(of_study(_study(lost))) == []


@pytest.mark.parametrize(("lost", "told"), [(7, False), (8, True), (9, True)])
def test_many_losses_alike_are_told_to_be_of_scores_alone(lost: int, told: bool) -> None:
    found = list(of_study(_study({"a": lost, "b": 7})))
    assert [each.startswith("of the assigned seats a part") for each in found] == [True] * told
    assert ["Differences of systems that lost alike" in each for each in found] == [True] * told


def _losing(lost: dict[str, object]) -> RatingTable:
    """Return ratings of two systems by twenty raters each, with what each system lost."""
    rows = [
        {"system": s, "rater": f"{s}{k}", "item": f"{s}{k}", "value": 1 + (k * 7 + (s == "b")) % 5}
        | {"scale_low": 1, "scale_high": 5, "lost": lost[s]}
        for s in "ab"
        for k in range(20)
    ]
    return rating_table(raw(rows))


def test_what_was_lost_unequally_widens_by_its_share_of_an_sd() -> None:
    none, some = _losing({"a": 0.0, "b": 0.0}), _losing({"a": 0.5, "b": 0.0})
    sd = float(none["value"].std(ddof=1))
    for metric, share in ((system_score, {"a": 0.5, "b": 0.0}), (system_difference, {})):
        before, after = metric(none), metric(some)
        for old, new in zip(before.to_dict("records"), after.to_dict("records"), strict=True):
            off = share.get(str(new["system"]), 0.5) * sd
            assert new["lost_off"] == pytest.approx(off)
            assert (new["estimate"], new["n"]) == (old["estimate"], old["n"])
            ends = np.clip([old["low"] - off, old["high"] + off], *_ends(metric))
            assert [new["low"], new["high"]] == pytest.approx(list(ends))
    (pair,) = system_difference(some).to_dict("records")
    assert (pair["p"], pair["above"]) == (1.0, 0.5)  # a shift as large as .5 SD explains it
    assert pair["detectable"] == pytest.approx(before["detectable"].iloc[0] + 0.5 * sd)
    (told,) = (each for each in cautions(some) if "unequal shares" in each)
    assert "(a 50%, b 0%)" in told
    assert "wider by up to" in rankings(system_score(some))[0].note


def _ends(metric: object) -> tuple[float, float]:
    return (1, 5) if metric is system_score else (-4, 4)


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        ({"a": 0.19, "b": 0.19}, ""),
        ({"a": 0.1, "b": 0.0}, ""),  # 2 of 22 seats: chance
        ({"a": 1.0, "b": 0.0}, "the column lost is not read"),
        ({"a": -0.1, "b": 0.0}, "the column lost is not read"),
        ({"a": "half", "b": 0.0}, "the column lost is not read"),
        ({"a": "", "b": 0.0}, "the column lost is not read"),
    ],
)
def test_few_losses_and_unreadable_ones_widen_nothing(lost: dict[str, object], told: str) -> None:
    table = _losing(lost)
    assert "lost_off" not in system_score(table)
    found = " ".join(cautions(table))
    assert told in found
    assert ("brought no answer" in found, "is not read" in found) == (
        "brought" in told,
        "not read" in told,
    )


def test_much_that_was_lost_alike_widens_scores_and_no_difference() -> None:
    none, some = _losing({"a": 0.0, "b": 0.0}), _losing({"a": 0.2, "b": 0.2})
    before, after = system_score(none), system_score(some)
    off = 0.2 * none["value"].std(ddof=1)
    assert (before["low"] - after["low"]).to_numpy() == pytest.approx([off, off])
    assert system_difference(some).equals(system_difference(none))
    assert "a part of what systems were given brought no answer (a 20%, b 20%)" in " ".join(
        cautions(some)
    )


def test_who_was_not_to_rate_is_not_lost() -> None:
    """Others judge what was said; or of two people who talked one rates the other."""
    own = _study({"a": 20, "b": 20})
    judged = replace(own, answers=own.answers.assign(rater="another"))
    assert (len(list(of_study(own))), len(list(of_study(judged)))) == (1, 0)
    table = RatingTable(_losing({"a": 0.0, "b": 0.0}).drop(columns="lost"))
    assert "lost" not in with_losses(table, judged)
    halves = _study({"human": 20, "b": 2})
    assert "human 50%" in " ".join(of_study(halves))
    plan = {
        "systems": [{"name": "crowd", "bot": "people"}, {"name": "b", "bot": "parrot"}],
        "protocol": {"steps": [{"step": "rate", "sides": "one"}]},
    }
    assert list(of_study(replace(halves, plan=plan))) == []


def test_a_record_tells_what_was_lost_and_a_table_of_ratings_keeps_its_own() -> None:
    table = _losing({"a": 0.0, "b": 0.0})
    record = _study({"a": 20, "b": 4})
    assert list(with_losses(table, record)["lost"].unique()) == [0.0]
    found = with_losses(RatingTable(table.drop(columns="lost")), record)
    assert found.groupby("system")["lost"].first().to_dict() == {"a": 0.5, "b": 0.1}
    assert "lost" not in with_losses(RatingTable(table.drop(columns="lost")), None)


def test_who_is_still_at_it_is_not_lost() -> None:
    still = _study({"a": 6, "b": 6}).people
    waiting = _study({"a": 6, "b": 6}, unfinished=30)
    only_a = waiting.people[(waiting.people["outcome"] != "") | (waiting.people["system"] == "a")]
    study = CampaignRecord(plan={}, people=only_a, answers=waiting.answers)
    assert len(only_a) > len(still)
    assert list(of_study(study)) == []


def test_with_a_record_the_seats_count_and_not_equal_numbers() -> None:
    """A campaign may have been meant to give one system more conversations than another."""
    whole = simulated(raters=30)
    fewer = rating_table(whole[(whole["system"] != "s0") | whole["rater"].isin(["r0", "r1", "r2"])])
    assert TURNS in " ".join(cautions(fewer))
    crowd = RatingTable(fewer.assign(rater="r" + fewer.index.astype(str)))
    assert "different numbers of items" in " ".join(cautions(crowd))
    for table in (fewer, crowd):
        told = " ".join(cautions(table, _study({"a": 0, "b": 0})))
        assert TURNS not in told
        assert "different numbers of items" not in told


TURNS = "of the turns that raters had with systems has no rating"


def _turns(lacking: dict[str, int], raters: int = 20, times: int = 1) -> RatingTable:
    """Return conversations of raters with three systems; so many lack each, the first raters."""
    rows = [
        {
            "system": s,
            "rater": f"r{r:02}",
            "item": f"{s}{r}-{k}",
            "value": 1 + (r * 7 + k + r // 3 * "abc".index(s)) % 5,
        }
        | {"scale_low": 1, "scale_high": 5}
        for s in "abc"
        for r in range(lacking.get(s, 0), raters)
        for k in range(times)
    ]
    return rating_table(raw(rows))


def test_turns_that_are_missing_in_a_bare_table_widen_what_they_can_bias() -> None:
    table = _turns({"a": 5})
    lacking = table["rater"].between("r05", "r09") & table["system"].isin(["b", "c"])
    alike = RatingTable(table[~lacking])
    unlike = _turns({"a": 13, "b": 2})
    for table, is_unequal in ((alike, False), (unlike, True)):
        (question,) = questions(table, "ordinal")
        (shares, found) = allocation.allowed_losses(question) or (None, None)
        assert found == is_unequal
    assert shares is not None
    assert shares.to_dict() == pytest.approx({"a": 0.65, "b": 0.1, "c": 0.0})
    whole = RatingTable(unlike.assign(lost=0.0))
    score, of_whole = system_score(unlike), system_score(whole)
    sd = float(unlike["value"].std(ddof=1))
    assert list(score["lost_off"]) == pytest.approx([0.65 * sd, 0.1 * sd, 0.0])
    assert "lost_off" not in of_whole
    pairs = system_difference(unlike)
    assert (pairs["high"] - system_difference(whole)["high"]).max() > 0.3 * sd
    (told,) = (each for each in cautions(unlike) if TURNS in each)
    assert "unequal shares" in told
    assert "(a 65%, b 10%, c 0%)" in told
    assert "a column “lost” with each system's share" in told
    assert not any(TURNS in each for each in cautions(whole))


@pytest.mark.parametrize(
    "table",
    [
        _turns({}),
        _turns({"a": 3}),  # a twentieth of all: chance
        _turns({"a": 12, "b": 12, "c": 12}, times=2).assign(rater=lambda rows: rows["item"]),
        _turns({"a": 9}).assign(item=lambda rows: rows["rater"]),  # raters share what they judge
        _turns({"a": 16, "b": 16, "c": 16}, raters=20),  # fewer raters than can tell
    ],
    ids=["none missing", "few", "own rater", "shared items", "four raters"],
)
def test_where_no_turns_are_seen_to_be_missing_nothing_is_wider(table: pd.DataFrame) -> None:
    (question,) = questions(RatingTable(table), "ordinal")
    assert allocation.allowed_losses(question) is None


def test_raters_with_equally_many_turns_were_meant_to_have_some_systems() -> None:
    table = _turns({})
    number = table["rater"].str[1:].astype(int)
    left_out = number % 3 == table["system"].map({"a": 0, "b": 1, "c": 2})
    (question,) = questions(RatingTable(table[~left_out]), "ordinal")
    assert allocation.missed_turns(question) is None


@pytest.mark.parametrize(("fives", "told"), [(14, False), (15, True), (16, True)])
def test_how_rare_a_far_answer_is(fives: int, told: bool) -> None:
    """10 on a scale of 1 to 5 is told where it is one answer of 20 or more."""
    values = [1, 2, 3, 4, *[5] * fives, 10]
    table = rating_table(raw([{"value": value} for value in values]))
    assert ("10, in 1 row, is far from" in " ".join(cautions(table))) == told


def test_a_question_has_the_direction_that_one_of_its_rows_says() -> None:
    frame = raw([{"value": 1, "better": "Low "}, {"value": 2, "better": ""}])
    table = rating_table(frame)
    assert list(table["better"]) == ["low", "low"]
    assert list(rating_table(table)["better"]) == ["low", "low"]
    assert [one.better for one in questions(table, "ordinal")] == ["low"]
    unsaid = rating_table(raw([{"value": 1}]))
    assert "better" not in unsaid
    assert [one.better for one in questions(unsaid, "ordinal")] == ["high"]


@pytest.mark.parametrize("better", ["lower", "1", "-"])
def test_a_direction_is_one_of_three(better: str) -> None:
    with pytest.raises(BadTable, match="right would be high, low or none"):
        rating_table(raw([{"value": 1, "better": better}]))


def test_the_tie_of_the_best_follows_the_direction() -> None:
    rows: list[dict[str, object]] = [
        {"value": value, "system": system}
        for system, values in {"a": (1, 2), "b": (2, 1), "c": (4, 5)}.items()
        for value in values
    ]
    assert "same best mean" not in " ".join(cautions(rating_table(raw(rows))))
    low = rating_table(raw(rows, better="low"))
    assert "a and b have the same best mean, 1.50" in " ".join(cautions(low))


@pytest.mark.parametrize(("raters", "holds"), [("xy", False), ("xx", True)])
def test_learned_intervals_are_promised_only_where_raters_link_the_systems(
    raters: str, holds: bool
) -> None:
    rows: list[dict[str, object]] = [
        {"value": 30 + 11 * k % 40, "system": system, "rater": who}
        for k in range(20)
        for system, rater in zip("ab", raters, strict=True)
        for who in {rater, rater if raters == "xy" else "z"}
    ]
    said = " ".join(cautions(rating_table(raw(rows))))
    assert "calibrated_score assumes SDs of 1" in said
    assert ("those of calibrated_score_learned hold" in said) == holds


def test_p_of_counts_is_scipy_s() -> None:
    table = pd.DataFrame([[12, 30], [25, 21], [8, 40]])
    expected = stats.chi2_contingency(table, correction=False)
    fewest, p = allocation._independence(table)
    assert fewest == pytest.approx(expected.expected_freq.min())
    assert p == pytest.approx(expected.pvalue, rel=1e-12)
    parts = (np.array([12, 30, 21]) - 21) ** 2 / 21
    assert allocation._chi_square(parts, 2) == pytest.approx(stats.chisquare([12, 30, 21]).pvalue)


@pytest.mark.parametrize("empty", [[[5, 0], [7, 0]], [[0, 0], [7, 3]], [[0, 0], [0, 0]]])
def test_a_row_or_column_without_a_count_says_nothing(empty: list[list[int]]) -> None:
    assert allocation._independence(pd.DataFrame(empty)) == (0.0, 1.0)
    assert allocation._independence(pd.DataFrame([[5, 1], [7, 0]]))[0] == pytest.approx(6 / 13)


def _of_messages(seed: int, *, drift: bool = False, conversations: int = 60) -> str:
    """Return the cautions of messages in conversations of 2 to 30, judged one after another."""
    rng = np.random.default_rng(seed)
    order = np.sort(rng.permutation(conversations)) if drift else rng.permutation(conversations)
    rows: list[dict[str, object]] = []
    for number in order:
        system = f"s{int(number) * 2 // conversations}" if drift else f"s{number % 2}"
        for _ in range(int(rng.integers(2, 31))):
            rows.append(
                {
                    "system": system,
                    "conversation": f"c{number}",
                    "rater": f"r{len(rows) % 5}",
                    "value": int(rng.random() < 0.7),
                    "given_at": len(rows),
                }
            )
    return " ".join(cautions(rating_table(raw(rows, level="nominal"))))


def test_messages_of_conversations_given_by_chance_are_seldom_cautioned() -> None:
    """By chance of one in a hundred each; with messages as the unit it was about every second."""
    told = [_of_messages(seed) for seed in range(40)]
    assert sum("not given evenly over time" in one for one in told) <= 3
    assert sum("different numbers of" in one for one in told) <= 3


def test_whole_conversations_given_by_their_system_are_cautioned() -> None:
    said = _of_messages(1, drift=True)
    assert "conversations in the first and the second half: s0 30 and 0, s1 0 and 30" in said


@pytest.mark.parametrize("empty", ["", None])
def test_items_are_the_unit_where_a_conversation_is_not_known(empty: str | None) -> None:
    rows: list[dict[str, object]] = [
        {"system": "a" if k < 10 else "b", "value": k % 5, "conversation": "c" if k else empty}
        for k in range(50)
    ]
    assert "different numbers of items (a 10, b 40;" in " ".join(cautions(ratings(rows)))


def _given(late: str, *, better: str = "high") -> RatingTable:
    """Return ratings of three systems, a first; after ten each all were of the `late` ones."""
    chance = np.random.default_rng(4)
    order = "abc" * (0 if len(late) > 3 else 10) + late * max(1, 60 // len(late))
    rows = [
        {"system": s, "rater": f"r{k % 12}", "item": f"i{k}", "scale_low": 1, "scale_high": 5}
        | {"value": int(chance.integers(1, 4)) + 2 * (s == "a"), "given_at": k, "better": better}
        for k, s in enumerate(order)
    ]
    return rating_table(raw(rows))


@pytest.mark.parametrize(
    ("late", "better", "follows"),
    [("a", "high", True), ("abc", "high", False), ("bc", "high", False), ("bc", "low", True)],
)
def test_where_later_items_went_to_who_was_ahead_differences_are_wider(
    late: str, better: str, follows: bool
) -> None:
    table = _given(late, better=better)
    untimed = rating_table(table.drop(columns="given_at"))
    found, usual = system_difference(table), system_difference(untimed)
    assert list(found["se"] / usual["se"]) == pytest.approx([1.11 if follows else 1.0] * 3)
    assert list(found["estimate"]) == list(usual["estimate"])
    assert ("looks" in found) is follows
    told = [each for each in cautions(table) if "went to the systems that were ahead (" in each]
    assert ["Errors of differences are 1.11 times" in each for each in told] == [True] * follows
    assert any("(Pocock 1977)" in each for each in summary(table).methods) is follows
    low, as_before = (system_score(each)["low"].tolist() for each in (table, untimed))
    assert low == as_before


def test_fewer_items_that_were_spread_over_all_the_time_follow_nothing() -> None:
    """Planned so: a has four of each six, whatever came before."""
    (question,) = questions(_given("aabaac" * 5), "ordinal")
    assert not allocation.follows_scores(question)
    at, marked = pd.Series([1.0, 2.0, 3.0, 9.0, 5.0, 6.0]), pd.Series([1, 1, 0, 0, 1, 0]) == 1
    expected = stats.mannwhitneyu(
        at[marked], at[~marked], alternative="less", method="asymptotic", use_continuity=False
    )
    assert allocation._earlier(at, marked) == pytest.approx(expected.pvalue)
