"""Calls that are answered by the limited child alone: the reasoner, SPARQL, and taking in answers (R-23, X-3, X-13).

Each function is for the edge: it reads in one transaction, works without any, and writes in another.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy.orm import Session

from basanite.campaign.jobs.scoring_process import Given
from basanite.campaign.model.policy import JUDGING, Viewer
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import PooledAnswer, ReadingPackage, ReadingSearch, ReadingUpload
from basanite.campaign.work.lookup import find_row
from basanite.campaign.work.reading import golds, runs
from basanite.campaign.work.reading.fulltext import Hit, Text, index
from basanite.campaign.work.reading.packages import corpus, find, whole, without_sealed
from basanite.campaign.work.reading.process import Order, read_output, run_reading_child
from basanite.campaign.work.reading.runs import Arrived
from basanite.campaign.work.reading.tasks import tasks
from basanite.reading.rdf import ENDINGS

RDF: Final = {name: next(end for end, one in ENDINGS.items() if one == name) for name in set(ENDINGS.values())}
"""The ending of a file for each form of RDF."""


@dataclass(frozen=True)
class ReasonerCall:
    """A call of the reasoner: which service, and the statements that were sent in this form."""

    service: str
    body: bytes
    media: str
    query: str = ""
    statement: str = ""


@dataclass(frozen=True)
class SparqlQuery:
    """A query, and the forms in which the caller takes results and graphs."""

    text: str
    results: str
    graphs: str


@dataclass(frozen=True)
class AnswerFile:
    """Answers as they were sent, under a key: the same key twice is one call."""

    body: bytes
    media: str
    key: str


@dataclass(frozen=True)
class Search:
    """What somebody looks for in a package, or in another corpus of this name."""

    package: str
    text: str
    limit: int = 20


def reason(office: Office, who: Viewer, campaign_id: str, package_id: str, call: ReasonerCall) -> Any:
    """One service of the reasoner on statements that a caller sends; rules and ontology are those of the package."""
    with office.reading() as session:
        package = find(session, campaign_id, package_id)
    ending = f".{call.media}" if call.media in ("json", "ndjson") else RDF[call.media]
    with _file(office, f"body{ending}", call.body) as given:
        files = {"package": without_sealed(office, package), "body": given}
        data = {name: getattr(call, name) for name in ("service", "media", "query", "statement")}
        data |= {"limits": _limits(office)}
        with run_reading_child(office, Order("reason", who.party, files, data)) as outcome:
            return read_output(outcome, "answer.json")


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


def sparql(office: Office, who: Viewer, campaign_id: str, package_id: str, query: SparqlQuery) -> Found:
    """Ask a store that holds what this caller may see: the package as it was written once, and what is theirs (X-3)."""
    with office.reading() as session:
        package = find(session, campaign_id, package_id)
        parts = _package_files(session, office, who, package)
        files, names = _task_files(session, office, who, campaign_id, package)
        lines = "".join(_answers(session, who, campaign_id, package))
    files["graph"] = _graph(office, who, parts)
    data = {
        "rows": office.settings.reading.rows,
        "results": query.results,
        "graphs": query.graphs,
        "tasks": names,
    }
    with (
        _file(office, "query.rq", query.text.encode()) as asked,
        _file(office, "answers.ndjson", lines.encode()) as given,
    ):
        order = Order("sparql", who.party, {**files, "query": asked, "answers": given}, data, sealed=who.staff)
        with run_reading_child(office, order) as outcome:
            return Found((outcome.out / "result").read_bytes(), read_output(outcome, "kind.json")["format"])


_graphs: Final[dict[tuple[str, ...], str]] = {}
"""The graph of each version of a package and its gold that was asked about, by what it was made from."""
MOST_GRAPHS: Final = 256


def _package_files(session: Session, office: Office, who: Viewer, package: ReadingPackage) -> dict[str, Given]:
    """What the graph of a package is made from: for a team, what is open."""
    if not who.staff:
        return {"package": without_sealed(office, package)}
    files = {"package": whole(office, package)}
    for version in golds.versions(session, office, package):
        if version.digest:
            path = office.sealed.path(version.digest)
            files[f"gold_{version.name}"] = Given(f"{version.name}.ndjson", path, office.sealed)
    return files


def _graph(office: Office, who: Viewer, parts: Mapping[str, Given]) -> Given:
    """The graph of a package and its gold, written in the child for the first who asks, and kept (R-36)."""
    store = office.sealed
    key = (str(store.scratch), *(f"{role}={one.path}" for role, one in sorted(parts.items())))
    digest = _graphs.get(key, "")
    if not digest or not store.has(digest):
        with run_reading_child(office, Order("graph", who.party, parts, sealed=who.staff, patient=True)) as outcome:
            digest = store.take(outcome.out / "graph.nq").digest
        while len(_graphs) >= MOST_GRAPHS:
            _graphs.pop(next(iter(_graphs)))
        _graphs[key] = digest
    return Given("graph.nq", store.path(digest), store)


def _task_files(
    session: Session, office: Office, who: Viewer, campaign_id: str, package: ReadingPackage
) -> tuple[dict[str, Given], dict[str, str]]:
    """The tasks that a caller may fetch, with their names."""
    files, names = {}, {}
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
    office: Office, actor: Actor, who: Viewer, campaign_id: str, run_id: str, sent: AnswerFile
) -> ReadingUpload:
    """Read the answers of one call in the child and keep those that can be read; the same key twice is one call."""
    if not 0 < len(sent.key) <= runs.LABEL or not sent.key.isprintable():
        raise refused("R-23", "the key is invalid", f"write 1 to {runs.LABEL} plain characters", status=422)
    with office.reading() as session:
        row = runs.run(session, who, campaign_id, run_id)
        digest = office.files.put(sent.body).digest
        known = runs.earlier_upload(session, row, sent.key, digest)
        if known is not None:
            return known
        runs.check_open(session, office, who, row)
        names = json.dumps(runs.known_names(session, office, row))
    arrived, problems = _read(office, who, sent, names)
    upload = runs.Upload(arrived, sent.key, digest, sent.media, problems["problems"], problems["total"])
    with office.writing() as session:
        return runs.receive(session, office, actor, row, upload)


def _read(office: Office, who: Viewer, sent: AnswerFile, names: str) -> tuple[list[Arrived], Mapping[str, Any]]:
    ending = ".ndjson" if sent.media == "ndjson" else RDF[sent.media]
    with _file(office, f"answers{ending}", sent.body) as given, _file(office, "known.json", names.encode()) as known:
        order = Order("answers", who.party, {"body": given, "known": known}, {"media": sent.media})
        with run_reading_child(office, order) as outcome:
            found, problems = read_output(outcome, "answers.json"), read_output(outcome, "problems.json")
    return [Arrived(**{**one, "provenance": tuple(one["provenance"])}) for one in found], problems


def derivation(office: Office, campaign_id: str, pool_id: str) -> bytes | None:
    """The page that shows how annotations and rules lead to a pooled answer; None if they do not."""
    with office.reading() as session:
        row = find_row(session, PooledAnswer, pool_id, "answer", campaign_id=campaign_id)
        package = session.get_one(ReadingPackage, row.reading_package_id)
    data = {"query": row.query, "document": row.document, "part": row.part, "bindings": row.bindings}
    order = Order("explain", campaign_id, {"package": whole(office, package)}, data, sealed=True)
    with run_reading_child(office, order) as outcome:
        path = outcome.path("derivation.html")
        return path.read_bytes() if path is not None else None


@contextmanager
def _file(office: Office, name: str, content: bytes) -> Iterator[Given]:
    """A file for the child, beside the sealed ones and gone afterwards."""
    with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as place:
        path = Path(place) / name
        path.write_bytes(content)
        yield Given(name, path)


LONGEST = 500


def search(session: Session, office: Office, actor: Actor, campaign_id: str, wanted: Search) -> tuple[Hit, ...]:
    """The documents of a package that hold every word, the best first; a team finds open parts alone."""
    package = find(session, campaign_id, wanted.package)
    who = viewer(session, campaign_id, actor.id)
    if who.team is None and not reads_sealed(who):
        raise missing("package")
    texts = corpus(office, package)
    hits = texts.index.search(wanted.text, parts=texts.parts(sealed=reads_sealed(who)), limit=wanted.limit)
    log_search(session, office, actor, campaign_id, wanted, len(hits))
    return hits


def reads_sealed(who: Viewer) -> bool:
    """Whether somebody reads texts of sealed parts: the evaluation team, and who answers, annotates or judges."""
    return who.staff or (bool(who.roles & JUDGING) and who.team is None)


def find_in(texts: Iterable[Text], text: str, *, limit: int = 20) -> tuple[Hit, ...]:
    """Search texts that are at hand, such as those of an annotation project; log it with `log_search`."""
    return index(tuple(texts)).search(text, limit=limit)


def log_search(session: Session, office: Office, actor: Actor, campaign_id: str, wanted: Search, hits: int) -> None:
    """Write down who looked for what."""
    row = ReadingSearch(campaign_id=campaign_id, package=wanted.package, person_id=actor.id, hits=hits)
    row.text, row.at = wanted.text.replace("\0", "")[:LONGEST], office.clock()
    session.add(row)
    session.flush()
