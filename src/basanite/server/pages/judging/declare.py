"""Languages that a judge reads, and teams that a judge is close to: items are dealt accordingly (P-22, X-4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.panels.attending import joining, working
from basanite.campaign.people.teams.reading import teams_to_join
from basanite.server.catalogue import say
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.judging.place import BASE, At, Judge, at_of, base_of, desk_of, panel_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class TeamLine:
    """A team that a judge may be close to."""

    id: str
    name: str
    chosen: bool = False


@dataclass(frozen=True)
class DeclarePage:
    """What a judge says before the first item."""

    title: str
    at: At
    known: tuple[tuple[str, bool], ...]
    """Languages of the panel, and whether they are ticked."""
    languages: str
    teams: tuple[TeamLine, ...]


def declare_page(session: Session, caller: Caller, found: working.Desk, filled: Form | None = None) -> DeclarePage:
    """The page, empty or with what was filled in."""
    row, _ = caller.here
    before = joining.declared_by(session, caller.office, found.panel_id, caller.actor.id)
    held = (before.languages, before.conflicts) if before else ((), ())
    languages, conflicts = held if filled is None else (languages_of(filled), filled.all("conflict"))
    known = tuple((code, code in languages) for code in found.scheme.languages)
    others = ", ".join(code for code in languages if code not in found.scheme.languages)
    teams = tuple(TeamLine(team, name, team in conflicts) for team, name in teams_to_join(session, row.id))
    return DeclarePage(say("Your languages and your ties"), at_of(caller, found), known, others, teams)


def languages_of(form: Form) -> Sequence[str]:
    """Ticked and written languages.

    >>> languages_of(Form({"language": ("1A",), "languages": ("sw, French",)}))
    ('1A', 'sw', 'French')
    """
    written = filter(None, map(str.strip, re.split(r"[,;\n]", form.text("languages"))))
    return (*form.all("language"), *written)


@ROUTER.get(f"{BASE}/declare")
def declared(request: Request, caller: Judge, panel: str) -> Response:
    """The page once more, with what was declared."""
    with caller.office.reading() as session:
        page = declare_page(session, caller, desk_of(session, caller, panel))
    return show(request, caller, page)


@ROUTER.post(f"{BASE}/declare")
def declare(request: Request, caller: Judge, form: Filled, panel: str) -> Response:
    """Keep what was declared."""
    try:
        with caller.office.writing() as session:
            said = {"languages": languages_of(form), "conflicts": form.all("conflict")}
            joining.declare(session, caller.office, caller.actor, panel_of(session, caller, panel), **said)
    except RefusedError as error:
        with caller.office.reading() as session:
            page = declare_page(session, caller, desk_of(session, caller, panel), form)
        return refuse(request, caller, page, error)
    return go(caller, base_of(caller, panel))
