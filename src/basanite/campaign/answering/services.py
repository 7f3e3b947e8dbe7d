"""Calls that are answered by the limited child alone: the reasoner, SPARQL, and taking in answers (R-23, X-3, X-13).

Each function is for the edge: it reads in one transaction, works without any, and writes in another.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy.orm import Session

from basanite.campaign.answering import golds, runs
from basanite.campaign.answering.packages import find, whole, without_sealed
from basanite.campaign.answering.running import Order, told, worked
from basanite.campaign.answering.runs import Arrived
from basanite.campaign.answering.tasks import tasks
from basanite.campaign.jobs.running import Given
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.model.viewer import Viewer
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import PooledAnswer, ReadingPackage, ReadingUpload
from basanite.reading.rdf import ENDINGS

RDF: Final = {name: next(end for end, one in ENDINGS.items() if one == name) for name in set(ENDINGS.values())}
"""The ending of a file for each form of RDF."""


def reason(
    office: Office,
    who: Viewer,
    campaign_id: str,
    package_id: str,
    service: str,
    body: bytes,
    *,
    media: str,
    query: str = "",
    statement: str = "",
) -> Any:
    """One service of the reasoner on statements that a caller sends; rules and ontology are those of the package."""
    with office.reading() as session:
        package = find(session, campaign_id, package_id)
    ending = ".json" if media == "json" else ".ndjson" if media == "ndjson" else RDF[media]
    with _file(office, f"body{ending}", body) as given:
        files = {"package": without_sealed(office, package), "body": given}
        data = {"service": service, "media": media, "query": query, "statement": statement, "limits": _limits(office)}
        with worked(office, Order("reason", who.party, files, data)) as outcome:
            return told(outcome, "answer.json")


def _limits(office: Office) -> dict[str, int]:
    most = office.settings.reading
    return {
        "statements": most.statements,
        "bindings": 50 * most.statements,
        "firings": 5 * most.statements,
        "terms_per_rule": 10_000,
        "answers": most.rows,
        "worlds": 20_000,
        "contexts": 100,
        "rules": 1_000,
        "seconds": max(1, int(most.seconds / 3)),
        "megabytes": 512,
    }


@dataclass(frozen=True)
class Found:
    """An answer of the SPARQL endpoint."""

    content: bytes
    format: str


def sparql(
    office: Office, who: Viewer, campaign_id: str, package_id: str, query: str, *, results: str, graphs: str
) -> Found:
    """Ask a store that is built for this caller and holds what this caller may see (X-3)."""
    with office.reading() as session:
        package = find(session, campaign_id, package_id)
        files, names = _visible(session, office, who, campaign_id, package)
        lines = "".join(_answers(session, who, campaign_id, package))
    data = {
        "gold": True,
        "rows": office.settings.reading.rows,
        "results": results,
        "graphs": graphs,
        "tasks": names,
    }
    with _file(office, "query.rq", query.encode()) as asked, _file(office, "answers.ndjson", lines.encode()) as given:
        order = Order("sparql", who.party, {**files, "query": asked, "answers": given}, data, sealed=who.staff)
        with worked(office, order) as outcome:
            return Found((outcome.out / "result").read_bytes(), told(outcome, "kind.json")["format"])


def _visible(
    session: Session, office: Office, who: Viewer, campaign_id: str, package: ReadingPackage
) -> tuple[dict[str, Given], dict[str, str]]:
    """The files that the store is built from: for a team the open package and the tasks that it may fetch."""
    files = {"package": whole(office, package) if who.staff else without_sealed(office, package)}
    if who.staff:
        for version in golds.versions(session, office, package):
            if version.digest:
                path = office.sealed.path(version.digest)
                files[f"gold_{version.name}"] = Given(f"{version.name}.ndjson", path, office.sealed)
    names = {}
    rows = [row for row in tasks(session, office, who, campaign_id) if row.reading_package_id == package.id]
    for number, row in enumerate(rows):
        store = office.sealed if row.sealed else office.files
        files[f"task{number}"] = Given("task.nt", store.path(row.files["ntriples"]), store)
        names[f"task{number}"] = row.id
    return files, names


def _answers(session: Session, who: Viewer, campaign_id: str, package: ReadingPackage) -> Iterator[str]:
    """The answers of the caller's own runs; of all runs for the evaluation team."""
    for row in runs.runs(session, who, campaign_id):
        if row.reading_package_id == package.id:
            for received, pooled in runs.answers(session, row):
                yield json.dumps({**runs.as_record(received, pooled), "run": row.id}, ensure_ascii=False) + "\n"


def take_answers(
    office: Office, actor: Actor, who: Viewer, campaign_id: str, run_id: str, body: bytes, *, media: str, key: str
) -> ReadingUpload:
    """Read the answers of one call in the child and keep those that can be read; the same key twice is one call."""
    if not 0 < len(key) <= runs.LABEL or not key.isprintable():
        raise refused("R-23", "the key cannot be used", f"write 1 to {runs.LABEL} plain characters", status=422)
    with office.reading() as session:
        row = runs.run(session, who, campaign_id, run_id)
        digest = office.files.put(body).digest
        known = runs.uploaded(session, row, key, digest)
        if known is not None:
            return known
        runs.check_open(session, office, who, row)
        names = json.dumps(runs.known_names(session, office, row))
    arrived, problems = _read(office, who, body, media, names)
    with office.writing() as session:
        told_ = {"problems": problems["problems"], "counted": problems["total"]}
        return runs.receive(session, office, actor, row, arrived, key=key, digest=digest, media=media, **told_)


def _read(office: Office, who: Viewer, body: bytes, media: str, names: str) -> tuple[list[Arrived], Mapping[str, Any]]:
    ending = ".ndjson" if media == "ndjson" else RDF[media]
    with _file(office, f"answers{ending}", body) as given, _file(office, "known.json", names.encode()) as known:
        order = Order("answers", who.party, {"body": given, "known": known}, {"media": media})
        with worked(office, order) as outcome:
            found, problems = told(outcome, "answers.json"), told(outcome, "problems.json")
    return [Arrived(**{**one, "provenance": tuple(one["provenance"])}) for one in found], problems


def derivation(office: Office, campaign_id: str, pool_id: str) -> bytes | None:
    """The page that shows how annotations and rules lead to a pooled answer; None if they do not."""
    with office.reading() as session:
        row = session.get(PooledAnswer, pool_id)
        if row is None or row.campaign_id != campaign_id:
            raise missing("answer")
        package = session.get_one(ReadingPackage, row.reading_package_id)
    data = {"query": row.query, "document": row.document, "part": row.part, "bindings": row.bindings}
    order = Order("explain", campaign_id, {"package": whole(office, package)}, data, sealed=True)
    with worked(office, order) as outcome:
        path = outcome.path("derivation.html")
        return path.read_bytes() if path is not None else None


@contextmanager
def _file(office: Office, name: str, content: bytes) -> Iterator[Given]:
    """A file for the child, beside the sealed ones and gone afterwards."""
    folder = office.sealed.folder / "fresh"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / name
        path.write_bytes(content)
        yield Given(name, path)
