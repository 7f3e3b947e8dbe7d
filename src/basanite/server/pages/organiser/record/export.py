"""The whole campaign as one archive, to be read elsewhere: rows, files, receipts, its part of the log (P-7)."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from basanite.campaign.keeping.exporting import export_campaign
from basanite.server.catalogue import say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/export"


@dataclass(frozen=True)
class ExportPage:
    """What an export holds."""

    title: str


@ROUTER.get(ADDRESS)
def export(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, ExportPage(say("Export")))


@ROUTER.post(ADDRESS)
def download(request: Request, caller: Organiser, form: Filled) -> Response:
    """The archive, made now; it is removed from the server once it was sent."""
    row, _ = caller.here
    place = caller.office.settings.data / "exports"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = Path(tempfile.mkdtemp(prefix="export-", dir=place))
    out = folder / f"{row.slug}.tgz"
    try:
        export_campaign(caller.office, row.id, out, references=form.text("references") == "yes")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(out, media_type="application/gzip", filename=out.name, background=gone)
