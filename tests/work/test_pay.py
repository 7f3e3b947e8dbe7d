"""Pay: statements, the rate of an hour, the floor; nothing that was done is ever rejected."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest

from basanite.work.answers import Judgement
from basanite.work.pay import payroll, statements
from basanite.work.scheme import Pay


def work(judge, *seconds, answers=None):
    return [Judgement(f"i{at}", judge, answers or {}, seconds=each) for at, each in enumerate(seconds)]


def test_an_hour_below_the_floor_is_warned_of_with_what_is_missing():
    (one,) = statements(work("ann", 120, 120, 120), Pay(per_item=0.1, currency="EUR", floor=12))
    assert (one.items, one.amount, one.rate) == (3, Decimal("0.30"), pytest.approx(3.0))
    assert one.below_floor
    assert one.bonus == Decimal("0.90")
    assert one.sentence() == "3 items in 0.10 hours: 0.30 EUR, 3.00 an hour; below the floor of 12, 0.90 are missing."


def test_all_work_is_paid_whatever_was_answered():
    pay = Pay(per_item=0.25, currency="EUR")
    right, wrong = (statements(work("x", 10, 10, answers=answers), pay)[0] for answers in ({"v": "R"}, {"v": "N"}))
    assert right.amount == wrong.amount == Decimal("0.50")


def test_an_open_tab_is_not_counted_as_work_and_the_cap_is_told():
    (one,) = statements(work("x", 30, 90_000), Pay(per_hour=12, currency="EUR", longest_seconds=600))
    assert (one.seconds, one.capped) == (630, 1)
    assert one.amount == Decimal("2.10")


def test_a_corrected_item_is_paid_once_and_its_time_counts_twice():
    given = [Judgement("i", "x", {}, seconds=10), Judgement("i", "x", {}, seconds=5)]
    (one,) = statements(given, Pay(per_item=1, currency="EUR"))
    assert (one.items, one.seconds, one.amount) == (1, 15, Decimal("1.00"))


def test_no_time_gives_no_rate_and_no_warning():
    (one,) = statements(work("x", 0), Pay(per_item=1, currency="EUR", floor=12))
    assert one.rate is None
    assert not one.below_floor


def test_the_payroll_has_a_line_for_each_judge():
    made = statements([*work("b", 60), *work("a", 60, 60)], Pay(per_item=0.2, currency="EUR", floor=20))
    rows = list(csv.DictReader(io.StringIO(payroll(made))))
    assert [(row["judge"], row["items"], row["amount"], row["below_floor"]) for row in rows] == [
        ("a", "2", "0.40", "yes"),
        ("b", "1", "0.20", "yes"),
    ]


def test_a_bonus_reaches_the_floor_and_is_never_rounded_to_nothing():
    done = [Judgement("i1", "ann", {}, seconds=277.2)]
    (found,) = statements(done, Pay(per_item=1.0, currency="EUR", floor=13))
    assert found.below_floor
    assert found.bonus == Decimal("0.01")
