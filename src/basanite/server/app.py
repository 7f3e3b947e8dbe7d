"""The application: routers, refusals in one form, a guard around every call, and a worker beside it if asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import cache
from tempfile import TemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute, iter_route_contexts
from sqlalchemy import select
from starlette.routing import BaseRoute

from basanite import __version__
from basanite.campaign.intake import open_uploads, recovery
from basanite.campaign.intake.drop_folder import look
from basanite.campaign.jobs.queue import client
from basanite.campaign.office import Office
from basanite.campaign.store.tables import CampaignRow
from basanite.server import api, faults
from basanite.server.accounts.sessions import recognise_session
from basanite.server.accounts.tokens import recognise_token
from basanite.server.api.schema import complete_document
from basanite.server.faults import note_fault
from basanite.server.guard import Guard, Lanes, Throttle
from basanite.server.languages import LanguageOfCall
from basanite.server.pages.routers import ROUTERS
from basanite.server.pages.site import error_page
from basanite.server.roles import OPERATOR, Caller, allow
from basanite.server.telemetry import Observing

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
        generate_unique_id_function=_operation_name,
    )
    app.state.office = office
    app.state.recognisers = (recognise_token, recognise_session)
    app.state.error_page = error_page
    app.state.throttle = Throttle()
    app.state.lanes = Lanes()
    app.state.observing = Observing(office)
    app.add_middleware(LanguageOfCall, usual=office.settings.language)
    app.add_middleware(Guard, observing=app.state.observing, https=office.settings.https)
    faults.install(app)
    app.router.routes.extend(_routes())
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]
    return app


@cache
def _routes() -> list[BaseRoute]:
    """All routes, shared by the applications of a process: finding out what each one takes is longer than a call."""
    app = FastAPI(openapi_url=None, generate_unique_id_function=_operation_name)
    for router in (HEALTH, api.ROUTER, *ROUTERS):
        app.include_router(router)
    return app.routes


def _lifespan(office: Office, worker: bool) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        """Begin what runs beside the calls, and end it in good order when the server stops."""
        with run_beside(office, worker=worker):
            yield

    return lifespan


def _operation_name(route: APIRoute) -> str:
    """A name for each operation that clients made from the document can use."""
    return route.name


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of what programs may call; pages are not in it."""
    if app.openapi_schema is None:
        routes = [route for route in iter_route_contexts(app.routes) if (route.path or "").startswith(api.PREFIX)]
        made = get_openapi(title=TITLE, version=__version__, description=ABOUT, routes=routes)
        app.openapi_schema = complete_document(made)
    return app.openapi_schema


HEALTH = APIRouter(include_in_schema=False)
"""Is it up, and can it work: what service managers and monitors ask."""


@HEALTH.get("/health/live")
def live(caller: Annotated[Caller, allow("visitor")]) -> dict[str, str]:
    """Whether the process answers."""
    return {"status": "up"}


@HEALTH.get("/health/ready")
def ready(caller: Annotated[Caller, allow("visitor")]) -> JSONResponse:
    """Whether database and files can be used; which of them cannot, and nothing more."""
    checks = {"database": _database_answers(caller.office), "files": _files_writable(caller.office)}
    good = all(checks.values())
    content: dict[str, Any] = {"status": "ready" if good else "not ready", "checks": checks}
    return JSONResponse(content, 200 if good else 503)


@HEALTH.get("/metrics")
def metrics(caller: Annotated[Caller, allow(OPERATOR, "administrator")], request: Request) -> Response:
    """Counts for Prometheus: for this machine, for administrators, and for who has the token of metrics."""
    observing: Observing = request.app.state.observing
    return Response(observing.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _database_answers(office: Office) -> bool:
    try:
        with office.reading() as session:
            session.execute(select(CampaignRow.id).limit(1))  # a file that was just made again has no tables
    except Exception:  # noqa: BLE001 - whatever a driver raises, the answer is that it is not ready
        return False
    return True


def _files_writable(office: Office) -> bool:
    try:
        office.files.folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=office.files.folder) as probe:  # without a name, so that no two probes meet
            probe.write(b"1")
    except OSError:
        return False
    return True


LOOK_SECONDS = 2.0
"""How often the drop folder is looked into (X-12)."""
PATIENCE_SECONDS = 60.0
Work = Callable[[Office, threading.Event], None]


@contextmanager
def run_beside(office: Office, *, worker: bool) -> Iterator[None]:
    """Run what is wanted until the block ends; then let each end in good order."""
    wanted: list[Work] = [warm_up, look_after_uploads]
    wanted += [watch_drops] if office.settings.drop is not None else []
    wanted += [work] if worker else []
    with _run_threads(office, wanted):
        yield


@contextmanager
def _run_threads(office: Office, wanted: list[Work]) -> Iterator[None]:
    stop = threading.Event()
    threads = [
        threading.Thread(target=_run_guarded, args=(one, office, stop), name=one.__name__, daemon=True)
        for one in wanted
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)


def _run_guarded(work: Work, office: Office, stop: threading.Event) -> None:
    try:
        work(office, stop)
    except Exception as error:  # noqa: BLE001 - the server answers on; health and the doctor tell that nobody works
        note_fault(error)


def work(office: Office, stop: threading.Event) -> None:
    """Run jobs. The engine of jobs must not be started where an event loop runs, so it has a thread of its own."""
    from basanite.campaign.jobs.worker import run  # brings the engine of the jobs: a second that no start waits for

    run(office, stop)


def warm_up(office: Office, stop: threading.Event) -> None:
    """Load what asks for jobs, which takes a second: not the first who submits shall wait for it."""
    client(office)


def look_after_uploads(office: Office, stop: threading.Event) -> None:
    """Say that this process is at what it receives, and see to what dead ones left: at the start first (X-21)."""
    limits, looked = office.settings.limits, float("-inf")
    pause = limits.silent_seconds / open_uploads.BEATS
    while True:
        try:
            open_uploads.beat(office)
            if time.monotonic() - looked >= limits.duty_seconds:
                recovery.recover(office)
                looked = time.monotonic()
        except Exception as error:  # noqa: BLE001 - the database may be away for a while
            note_fault(error)
        if stop.wait(pause):
            return


def watch_drops(office: Office, stop: threading.Event) -> None:
    """Look into the drop folder again and again."""

    while not stop.wait(LOOK_SECONDS):
        try:
            look(office)
        except Exception as error:  # noqa: BLE001 - one bad look must not close the door for good
            note_fault(error)
