"""The demo's own pages: somebody to be, something to try as them, and what is made while people look around (X-15).

One click is enough to be somebody. That is a door without a lock, so it stands in a demo alone, for callers on the same
machine, and opens only for the people of the demo; no other server has these pages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from sqlalchemy import func, select

from basanite.campaign.jobs.stages import UNDER_WAY
from basanite.campaign.model.refusals import missing
from basanite.campaign.people.persons import by_mail
from basanite.campaign.settings import DEMO_MARK
from basanite.campaign.store.tables import Submission
from basanite.formats.bounded import read_bounded
from basanite.server import demo_parts as parts
from basanite.server.catalogue import say, sentence
from basanite.server.guard import count_try
from basanite.server.pages.forms import PostedForm, target
from basanite.server.pages.frame import show
from basanite.server.pages.sign_in import let_in
from basanite.server.roles import Caller, allow, from_this_machine

SITE: Final = ("/account/", "/api/", "/demo/")
"""Addresses that belong to no campaign begin like this."""


@dataclass(frozen=True)
class Step:
    """Something to try, and where."""

    text: str
    address: str
    """Below the campaign's own, unless it is one of the whole site."""

    def under(self, base: str) -> str:
        """The whole address.

        >>> Step("", "/team").under("/campaigns/demo"), Step("", "/account/tokens").under("/campaigns/demo")
        ('/campaigns/demo/team', '/account/tokens')
        """
        return self.address if self.address.startswith(SITE) else f"{base}{self.address}"


@dataclass(frozen=True)
class Role:
    """Somebody to be; without a key it is nobody in particular."""

    key: str
    title: str
    about: str
    steps: tuple[Step, ...]
    mail: str = ""


ROLES: Final = (
    Role(
        "",
        sentence("You manage a program"),
        sentence("See who is ahead, by how much, and whether the difference is significant. No account needed."),
        (
            Step(sentence("Who won the first evaluation week?"), "/leaderboard?of=week-1|CLIR|1A|"),
            Step(sentence("Which system describes images best?"), "/leaderboard?of=captions|captions|1A|"),
            Step(sentence("What was planned in advance, and what was changed?"), "/plan"),
        ),
    ),
    Role(
        "ben",
        sentence("You take part"),
        sentence("Ben works on the systems of team Alder."),
        (
            Step(sentence("See why a file was invalid, line by line, and the results of the others."), "/submissions"),
            Step(sentence("Submit any file, and see what feedback you get."), "/submit"),
            Step(sentence("Compare your own runs with each other."), "/compare"),
        ),
    ),
    Role(
        "ada",
        sentence("You lead a team"),
        sentence("Ada is the PI of team Alder. She signs agreements, files appeals and admits members."),
        (
            Step(sentence("Emil asks to join the team. Approve his request."), "/team"),
            Step(sentence("See what you can submit now, and how many attempts are left."), ""),
        ),
    ),
    Role(
        "jana",
        sentence("You judge"),
        sentence(
            "Jana reads passages and rates them with stars. She sees neither who wrote the text "
            "nor what other judges answered."
        ),
        (Step(sentence("Rate ten passages, then rank them."), "/judging"),),
    ),
    Role(
        "nora",
        sentence("You annotate"),
        sentence("Nora annotates football reports: teams, scores, winners."),
        (
            Step(sentence("Four reports are waiting. Annotate one with the mouse or the keyboard."), "/annotate"),
            Step(sentence("Answer questions about the reports, with evidence."), "/reading"),
        ),
    ),
    Role(
        "aino",
        sentence("You adjudicate"),
        sentence("Aino adjudicates disagreements between judges or annotators, and gives reasons."),
        (
            Step(sentence("Two annotators disagree about a report: adjudicate it."), "/annotate/decide"),
            Step(sentence("Two people built an answer key and disagree on some documents."), "/adjudicate"),
            Step(sentence("Judge whether a system's answers about the reports are correct."), "/reading"),
        ),
    ),
    Role(
        "eva",
        sentence("You evaluate"),
        sentence("Eva leads the evaluation. Actions with serious consequences need a second person."),
        (
            Step(sentence("See what needs your attention."), "/organise"),
            Step(sentence("See how the gold answers grew by a version, and what changed."), "/organise/rescoring"),
            Step(sentence("See how well judges agree, and what they are owed."), "/organise/judging"),
            Step(sentence("See how well annotators agree."), "/organise/annotation"),
        ),
    ),
    Role(
        "oscar",
        sentence("You administer"),
        sentence("Oscar runs the server, and approves as the second person."),
        (
            Step(sentence("Two requests wait for a second organizer. Approve or decline them."), "/organise/approvals"),
            Step(sentence("Read the audit log: every step with its hash."), "/organise/log"),
        ),
    ),
    Role(
        "chidi",
        sentence("You write code"),
        sentence("Chidi leads team Cedar. A script submits the results of the nightly run."),
        (
            Step(sentence("Create a token that can only submit."), "/account/tokens"),
            Step(sentence("Read the API documentation."), "/api/v1/openapi.json"),
        ),
    ),
)


