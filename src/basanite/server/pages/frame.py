"""The frame around every page, and `show`, which puts a page's dataclass into the template that it names.

Its cookies are only for this site, never for scripts; what they say is signed, and read once where that is enough.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from itsdangerous import BadSignature, URLSafeSerializer
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from basanite.campaign.actions.overview import count_waiting
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Office
from basanite.campaign.people import roles
from basanite.campaign.people.persons import personal
from basanite.campaign.store.tables import Announcement, ReadMark, Seat
from basanite.problems import Problem
from basanite.server import languages
from basanite.server.accounts import sessions
from basanite.server.catalogue import say, sentence
from basanite.server.faults import note_fault
from basanite.server.pages.templates import environment
from basanite.server.pages.times import Clocks
from basanite.server.roles import Caller, Known

THEME_COOKIE = "basanite-theme"
ZONE_COOKIE = "basanite-zone"
FORMS_COOKIE = "basanite-forms"
NOTICES_COOKIE = "basanite-notices"
YEAR = 365 * 86400

Tone = Literal["good", "bad", "plain"]


@dataclass(frozen=True)
class Notice:
    """One sentence above the next page: something went well, or did not."""

    tone: Tone
    text: str


def forms_cookie(office: Office) -> str:
    """The cookie of strangers' forms; over https only this host can set it, as that of a session."""
    return f"__Host-{FORMS_COOKIE}" if office.settings.https else FORMS_COOKIE


def set_cookie(response: Response, office: Office, name: str, value: str, *, seconds: int | None = None) -> None:
    """Set a cookie of this site."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", secure=office.settings.https, httponly=True, samesite="lax"
    )


def delete_cookie(response: Response, office: Office, name: str) -> None:
    """Forget a cookie."""
    response.delete_cookie(name, path="/", secure=office.settings.https, httponly=True, samesite="lax")


def set_session_cookie(response: Response, office: Office, cookie: str) -> None:
    """Give the browser its session; it ends with the browser, or before."""
    set_cookie(response, office, sessions.cookie_name(office), cookie)


def set_notice(response: Response, office: Office, tone: Tone, text: str) -> None:
    """Say something above the next page."""
    set_cookie(response, office, NOTICES_COOKIE, _notice_signer(office).dumps([[tone, str(text)[:500]]]), seconds=60)


def notices_in(request: Request, office: Office) -> tuple[Notice, ...]:
    """What is to be said above this page."""
    try:
        read = _notice_signer(office).loads(request.cookies.get(NOTICES_COOKIE, ""))
    except BadSignature:
        return ()
    return tuple(Notice(tone, text) for tone, text in read)


def _notice_signer(office: Office) -> URLSafeSerializer:
    key = office.vault.secret("cookies", "notices")
    return URLSafeSerializer(key, salt="notices", signer_kwargs={"digest_method": hashlib.sha256})


class Page(Protocol):
    """What every page's dataclass has."""

    @property
    def template(self) -> str:
        """Its template, as a path below `templates/`; a page writes `template = "runs/submit.html"`."""

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
    begins: str = ""
    """`apart` for the first entry of a further group, `aside` for the first of those at the far end."""


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
    sign_up: bool = False
    """Whether the reader may create an account here."""
    judges: bool = False
    """Whether the reader has a seat on a panel of judges."""
    windows: Mapping[str, str] = field(default_factory=dict)
    """What the windows of the campaign are called: nobody reads their ids."""
    several_languages: bool = False
    """Whether pages of this campaign name the language of a run; with one language, they do not."""
    translated: bool = True
    """Whether this page can be read in other languages."""
    waiting: Mapping[str, int] = field(default_factory=dict)
    """How many decisions wait on each page of organizers."""


def show(
    request: Request, caller: Caller, page: Page, *, status: int = 200, problems: Iterable[Problem] = ()
) -> Response:
    """The page as HTML, inside the frame of this reader."""
    caller, renewed = _refresh_session(request, caller)
    frame, stranger = frame_for(request, caller, tuple(problems))
    response = HTMLResponse(render(page, frame), status)
    if stranger:
        set_cookie(response, caller.office, forms_cookie(caller.office), stranger)
    if renewed:
        set_session_cookie(response, caller.office, renewed)
    if frame.notices:
        delete_cookie(response, caller.office, NOTICES_COOKIE)
    return response


def render(page: Page, frame: Frame) -> str:
    """The template of the page, filled."""
    return environment().get_template(page.template).render(page=page, frame=frame)


def go(caller: Caller, address: str, text: str = "", tone: Tone = "good") -> Response:
    """After a form: on to a page that may be loaded again, with a sentence above it."""
    response = RedirectResponse(address, 303)
    if text:
        set_notice(response, caller.office, tone, text)
    return response


def refuse(request: Request, caller: Caller, page: Page, error: RefusedError) -> Response:
    """The page of a form once more, with what was wrong."""
    return show(request, caller, page, status=error.status, problems=error.problems)


def frame_for(request: Request, caller: Caller, problems: tuple[Problem, ...] = ()) -> tuple[Frame, str]:
    """The frame for this reader, and a fresh token for a stranger's forms if there is none yet."""
    csrf, fresh = _token(request, caller)
    with caller.office.reading() as session:
        chosen = request.cookies.get(THEME_COOKIE, "")
        frame = Frame(
            clocks=clocks_of(request, caller),
            path=request.url.path,
            csrf=csrf,
            signed_in=caller.known is not None,
            name=_name(session, caller),
            theme=chosen if chosen in ("light", "dark") else "",
            staff=caller.viewer.staff,
            weak_staff=_weak(session, caller),
            notices=notices_in(request, caller.office),
            problems=problems,
            campaign=caller.campaign.title if caller.campaign else "",
            campaign_address=f"/campaigns/{caller.row.slug}" if caller.row else "",
            entries=tuple(_entries(session, request, caller)),
            demo=caller.office.settings.demo,
            sign_up=caller.known is None and caller.office.settings.accounts.sign_up,
            judges=_judges(session, caller),
            windows={one.id: one.title for one in caller.campaign.windows} if caller.campaign else {},
            several_languages=bool(caller.campaign and len(caller.campaign.languages) > 1),
            translated=not languages.IN_ENGLISH.match(request.url.path),
            waiting=_decisions(session, request, caller),
        )
    return frame, fresh


