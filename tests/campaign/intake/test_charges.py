"""Attempts are reserved, charged, freed and refunded; invalid ones cost nothing but have a cap of their own."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.offices.prepared import small_season

from basanite.campaign.intake import charges
from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import SYSTEM
from basanite.campaign.store.plans import in_force
from basanite.testing import small_campaign_text

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For tests in which the database does not matter."""

MICROSECOND = timedelta(microseconds=1)
WEEK_BEGINS = datetime(2018, 1, 22, 5, tzinfo=UTC)
"""Monday 00:00 in New York."""


def submit(office, small, declared, stored, *, after=None, team=None, actor=None):
    with office.writing() as session:
        made = accept(session, office, actor or small.as_ada, Arrival(team or small.alpha, declared, stored))
        if after:
            after(session, office, made)
        return made


def left(office, small, team=None):
    with office.reading() as session:
        campaign = in_force(session, small.campaign_id).campaign
        return [one.left for one in charges.allowances(session, office, campaign, team or small.alpha)]


def test_only_valid_submissions_count(office, small, declared, stored):
    assert left(office, small) == [3]
    submit(office, small, declared, stored)
    assert left(office, small) == [2]
    submit(office, small, declared, stored, after=charges.free)
    assert left(office, small) == [2]
    submit(office, small, declared, stored, after=charges.charge)
    assert left(office, small) == [1]
    assert left(office, small, small.beta) == [3]


@on_sqlite
def test_an_invalid_one_costs_nothing_in_the_evaluation_week_either(office, clock, small, declared, stored):
    clock.set("2018-04-03 12:00")
    primary = replace(declared, type="primary")
    submit(office, small, primary, stored, after=charges.free)
    submit(office, small, primary, stored, after=charges.charge)
    assert left(office, small) == [4]


@on_sqlite
def test_after_the_last_attempt_it_is_said_when_the_week_begins_anew(office, clock, small, declared, stored):
    for _ in range(3):
        submit(office, small, declared, stored, after=charges.charge)
    clock.set(WEEK_BEGINS - MICROSECOND)
    with pytest.raises(RefusedError) as error:
        submit(office, small, declared, stored)
    assert (error.value.status, error.value.retry_at) == (429, WEEK_BEGINS)
    clock.set(WEEK_BEGINS)
    submit(office, small, declared, stored)
    assert left(office, small) == [2]


@on_sqlite
def test_in_the_evaluation_week_there_is_one_primary_and_there_are_five_in_all(office, clock, small, declared, stored):
    clock.set("2018-04-03 12:00")
    primary = replace(declared, type="primary")
    submit(office, small, primary, stored, after=charges.charge)
    with pytest.raises(RefusedError) as error:
        submit(office, small, primary, stored)
    assert error.value.problems[0].rule == "M66"
    for _ in range(4):
        submit(office, small, declared, stored, after=charges.charge)
    with pytest.raises(RefusedError) as error:
        submit(office, small, declared, stored)
    assert error.value.problems[0].rule == "M64"


@on_sqlite
def test_settling_twice_changes_nothing(office, small, declared, stored):
    made = submit(office, small, declared, stored, after=charges.charge)
    with office.writing() as session:
        assert charges.charge(session, office, made) is None
        assert charges.free(session, office, made) is None
    assert left(office, small) == [2]
    with office.writing() as session:
        assert charges.refund(session, office, made, reason="our fault").state == "refunded"
        assert charges.refund(session, office, made, reason="our fault") is None
    assert left(office, small) == [3]


@on_sqlite
def test_only_organisers_refund_and_give_extras(office, small, declared, stored):
    made = submit(office, small, declared, stored, after=charges.charge)
    with office.writing() as session, pytest.raises(RefusedError) as error:
        charges.refund(session, office, made, reason="please", actor=small.as_ada)
    assert error.value.status == 403
    with office.writing() as session, pytest.raises(RefusedError) as error:
        charges.give_extra(session, office, small.as_ada, small.alpha, charges.Attempts("dev", 1, reason="please"))
    assert error.value.status == 403
    with office.writing() as session, pytest.raises(RefusedError):
        charges.give_extra(session, office, small.as_eva, small.alpha, charges.Attempts("dev", 1, reason=" "))


