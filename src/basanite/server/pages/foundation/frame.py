"""The frame around every page, and `show`, which puts a page's dataclass into the template of the same name.

A page's dataclass lives in `pages/<area>/<name>.py`; its template is `templates/<area>/<name>.html`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people import roles
from basanite.campaign.people.persons import personal
from basanite.campaign.store.tables import Announcement, ReadMark, Seat
from basanite.problems import Problem
from basanite.server.accounts import guards, sessions
from basanite.server.catalogue import say, sentence
from basanite.server.faults import note_fault
from basanite.server.known import Known
from basanite.server.pages.foundation import cookies
from basanite.server.pages.foundation.cookies import Notice, Tone
from basanite.server.pages.foundation.environment import environment
from basanite.server.pages.foundation.times import Clocks
from basanite.server.roles import Caller

PAGES = "basanite.server.pages."


class Page(Protocol):
    """What every page's dataclass has."""

    @property
    def title(self) -> str:
        """What the window is called."""


@dataclass(frozen=True)
class Entry:
    """One entry of the navigation."""

    label: str
    address: str
    current: bool = False
    count: int = 0


@dataclass(frozen=True)
class Frame:
    """What all pages show around what is their own."""

    clocks: Clocks
    path: str
    csrf: str
    signed_in: bool = False
    name: str = ""
    theme: str = ""
    staff: bool = False
    weak_staff: bool = False
    """One of the evaluation team who gave no second factor and therefore acts as nobody in particular (X-11)."""
    notices: tuple[Notice, ...] = ()
    problems: tuple[Problem, ...] = ()
    campaign: str = ""
    campaign_address: str = ""
    entries: tuple[Entry, ...] = ()
    demo: bool = False
    judges: bool = False
    """Whether the reader has a seat on a panel of judges."""
    windows: Mapping[str, str] = field(default_factory=dict)
    """What the windows of the campaign are called: nobody reads their ids."""


def show(
    request: Request, caller: Caller, page: Page, *, status: int = 200, problems: Iterable[Problem] = ()
) -> Response:
    """The page as HTML, inside the frame of this reader."""
    caller, renewed = _kept_session(request, caller)
    frame, stranger = framed(request, caller, tuple(problems))
    response = HTMLResponse(render(page, frame), status)
    if stranger:
        cookies.put(response, caller.office, cookies.forms_name(caller.office), stranger)
    if renewed:
        cookies.put_session(response, caller.office, renewed)
    if frame.notices:
        cookies.drop(response, caller.office, cookies.NOTICES)
    return response


def render(page: Page, frame: Frame) -> str:
    """The template of the page's module, filled."""
    name = type(page).__module__.removeprefix(PAGES).replace(".", "/")
    return environment().get_template(f"{name}.html").render(page=page, frame=frame)


def go(caller: Caller, address: str, text: str = "", tone: Tone = "good") -> Response:
    """After a form: on to a page that may be loaded again, with a sentence above it."""
    response = RedirectResponse(address, 303)
    if text:
        cookies.put_notice(response, caller.office, tone, text)
    return response


def refuse(request: Request, caller: Caller, page: Page, error: RefusedError) -> Response:
    """The page of a form once more, with what was wrong."""
    return show(request, caller, page, status=error.status, problems=error.problems)


def framed(request: Request, caller: Caller, problems: tuple[Problem, ...] = ()) -> tuple[Frame, str]:
    """The frame for this reader, and a fresh token for a stranger's forms if there is none yet."""
    csrf, fresh = _token(request, caller)
    with caller.office.reading() as session:
        frame = Frame(
            clocks=clocks_of(request, caller),
            path=request.url.path,
            csrf=csrf,
            signed_in=caller.known is not None,
            name=_name(session, caller),
            theme=_theme(request),
            staff=caller.viewer.staff,
            weak_staff=_weak(session, caller),
            notices=cookies.notices_of(request, caller.office),
            problems=problems,
            campaign=caller.campaign.title if caller.campaign else "",
            campaign_address=f"/campaigns/{caller.row.slug}" if caller.row else "",
            entries=tuple(_entries(session, request, caller)),
            demo=caller.office.settings.demo,
            judges=_judges(session, caller),
            windows={one.id: one.title for one in caller.campaign.windows} if caller.campaign else {},
        )
    return frame, fresh


def clocks_of(request: Request, caller: Caller) -> Clocks:
    """The zones of the campaign and of this reader."""
    signed = getattr(request.state, "signed_in", None)
    viewer = signed.zone if signed is not None else request.cookies.get(cookies.ZONE, "UTC")
    campaign = caller.campaign.zone if caller.campaign else viewer
    return Clocks(caller.now, campaign, viewer)


