"""What is stored does not slow down what is looked at: questions go by an index, and find what all rows would give."""

import random
from datetime import timedelta

import pytest
from sqlalchemy import event, select, text
from tests.campaign.staging import staged

from basanite.campaign.actions import plans, releases
from basanite.campaign.duties import all_duties
from basanite.campaign.intake import similarity
from basanite.campaign.jobs import queue, worker
from basanite.campaign.model.standings import STANDINGS, Run, compared_runs
from basanite.campaign.office import COMMAND
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import viewer
from basanite.campaign.people.teams import NewTeam, create_team
from basanite.campaign.results import boards, visibility
from basanite.campaign.store.tables import Submission
from basanite.testing import small_office

WHOLE = (
    "SCAN main.workflow_status",
    "SCAN submissions",
    "SCAN events",
    "SCAN adoptions",
    "SCAN results",
    "SCAN receipts",
    "SCAN charges",
)
SAME = {"door": "api", "dataset": "EVAL1", "label": "run", "name": "run", "size": 1, "sha256": "0" * 64}
SAME |= {"description": {}, "plan_version": 1}
SUBJECT = boards.Subject("week", "CLIR", "1A")


def add_runs(session, office, small, teams, count, seed, **fixed):
    """Runs of all kinds, states and standings, some of them of another task, language or window."""
    dice, now = random.Random(seed), office.clock()
    for number in range(count):
        standing = dice.choice(STANDINGS)
        drawn = {
            "team_id": dice.choice(teams),
            "number": 1000 * seed + number,
            "window": dice.choice(("week", "week", "week", "dev")),
            "task": dice.choice(("CLIR", "CLIR", "CLIR", "E2E")),
            "language": dice.choice(("1A", "1A", "1A", "1B")),
            "type": dice.choice(("primary", "contrastive", "contrastive")),
            "received": now + timedelta(seconds=dice.randrange(50)),
            "standing": standing,
            "admitted": now if standing == "late" and dice.random() < 0.5 else None,
            "state": dice.choice(("received", "invalid", "scoring", "scored", "scored", "failed")),
        }
        whose = {"campaign_id": small.campaign_id, "person_id": small.ada}
        session.add(Submission(**whose, **SAME, started=now, state_at=now, **drawn | fixed))
    session.flush()


def a_team(session, office, small, name):
    person = add_person(session, office, Newcomer(name=name, mail=f"{name.lower()}@people.example"))
    return create_team(session, office, COMMAND, small.campaign_id, NewTeam(name=name), pi=person.id).id


def field_of_all_rows(rows):
    """The same by looking at every row there is."""
    there = [
        row
        for row in sorted(rows, key=lambda row: (row.received, row.id))
        if (row.window, row.task, row.language, row.track) == ("week", "CLIR", "1A", "")
        and row.state in ("scoring", "scored", "failed")
    ]
    runs = [
        Run(row.id, row.team_id, row.type, row.task, row.state, row.standing, row.admitted is not None) for row in there
    ]
    chosen = compared_runs(runs, {run.team for run in runs if run.standing != "baseline"})
    newest = {run.team: run.id for run in chosen.runs}
    return set(newest.values()), {run.id for run in chosen.baselines}, chosen.left_out


@pytest.mark.parametrize(("count", "seed"), [(0, 1), (3, 2), (12, 3), (40, 4), (200, 5)])
def test_who_is_on_a_board_is_found_without_all_rows_and_is_the_same(office, small, count, seed):
    with office.writing() as session:
        more = [a_team(session, office, small, name) for name in ("Gamma", "Delta")]
        add_runs(session, office, small, [small.alpha, small.beta, *more], count, seed)
    with office.reading() as session:
        found = boards.field_of(session, plans.current(session, small.campaign_id), SUBJECT)
        every = session.scalars(select(Submission)).all()
    wanted = field_of_all_rows(every)
    assert ({run.id for run in found.compared}, {run.id for run in found.baselines}, found.left_out) == wanted


