"""Submissions are listed page by page at a cost that does not grow, and their standing changes with a reason only."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event, func, select
from sqlalchemy.exc import DatabaseError
from tests.offices.prepared import small_season

from basanite.campaign.intake import acceptance, charges, standings
from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.results import visibility
from basanite.campaign.store.files import Stored
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Event, Submission
from basanite.testing import small_campaign_text

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For tests in which the database does not matter."""


@pytest.fixture
def many(office, clock, declared):
    """A season with seven submissions of Alpha and five of Beta, taken in turn."""
    small = small_season(office, small_campaign_text(quota=100))
    for number in range(12):
        clock.forward(seconds=1 if number % 3 else 0)
        mine = number % 2 == 0 or number == 11
        actor, team = (small.as_ada, small.alpha) if mine else (small.as_bea, small.beta)
        with office.writing() as session:
            accept(session, office, actor, Arrival(team, declared, Stored(f"{number:064x}", 1)))
    return small


def plans(office, act):
    """How the database finds the rows of every statement that an act runs."""
    seen = []

    def note(connection, cursor, statement, parameters, context, executemany):
        seen.append((statement, parameters))

    event.listen(office.database.engine, "before_cursor_execute", note)
    try:
        act()
    finally:
        event.remove(office.database.engine, "before_cursor_execute", note)
    return [_plan(office, statement, parameters) for statement, parameters in seen]


def _plan(office, statement, parameters):
    if not statement.lstrip().upper().startswith("SELECT") or "advisory" in statement:
        return ""
    explain = "EXPLAIN QUERY PLAN " if office.database.is_sqlite else "EXPLAIN "
    with office.database.engine.connect() as connection:
        if not office.database.is_sqlite:
            connection.exec_driver_sql("SET enable_seqscan = off")  # small tables are scanned whatever index there is
        rows = connection.exec_driver_sql(explain + statement, parameters).all()
    return "\n".join(str(row[-1]) for row in rows)


GROWING = ("submissions", "charges", "events", "uploads", "receipts", "results")


def scans(plan):
    """Growing tables that a plan reads as a whole, or sorts."""
    if "USE TEMP B-TREE FOR ORDER BY" in plan and any(f" {table} " in plan for table in GROWING):
        yield "sort"
    for line in plan.splitlines():
        for table in GROWING:
            whole = line.strip() == f"SCAN {table}" or f"Seq Scan on {table}" in line
            if whole:
                yield table


def test_accepting_and_listing_find_their_rows_by_index(office, many, declared):
    def take():
        with office.writing() as session:
            made = accept(session, office, many.as_ada, Arrival(many.alpha, declared, Stored("f" * 64, 1)))
            charges.charge(session, office, made)

    def show():
        with office.reading() as session:
            for viewer in (Viewer(team=many.alpha), Viewer(roles=frozenset({"evaluation"}))):
                page = visibility.submissions(
                    session, office, viewer, many.campaign_id, visibility.SubmissionFilter(limit=2)
                )
                before = (page[-1].received, page[-1].id)
                visibility.submissions(
                    session, office, viewer, many.campaign_id, visibility.SubmissionFilter(limit=2, before=before)
                )
            acceptance.place(session, office, session.get_one(Submission, page[0].id))

    for act in (take, show):
        found = plans(office, act)
        assert any(found)
        assert [(plan, list(scans(plan))) for plan in found if any(scans(plan))] == []


@on_sqlite
def test_the_place_in_the_queue_counts_who_came_before(office, many):
    with office.writing() as session:
        rows = session.scalars(select(Submission).order_by(Submission.received.desc(), Submission.id.desc())).all()
        first, last = rows[-1], rows[0]
        assert acceptance.place(session, office, first).ahead == 0
        before = acceptance.place(session, office, last)
        assert before.ahead == len([row for row in rows if row.received < last.received])
        assert before.within > acceptance.longest_wait(office, 0) > timedelta(0)
        first.state = "scored"
        session.flush()
        assert acceptance.place(session, office, first) is None
        assert acceptance.place(session, office, last).ahead == before.ahead - 1


def made_by(office, small, declared, stored, **changes):
    with office.writing() as session:
        row = accept(session, office, small.as_ada, Arrival(small.alpha, replace(declared, **changes), stored))
        charges.charge(session, office, row)
        row.state = "scored"
        return row.id