def _token(request: Request, caller: Caller) -> tuple[str, str]:
    if caller.known is not None:
        return caller.known.csrf, ""
    cookie = request.cookies.get(cookies.forms_name(caller.office))
    if cookie and guards.is_ours(caller.office, cookie):
        return cookie, ""
    fresh = guards.stranger_token(caller.office)
    return fresh, fresh


def _theme(request: Request) -> str:
    chosen = request.cookies.get(cookies.THEME, "")
    return chosen if chosen in ("light", "dark") else ""


def _name(session: Session, caller: Caller) -> str:
    return personal(session, caller.office, caller.viewer.person).name if caller.viewer.person else ""


def _weak(session: Session, caller: Caller) -> bool:
    """The viewer as the database knows it, before a session without second factor weakens it (X-11)."""
    known = caller.known
    if known is None or known.strong:
        return False
    return roles.viewer(session, caller.row.id if caller.row else None, known.person).staff


def _judges(session: Session, caller: Caller) -> bool:
    if caller.viewer.person is None:
        return False
    return session.scalar(select(Seat.id).where(Seat.person_id == caller.viewer.person).limit(1)) is not None


def _kept_session(request: Request, caller: Caller) -> tuple[Caller, str]:
    """Remember the visit; and where roles changed since the session got its id, give it another one (X-11)."""
    signed: sessions.SignedIn | None = getattr(request.state, "signed_in", None)
    if signed is None:
        return caller, ""
    office = caller.office
    with office.reading() as session:
        changed = sessions.standing(session, signed.person) != signed.standing
    if changed:
        return _renewed(request, caller, signed)
    if sessions.needs_touch(signed, office.clock()):
        try:
            with office.writing() as session:
                sessions.touch(session, office, signed)
        except OperationalError as error:  # a page can be read although the visit cannot be written, on a full disk
            note_fault(error)
    return caller, ""


def _renewed(request: Request, caller: Caller, signed: sessions.SignedIn) -> tuple[Caller, str]:
    office = caller.office
    with office.writing() as session:
        cookie = sessions.renew(session, office, signed)
        session.flush()
        fresh = sessions.find(session, office, cookie)
    if fresh is None:  # closed meanwhile
        return caller, ""
    request.state.signed_in = fresh
    known = Known(fresh.person, "session", None, fresh.strong, fresh.csrf)
    return Caller(office, caller.viewer, known, caller.row, caller.campaign, caller.plan_version, caller.door), cookie


def _entries(session: Session, request: Request, caller: Caller) -> Iterable[Entry]:
    if caller.row is None:
        return
    base, path = f"/campaigns/{caller.row.slug}", request.url.path
    mine = caller.roles | ({"joining"} if caller.may_join(session) else set())
    for label, part, readers in ENTRIES:
        if readers & mine:
            address = f"{base}/{part}" if part else base
            current = path == address if not part else path.startswith(address)
            count = _unread(session, caller) if part == "announcements" else 0
            yield Entry(say(label), address, current, count)


def _unread(session: Session, caller: Caller) -> int:
    if caller.row is None or caller.viewer.person is None:
        return 0
    read = select(ReadMark.announcement_id).where(ReadMark.person_id == caller.viewer.person)
    count = select(func.count()).select_from(Announcement).where(Announcement.campaign_id == caller.row.id)
    return session.scalar(count.where(Announcement.id.not_in(read))) or 0


EVERYBODY = frozenset({"visitor"})
TEAM = frozenset({"member"})
ENTRIES: list[tuple[str, str, frozenset[str]]] = [
    (sentence("Overview"), "", EVERYBODY),
    (sentence("Calendar"), "calendar", EVERYBODY),
    (sentence("Data"), "packs", frozenset({"joining", "member", "evaluation"})),
    (sentence("Team"), "team", frozenset({"joining", "member"})),
    (sentence("Submit"), "submit", TEAM),
    (sentence("Submissions"), "submissions", TEAM),
    (sentence("Leaderboard"), "leaderboard", EVERYBODY),
    (sentence("Results"), "results", EVERYBODY),
    (sentence("News"), "announcements", EVERYBODY),
    (sentence("Questions"), "questions", EVERYBODY),
    (sentence("Judging"), "judging", frozenset({"judge"})),
    (sentence("Annotate"), "annotate", frozenset({"annotator", "adjudicator"})),
    (sentence("Adjudicate"), "adjudicate", frozenset({"adjudicator"})),
    (sentence("Reading"), "reading", frozenset({"annotator", "judge", "adjudicator", "evaluation"})),
    (sentence("Organise"), "organise", frozenset({"evaluation"})),
]
"""The navigation of a campaign: a label, the rest of the address, and who sees it: a role, or `joining`, who may
still join a team."""
