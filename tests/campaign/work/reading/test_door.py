"""Reading runs through the ordinary door of a campaign: a window with the task `reading`, its reference a package."""

from __future__ import annotations

import json

import pytest
from tests.campaign.work.reading.small_package import answers_of, ndjson, small_package

from basanite.campaign.actions import references
from basanite.campaign.actions.plans import current
from basanite.campaign.intake import acceptance
from basanite.campaign.jobs import stages
from basanite.campaign.model.plan import Declared
from basanite.campaign.results.facts import adopted_results, content
from basanite.campaign.store.tables import Submission
from basanite.formats.archives.output import write_archive


@pytest.mark.parametrize("packed", [False, True], ids=["lines", "archive"])
def test_an_answer_file_is_submitted_and_scored_against_a_package_like_any_run(reading, tmp_path, packed):
    office, season = reading.office, reading.season
    place = references.Place("reading", "DEV", "1A", "")
    material = references.take_in(office, references.Paths((small_package(tmp_path),)))
    with office.reading() as session:
        references.check_files(office, current(session, season.campaign_id).campaign, place, material)
    reading.do(references.add, season.as_eva, season.campaign_id, references.NewVersion(place, material))
    file = tmp_path / ("answers.tgz" if packed else "answers.ndjson")
    body = ndjson(answers_of("baseline.ndjson"))
    if packed:
        write_archive([("answers.ndjson", body)], file)
    else:
        file.write_bytes(body)
    words = {"task": "reading", "label": "one", "type": "contrastive", "language": "1A", "dataset": "DEV"}
    said = Declared(**words, name=file.name)
    row = reading.do(acceptance.accept, season.as_ada, acceptance.Arrival(season.alpha, said, office.files.take(file)))
    verdict = stages.validate(office, row.id)
    with office.reading() as session:
        found = json.loads(office.files.read(session.get(Submission, row.id).problems_digest))
    assert found["problems"] == []
    stages.score(office, row.id, verdict["result"])
    with office.reading() as session:
        result = content(office, adopted_results(session, [row.id])[row.id])
    assert result["task"] == "reading"
    assert result["values"]["f"]["value"] > 0.5
