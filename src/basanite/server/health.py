"""Is it up, and can it work: what service managers and monitors ask."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import select

from basanite.campaign.office import Office
from basanite.campaign.store.tables import CampaignRow
from basanite.server.observing import Observing
from basanite.server.roles import OPERATOR, Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@ROUTER.get("/health/live")
def live(caller: Annotated[Caller, allow("visitor")]) -> dict[str, str]:
    """Whether the process answers."""
    return {"status": "up"}


@ROUTER.get("/health/ready")
def ready(caller: Annotated[Caller, allow("visitor")]) -> JSONResponse:
    """Whether database and files can be used; which of them cannot, and nothing more."""
    checks = {"database": _database(caller.office), "files": _files(caller.office)}
    good = all(checks.values())
    content: dict[str, Any] = {"status": "ready" if good else "not ready", "checks": checks}
    return JSONResponse(content, 200 if good else 503)


@ROUTER.get("/metrics")
def metrics(caller: Annotated[Caller, allow(OPERATOR, "administrator")], request: Request) -> Response:
    """Counts for Prometheus: for this machine, for administrators, and for who has the token of metrics."""
    observing: Observing = request.app.state.observing
    return Response(observing.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _database(office: Office) -> bool:
    try:
        with office.reading() as session:
            session.execute(select(CampaignRow.id).limit(1))  # a file that was just made anew has no tables
    except Exception:  # noqa: BLE001 - whatever a driver raises, the answer is that it is not ready
        return False
    return True


def _files(office: Office) -> bool:
    try:
        office.files.folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=office.files.folder) as probe:  # without a name, so that no two probes meet
            probe.write(b"1")
    except OSError:
        return False
    return True
