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

from basanite.annotation.events import State, replay
from basanite.annotation.exchange.statements import annotation_lines
from basanite.annotation.mapping import assertions
from basanite.annotation.migrating import Record
from basanite.campaign.annotating import packages
from basanite.campaign.annotating.changing import brought_up
from basanite.campaign.annotating.finding import bench_of, documents, find_project, require_look, tasks_of
from basanite.campaign.annotating.looking import effort
from basanite.campaign.annotating.packages import Bench, text_of
from basanite.campaign.annotating.setting_up import log
from basanite.campaign.model.refusals import RefusedError, no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import plans, reference_files, references
from basanite.campaign.organising.references import Material, Place
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AnnotationProject, Reference
from basanite.problems import Findings
from basanite.reading.effort import FILE as EFFORT
from basanite.reading.effort import add_effort, read_effort
from basanite.reading.gold.deriving import Book
from basanite.reading.gold.versions import versions
from basanite.reading.package.annotations import annotation_path
from basanite.reading.package.checks import check_package
from basanite.reading.package.documents import Document
from basanite.reading.provenance import Assertion

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
        record = replace(brought_up(session, office, project, task, row.name), annotator="")
        state = replay(bench.config, record.events)
        said = assertions(bench.config, state, document)
        found.append(Result(document, state, said, record, task.person_id, task.finished.date().isoformat()))
    return Results(project, bench, tuple(found), tuple(waiting))


def grow(session: Session, office: Office, actor: Actor, project_id: str, folder: Path, *, reason: str) -> Grown:
    """Write the package with adjudicated annotations, the next version of the gold and the effort, and check it."""
    project = find_project(session, project_id)
    require_organiser(session, actor, project.campaign_id)
    if not reason.strip():
        raise no_reason(RULE, "the gold grows without a reason")
    found = results(session, office, actor, project.id)
    if not found.texts:
        raise refused(RULE, "no text is adjudicated yet", "finish the adjudication of some", status=409)
    _lay_out(session, office, project, folder)
    _write_annotations(found, folder)
    grown = _write_gold(found, folder, reason.strip())
    _write_effort(session, office, project, folder)
    _check(folder)
    log(session, office, actor, project, "grown", version=grown.version, added=grown.added, reason=reason.strip()[:500])
    return grown


def prepare_reference(office: Office, actor: Actor, project_id: str, place: Place, *, reason: str) -> Material:
    """The grown package as a sealed reference, checked like any other in a limited child; makes its own transaction.

    What the version that holds has beside its package, such as the answers of people, goes on with it.
    """
    with tempfile.TemporaryDirectory(dir=packages_scratch(office)) as scratch:
        folder = Path(scratch) / "package"
        with office.writing() as session:
            grow(session, office, actor, project_id, folder, reason=reason)
            project = find_project(session, project_id)
            plan = plans.current(session, project.campaign_id)
            held = references.holding(session, project.campaign_id, place)
        material = reference_files.take_in(office, reference_files.Paths((folder,))).after(held)
        reference_files.check(office, plan.campaign, place, material)
    return material


def make_reference(
    session: Session,
    office: Office,
    actor: Actor,
    project_id: str,
    place: Place,
    material: Material,
    *,
    reason: str,
    hold: bool = False,
) -> Reference:
    """Add the grown package as a version of the truth: the first opens the task, a later one waits for its preview."""
    project = find_project(session, project_id)
    require_organiser(session, actor, project.campaign_id)
    row = references.add(session, office, actor, project.campaign_id, place, material, reason=reason, hold=hold)
    log(session, office, actor, project, "ended", reference=row.id, version=row.version, reason=reason[:500])
    return row


def packages_scratch(office: Office) -> Path:
    """A folder beside the sealed files: nothing of a key is ever written to a shared place."""
    folder = office.sealed.folder / "fresh"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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
    derived = [line for one in found.texts for line in _derived(found, one, reason)]
    new = [line for line in derived if _mark(line) not in seen]
    number = int(before[1:] or 0) + 1 if before else 1
    path = folder / "gold" / f"v{number}.ndjson"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(old) + b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in new))
    names, marks = {one.document.name for one in found.texts}, {_mark(line) for line in derived}
    unsupported = sum(_mark(one) not in marks for one in map(json.loads, old) if one.get("document") in names)
    return Grown(f"v{number}", before, len(new), len(old), unsupported, len(found.texts), found.open_texts)


def _derived(found: Results, one: Result, reason: str) -> Iterator[dict[str, Any]]:
    book = Book(found.bench.reasoner, one.assertions)
    why = {"by": one.by, "when": one.when, "why": reason}
    for query in found.bench.package.queries_for(one.document.part):
        yield from book.lines(query, one.document.name, why)


def _mark(line: Mapping[str, Any]) -> str:
    """What an answer is, whoever found it: names of things in any order."""
    answer = {name: sorted(value) if isinstance(value, list) else str(value) for name, value in line["answer"].items()}
    return json.dumps([line["query"], line["document"], answer], sort_keys=True)


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
