"""A campaign with reading in it goes to another server whole: packages, answers, decisions, gold, scores."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select
from tests.campaign.work.reading.test_adjudicating import begin, decide, first_case, losers, propose, send

from basanite.campaign.archive.campaign_export import export_campaign
from basanite.campaign.archive.campaign_import import import_campaign
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND
from basanite.campaign.store import tables
from basanite.campaign.work.reading import adjudication
from basanite.campaign.work.reading.packages import find
from basanite.testing import SetClock, small_office

KINDS = (tables.ReadingPackage, tables.ReadingTaskRow, tables.ReadingRun, tables.ReceivedAnswer, tables.PooledAnswer,
         tables.ReadingDecision, tables.ReadingGold)  # fmt: skip


def counts(office):
    with office.reading() as session:
        return [session.scalar(select(func.count()).select_from(kind)) for kind in KINDS]


@pytest.mark.parametrize("sealed", [True, False], ids=["whole", "without-sealed"])
def test_reading_is_part_of_what_is_exported_and_imported(reading, tmp_path, sealed):
    run = begin(reading)
    found = send(reading, run, losers())
    assert found.taken == 2
    decide(reading, first_case(reading), "wrong")
    propose(reading)
    out = tmp_path / "out"
    export_campaign(reading.office, reading.season.campaign_id, out, references=sealed)
    other = small_office(tmp_path / "other", SetClock())
    import_campaign(other, COMMAND, out)
    assert counts(other) == counts(reading.office)
    with other.reading() as session:
        package = find(session, reading.season.campaign_id, reading.package)
        if sealed:
            assert len(adjudication.progress(session, other, package).waiting) == 1
        else:
            with pytest.raises(RefusedError, match="not on this server"):
                adjudication.progress(session, other, package)
    other.close()