@on_sqlite
def test_a_withdrawn_submission_stays_with_who_and_why(office, small, declared, stored):
    made = made_by(office, small, declared, stored)
    with office.writing() as session:
        standings.withdraw(session, office, small.as_alan, made, reason="wrong model")
    with office.reading() as session:
        row = session.get(Submission, made)
        assert (row.standing, row.standing_by, row.standing_reason) == ("withdrawn", small.alan, "wrong model")
        data = session.scalars(select(Event.data).where(Event.kind == "submission.withdrawn")).one()
        assert (data["reason"], data["before"]) == ("wrong model", "on time")
        campaign = in_force(session, small.campaign_id).campaign
        assert charges.allowances(session, office, campaign, small.alpha)[0].left == 2
    with office.writing() as session, pytest.raises(RefusedError, match="already"):
        standings.withdraw(session, office, small.as_ada, made, reason="again")


@on_sqlite
def test_a_standing_needs_a_reason_and_the_right_person(office, small, declared, stored):
    made = made_by(office, small, declared, stored)
    for act, actor, reason, status in (
        (standings.withdraw, small.as_ada, "  ", 422),
        (standings.withdraw, small.as_bea, "mine", 404),
        (standings.disqualify, small.as_ada, "mine", 403),
        (standings.admit_late, small.as_ada, "mine", 403),
        (standings.designate_primary, small.as_ada, "mine", 403),
        (standings.mark_baseline, small.as_ada, "mine", 403),
        (standings.admit_late, small.as_eva, "not late", 409),
    ):
        with office.writing() as session, pytest.raises(RefusedError) as error:
            act(session, office, actor, made, reason=reason)
        assert error.value.status == status, act


@on_sqlite
def test_voiding_takes_two_people_where_the_campaign_says_so(office, declared, stored):
    small = small_season(office, small_campaign_text(two_people=("void",)))
    made = made_by(office, small, declared, stored)
    for second in (None, small.eva, small.ada):
        with office.writing() as session, pytest.raises(RefusedError):
            standings.disqualify(session, office, small.as_eva, made, reason="leak", seconded_by=second)
    with office.writing() as session:
        row = standings.disqualify(session, office, small.as_eva, made, reason="leak", seconded_by=small.otto)
        assert row.standing == "disqualified"


@on_sqlite
def test_a_late_submission_is_admitted_with_a_reason(office, clock, declared, stored):
    text = small_campaign_text().replace('kind = "development"', 'kind = "development"\nlate_grace = "2 days"')
    small = small_season(office, text)
    clock.set("2018-04-01 04:00")  # the instant of closing
    made = made_by(office, small, declared, stored, dataset=("DEV",))
    with office.writing() as session:
        assert session.get(Submission, made).standing == "late"
        row = standings.admit_late(session, office, small.as_eva, made, reason="our network was down")
        assert (row.standing, row.admitted, row.standing_by) == ("late", clock(), small.eva)


@on_sqlite
def test_after_closing_an_organiser_may_designate_a_primary_where_there_is_none(office, clock, small, declared, stored):
    made = made_by(office, small, declared, stored)
    with office.writing() as session:
        window = in_force(session, small.campaign_id).campaign.window("dev")
        assert standings.teams_without_primary(session, small.campaign_id, window) == {small.alpha: ["CLIR"]}
    with office.writing() as session, pytest.raises(RefusedError, match="open"):
        standings.designate_primary(session, office, small.as_eva, made, reason="forgotten")
    clock.set("2018-04-10 12:00")
    with office.writing() as session:
        row = standings.designate_primary(session, office, small.as_eva, made, reason="forgotten")
        assert (row.type, row.designated) == ("primary", clock())
        assert standings.teams_without_primary(session, small.campaign_id, window) == {}
        reason = session.scalars(select(Event.data).where(Event.kind == "submission.designated")).one()["reason"]
        assert reason == "forgotten"
    with office.writing() as session, pytest.raises(RefusedError, match="has a primary"):
        standings.designate_primary(session, office, small.as_eva, made, reason="again")


@on_sqlite
def test_the_same_file_of_another_team_is_noted_for_the_organiser_alone(office, small, declared, stored):
    first = made_by(office, small, declared, stored)
    with office.writing() as session:
        other = accept(session, office, small.as_bea, Arrival(small.beta, declared, stored))
        assert other.similar_to == first
        told = session.scalars(select(Event.data).where(Event.subject == other.id)).one()
    assert first not in str(told)
    again = made_by(office, small, declared, stored)
    with office.reading() as session:
        assert session.get(Submission, again).similar_to == other.id


def test_no_code_of_ours_deletes_a_submission(office, many):
    with office.reading() as session:
        before = session.scalar(select(func.count()).select_from(Submission))
    with pytest.raises(DatabaseError, match="kept for ever"):
        delete_one(office)
    with office.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == before


def delete_one(office):
    with office.writing() as session:
        session.delete(session.scalars(select(Submission)).first())
