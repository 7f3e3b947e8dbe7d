"""An annotation project in the season that examples of `basanite admin annotation` work on."""

from __future__ import annotations

import sys
from pathlib import Path

from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.work.annotation import adjudication, assignment, setup
from basanite.campaign.work.annotation.lookup import document_named

sys.path.insert(0, str(Path(__file__).parents[1] / "campaign" / "work" / "annotation"))

from annotating_stage import CONFIG, TEXTS, write_package
from annotating_stage import Stage as Work


def fill_annotation(stage, folder) -> None:
    """Make the project `matches` with one adjudicated text, its files, a newer configuration and a brat folder."""
    package = write_package(folder / "matches")
    (folder / "matches.yaml").write_text(CONFIG, encoding="utf-8")
    newer = CONFIG.replace("version: 1", "version: 2").replace("key: t}", "key: t, help: A side}")
    (folder / "rules.tsv").write_text("Match\tFoxes 3, Bears 0\n", encoding="utf-8")
    (folder / "newer.yaml").write_text(newer, encoding="utf-8")
    (folder / "brat").mkdir()
    text = TEXTS["train/three"]
    (folder / "brat" / "three.txt").write_text(text, encoding="utf-8")
    lines = "T1\tMatch 0 16\tFoxes 3, Bears 0\nT2\tTeam 0 5\tFoxes\nR1\tin Arg1:T2 Arg2:T1\n"
    (folder / "brat" / "three.ann").write_text(lines, encoding="utf-8")
    _project(stage, package)


def _project(stage, package) -> None:
    office, season, people = stage.office, stage.season, {}
    with office.writing() as session:
        for name in ("anna", "axel", "adam", "judy"):
            people[name] = add_person(session, office, Newcomer(name=name.title(), mail=f"{name}@people.example")).id
        role = {"role": "adjudicator", "campaign_id": season.campaign_id}
        grant(session, office, COMMAND, RoleGrant(person_id=people["judy"], **role))
        project = setup.create_project(
            session, office, season.as_eva, season.campaign_id, setup.NewProject(package, CONFIG)
        )
        pair = [people["anna"], people["axel"]]
        assignment.assign(session, office, season.as_eva, project.id, pair, assignment.TextScope(part="train"))
    work = Work(office, season, project.id, **people)
    for person in pair:
        work.annotate(person, "one", [("Foxes", [6, 11], 2), ("Owls", [21, 25], 1)])
        work.annotate(person, "three", [("Foxes", [0, 5], 3), ("Bears", [9, 14], 0)])
        work.annotate(person, "four", [("Owls", [4, 8], 0), ("Wolves", [25, 31], 4)])
    for name in ("one", "four"):
        text = work.ask(document_named, project.id, name).id
        work.do(adjudication.accept_unanimous, Actor(people["judy"]), text)
        if name == "one":
            work.do(adjudication.finish, Actor(people["judy"]), text)
