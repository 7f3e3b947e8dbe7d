"""The application: routers, refusals in one form, a guard around every call, and a worker beside it if asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import BaseRoute

from basanite import __version__
from basanite.campaign.office import Office
from basanite.server import api, beside, faults, health
from basanite.server.guarding import Guard
from basanite.server.observing import Observing
from basanite.server.receiving import Lanes
from basanite.server.throttle import Throttle
from basanite.server.tokens import recognise_token

PLUGGED = ("basanite.server.accounts", "basanite.server.pages")
"""Packages that may be there: each has a function `plug(app)` and perhaps `ROUTERS`."""
TITLE = "Basanite"
ABOUT = "Evaluations of AI systems: calendar, packs, submissions, results. Errors are RFC 9457 with `problems`."


def make_app(office: Office, *, worker: bool = False) -> FastAPI:
    """The whole application for one office; with `worker`, jobs run in this process too."""
    app = FastAPI(
        title=TITLE,
        description=ABOUT,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # such a redirect would lead to whatever host the call names
        lifespan=_lifespan(office, worker),
        generate_unique_id_function=_operation,
    )
    app.state.office = office
    app.state.recognisers = [recognise_token]
    app.state.throttle = Throttle()
    app.state.lanes = Lanes()
    app.state.observing = Observing(office)
    app.add_middleware(Guard, observing=app.state.observing, https=office.settings.https)
    faults.install(app)
    app.router.routes.extend(_routes())
    for package in _plugged():
        package.plug(app)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


@cache
def _routes() -> list[BaseRoute]:
    """All routes, shared by the applications of a process: finding out what each one takes is longer than a call."""
    app = FastAPI(openapi_url=None, generate_unique_id_function=_operation)
    plugged = [router for package in _plugged() for router in getattr(package, "ROUTERS", ())]
    for router in (health.ROUTER, api.ROUTER, *plugged):
        app.include_router(router)
    return app.routes


def _plugged() -> list[Any]:
    return [import_module(name) for name in PLUGGED if find_spec(name) is not None]


def _lifespan(office: Office, worker: bool) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        """Begin what runs beside the calls, and end it in good order when the server stops."""
        with beside.running(office, worker=worker):
            yield

    return lifespan


def _operation(route: APIRoute) -> str:
    """A name for each operation that clients made from the document can use."""
    return route.name


def _document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of what programs may call; pages are not in it."""
    if app.openapi_schema is None:
        routes = [route for route in iter_route_contexts(app.routes) if (route.path or "").startswith(api.PREFIX)]
        made = get_openapi(title=TITLE, version=__version__, description=ABOUT, routes=routes)
        app.openapi_schema = api.completed(made)
    return app.openapi_schema
