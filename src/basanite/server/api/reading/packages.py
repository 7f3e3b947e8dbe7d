"""The reading packages of a campaign, as far as the caller may know them."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from basanite.campaign.answering.corpus import corpus
from basanite.campaign.answering.packages import packages
from basanite.campaign.store.tables import ReadingPackage
from basanite.server.api.reading.calls import Reader
from basanite.server.roles import Caller

ROUTER = APIRouter()


class PartShown(BaseModel):
    """A part of the corpus; of a sealed one teams learn nothing but its name."""

    name: str
    sealed: bool
    documents: int | None


class QueryShown(BaseModel):
    """A query that the package asks."""

    id: str
    type: str
    question: str
    variables: list[str]
    find: list[str]


class PackageShown(BaseModel):
    """A reading package."""

    id: str
    name: str
    version: str
    title: str
    window: str
    """The row of the calendar for formal tasks; "": practice alone."""
    parts: list[PartShown]
    queries: list[QueryShown]


@ROUTER.get("/packages")
def list_reading_packages(caller: Reader) -> list[PackageShown]:
    """All packages in use, with their parts and queries."""
    row, _ = caller.here
    with caller.office.reading() as session:
        return [_shown(caller, one) for one in packages(session, row.id)]


def _shown(caller: Caller, package: ReadingPackage) -> PackageShown:
    texts, staff = corpus(caller.office, package), caller.viewer.staff
    parts = [
        PartShown(
            name=part["name"],
            sealed=part["sealed"],
            documents=part["documents"] if staff or not part["sealed"] else None,
        )
        for part in package.parts
    ]
    asked = [one for one in texts.queries.values() if not one.generated and (staff or one.part not in texts.sealed)]
    queries = [
        QueryShown(id=one.id, type=one.type, question=one.question, variables=list(one.variables), find=list(one.lines))
        for one in asked
    ]
    return PackageShown(
        id=package.id,
        name=package.name,
        version=package.version,
        title=package.title,
        window=package.window,
        parts=parts,
        queries=queries,
    )
