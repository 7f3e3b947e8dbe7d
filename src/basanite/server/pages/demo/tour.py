"""The tour of the demo: somebody to be, something to try as them, and how far the demo's own worker is.

One click is enough to be somebody. That is a door without a lock, so it stands in a demo alone, for callers on the same
machine, and opens only for the people of the demo (X-15).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.jobs.stages import UNDER_WAY
from basanite.campaign.model.refusals import missing
from basanite.campaign.people.persons import by_mail
from basanite.campaign.settings import DEMO_MARK
from basanite.campaign.store.tables import Submission
from basanite.formats.bounded import read_bounded
from basanite.server import demo_parts as parts
from basanite.server.accounts import guards
from basanite.server.catalogue import say
from basanite.server.pages.account.sign_in import let_in
from basanite.server.pages.demo.guarded import require_demo
from basanite.server.pages.demo.roles import ROLES, Role, Step
from basanite.server.pages.foundation.forms import Filled, target
from basanite.server.pages.foundation.frame import show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
LARGEST_MARK: Final = 100_000


@dataclass(frozen=True)
class Making:
    """A part of the demo and how far it is."""

    key: str
    title: str
    about: str
    state: parts.State
    done: int
    of: int
    reason: str
    files: tuple[Step, ...]


@dataclass(frozen=True)
class TourPage:
    """Somebody to be, and what is being made."""

    title: str
    roles: tuple[Role, ...]
    makings: tuple[Making, ...]
    scoring: int
    """Submissions that the worker has not scored yet."""
    base: str
    """The address of the campaign."""
    password: str = field(repr=False)
    folder: str

    @property
    def busy(self) -> bool:
        """Whether something is still to come."""
        return self.scoring > 0 or any(one.state in ("waiting", "working") for one in self.makings)

    @property
    def state(self) -> str:
        """How far everything is, in one word that changes with it."""
        told = [f"{one.key}:{one.state}:{one.done}" for one in self.makings]
        return "|".join((*told, str(self.scoring)))


@ROUTER.get("/demo")
def tour(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    require_demo(request, caller)
    return show(request, caller, _page(caller))


@ROUTER.get("/demo/state")
def state(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """How far everything is, for the page's own script."""
    require_demo(request, caller)
    return JSONResponse({"state": _page(caller).state, "ahead": None})


@ROUTER.post("/demo/be")
def be(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled) -> Response:
    """Be somebody of the demo, and go where there is something to do."""
    require_demo(request, caller)
    guards.count_try(request, "sign-in")
    mail = _mails(_mark(caller.office.settings.data)).get(form.text("who"))
    with caller.office.reading() as session:
        person = by_mail(session, caller.office, mail) if mail else None
    if person is None:
        raise missing("person")
    return let_in(request, caller, person.id, target(request, form.text("then", "/demo")), strong=True)


def _page(caller: Caller) -> TourPage:
    data, mark = caller.office.settings.data, _mark(caller.office.settings.data)
    with caller.office.reading() as session:
        scoring = _under_way(session)
    return TourPage(
        title=say("A tour of the demo"),
        roles=tuple(replace(one, mail=_mails(mark).get(one.key, "")) for one in ROLES),
        makings=tuple(_making(one) for one in parts.progress(data)),
        scoring=scoring,
        base=f"/campaigns/{mark['campaign']}",
        password=mark["logins"][0]["password"],
        folder=data.name,
    )


def _mark(data: Path) -> Mapping[str, Any]:
    """What the demo wrote down about itself."""
    mark: Mapping[str, Any] = json.loads(read_bounded(data / DEMO_MARK, LARGEST_MARK))
    return mark


def _mails(mark: Mapping[str, Any]) -> dict[str, str]:
    return {one["key"]: one["mail"] for one in mark["logins"]}


def _under_way(session: Session) -> int:
    waiting = select(func.count()).select_from(Submission).where(Submission.state.in_(UNDER_WAY))
    return session.scalar(waiting) or 0


def _making(told: parts.Progress) -> Making:
    part = parts.PARTS[told.key]
    files = tuple(Step(label, f"/demo/parts/{told.key}/{name}") for name, label in part.files.items())
    return Making(told.key, part.title, part.about, told.state, told.done, told.of, told.reason, files)
