"""An annotator's queue: the texts that wait, the one to go on with, and how far one has come; nobody sees another's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.annotating.finding import find_project
from basanite.campaign.annotating.working import Waiting, my_tasks
from basanite.campaign.model.refusals import missing
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.frame import go, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
BASE = "/campaigns/{slug}/annotate"
Annotator = Annotated[Caller, allow("annotator", "adjudicator")]
SHOWN = 500
"""Texts of a project that are listed; those that are open come first."""


@dataclass(frozen=True)
class QueueLine:
    """A text in the queue."""

    name: str
    address: str
    state: str
    length: int
    role: str = "annotator"


@dataclass(frozen=True)
class QueueProject:
    """The own texts of one project."""

    title: str
    lines: tuple[QueueLine, ...]
    done: int
    total: int
    next: str = ""
    """Where to go on; nothing if everything is done."""

    @property
    def hidden(self) -> int:
        """How many texts are not listed."""
        return self.total - len(self.lines)


@dataclass(frozen=True)
class QueuePage:
    """All that one person has to annotate in a campaign."""

    title: str
    projects: tuple[QueueProject, ...]
    adjudicates: str = ""
    """Where an adjudicator decides about disagreements."""


@ROUTER.get(BASE)
def queue(request: Request, caller: Annotator) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.reading() as session:
        tasks = my_tasks(session, row.id, caller.actor.id)
        projects = tuple(
            _project(session, row.slug, found, tasks) for found in dict.fromkeys(t.project_id for t in tasks)
        )
    decides = f"/campaigns/{row.slug}/annotate/decide" if "adjudicator" in caller.roles else ""
    return show(request, caller, QueuePage(say("Annotate"), projects, decides))


@ROUTER.get(f"{BASE}/next")
def go_on(request: Request, caller: Annotator, after: str = "") -> Response:
    """The next text that is open, behind the one just finished; the queue if there is none."""
    row, _ = caller.here
    with caller.office.reading() as session:
        tasks = my_tasks(session, row.id, caller.actor.id)
    if after and all(one.id != after for one in tasks):
        raise missing("annotation task")
    found = following(tasks, after)
    base = f"/campaigns/{row.slug}/annotate"
    return go(caller, f"{base}/{found.id}") if found else go(caller, base, said("Everything is done. Thank you!"))


def following(tasks: Sequence[Waiting], after: str) -> Waiting | None:
    """The first open task behind another one, else the first open one."""
    place = next((at for at, one in enumerate(tasks) if one.id == after), -1)
    ordered = (*tasks[place + 1 :], *tasks[: max(place, 0)])
    return next((one for one in ordered if one.state != "done"), None)


def _project(session: Session, slug: str, project_id: str, tasks: Sequence[Waiting]) -> QueueProject:
    project, mine = find_project(session, project_id), [one for one in tasks if one.project_id == project_id]
    ordered = sorted(mine, key=lambda one: (one.state == "done", one.position))
    base = f"/campaigns/{slug}/annotate"
    lines = tuple(QueueLine(one.document, f"{base}/{one.id}", one.state, one.length, one.role) for one in ordered)
    done = sum(one.state == "done" for one in mine)
    first = lines[0].address if done < len(mine) else ""
    return QueueProject(project.title or project.name, lines[:SHOWN], done, len(mine), first)
