"""Copies of a stored submission are as good as real ones: the log holds, and the judge of faults finds nothing."""

import pytest
from tests.campaign.staging import staged
from tests.offices.machines import judge
from tests.offices.submitting import Member

import scale_rows
from basanite.campaign.actions import upkeep
from basanite.campaign.results.facts import adopted_results
from basanite.campaign.store.tables import Submission
from basanite.testing import SetClock, small_office, small_pack


@pytest.fixture
def stage(tmp_path):
    clock = SetClock()
    office = small_office(tmp_path, clock, f"sqlite:///{tmp_path / 'season.sqlite'}")
    yield staged(office, clock, small_pack(tmp_path / "pack"))
    office.close()


def test_copies_are_whole_and_belong_to_the_teams_in_turn(stage):
    office, season = stage.office, stage.season
    first = stage.submit("alpha", kind="contrastive")
    upkeep.sign(office)
    template = scale_rows.template_of(office, first)
    tables = {table.name for table, _, _ in template.rows}
    assert {"submissions", "charges", "results", "adoptions", "receipts", "messages", "workflow_status"} <= tables
    scale_rows.fill(office, template, [Member(season.alpha, season.ada), Member(season.beta, season.bea)], 7)
    found = judge(office)
    assert found.wrong == ()
    assert found.states == {"scored": 8}
    with office.reading() as session:
        rows = session.query(Submission).order_by(Submission.number).all()
        assert [row.team_id for row in rows[1:]] == [season.alpha, season.beta] * 3 + [season.alpha]
        assert rows[2].person_id == season.bea
        assert len({row.sha256 for row in rows}) == 8
        results = adopted_results(session, [row.id for row in rows])
        assert {one.submission_id for one in results.values()} == {row.id for row in rows}
    assert upkeep.sign(office) == 0
