"""Who may call what: each route declares its policy by one dependency, and a test walks every route as every role.

    @router.get("/campaigns/{slug}/submissions")
    def submissions(caller: Annotated[Caller, allow("member", "evaluation", scope="read")]) -> …

A route with `{slug}` in its path is judged by what the caller is in that campaign (P-5).
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from sqlalchemy.orm import Session
from starlette.routing import BaseRoute, Mount

from basanite.campaign.actions import plans
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.policy import JUDGING, STAFF, VISITOR, Viewer
from basanite.campaign.office import Actor, Office
from basanite.campaign.people import roles as people
from basanite.campaign.people.privacy import note_address
from basanite.campaign.store.tables import CampaignRow
from basanite.server.faults import ForbiddenError, SignInError

FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-real-ip")


@dataclass(frozen=True)
class Known:
    """A person as recognised in one request, and how far that recognition reaches."""

    person: str
    how: str = "session"
    """`session` or `token`."""
    scopes: frozenset[str] | None = None
    """What a token may be used for; None: everything its person may do."""
    strong: bool = True
    """Whether a second factor was given; without it nobody acts for the evaluation team (X-11)."""
    csrf: str = ""
    """What a browser must send back with everything that changes something."""
    token: str = field(default="", repr=False)
    """The id of the token, if it is one."""


Recogniser = Callable[[Request, Session, Office], Known | None]


def office_of(request: Request) -> Office:
    """The office that this application works for."""
    office: Office = request.app.state.office
    return office


def recognise(request: Request, session: Session) -> Known | None:
    """Who is calling, by the first recogniser that knows."""
    recognisers: list[Recogniser] = request.app.state.recognisers
    answers = (ask(request, session, office_of(request)) for ask in recognisers)
    return next((known for known in answers if known is not None), None)


def caller_address(request: Request) -> str:
    """Where the call comes from, as far as the connection tells."""
    return request.client.host if request.client else ""


def is_telling(where: str) -> bool:
    """Whether an address says anything about who calls: this machine's own is that of a proxy for everybody.

    >>> is_telling("192.0.2.7"), is_telling("127.0.0.1"), is_telling("")
    (True, False, False)
    """
    try:
        return not ip_address(where.partition("%")[0]).is_loopback
    except ValueError:
        return False


def from_this_machine(request: Request) -> bool:
    """Whether the call was made on this machine and not handed on by a proxy."""
    if any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(caller_address(request)).is_loopback
    except ValueError:
        return False


ROLES = ("visitor", "user", "member", "pi", "judge", "annotator", "adjudicator", "evaluation", "administrator")
OPERATOR = "operator"
"""Somebody on this machine, or with the token for metrics; no role of a person."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
CSRF_HEADER = "x-csrf-token"


@dataclass(frozen=True)
class Caller:
    """Who calls, as what, and in which campaign."""

    office: Office
    viewer: Viewer = VISITOR
    known: Known | None = None
    row: CampaignRow | None = None
    campaign: Campaign | None = None
    plan_version: int = 0
    door: str = "web"
    address: str = ""
    """Where the call comes from."""

    def note_address(self) -> None:
        """Remember where a submitter called from: addresses that teams share are shown to the organiser (X-7)."""
        if self.viewer.person is not None and is_telling(self.address):
            with self.office.writing() as session:
                note_address(session, self.office, self.viewer.person, self.address)

    @property
    def actor(self) -> Actor:
        """Whose name goes into the log."""
        return Actor(self.viewer.person or "visitor", self.door)

    @property
    def roles(self) -> frozenset[str]:
        """All roles of the caller, weaker ones included."""
        return frozenset(_roles(self.viewer))

    @property
    def here(self) -> tuple[CampaignRow, Campaign]:
        """The campaign that the address names; a route without `{slug}` has none, which is a fault of ours."""
        if self.row is None or self.campaign is None:
            raise LookupError("this route names no campaign")
        return self.row, self.campaign

    @property
    def now(self) -> datetime:
        """The time in the campaign that the address names: that of the clock, unless it is played at another time."""
        offset = self.row.clock_offset if self.row is not None else 0.0
        return self.office.clock() + timedelta(seconds=offset)

    def may_join(self, session: Session) -> bool:
        """Whether the caller is here to take part: signed in, in no team yet, and without another part to play.

        Asked of the database, for a session without second factor does not show that its person is an organizer.
        """
        if self.viewer.person is None or self.viewer.team is not None:
            return False
        known = people.viewer(session, self.row.id if self.row else None, self.viewer.person)
        return not known.roles & (STAFF | JUDGING)

    @property
    def team(self) -> str:
        """The caller's team; only for routes of members, which the policy has made sure of."""
        if self.viewer.team is None:
            raise LookupError("this route is not for members alone")
        return self.viewer.team


def _roles(viewer: Viewer) -> Iterator[str]:
    yield "visitor"
    if viewer.person is not None:
        yield "user"
    if viewer.team is not None:
        yield "member"
    if viewer.team is not None and viewer.pi:
        yield "pi"
    yield from viewer.roles
    if "administrator" in viewer.roles:
        yield "evaluation"


