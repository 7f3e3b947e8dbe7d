"""Reports and slides that the demo's own worker made: shown with their scripts, but fenced off from the site."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from basanite.campaign.model.refusals import missing
from basanite.server import demo_parts as parts
from basanite.server.pages.demo.guarded import require_demo
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
REPORT_POLICY: Final = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)
"""A report is one file with its own scripts: they run, but as a stranger's, without cookies and without a network."""
KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


@ROUTER.get("/demo/parts/{part}/{name}")
def show_file(request: Request, part: str, name: str, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """A file of a part that is ready: only those that are listed, so that no path is taken from a caller."""
    require_demo(request, caller)
    data = caller.office.settings.data
    ready = {one.key for one in parts.progress(data) if one.state == "ready"}
    if part not in ready or name not in parts.PARTS[part].files:
        raise missing("file")
    path = parts.place(data, part) / name
    headers = {"Content-Security-Policy": REPORT_POLICY}
    shown = "inline" if path.suffix == ".html" else "attachment"
    return FileResponse(
        path, media_type=KINDS[path.suffix], headers=headers, filename=f"{part}-{name}", content_disposition_type=shown
    )
