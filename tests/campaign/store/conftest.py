"""Rows in every table that the database guards."""

import pytest
from tests.campaign.work.annotation.rows import annotation_rows
from tests.campaign.work.panels.rows import panel_rows
from tests.campaign.work.reading.rows import reading_rows

from basanite.campaign.store.tables import (
    Adoption,
    Appeal,
    Charge,
    Deviation,
    Extra,
    Freeze,
    ProgramRun,
    Receipt,
    Reference,
    Release,
    Result,
    Submission,
    Upload,
)


@pytest.fixture
def made_rows(office, small):
    """One row of each kind; what they say does not matter."""
    now, where = office.clock(), {"campaign_id": small.campaign_id}
    with office.writing() as session:
        submission = Submission(
            **where,
            team_id=small.alpha,
            person_id=small.ada,
            number=1,
            door="web",
            window="dev",
            task="CLIR",
            dataset="DEV",
            label="a",
            name="a.tgz",
            size=1,
            sha256="0" * 64,
            description={},
            plan_version=1,
            started=now,
            received=now,
            state_at=now,
        )
        reference = Reference(
            **where, task="CLIR", dataset="DEV", version=1, files={}, commitment="", made=now, by=small.eva
        )
        session.add_all([submission, reference])
        session.flush()
        reading_rows(session, small.campaign_id, now)
        annotation_rows(session, small.campaign_id, now)
        panel_rows(session, small.campaign_id, now)
        result = Result(
            key="k",
            submission_id=submission.id,
            reference_id=reference.id,
            digest="d",
            settings={},
            software="",
            plan_version=1,
            at=now,
        )
        session.add(result)
        session.flush()
        mine = {"submission_id": submission.id}
        session.add_all(
            [
                Adoption(**mine, result_key="k", at=now),
                Receipt(**mine, kind="intake", content=b"", key_id="", at=now),
                Appeal(**where, number=1, window="dev", team_id=small.alpha, text="", by="", at=now, deadline=now),
                Charge(team_id=small.alpha, key="", period="", type="", task="", at=now),
                Deviation(
                    **where,
                    window="dev",
                    from_version=1,
                    to_version=2,
                    changes=[],
                    by="",
                    reason="",
                    results_known=False,
                    at=now,
                ),
                Extra(team_id=small.alpha, key="", period="", count=1, reason="", by="", at=now),
                Freeze(**where, window="dev", plan_version=1, digest="", at=now),
                ProgramRun(**mine, team_id=small.alpha, window="dev", runner="sandbox", resources={}, started=now),
                Release(**where, window="dev", level="top", by="", open_appeals=[], at=now),
                Upload(
                    **where,
                    team_id=small.alpha,
                    person_id=small.ada,
                    window="dev",
                    declared={},
                    size=1,
                    sha256="",
                    door="web",
                    started=now,
                    expires=now,
                ),
            ]
        )
    return submission.id
