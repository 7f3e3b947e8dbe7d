"""What becomes of a program: answers that are scored, or a fault that is somebody's."""

import json

from sqlalchemy import select
from tests.campaign.programs.conftest import PYTHON_RUN, SHELL_RUN

from basanite.campaign.jobs import stages
from basanite.campaign.programs.run import bring_on, pass_on_due
from basanite.campaign.store.tables import Charge, ProgramRun, Result, Submission


def process(stage, submission_id):
    """All stages, as the jobs run them."""
    state = bring_on(stage.office, submission_id)
    if state == "running":
        stage.office.clock.forward(minutes=2)
        pass_on_due(stage.office)
        checked = stages.validate(stage.office, submission_id)
        state = checked["state"]
        if state == "scoring":
            return stages.score(stage.office, submission_id, checked["result"])
    return state


def rows(office, submission_id):
    with office.reading() as session:
        run = session.get(ProgramRun, submission_id)
        row = session.get_one(Submission, submission_id)
        cost = session.scalars(select(Charge).where(Charge.submission_id == submission_id)).one()
        return row, run, cost


def test_programs_in_two_languages_are_run_and_their_answers_scored_as_if_uploaded(stage):
    on = stage()
    for text in (SHELL_RUN, PYTHON_RUN):
        one = on.program(text)
        assert process(on, one) == "scored"
        row, run, cost = rows(on.office, one)
        assert (run.stage, run.done, run.items, run.checked, run.differing) == ("answered", 6, 6, 3, 0)
        assert cost.state == "charged"
        assert run.compute > 0
        answers = on.office.sealed.read(row.answers).decode()
        assert answers.splitlines() == ["id\tlabel", *[f"i{n}\t{w}" for n, w in enumerate(("red", "green", "blue") * 2, 1)]]
        with on.office.reading() as session:
            result = session.scalars(select(Result).where(Result.submission_id == one)).one()
            assert result.primary == 1.0