def clocks_of(request: Request, caller: Caller) -> Clocks:
    """The zones of the campaign and of this reader."""
    signed = getattr(request.state, "signed_in", None)
    viewer = signed.zone if signed is not None else request.cookies.get(ZONE_COOKIE, "UTC")
    campaign = caller.campaign.zone if caller.campaign else viewer
    return Clocks(caller.now, campaign, viewer)


def _token(request: Request, caller: Caller) -> tuple[str, str]:
    if caller.known is not None:
        return caller.known.csrf, ""
    cookie = request.cookies.get(forms_cookie(caller.office))
    if cookie and sessions.is_stranger_token(caller.office, cookie):
        return cookie, ""
    fresh = sessions.stranger_token(caller.office)
    return fresh, fresh


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


def _refresh_session(request: Request, caller: Caller) -> tuple[Caller, str]:
    """Remember the visit; and where roles changed since the session got its id, give it another one (X-11)."""
    signed: sessions.SignedIn | None = getattr(request.state, "signed_in", None)
    if signed is None:
        return caller, ""
    office = caller.office
    with office.reading() as session:
        changed = sessions.standing(session, signed.person) != signed.standing
    if changed:
        return _renew_session(request, caller, signed)
    if sessions.needs_touch(signed, office.clock()):
        try:
            with office.writing() as session:
                sessions.touch(session, office, signed)
        except OperationalError as error:  # a page can be read although the visit cannot be written, on a full disk
            note_fault(error)
    return caller, ""


def _renew_session(request: Request, caller: Caller, signed: sessions.SignedIn) -> tuple[Caller, str]:
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
    base, path, before = f"/campaigns/{caller.row.slug}", request.url.path, HOME
    mine = caller.roles | ({"joining"} if caller.may_join(session) else set())
    for group, label, part, readers in ENTRIES:
        if readers & mine:
            address = f"{base}/{part}" if part else base
            inside = [address, *(f"{base}/{below}" for below in BELOW.get(part, ()))]
            current = path == address if not part else path.startswith(tuple(inside))
            count = _unread(session, caller) if part == "announcements" else 0
            yield Entry(say(label), address, current, count, "" if group == before else GROUPS[group])
            before = group


def _decisions(session: Session, request: Request, caller: Caller) -> Mapping[str, int]:
    """What waits on each page of organizers; counted for these pages alone."""
    if caller.row is None or not caller.viewer.staff:
        return {}
    if not request.url.path.startswith(f"/campaigns/{caller.row.slug}/organise"):
        return {}
    found = count_waiting(session, caller.row.id)
    return {
        "/people": found.leads + found.exceptions,
        "/approvals": found.approvals,
        "/packs": found.copies,
        "/appeals": found.appeals,
        "/rescoring": found.rescorings,
        "/questions": found.questions,
    }


def _unread(session: Session, caller: Caller) -> int:
    if caller.row is None or caller.viewer.person is None:
        return 0
    read = select(ReadMark.announcement_id).where(ReadMark.person_id == caller.viewer.person)
    count = select(func.count()).select_from(Announcement).where(Announcement.campaign_id == caller.row.id)
    return session.scalar(count.where(Announcement.id.not_in(read))) or 0


EVERYBODY = frozenset({"visitor"})
TEAM = frozenset({"member"})
HOME, TAKE_PART, OUTCOME, WORK, ORGANIZE, ABOUT = "home", "take part", "outcome", "work", "organize", "about"
GROUPS = {HOME: "", TAKE_PART: "apart", OUTCOME: "apart", WORK: "apart", ORGANIZE: "apart", ABOUT: "aside"}
ENTRIES: list[tuple[str, str, str, frozenset[str]]] = [
    (HOME, sentence("Overview"), "", EVERYBODY),
    (TAKE_PART, sentence("Submit"), "submit", TEAM),
    (TAKE_PART, sentence("Submissions"), "submissions", TEAM),
    (TAKE_PART, sentence("Team"), "team", frozenset({"joining", "member"})),
    (TAKE_PART, sentence("Data"), "packs", frozenset({"joining", "member", "evaluation"})),
    (OUTCOME, sentence("Leaderboard"), "leaderboard", EVERYBODY),
    (WORK, sentence("Judging"), "judging", frozenset({"judge"})),
    (WORK, sentence("Annotate"), "annotate", frozenset({"annotator", "adjudicator"})),
    (WORK, sentence("Adjudicate"), "adjudicate", frozenset({"adjudicator"})),
    (WORK, sentence("Reading"), "reading", frozenset({"annotator", "judge", "adjudicator", "evaluation"})),
    (ORGANIZE, sentence("Organize"), "organise", frozenset({"evaluation"})),
    (ABOUT, sentence("Calendar"), "calendar", EVERYBODY),
    (ABOUT, sentence("News"), "announcements", EVERYBODY),
    (ABOUT, sentence("Questions"), "questions", EVERYBODY),
]
"""The navigation of a campaign, grouped by what people do: a label, the rest of the address, and who sees it: a role,
or `joining`, who may still join a team."""
BELOW = {"leaderboard": ("results", "plan")}
"""Pages that are reached from the page of an entry, and stand below it (P-38)."""
