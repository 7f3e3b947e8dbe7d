"""The program: all campaigns of the server side by side, as a page, as HTML and as slides (P-45)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.archive.program_report import program_report, program_steps
from basanite.campaign.model.policy import VISITOR, Viewer
from basanite.campaign.store.tables import CampaignRow
from basanite.figures import Chart, Table
from basanite.reports.report import Report
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.frame import show
from basanite.server.pages.organiser_results import as_file
from basanite.server.pages.templates import DrawnChart, draw_chart
from basanite.server.roles import Caller, allow, within

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/program"
Anybody = Annotated[Caller, allow("visitor")]
Year = Annotated[int | None, Query(ge=1900, le=2200)]


@dataclass(frozen=True)
class ProgramSection:
    """One section as a page shows it."""

    title: str
    lead: str
    charts: tuple[DrawnChart, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class ProgramPage:
    """Progress, verdicts and teams."""

    template = "program.html"
    title: str
    sentences: tuple[str, ...]
    sections: tuple[ProgramSection, ...]
    years: tuple[int, ...]
    year: int | None = None


@ROUTER.get(ADDRESS)
def show_program(request: Request, caller: Anybody, year: Year = None) -> Response:
    """What everybody may see of all campaigns; organizers see theirs as they see them elsewhere."""
    with caller.office.reading() as session:
        steps = program_steps(session, caller.office, _viewers(session, caller))
    chosen = [step for step in steps if year in (None, step.closes.year)]
    made = program_report(chosen, say_plain("Program"))
    sections = tuple(_section(one) for one in made.sections if not one.detail) if chosen else ()
    years = tuple(sorted({step.closes.year for step in steps}))
    return show(request, caller, ProgramPage(say("Program"), made.sentences, sections, years, year))


@ROUTER.get(f"{ADDRESS}/report")
def download_program(
    caller: Anybody, kind: Annotated[Literal["html", "pptx", "json", "csv"], Query()] = "html", year: Year = None
) -> Response:
    """The same as a file."""
    return as_file(_report(caller, year), f"program{f'-{year}' if year else ''}.{kind}")


def _report(caller: Caller, year: int | None) -> Report:
    with caller.office.reading() as session:
        steps = program_steps(session, caller.office, _viewers(session, caller), year)
    title = say_plain("Program {year}", year=str(year)) if year else say_plain("Program")
    return program_report(steps, title)


def _viewers(session: Session, caller: Caller) -> dict[str, Viewer]:
    """As whom the reader looks at each campaign: as everybody, unless among its organizers."""
    slugs = session.scalars(select(CampaignRow.slug).where(CampaignRow.published.is_not(None))).all()
    seen = {slug: within(session, caller, slug).viewer for slug in slugs}
    return {slug: viewer if viewer.staff else VISITOR for slug, viewer in seen.items()}


def _section(one: Any) -> ProgramSection:
    charts = tuple(draw_chart(figure) for figure in one.figures if isinstance(figure, Chart))
    tables = tuple(figure for figure in one.figures if isinstance(figure, Table) and figure.rows)
    return ProgramSection(one.title, one.lead, charts, tables)