def require_demo(request: Request, caller: Caller) -> None:
    """Refuse unless a demo is called on its own machine under its own address.

    The address counts too: another site whose name was made to lead here must not find a door that asks for nothing.
    """
    office = caller.office
    here = request.headers.get("host", "") == urlsplit(office.address).netloc
    if not (office.settings.demo and here and from_this_machine(request)):
        raise missing("page")


ROUTER = APIRouter(include_in_schema=False)
LARGEST_MARK: Final = 100_000


@dataclass(frozen=True)
class PartProgress:
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

    template = "demo.html"
    title: str
    roles: tuple[Role, ...]
    makings: tuple[PartProgress, ...]
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
def show_tour(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    require_demo(request, caller)
    return show(request, caller, _tour_page(caller))


@ROUTER.get("/demo/state")
def show_tour_state(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """How far everything is, for the page's own script."""
    require_demo(request, caller)
    return JSONResponse({"state": _tour_page(caller).state, "ahead": None})


@ROUTER.post("/demo/be")
def become(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """Be somebody of the demo, and go where there is something to do."""
    require_demo(request, caller)
    count_try(request, "sign-in")
    mail = _mails(_read_mark(caller.office.settings.data)).get(form.text("who"))
    with caller.office.reading() as session:
        person = by_mail(session, caller.office, mail) if mail else None
    if person is None:
        raise missing("person")
    return let_in(request, caller, person.id, target(request, form.text("then", "/demo")), strong=True)


def _tour_page(caller: Caller) -> TourPage:
    data, mark = caller.office.settings.data, _read_mark(caller.office.settings.data)
    with caller.office.reading() as session:
        waiting = select(func.count()).select_from(Submission).where(Submission.state.in_(UNDER_WAY))
        scoring = session.scalar(waiting) or 0
    return TourPage(
        title=say("Demo tour"),
        roles=tuple(replace(one, mail=_mails(mark).get(one.key, "")) for one in ROLES),
        makings=tuple(_part_progress(one) for one in parts.progress(data)),
        scoring=scoring,
        base=f"/campaigns/{mark['campaign']}",
        password=mark["logins"][0]["password"],
        folder=data.name,
    )


def _read_mark(data: Path) -> Mapping[str, Any]:
    """What the demo wrote down about itself."""
    mark: Mapping[str, Any] = json.loads(read_bounded(data / DEMO_MARK, LARGEST_MARK))
    return mark


def _mails(mark: Mapping[str, Any]) -> dict[str, str]:
    return {one["key"]: one["mail"] for one in mark["logins"]}


def _part_progress(told: parts.Progress) -> PartProgress:
    part = parts.PARTS[told.key]
    files = tuple(Step(label, f"/demo/parts/{told.key}/{name}") for name, label in part.files.items())
    return PartProgress(told.key, part.title, part.about, told.state, told.done, told.of, told.reason, files)


REPORT_POLICY: Final = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)
"""A report is one file with its own scripts: they run, but as a stranger's, without cookies and without a network."""
KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


@ROUTER.get("/demo/parts/{part}/{name}")
def show_file(request: Request, part: str, name: str, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """A file of a part that is ready: only those that are listed, so that no path is taken from a caller."""
    require_demo(request, caller)
    data = caller.office.settings.data
    ready = {one.key for one in parts.progress(data) if one.state == "ready"}
    if part not in ready or name not in parts.PARTS[part].files:
        raise missing("file")
    path = parts.place(data, part) / name
    headers = {"Content-Security-Policy": REPORT_POLICY}
    shown = "inline" if path.suffix == ".html" else "attachment"
    return FileResponse(
        path, media_type=KINDS[path.suffix], headers=headers, filename=f"{part}-{name}", content_disposition_type=shown
    )
