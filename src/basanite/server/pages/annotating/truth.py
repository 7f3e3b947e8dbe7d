"""Adjudicated annotations as a version of the truth: the package with its grown gold, sealed and previewed (R-17)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.annotating import ending
from basanite.campaign.annotating.finding import project_named
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.store.tables import Reference
from basanite.server.catalogue import said
from basanite.server.pages.annotating.project import PROJECT, asked, reading_places
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import go, refuse
from basanite.server.pages.organiser.desk import Organiser, at
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@ROUTER.post(f"{PROJECT}/reference")
def make(request: Request, caller: Organiser, project: str, form: Filled) -> Response:
    """Make a version of the reference, and go where its re-scoring is previewed."""
    try:
        made = _made(caller, project, form)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, asked(caller, project), error)
    if made.state == "active":
        return go(caller, at(caller, "/references"), said("The reference is sealed and holds: the task is open."))
    words = said("The version is sealed and proposed. Preview a re-scoring to see what it would change.")
    return go(caller, at(caller, f"/rescoring?reference={made.id}"), words)


def _made(caller: Caller, project: str, form: Form) -> Reference:
    place = reading_places(caller).get(form.text("place"))
    if place is None:
        raise refused("M62", said("no window takes this"), said("choose what the reference is for"), status=422)
    reason = form.text("because")
    with caller.office.reading() as session:
        found = project_named(session, caller.here[0].id, project).id
    material = ending.prepare_reference(caller.office, caller.actor, found, place, reason=reason)
    with caller.office.writing() as session:
        return ending.make_reference(session, caller.office, caller.actor, found, place, material, reason=reason)
