"""What belongs to no campaign: the first page, links from mails, preferences, static files, and error pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.model import windows
from basanite.campaign.model.refusals import missing
from basanite.campaign.people import roles
from basanite.campaign.people.links import leads_to_a_new_one, leads_to_sign_in, look_at_link
from basanite.campaign.store.tables import CampaignRow
from basanite.problems import Problem
from basanite.server import languages
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.faults import SECOND_FACTOR, request_id
from basanite.server.pages import frame
from basanite.server.pages.forms import PostedForm, target
from basanite.server.pages.frame import Frame, go, render, show
from basanite.server.pages.templates import MEDIA, assets
from basanite.server.pages.times import Clocks, zone
from basanite.server.roles import Caller, allow, may_see_drafts, office_of

ROUTER = APIRouter(include_in_schema=False)
MOST_CAMPAIGNS = 500
PLACES = {"confirm": "/confirm/{secret}", "reset": "/reset/{secret}", "password": "/reset/{secret}"}
"""Where links of each purpose lead; others are invitations."""


@dataclass(frozen=True)
class CampaignCard:
    """A campaign at a glance."""

    slug: str
    title: str
    tasks: tuple[str, ...]
    open: int
    """How many windows are open."""
    next_title: str
    next_at: datetime | None
    mine: str
    """What the reader is in it: `team`, `staff`, or nothing."""
    summary: str = ""
    draft: bool = False
    logo: str = ""
    """The address of its picture, if it has one."""


@dataclass(frozen=True)
class StartPage:
    """All campaigns."""

    template = "start.html"
    title: str
    campaigns: tuple[CampaignCard, ...]
    may_create: bool = False


@ROUTER.get("/")
def show_start(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    with caller.office.reading() as session:
        slugs = session.scalars(select(CampaignRow.slug).order_by(CampaignRow.made.desc()).limit(MOST_CAMPAIGNS)).all()
        cards = [card for card in (_campaign_card(session, caller, slug) for slug in slugs) if card is not None]
    ordered = sorted(cards, key=lambda card: (not card.mine, not card.open))
    may_create = "administrator" in caller.roles
    return show(request, caller, StartPage(say("Campaigns"), tuple(ordered), may_create))


@ROUTER.get("/links/{secret}")
def follow_link(caller: Annotated[Caller, allow("visitor")], secret: str) -> Response:
    """Where a link from a mail leads; looking at it does not use it up."""
    with caller.office.reading() as session:
        if leads_to_sign_in(session, secret):
            return go(caller, "/sign-in", say_plain("You have a password. Sign in with it."))
        if leads_to_a_new_one(session, caller.office, secret):
            return go(caller, "/forgotten", say_plain("This link no longer works. Request a new one here."))
        purpose = look_at_link(session, caller.office, secret).purpose
    return RedirectResponse(PLACES.get(purpose, "/invitations/{secret}").format(secret=secret), 303)


def _campaign_card(session: Session, caller: Caller, slug: str) -> CampaignCard | None:
    row, campaign, _ = plans.current(session, slug)
    if row.published is None and not may_see_drafts(session, row.id, caller.viewer.person):
        return None
    now, viewer = plans.now(caller.office, row), roles.viewer(session, row.id, caller.viewer.person)
    coming = windows.upcoming(campaign, now, 1)
    return CampaignCard(
        slug,
        campaign.title,
        tuple(dict.fromkeys(task for window in campaign.windows for task in window.tasks)),
        len(windows.open_windows(campaign, now)),
        coming[0].title if coming else "",
        coming[0].opens.utc if coming else None,
        "team" if viewer.team else "staff" if viewer.staff else "",
        campaign.about.summary,
        row.published is None,
        f"/campaigns/{slug}/logo?v={row.logo[:12]}" if row.logo else "",
    )


@ROUTER.get("/static/{name:path}")
def static_file(name: str, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """A style, a script or a picture; its address changes with its content."""
    if name not in assets():
        raise missing("file")
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(assets()[name], media_type=MEDIA[name.rpartition(".")[2]], headers=kept)


@ROUTER.get("/favicon.ico")
def favicon(caller: Annotated[Caller, allow("visitor")]) -> Response:
    """Our mark, for browsers that ask for it here."""
    return static_file("mark.svg", caller)


@ROUTER.post("/preferences/theme")
def choose_theme(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """Light, dark, or as the system says."""
    response = go(caller, target(request, form.text("then")))
    chosen = form.text("theme")
    if chosen in ("light", "dark"):
        frame.set_cookie(response, caller.office, frame.THEME_COOKIE, chosen, seconds=frame.YEAR)
    else:
        frame.delete_cookie(response, caller.office, frame.THEME_COOKIE)
    return response


@ROUTER.post("/preferences/language")
def choose_language(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """The language of pages for participants and judges."""
    response, chosen = go(caller, target(request, form.text("then"))), form.text("language")
    if chosen in languages.LANGUAGES:
        frame.set_cookie(response, caller.office, languages.COOKIE, chosen, seconds=frame.YEAR)
    return response


@ROUTER.post("/preferences/zone")
def choose_zone(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """The zone of a reader who is not signed in, as the browser says."""
    response, chosen = go(caller, target(request, form.text("then"))), form.text("zone")
    if len(chosen) <= 64 and str(zone(chosen)) == chosen:
        frame.set_cookie(response, caller.office, frame.ZONE_COOKIE, chosen, seconds=frame.YEAR)
    return response


TITLES = {
    401: sentence("Please sign in"),
    403: sentence("Access denied"),
    404: sentence("Page not found"),
    409: sentence("Not possible now"),
    413: sentence("File too large"),
    422: sentence("Please check your entries"),
    429: sentence("Too many requests"),
    500: sentence("Internal error"),
    503: sentence("Temporarily unavailable"),
    507: sentence("The server's disk is full"),
}
NOT_DONE = {
    503: sentence("Nothing was changed. Try again in a minute. If it happens again, send us the number below."),
    507: sentence("Nothing was changed. Pages stay readable. Try again later, and notify the operators."),
}


@dataclass(frozen=True)
class ErrorPage:
    """What is said about an error."""

    template = "error.html"
    title: str
    words: str
    problems: tuple[Problem, ...] = ()
    id: str = ""
    sign_in: str = ""
    second_factor: bool = False
    """Whether the reader has the role and lacks only a second factor (X-11)."""


def error_page(request: Request, status: int, detail: str, problems: list[Problem]) -> Response:
    """The answer to a call that failed, as a page."""
    other = TITLES[500] if status >= 500 else sentence("Something went wrong")
    second_factor = detail == SECOND_FACTOR
    here = request.url.path if request.method == "GET" else "/"
    page = ErrorPage(
        say("Second factor required") if second_factor else say(TITLES.get(status, other)),
        _error_words(status, detail, problems),
        tuple(problems),
        request_id(request) if status >= 500 else "",
        f"/sign-in?then={quote(here)}" if status == 401 else "",
        second_factor,
    )
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is not None and status < 500:
        return show(request, caller, page, status=status)
    return HTMLResponse(render(page, _bare_frame(request)), status)


def _error_words(status: int, detail: str, problems: list[Problem]) -> str:
    if status == 404:
        return say("The address may be wrong, or you do not have access to this page.")
    if status == 401:
        return say("Sign in to see this page.")
    if status in NOT_DONE and not problems:
        return say(NOT_DONE[status])
    if status >= 500:
        return say("This was not your fault, and no data was lost. If it happens again, send us the number below.")
    return "" if problems else detail


def _bare_frame(request: Request) -> Frame:
    """The frame of a page that asks the database nothing, for it may be what failed."""
    theme = request.cookies.get(frame.THEME_COOKIE, "")
    zone = request.cookies.get(frame.ZONE_COOKIE, "UTC")
    return Frame(
        Clocks(office_of(request).clock(), zone, zone),
        request.url.path,
        request.cookies.get(frame.forms_cookie(office_of(request)), ""),
        theme=theme if theme in ("light", "dark") else "",
    )