def test_a_board_loads_as_many_runs_with_few_others_stored_as_with_many(office, small):
    def loaded():
        seen = []

        def note(row, context):
            seen.append(row)

        event.listen(Submission, "load", note)
        with office.reading() as session:
            boards.field_of(session, plans.current(session, small.campaign_id), SUBJECT)
        event.remove(Submission, "load", note)
        return len(seen)

    with office.writing() as session:
        add_runs(session, office, small, [small.alpha, small.beta], 60, 1)
    before = loaded()
    with office.writing() as session:
        add_runs(session, office, small, [small.alpha], 60, 2, type="contrastive", standing="on time")
    assert loaded() == before > 0


@pytest.fixture
def released(tmp_path, clock, pack):
    """A season in an SQLite file, whose week is over and released."""
    office = small_office(tmp_path, clock, f"sqlite:///{tmp_path / 'season.sqlite'}")
    stage = staged(office, clock, pack)
    clock.set("2018-04-03 12:00")
    for team in ("alpha", "beta"):
        stage.submit(team)
    clock.set("2018-04-09 06:00")
    for level in ("certification", "top"):
        stage.do(releases.release, stage.season.as_eva, stage.season.campaign_id, releases.LevelRelease("week", level))
        clock.forward(days=7)
    yield stage
    office.close()


def whole_tables(office, act):
    """What the database reads from its first row to its last to answer the questions of an act, by its own plans."""
    return [step for step in steps(office, act) if step.startswith(WHOLE)]


def whole_campaigns(office, act):
    """The same for all submissions of a campaign."""
    return [step for step in steps(office, act) if "submissions" in step and step.endswith("(campaign_id=?)")]


def steps(office, act):
    """How the database answers the questions of an act. The newest row of all takes no index: it stands at the end."""
    asked = []

    def note(connection, cursor, statement, parameters, context, many):
        if statement.startswith("SELECT") and ("WHERE" in statement or "LIMIT" not in statement):
            asked.append((statement, parameters))

    event.listen(office.database.engine, "before_cursor_execute", note)
    try:
        act()
    finally:
        event.remove(office.database.engine, "before_cursor_execute", note)
    with office.database.engine.connect() as connection:
        plans_of = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {one}", how).all() for one, how in asked]
    return [row[3] for plan in plans_of for row in plan]


def looks(stage):
    """What people and workers do again and again, by name."""
    office, season = stage.office, stage.season

    def seen(ask, *where, **how):
        def look():
            with office.reading() as session:
                ask(session, office, viewer(session, season.campaign_id, season.ada), *where, **how)

        return look

    found = {
        "list": seen(visibility.submissions, season.campaign_id),
        "board": seen(visibility.board, season.campaign_id, boards.Subject("week", "CLIR", language="1A")),
    }
    return found | {duty.__name__: lambda duty=duty: duty(office) for duty in all_duties() if hasattr(duty, "__name__")}


def test_nothing_that_is_done_again_and_again_reads_a_whole_table(released):
    found = {name: whole_tables(released.office, look) for name, look in looks(released).items()}
    assert {name: read for name, read in found.items() if read} == {}


@pytest.mark.parametrize("read", [whole_tables, whole_campaigns])
def test_submitting_and_scoring_read_no_whole_table_and_no_whole_campaign(released, read):
    released.clock.set("2018-03-01 12:00")
    assert read(released.office, lambda: released.submit("alpha", label="again", kind="contrastive")) == []


@pytest.mark.parametrize("read", [whole_tables, whole_campaigns])
def test_looking_for_near_copies_reads_no_whole_table_and_no_whole_campaign(released, read):
    def note():
        with released.office.writing() as session:
            run = session.scalars(select(Submission).limit(1)).one()
            similarity.note_members(session, run, [f"{number:024x}" for number in range(6)])

    assert read(released.office, note) == []


def test_a_question_without_an_index_would_be_noticed(released):
    def look():
        with released.office.reading() as session:
            session.execute(text("SELECT id FROM submissions WHERE label = 'x'")).all()

    assert whole_tables(released.office, look) == ["SCAN submissions"]


def test_looking_for_jobs_at_work_reads_no_job_that_has_ended(released):
    def look():
        worker.jobs_left(queue.client(released.office))
        queue.client(released.office).list_workflows(status="PENDING", queue_name=queue.QUEUE, load_input=False)

    assert whole_tables(released.office, look) == []
