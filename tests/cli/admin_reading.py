"""Reading in the season that examples of `basanite admin reading` work on: packages, runs, decisions, a gold."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.campaign.work.reading.season import prepared_package
from tests.campaign.work.reading.small_package import small_package

from basanite.campaign.people.roles import viewer
from basanite.campaign.work.reading import adjudication, golds, packages, people, runs, tasks
from basanite.campaign.work.reading.runs import Arrived

ANSWER = {
    "query": "games",
    "document": "nfl-001",
    "answer": {"?G": ["that game"]},
    "provenance": [{"start": 0, "end": 7}],
}
LOSER = [["G", ["that game"]], ["T", ["nobody"]]]


def fill_reading(stage, folder) -> None:
    """Add the packages `nfl-scoring`, with a decision, and `nfl-later`, with a proposed gold; and a folder `nfl`."""
    small_package(folder, name="nfl-new").rename(folder / "nfl")
    (folder / "mine.ndjson").write_text(json.dumps(ANSWER) + "\n")
    office, season = stage.office, stage.season
    prepared = prepared_package(office)
    with office.reading() as session:
        ada = viewer(session, season.campaign_id, season.ada)
    built = None
    for name in ("nfl-scoring", "nfl-later"):
        row = stage.do(packages.add, season.as_eva, season.campaign_id, replace(prepared, name=name), window="dev")
        with office.reading() as session:
            wanted = tasks.Wanted("train", "practice", types=("class",))
            ready = tasks.check(session, office, ada, season.campaign_id, row.id, wanted)
        built = built or tasks.build(office, ready)
        task = stage.do(tasks.keep, season.as_eva, ready, built)
        _decided(stage, ada, row.id, task.id)
        # People answer a formal task; the graph that teams would get is of no matter here.
        formal = replace(ready, wanted=replace(wanted, mode="formal"), team=None)
        asked = stage.do(tasks.keep, season.as_eva, formal, built)
        if name == "nfl-later":
            seat = stage.do(people.sit_down, season.as_eva, season.campaign_id, asked.id)
            games = [["G", ["that game"]]]
            stage.do(runs.add_answers, seat, [Arrived("games", "nfl-001", games, "f" * 64, "explicit", dict(games))])
            stage.do(golds.propose, season.as_eva, season.campaign_id, row.id, reason="a first round")


def _decided(stage, who, package, task) -> None:
    season = stage.season
    run = stage.do(runs.start, season.as_ada, who, season.campaign_id, runs.RunRequest(task, "reader", "k"))
    one = Arrived("losers", "nfl-001", LOSER, "d" * 64, "explicit", dict(LOSER))
    digest = stage.office.files.put(b"x").digest
    stage.do(runs.receive, season.as_ada, run, runs.Upload([one], "k", digest, "ndjson"))
    with stage.office.reading() as session:
        row = packages.find(session, season.campaign_id, package)
        (waiting,) = adjudication.progress(session, stage.office, row).waiting
    stage.do(adjudication.decide, season.as_eva, season.campaign_id, waiting, adjudication.Ruling("wrong", seen=0))
    later = Arrived("winners", "nfl-001", LOSER, "e" * 64, "explicit", dict(LOSER))
    stage.do(runs.receive, season.as_ada, run, runs.Upload([later], "l", stage.office.files.put(b"y").digest, "ndjson"))
