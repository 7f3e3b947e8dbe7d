"""Reading tasks: one graph in every format that a caller may ask for (R-12, R-23)."""

from __future__ import annotations

from typing import Final

from basanite.campaign.answering.inside.desk import Desk
from basanite.reading.generate import TaskSpec, make_task
from basanite.reading.package.model import Package
from basanite.reading.queries import Choice
from basanite.reading.queries.generation import class_named

FORMATS: Final = {"ntriples": "nt", "turtle": "ttl", "rdfxml": "rdf", "jsonld": "jsonld"}


def make(desk: Desk) -> None:
    """Make a task and write it in each format, and what it is in `task.json`."""
    package = desk.package()
    task = make_task(package, spec_of(package, desk))
    for name, ending in FORMATS.items():
        with (desk.out / f"task.{ending}").open("xb") as file:
            task.write(file, name)
    told = {"id": task.id, "queries": [query.id for query in task.queries], "documents": len(task.documents)}
    desk.write("task.json", told)


def spec_of(package: Package, desk: Desk) -> TaskSpec:
    """What the caller asked for."""
    data = desk.data
    classes = frozenset(class_named(name, package.ontology) for name in data["classes"])
    choice = Choice(frozenset(data["types"]), classes, sample=data["sample"], seed=data["seed"])
    return TaskSpec(data["part"], choice, data["phase"], data["source"], data["unanswered"], data["texts"])
