"""A file becomes a submission in one transaction, the same way whatever the door."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.store.tables import Charge, Event, Receipt, Submission

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For tests in which the database does not matter."""


def test_an_accepted_submission_has_everything_at_once(office, small, declared, stored):
    with office.writing() as session:
        made = accept(session, office, small.as_ada, Arrival(small.alpha, declared, stored))
    with office.reading() as session:
        row = session.get(Submission, made.id)
        assert (row.number, row.window, row.standing, row.state) == (1, "dev", "on time", "received")
        assert session.scalars(select(Charge.state).where(Charge.submission_id == made.id)).all() == ["reserved"]
        assert session.scalar(select(func.count()).select_from(Receipt)) == 1
        assert session.scalar(select(func.count()).where(Event.kind == "submission.accepted")) == 1


@on_sqlite
def test_team_date_and_time_in_the_name_are_ours(office, small, declared, stored):
    with office.writing() as session:
        made = accept(session, office, small.as_ada, Arrival(small.alpha, replace(declared, name="sysA.tgz"), stored))
    assert made.name == "Alpha_CLIR-contrastive-unconstrained-QUERY1-sysA_BASE-1A-DEV_20180115_070000.tgz"


@on_sqlite
def test_a_name_that_says_another_team_is_refused(office, small, declared, stored):
    name = "Beta_CLIR-contrastive-unconstrained-QUERY1-sysA_BASE-1A-DEV_20180115_070000.tgz"
    with office.writing() as session, pytest.raises(RefusedError) as error:
        accept(session, office, small.as_ada, Arrival(small.alpha, replace(declared, name=name), stored))
    assert [found.rule for found in error.value.problems] == ["M58"]


def test_one_count_whatever_the_door(office, small, declared, stored):
    doors = ("web", "api", "drop")
    for door in doors:
        with office.writing() as session:
            accept(session, office, Actor(small.ada, door), Arrival(small.alpha, declared, stored))
    for door in (*doors, "command"):
        with office.writing() as session, pytest.raises(RefusedError) as error:
            accept(session, office, Actor(small.alan, door), Arrival(small.alpha, declared, stored))
        assert error.value.status == 429
        assert error.value.problems[0].rule == "M64"


@on_sqlite
def test_other_teams_do_not_exist(office, small, declared, stored):
    with office.writing() as session, pytest.raises(RefusedError) as error:
        accept(session, office, small.as_bea, Arrival(small.alpha, declared, stored))
    assert error.value.status == 404
