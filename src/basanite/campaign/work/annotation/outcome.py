"""What comes out of a project: adjudicated annotations, the gold that grows from them, a new version of the truth.

Only texts whose adjudication is finished count; the others are named. The gold only ever grows: every line of the
newest version stays, and what annotated statements and the rules lead to is added with who, when and why (R-17).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sqlalchemy.orm import Session

from basanite.campaign.actions import plans, references
from basanite.campaign.actions.references import NewVersion, Place
from basanite.campaign.model.refusals import RefusedError, no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AnnotationProject, Reference
from basanite.campaign.work.annotation import packages
from basanite.campaign.work.annotation.lookup import bench_of, documents, find_project, require_look, tasks_of
from basanite.campaign.work.annotation.monitor import effort
from basanite.campaign.work.annotation.packages import Bench, text_of
from basanite.campaign.work.annotation.setup import log, migrated_record
from basanite.campaign.work.decisions import add_version
from basanite.canonical import canonical_text
from basanite.problems import Findings
from basanite.reading.effort import FILE as EFFORT
from basanite.reading.effort import add_effort, read_effort
from basanite.reading.gold.derivation import Book
from basanite.reading.gold.scope import versions
from basanite.reading.package.annotations import annotation_path
from basanite.reading.package.checks import check_package
from basanite.reading.package.documents import Document
from basanite.reading.provenance import Assertion
from basanite.work.annotation.events import State
from basanite.work.annotation.mapping import assertions
from basanite.work.annotation.migration import Record
from basanite.work.annotation.replay import replay
from basanite.work.exchange.formats import annotation_lines

RULE: Final = "R-17"


@dataclass(frozen=True)
class Result:
    """The adjudicated annotation of one text."""

    document: Document
    state: State
    assertions: tuple[Assertion, ...]
    record: Record
    by: str
    """The adjudicator."""
    when: str
    """The day on which the adjudication was finished."""


@dataclass(frozen=True)
class Results:
    """All adjudicated texts of a project, and those that are not there yet."""

    project: AnnotationProject
    bench: Bench
    texts: tuple[Result, ...]
    open_texts: tuple[str, ...]


@dataclass(frozen=True)
class Grown:
    """A package with the next version of its gold."""

    version: str
    before: str
    added: int
    """Answers that are new."""
    kept: int
    """Answers of the version before, all of which stay."""
    unsupported: int
    """Of these, answers about adjudicated texts that the annotations do not lead to (any more)."""
    texts: int
    open_texts: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        names = ("version", "before", "added", "kept", "unsupported", "texts")
        return {**{name: getattr(self, name) for name in names}, "open_texts": list(self.open_texts)}


def results(session: Session, office: Office, actor: Actor, project_id: str, *, part: str | None = None) -> Results:
    """The adjudicated annotations of a project, in the configuration that holds."""
    project = find_project(session, project_id)
    require_look(session, actor, project.campaign_id)
    bench = bench_of(session, office, project)
    found: list[Result] = []
    waiting: list[str] = []
    for row in documents(session, project.id, part):
        task = next((one for one in tasks_of(session, row.id, "adjudicator") if one.state == "done"), None)
        if task is None or task.finished is None:
            waiting.append(row.name)
            continue
        document = text_of(office, row)
        record = replace(migrated_record(session, office, project, task, row.name), annotator="")
        state = replay(bench.config, record.events)
        said = assertions(bench.config, state, document)
        found.append(Result(document, state, said, record, task.person_id, task.finished.date().isoformat()))
    return Results(project, bench, tuple(found), tuple(waiting))


def grow(session: Session, office: Office, actor: Actor, project_id: str, folder: Path, *, reason: str) -> Grown:
    """Write the package with adjudicated annotations, the next version of the gold and the effort, and check it."""
    project = find_project(session, project_id)
    require_organiser(session, actor, project.campaign_id)
    if not reason.strip():
        raise no_reason(RULE, "a new gold version needs a reason")
    found = results(session, office, actor, project.id)
    if not found.texts:
        raise refused(RULE, "no text is adjudicated yet", "complete some adjudications first", status=409)
    _lay_out(session, office, project, folder)
    _write_annotations(found, folder)
    grown = _write_gold(found, folder, reason.strip())
    _write_effort(session, office, project, folder)
    _check(folder)
    log(session, office, actor, project, "grown", version=grown.version, added=grown.added, reason=reason.strip()[:500])
    return grown


def prepare_reference(office: Office, actor: Actor, project_id: str, place: Place, *, reason: str) -> NewVersion:
    """The grown package as a sealed reference, checked like any other in a limited child; makes its own transaction.

    What the version that holds has beside its package, such as the answers of people, goes on with it.
    """
    with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as scratch:
        folder = Path(scratch) / "package"
        with office.writing() as session:
            grow(session, office, actor, project_id, folder, reason=reason)
            project = find_project(session, project_id)
            plan = plans.current(session, project.campaign_id)
            held = references.active_material(session, project.campaign_id, place)
        material = references.take_in(office, references.Paths((folder,))).after(held)
        references.check_files(office, plan.campaign, place, material)
    return NewVersion(place, material, reason)


def make_reference(session: Session, office: Office, actor: Actor, project_id: str, new: NewVersion) -> Reference:
    """Add the grown package as a version of the reference of a place."""
    project = find_project(session, project_id)
    require_organiser(session, actor, project.campaign_id)
    row, _ = add_version(session, office, actor, project.campaign_id, new)
    log(session, office, actor, project, "ended", reference=row.id, version=row.version, reason=new.reason[:500])
    return row


def _lay_out(session: Session, office: Office, project: AnnotationProject, folder: Path) -> None:
    packages.write_files(office, project.files, folder, secret=True)
    for row in documents(session, project.id):
        path = folder / "corpus" / row.part / f"{row.name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text_of(office, row).text.encode())


def _write_annotations(found: Results, folder: Path) -> None:
    """Lines of adjudicated texts take the place of what the package said of them; those of other texts stay."""
    prefixes = found.bench.package.manifest.prefixes
    parts = sorted({one.document.part for one in found.texts})
    for part in parts:
        mine = [one for one in found.texts if one.document.part == part]
        names = {one.document.name for one in mine}
        path = annotation_path(folder, part)
        path.parent.mkdir(exist_ok=True)
        kept = [line for line in _lines(path) if json.loads(line).get("document") not in names]
        new = [line for one in mine for line in annotation_lines(one.assertions, prefixes)]
        path.write_bytes(b"".join(kept) + b"".join(new))


def _lines(path: Path) -> list[bytes]:
    if not path.is_file():
        return []
    return [line.rstrip(b"\r\n") + b"\n" for line in path.read_bytes().splitlines() if line.strip()]


def _write_gold(found: Results, folder: Path, reason: str) -> Grown:
    known = versions(folder)
    before = next(reversed(known), "")
    old = _lines(known[before]) if before else []
    seen = {_mark(json.loads(line)) for line in old}
    derived = [line for one in found.texts for line in _gold_lines(found, one, reason)]
    new = [line for line in derived if _mark(line) not in seen]
    number = int(before[1:] or 0) + 1 if before else 1
    path = folder / "gold" / f"v{number}.ndjson"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(old) + b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in new))
    names, marks = {one.document.name for one in found.texts}, {_mark(line) for line in derived}
    unsupported = sum(_mark(one) not in marks for one in map(json.loads, old) if one.get("document") in names)
    return Grown(f"v{number}", before, len(new), len(old), unsupported, len(found.texts), found.open_texts)


def _gold_lines(found: Results, one: Result, reason: str) -> Iterator[dict[str, Any]]:
    book = Book(found.bench.reasoner, one.assertions)
    why = {"by": one.by, "when": one.when, "why": reason}
    for query in found.bench.package.queries_for(one.document.part):
        yield from book.lines(query, one.document.name, why)


def _mark(line: Mapping[str, Any]) -> str:
    """What an answer is, no matter who found it: names of things in any order."""
    answer = {name: sorted(value) if isinstance(value, list) else str(value) for name, value in line["answer"].items()}
    return canonical_text([line["query"], line["document"], answer])


def _write_effort(session: Session, office: Office, project: AnnotationProject, folder: Path) -> None:
    """The log of the package with what this project cost so far; days that are logged already are not logged again."""
    path = folder / EFFORT
    logged = {(one.use_case, one.activity, one.date) for one in read_effort(path, Findings())} if path.is_file() else ()
    for one in effort(session, office, project.id):
        if (one.use_case, one.activity, one.date) not in logged:
            add_effort(path, one)


def _check(folder: Path) -> None:
    findings = Findings()
    check_package(folder, findings)
    if not findings.valid:
        raise RefusedError(findings.problems, status=422)
