"""The report of the whole campaign at one button: a page to read, slides to show, or the data behind (P-7)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from basanite.campaign.keeping.season_report import season_report
from basanite.campaign.model.viewer import VISITOR
from basanite.campaign.results import boards
from basanite.reports.model import Report
from basanite.reports.outputs import output_for
from basanite.server.catalogue import say
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/report"
Kind = Literal["html", "pptx", "csv", "json"]


@dataclass(frozen=True)
class ReportPage:
    """What the report would hold."""

    title: str
    sections: tuple[str, ...]
    sentences: tuple[str, ...]
    boards: int


@ROUTER.get(ADDRESS)
def report(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.reading() as session:
        made = season_report(session, caller.office, caller.viewer, row.id)
        count = len(boards.subjects(session, row.id))
    page = ReportPage(say("Report"), tuple(one.title for one in made.sections), made.sentences, count)
    return show(request, caller, page)


@ROUTER.get(f"{ADDRESS}/file")
def download(
    caller: Organiser, kind: Annotated[Kind, Query()] = "html", public: Annotated[bool, Query()] = False
) -> Response:
    """The report as a file; `public` leaves out what is not released to everybody."""
    row, _ = caller.here
    viewer = VISITOR if public else caller.viewer
    with caller.office.reading() as session:
        made = season_report(session, caller.office, viewer, row.id)
    return as_file(made, f"{row.slug}-{'public-' if public else ''}report.{kind}")


def as_file(made: Report, name: str) -> Response:
    """A report in the form that the name's ending asks for, to be kept: it brings scripts that no page of ours runs."""
    output = output_for(Path(name))
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(output.render(made), media_type=output.media_type, headers=headers)
