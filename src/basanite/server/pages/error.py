"""The page of everything that did not work: what happened, what to do, and a number to send us."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from basanite.problems import Problem
from basanite.server.catalogue import say, sentence
from basanite.server.faults import SECOND_FACTOR, request_id
from basanite.server.known import office_of
from basanite.server.pages.foundation import cookies
from basanite.server.pages.foundation.frame import Frame, render, show
from basanite.server.pages.foundation.times import Clocks
from basanite.server.roles import Caller

TITLES = {
    401: sentence("Please sign in"),
    403: sentence("This is not yours to see"),
    404: sentence("There is nothing here"),
    409: sentence("This cannot be done now"),
    413: sentence("This is too large"),
    422: sentence("Something is not right yet"),
    429: sentence("Please wait a little"),
    500: sentence("This is our fault"),
    503: sentence("The server cannot do this at the moment"),
    507: sentence("The disk of the server is full"),
}
NOT_DONE = {
    503: sentence("Nothing was changed. Try again in a minute; if it stays, send us the number."),
    507: sentence("Nothing was changed, and pages can still be read. Try again later, and tell the operators."),
}


@dataclass(frozen=True)
class ErrorPage:
    """What is said about an error."""

    title: str
    words: str
    problems: tuple[Problem, ...] = ()
    id: str = ""
    sign_in: str = ""
    second_factor: bool = False
    """Whether the reader has the role and lacks only a second factor (X-11)."""


def error_page(request: Request, status: int, detail: str, problems: list[Problem]) -> Response:
    """The answer to a call that failed, as a page."""
    other = TITLES[500] if status >= 500 else sentence("This did not work")
    second_factor = detail == SECOND_FACTOR
    page = ErrorPage(
        say("A second factor is needed") if second_factor else say(TITLES.get(status, other)),
        _words(status, detail, problems),
        tuple(problems),
        request_id(request) if status >= 500 else "",
        _sign_in(request) if status == 401 else "",
        second_factor,
    )
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is not None and status < 500:
        return show(request, caller, page, status=status)
    return HTMLResponse(render(page, _bare(request)), status)


def _words(status: int, detail: str, problems: list[Problem]) -> str:
    if status == 404:
        return say("The address may be wrong, or what it names is not for you.")
    if status == 401:
        return say("This page is for people who are signed in.")
    if status in NOT_DONE and not problems:
        return say(NOT_DONE[status])
    if status >= 500:
        return say("It is not because of what you did, and nothing of yours was lost. If it stays, send us the number.")
    return "" if problems else detail


def _sign_in(request: Request) -> str:
    here = request.url.path if request.method == "GET" else "/"
    return f"/sign-in?then={quote(here)}"


def _bare(request: Request) -> Frame:
    """The frame of a page that asks the database nothing, for it may be what failed."""
    theme = request.cookies.get(cookies.THEME, "")
    zone = request.cookies.get(cookies.ZONE, "UTC")
    return Frame(
        Clocks(office_of(request).clock(), zone, zone),
        request.url.path,
        request.cookies.get(cookies.forms_name(office_of(request)), ""),
        theme=theme if theme in ("light", "dark") else "",
    )
