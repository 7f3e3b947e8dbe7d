"""What goes wrong in a call, as RFC 9457 says it: users' mistakes with cures, ours with an id and nothing else."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError, OperationalError
from starlette.exceptions import HTTPException

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Office
from basanite.campaign.store.files import FULL
from basanite.errors import BasaniteError
from basanite.problems import Problem, shortened, visible

MEDIA = "application/problem+json"
LOG = structlog.get_logger("basanite.server")


SECOND_FACTOR = (
    "Your role requires a second factor. Set one up in your account, or sign in again with the code of the one "
    "you have."
)
NOT_NOW = "The server is temporarily unavailable. Nothing was changed; try again in a minute."
NO_ROOM = "The server's disk is full. Nothing was changed; try again later, and notify the operators."
LATER = {"Retry-After": "60"}
WHO = {
    "user": "people with an account",
    "member": "members of a team",
    "pi": "PIs of a team",
    "judge": "judges",
    "annotator": "annotators",
    "adjudicator": "adjudicators",
    "evaluation": "the evaluation team",
    "administrator": "administrators",
    "operator": "the operator of this server",
}
"""Roles as people call them."""


class SignInError(HTTPException):
    """The call needs to know who makes it, and does not."""

    def __init__(self, roles: Iterable[str]) -> None:
        super().__init__(401, "Sign in, or send a token in the header `Authorization: Bearer …`.")
        self.headers = {"WWW-Authenticate": 'Bearer realm="basanite"'}
        self.roles = frozenset(roles)


class ForbiddenError(HTTPException):
    """The caller is known, and this is not theirs to do."""

    def __init__(
        self, roles: Iterable[str], *, scope: str = "", csrf: bool = False, second_factor: bool = False
    ) -> None:
        super().__init__(403, SECOND_FACTOR if second_factor else _forbidden(sorted(roles), scope, csrf))
        if scope:
            self.headers = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'}


def _forbidden(roles: list[str], scope: str, csrf: bool) -> str:
    if csrf:
        return "The form has expired. Reload the page, and send it again."
    if scope:
        return f"This token has no permission for this. Create one with the scope {scope!r}."
    return f"Only {' or '.join(WHO.get(role, role) for role in roles)} can do this."


def install(app: FastAPI) -> None:
    """Answer every kind of failure in one form."""
    app.add_exception_handler(RefusedError, _answer_refusal)
    app.add_exception_handler(BasaniteError, _answer_mistake)
    app.add_exception_handler(RequestValidationError, _answer_unreadable)
    app.add_exception_handler(HTTPException, _answer_plainly)
    app.add_exception_handler(DataError, _answer_unstorable)
    app.add_exception_handler(UnicodeEncodeError, _answer_unstorable)
    app.add_exception_handler(OperationalError, _answer_unavailable)
    app.add_exception_handler(OSError, _answer_full_disk)


def answer(
    request: Request,
    status: int,
    detail: str,
    *,
    problems: Iterable[Problem] = (),
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Response:
    """One failure: a page for those who look at pages (if the site drew one), else a problem document."""
    page = getattr(request.app.state, "error_page", None)
    wants_page = not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")
    if page is not None and wants_page:
        shown: Response = page(request, status, detail, list(problems))
        shown.headers.update(headers or {})
        return shown
    content = document(request, status, detail, problems) | dict(more or {})
    return JSONResponse(content, status, headers=dict(headers or {}), media_type=MEDIA)


def document(request: Request, status: int, detail: str, problems: Iterable[Problem] = ()) -> dict[str, Any]:
    """The object of RFC 9457, with all problems in the form of `validate --json`."""
    return {
        "type": "about:blank",
        "title": _phrase(status),
        "status": status,
        "detail": visible(detail),
        "instance": f"urn:basanite:request:{request_id(request)}",
        "problems": [problem.as_dict() for problem in problems],
    }


def request_id(request: Request) -> str:
    """The number under which the log knows this call."""
    return str(request.scope.get("state", {}).get("request_id", ""))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Refused"


def _answer_refusal(request: Request, given: Exception) -> Response:
    error = cast(RefusedError, given)
    detail = str(error) or "; ".join(problem.message for problem in error.problems)
    headers, more = _when(error.retry_at, request)
    headers |= getattr(error, "headers", {})
    if error.uploads:
        more["uploads"] = list(error.uploads)
    return answer(request, error.status, detail, problems=error.problems, headers=headers, more=more)


def _when(moment: datetime | None, request: Request) -> tuple[dict[str, str], dict[str, Any]]:
    if moment is None:
        return {}, {}
    office: Office = request.app.state.office
    seconds = max(int((moment - office.clock()).total_seconds()) + 1, 1)
    return {"Retry-After": str(seconds)}, {"retry_at": moment.isoformat()}


def _answer_mistake(request: Request, error: Exception) -> Response:
    return answer(request, 400, str(error))


def _answer_unreadable(request: Request, given: Exception) -> Response:
    """A request that cannot be read; what was sent is not repeated, for it may be a password."""
    error = cast(RequestValidationError, given)
    problems = [_problem(one) for one in error.errors()[:50]]
    return answer(request, 422, "The request cannot be read.", problems=problems)


def _problem(error: Mapping[str, Any]) -> Problem:
    place = ".".join(shortened(str(part), 40) for part in error.get("loc", ()))
    return Problem("request", place, None, None, str(error.get("msg", "not understood")), f"fix {place}")


def _answer_plainly(request: Request, given: Exception) -> Response:
    error = cast(HTTPException, given)
    detail = error.detail if isinstance(error.detail, str) else ""
    return answer(request, error.status_code, detail or _phrase(error.status_code), headers=error.headers)


def _answer_unstorable(request: Request, error: Exception) -> Response:
    """Characters that no database keeps (NUL, halves of pairs), or a number that is too large for its column."""
    return answer(request, 422, "The request contains unsupported characters or numbers.")


def _answer_unavailable(request: Request, error: Exception) -> Response:
    """The database cannot be reached, is busy for too long, or its disk is full: later it may work."""
    note_fault(error)
    if "disk is full" in str(cast(OperationalError, error).orig):
        return answer(request, 507, NO_ROOM, headers=LATER)
    return answer(request, 503, NOT_NOW, headers=LATER)


def _answer_full_disk(request: Request, error: Exception) -> Response:
    """A file cannot be written because the disk is full (X-24); any other fault of a file is one of ours."""
    if cast(OSError, error).errno not in FULL:
        raise error
    note_fault(error)
    return answer(request, 507, NO_ROOM, headers=LATER)


def note_fault(error: BaseException) -> None:
    """Write a fault of ours into the log: where it happened and of which kind, never its words.

    Messages of a database repeat parameters, and those may be a score or a secret (P-12).
    """
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    places = [f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno} {frame.name}" for frame in frames]
    LOG.error("fault", error=type(error).__name__, places=places)
