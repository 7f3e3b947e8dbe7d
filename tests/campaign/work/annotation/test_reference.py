"""Adjudicated annotations become a version of the truth that submissions are scored against (R-17, R-21)."""

from dataclasses import replace

import pytest
from annotating_stage import staged

from basanite.campaign.actions.references import Place
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.work.annotation import adjudication, outcome
from basanite.campaign.work.annotation.lookup import document_named
from basanite.testing import small_campaign_text

WINDOW = """[[windows]]
id = "reading"
title = "Reading matches"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = ["reading"]
dataset = ["DEV"]
querysets = ["QUERY1"]
languages = ["1A"]
quota = { count = 3, period = "week" }
feedback = "full"
kind = "development"

[windows.settings]
part = "train"
"""
PEOPLE = '{"query": "teams", "document": "one", "answer": {"?N": "Foxes"}}\n'
PLACE = Place("reading", "DEV", "1A", "QUERY1")


def test_the_first_version_opens_the_task_and_a_later_one_waits_for_its_preview(sqlite_office, matches):
    stage = staged(sqlite_office, matches, text=small_campaign_text(more=WINDOW))
    eva, judy = stage.season.as_eva, Actor(stage.judy)
    people = stage.office.sealed.put(PEOPLE.encode()).digest
    for name, teams in (("one", [("Foxes", [6, 11], 2)]), ("three", [("Bears", [9, 14], 0)])):
        for person in (stage.anna, stage.axel):
            stage.annotate(person, name, teams)
        text = stage.ask(document_named, stage.project, name).id
        stage.do(adjudication.accept_unanimous, judy, text)
        stage.do(adjudication.finish, judy, text)
        new = outcome.prepare_reference(stage.office, eva, stage.project, PLACE, reason=f"with {name}")
        assert new.material.human == (None if name == "one" else people), "people's answers go on"
        if name == "one":
            names = {**new.material.names, people: "people.ndjson"}
            new = replace(new, material=replace(new.material, human=people, names=names))
        row = stage.do(outcome.make_reference, eva, stage.project, new)
        assert stage.office.sealed.has(row.files["reference"][0])
        assert (row.version, row.state) == ((1, "active") if name == "one" else (2, "proposed"))
    assert not list((stage.office.sealed.folder / "fresh").iterdir())
    elsewhere = Place("reading", "EVAL1", "1A", "QUERY1")
    with pytest.raises(RefusedError):
        outcome.prepare_reference(stage.office, eva, stage.project, elsewhere, reason="nowhere")