def test_extra_attempts_count_in_their_period_alone(office, clock, small, declared, stored):
    with office.writing() as session:
        given = charges.give_extra(
            session, office, small.as_eva, small.alpha, charges.Attempts("dev", 2, reason="the server was down")
        )
    assert (given.count, given.reason) == (2, "the server was down")
    assert left(office, small) == [5]
    assert left(office, small, small.beta) == [3]
    clock.set(WEEK_BEGINS)
    assert left(office, small) == [3]


def test_invalid_attempts_have_a_cap_of_their_own(office, clock, declared, stored):
    small = small_season(office, small_campaign_text(invalid_per_day=2))
    for _ in range(2):
        last = clock.forward(minutes=1)
        submit(office, small, declared, stored, after=charges.free)
    with pytest.raises(RefusedError, match="invalid") as error:
        submit(office, small, declared, stored)
    assert (error.value.status, error.value.retry_at) == (429, last + timedelta(hours=1))
    submit(office, small, declared, stored, team=small.beta, actor=small.as_bea)
    clock.set(last + timedelta(hours=1) - MICROSECOND)
    with pytest.raises(RefusedError, match="invalid"):
        submit(office, small, declared, stored)
    clock.forward(MICROSECOND)
    submit(office, small, declared, stored, after=charges.free)
    with pytest.raises(RefusedError, match="invalid"):
        submit(office, small, declared, stored)
    clock.set("2018-01-16 05:00")  # midnight in New York: another day
    submit(office, small, declared, stored)


def test_attempts_without_a_verdict_count_against_the_cap_on_invalid_ones(office, declared, stored):
    small = small_season(office, small_campaign_text(invalid_per_day=2))
    submit(office, small, declared, stored, after=charges.free)
    pending = submit(office, small, declared, stored)
    with pytest.raises(RefusedError, match="more being validated") as error:
        submit(office, small, declared, stored)
    assert error.value.status == 429
    with office.writing() as session:
        charges.charge(session, office, pending)
    submit(office, small, declared, stored)


@on_sqlite
def test_at_the_cap_an_attempt_an_hour_is_one_at_a_time(office, clock, declared, stored):
    small = small_season(office, small_campaign_text(invalid_per_day=1))
    submit(office, small, declared, stored, after=charges.free)
    clock.forward(hours=1)
    submit(office, small, declared, stored)
    with pytest.raises(RefusedError, match="more being validated"):
        submit(office, small, declared, stored)


@on_sqlite
def test_lapsed_uploads_do_not_count_against_the_cap(office, declared, stored):
    small = small_season(office, small_campaign_text(invalid_per_day=1))
    for _ in range(3):
        made = submit(office, small, declared, stored)
        with office.writing() as session:
            charges.free(session, office, made, reason=charges.LAPSED)
    assert left(office, small) == [3]


@on_sqlite
def test_the_machine_needs_no_role_to_refund(office, small, declared, stored):
    made = submit(office, small, declared, stored)
    with office.writing() as session:
        charges.refund(session, office, made, reason="our fault: the disk", actor=SYSTEM)
    assert left(office, small) == [3]


@on_sqlite
def test_who_has_not_accepted_the_rules_submits_nothing(office, stored):
    text = small_campaign_text()
    small = small_season(
        office, text.replace("[[rules]]", '[[rules]]\nid = "more"\nversion = "2"\ntext = "More."\n\n[[rules]]')
    )
    with office.writing() as session:
        from basanite.campaign.actions.plans import change_plan

        newer = text.replace('version = "1"', 'version = "7"')
        change_plan(session, office, small.as_eva, small.campaign_id, newer, reason="new rules")
    with pytest.raises(RefusedError) as error:
        submit(office, small, Declared("CLIR", "a"), stored)
    assert [found.rule for found in error.value.problems] == ["M77"]


AGREED = """
[[agreements]]
id = "data"
title = "Data agreement"
version = "1"
text = "Do not pass it on."
"""


@on_sqlite
def test_a_pack_with_an_agreement_takes_no_submission_before_it_is_executed(office, declared, stored):
    text = small_campaign_text(more=AGREED).replace('family = "dev"', 'family = "dev"\nagreement = "data"')
    small = small_season(office, text)
    with pytest.raises(RefusedError) as error:
        submit(office, small, declared, stored)
    assert [found.rule for found in error.value.problems] == ["P-26"]
    assert left(office, small) == [3]