@dataclass(frozen=True)
class Policy:
    """Any one of these roles may call; a token must also carry the scope, and without one no token will do."""

    roles: frozenset[str]
    scope: str = ""

    def __call__(self, request: Request) -> Caller:
        """The caller, if the policy lets it in."""
        office = office_of(request)
        with office.reading() as session:
            known = self._reaching(recognise(request, session))
            caller = _caller(request, session, office, known)
        if known is None or known.scopes is None:  # a refusal is a page, too; a token's frame would name its person
            request.state.caller = caller
        self._check(request, caller)
        request.state.caller = caller
        return caller

    def _reaching(self, known: Known | None) -> Known | None:
        """Where everybody may look, a token without the scope shows what everybody sees, and nothing of its person."""
        if known is None or known.scopes is None or "visitor" not in self.roles or self.scope in known.scopes:
            return known
        return None

    def _check(self, request: Request, caller: Caller) -> None:
        if OPERATOR in self.roles and _operates(request):
            return
        if not self.roles & caller.roles:
            raise self._refusal(caller)
        if caller.known is not None and "visitor" not in self.roles:
            self._check_reach(request, caller.known)

    def _refusal(self, caller: Caller) -> ForbiddenError | SignInError:
        """Why the caller may not: nobody in particular, another role, or the right one without a second factor."""
        if caller.known is None:
            return SignInError(self.roles)
        with caller.office.reading() as session:
            viewer = people.viewer(session, caller.row.id if caller.row else None, caller.known.person)
        return ForbiddenError(self.roles, second_factor=bool(self.roles & frozenset(_roles(viewer))))

    def _check_reach(self, request: Request, known: Known) -> None:
        if known.scopes is not None and self.scope not in known.scopes:
            raise ForbiddenError(self.roles, scope=self.scope)
        if known.how == "session" and self.scope and request.method not in SAFE:
            _check_csrf(request, known)


def allow(*roles: str, scope: str = "") -> Any:
    """The dependency that every route has: who may call it."""
    return Depends(Policy(frozenset(roles), scope))


def _check_csrf(request: Request, known: Known) -> None:
    """Forms check their hidden field themselves; a script sends the same value as a header."""
    sent = request.headers.get(CSRF_HEADER, "")
    if not known.csrf or not hmac.compare_digest(sent.encode(), known.csrf.encode()):
        raise ForbiddenError(frozenset(), csrf=True)


def _caller(request: Request, session: Session, office: Office, known: Known | None) -> Caller:
    door = "api" if request.url.path.startswith("/api/") else "web"
    slug = request.path_params.get("slug")
    where = caller_address(request)
    if slug is None:
        return Caller(office, _viewer(session, None, known), known, door=door, address=where)
    row, campaign, version = _shown_campaign(session, slug, known)
    return Caller(office, _viewer(session, row.id, known), known, row, campaign, version, door, where)


def _shown_campaign(session: Session, slug: str, known: Known | None) -> plans.Plan:
    """The campaign of an address; a draft does not exist for anybody but its organizers (P-35)."""
    plan = plans.current(session, slug)
    if plan.row.published is None and not may_see_drafts(session, plan.row.id, known.person if known else None):
        raise plans.no_campaign(slug)
    return plan


def may_see_drafts(session: Session, campaign_id: str, person: str | None) -> bool:
    """Whether somebody is an organizer of a campaign, with a second factor or without."""
    return person is not None and people.viewer(session, campaign_id, person).staff


def within(session: Session, caller: Caller, campaign: str) -> Caller:
    """The same caller in a campaign that a call names otherwise than by its path: with the roles held there alone."""
    row, plan, version = _shown_campaign(session, campaign, caller.known)
    viewer = _viewer(session, row.id, caller.known)
    return replace(caller, viewer=viewer, row=row, campaign=plan, plan_version=version)


def _viewer(session: Session, campaign_id: str | None, known: Known | None) -> Viewer:
    if known is None:
        return VISITOR
    viewer = people.viewer(session, campaign_id, known.person)
    if known.strong:
        return viewer
    return replace(viewer, roles=viewer.roles - STAFF)


def _operates(request: Request) -> bool:
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    secret = office_of(request).vault.secret("server", "metrics").hex()
    right = kind.lower() == "bearer" and hmac.compare_digest(sent.strip().encode(), secret.encode())
    return right or (from_this_machine(request) and _is_local(office_of(request).address))


def _is_local(published: str) -> bool:
    """Whether this server is for its own machine alone: behind a proxy, everybody seems to call from here."""
    host = urlsplit(published).hostname or ""
    return host == "localhost" or host.startswith("127.") or host == "::1"


@dataclass(frozen=True)
class RouteListed:
    """One route as the walk over all of them sees it."""

    path: str
    methods: tuple[str, ...]
    policy: Policy | None
    """None: nobody declared who may call it, which fails the build."""


def list_routes(app: FastAPI) -> list[RouteListed]:
    """Every route of the application with its policy; static files have none to declare."""
    return list(_walk_routes(app.routes, ""))


def _walk_routes(routes: Sequence[BaseRoute], prefix: str) -> Iterator[RouteListed]:
    for found in iter_route_contexts(routes):
        route, path = found.original_route, f"{prefix}{found.path or ''}"
        if isinstance(route, Mount):
            yield from () if route.name == "static" else _walk_routes(route.routes or [], path)
        else:
            policy = policy_of(found.dependant) if isinstance(route, APIRoute) else None
            yield RouteListed(path, tuple(sorted(found.methods or ())), policy)


def policy_of(dependant: Dependant) -> Policy | None:
    """The policy among a route's dependencies, at any depth."""
    if isinstance(dependant.call, Policy):
        return dependant.call
    found = (policy_of(part) for part in dependant.dependencies)
    return next((policy for policy in found if policy is not None), None)
