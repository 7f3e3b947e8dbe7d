"""Annotation projects: a reading package and a configuration, checked as a whole, and changed while people work (R-14).

A change is previewed on copies and then applied; old records stay. Annotators go on in a copy of their record in the
new form. What is being adjudicated, or was, keeps its version: its sides and its decisions stay what they were, and its
result is brought to the new form when it is taken out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AnnotationConfig, AnnotationDocument, AnnotationProject, AnnotationTask
from basanite.campaign.work.annotation.annotator_work import Kept, task_events, write_at
from basanite.campaign.work.annotation.lookup import (
    bench_of,
    config_row,
    documents,
    find_project,
    require_open,
    tasks_in,
)
from basanite.campaign.work.annotation.packages import (
    TakenIn,
    checked_config,
    checked_package,
    files_digest,
    package_digest,
    replaced_files,
    take_in,
    with_lists,
)
from basanite.campaign.work.lookup import log_event
from basanite.canonical import canonical_text
from basanite.reading.package.model import Package
from basanite.work.annotation.config import Config
from basanite.work.annotation.migration import Change, Difference, Record, differences, migrate

RULE: Final = "R-14"
LARGEST_CONFIG: Final = 2**20
MOST_PER_DOCUMENT: Final = 20
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


@dataclass(frozen=True)
class NewProject:
    """A project to be made of a package folder and a configuration.

    `lists` are files that the configuration names and that are no part of the package; without a seed, who gets what
    follows from the package.
    """

    package: Path
    config: str
    name: str = ""
    per_document: int = 2
    seed: int | None = None
    lists: Mapping[str, bytes] = field(default_factory=dict)


def create_project(
    session: Session, office: Office, actor: Actor, campaign_id: str, new: NewProject
) -> AnnotationProject:
    """Make a project; refused with all problems if its package or its configuration has any."""
    require_organiser(session, actor, campaign_id)
    package = checked_package(new.package)
    config = checked_config(check_config_size(new.config), package, new.lists)
    new = replace(new, name=new.name or config.name)
    _check(session, campaign_id, new.name, new.per_document)
    taken = take_in(office, package)
    project = _row(office, actor, campaign_id, taken, new)
    session.add(project)
    session.flush()
    session.add_all(_documents(project, taken))
    session.add(config_version(office, actor, project, config, new.config))
    session.flush()
    log(session, office, actor, project, "created", digest=project.digest, documents=len(taken.documents))
    return project


def close_project(session: Session, office: Office, actor: Actor, project_id: str, *, reason: str) -> AnnotationProject:
    """Nobody changes anything any more; what there is stays readable."""
    return _set_state(session, office, actor, project_id, "closed", reason)


def open_project(session: Session, office: Office, actor: Actor, project_id: str, *, reason: str) -> AnnotationProject:
    """Work goes on."""
    return _set_state(session, office, actor, project_id, "open", reason)


def check_config_size(text: str) -> str:
    """A configuration of bounded size."""
    if len(text.encode()) > LARGEST_CONFIG:
        raise refused("X-8", f"the configuration is larger than {LARGEST_CONFIG} bytes", "split it up", status=422)
    return text


def config_version(
    office: Office, actor: Actor, project: AnnotationProject, config: Config, text: str
) -> AnnotationConfig:
    """One version of a configuration, as it is kept."""
    return AnnotationConfig(
        campaign_id=project.campaign_id,
        project_id=project.id,
        generation=project.generation,
        version=config.version,
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        diff=[],
        reason="",
        made=office.clock(),
        by=actor.id,
    )


def log(
    session: Session, office: Office, actor: Actor, project: AnnotationProject, what: str, **data: str | int
) -> None:
    """Write down what happened to a project."""
    log_event(session, office, actor, project, f"annotation.{what}", project=project.name, **data)


def _check(session: Session, campaign_id: str, name: str, per_document: int) -> None:
    if not NAME.fullmatch(name):
        fix = "use lowercase letters, digits and hyphens, at most 60"
        raise refused(RULE, "this is not a valid project name", fix, status=422, found=name)
    taken = select(AnnotationProject.id).where(AnnotationProject.campaign_id == campaign_id)
    if session.scalars(taken.where(AnnotationProject.name == name)).first() is not None:
        raise refused(RULE, f"there is already a project {name}", "give it another name")
    if not 1 <= per_document <= MOST_PER_DOCUMENT:
        fix = f"give 1 to {MOST_PER_DOCUMENT}; 2 lets you measure agreement"
        raise refused(RULE, f"{per_document} annotators for each text", fix, status=422)


def _row(office: Office, actor: Actor, campaign_id: str, taken: TakenIn, new: NewProject) -> AnnotationProject:
    files = with_lists(office, taken.files, new.lists)
    digest = files_digest(files, taken.texts)
    return AnnotationProject(
        campaign_id=campaign_id,
        name=new.name,
        title=taken.package.manifest.title,
        files=files,
        digest=digest,
        seed=int(digest[:8], 16) if new.seed is None else new.seed,
        per_document=new.per_document,
        generation=1,
        state="open",
        made=office.clock(),
        by=actor.id,
    )


def _documents(project: AnnotationProject, taken: TakenIn) -> list[AnnotationDocument]:
    return [
        AnnotationDocument(
            campaign_id=project.campaign_id,
            project_id=project.id,
            name=one.name,
            part=one.part,
            store=taken.stores[one.part],
            digest=one.sha256,
            length=len(one.text),
        )
        for one in taken.documents
    ]


def _set_state(
    session: Session, office: Office, actor: Actor, project_id: str, state: str, reason: str
) -> AnnotationProject:
    project = find_project(session, project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    if not reason.strip():
        raise no_reason(RULE, "without a reason")
    project.state = state
    log(session, office, actor, project, state, reason=reason.strip()[:500])
    return project


KEPT_LINES: Final = 1_000
"""Lines of a diff that are kept with the new version; their number is kept whatever it is."""


@dataclass(frozen=True)
class ConfigChange:
    """A configuration that is to take the place of the one in use, and the lists beside it.

    Applied, it takes a reason and the digest of the preview that somebody looked at. A package brings another ontology,
    rules, queries and guidelines; texts stay what they are (R-40).
    """

    text: str
    lists: Mapping[str, bytes] = field(default_factory=dict)
    package: Path | None = None
    seen: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Preview:
    """What a new configuration would do to what there is."""

    config: Config
    text: str
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    records: int
    package: str = ""
    """The digest of the package that it brings."""

    @property
    def digest(self) -> str:
        """What to send back to apply exactly this."""
        lines = [one.as_dict() for one in self.changes]
        return hashlib.sha256(f"{self.package}{self.text}\n{canonical_text(lines)}".encode()).hexdigest()

    @property
    def lost(self) -> tuple[Change, ...]:
        """What the new version has no place for."""
        return tuple(one for one in self.changes if one.kind == "unmapped")

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "version": self.config.version,
            "digest": self.digest,
            "records": self.records,
            "counts": dict(sorted(Counter(one.kind for one in self.changes).items())),
            "differences": [one.as_dict() for one in self.differences],
            "changes": [one.as_dict() for one in self.changes[:KEPT_LINES]],
        }


def preview(session: Session, office: Office, actor: Actor, project_id: str, new: ConfigChange) -> Preview:
    """What a configuration would change; nothing is. Refused with all its problems if it has any."""
    project = find_project(session, project_id)
    require_organiser(session, actor, project.campaign_id)
    return _preview_with_copies(session, office, project, new)[0]


def change_config(
    session: Session, office: Office, actor: Actor, project_id: str, new: ConfigChange
) -> AnnotationConfig:
    """Apply a configuration whose effect was looked at."""
    project = find_project(session, project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    if not new.reason.strip():
        raise no_reason(RULE, "changing a configuration needs a reason")
    for task in tasks_in(session, project.id):
        session.refresh(task, with_for_update=True)
    shown, copies = _preview_with_copies(session, office, project, new)
    if shown.digest != new.seen:
        raise refused(
            RULE, "this differs from the preview", "preview it again: either work continued, or the file differs"
        )
    if new.package is not None:
        project.files = replaced_files(office, checked_package(new.package))
    if new.lists:
        project.files = with_lists(office, project.files, new.lists)
    if new.lists or new.package is not None:
        texts = [(f"corpus/{row.part}/{row.name}.txt", row.digest) for row in documents(session, project.id)]
        project.digest = files_digest(project.files, texts)
    project.generation += 1
    row = config_version(office, actor, project, shown.config, shown.text)
    row.diff = [json.dumps(one.as_dict(), sort_keys=True) for one in shown.changes[:KEPT_LINES]]
    row.reason = new.reason.strip()[:500]
    session.add(row)
    _write_copies(session, office, project, copies)
    data = {"version": shown.config.version, "records": shown.records, "changes": len(shown.changes)}
    log(session, office, actor, project, "changed", reason=row.reason, **data)
    return row


Copies = Sequence[tuple[AnnotationTask, list[Kept], Record]]


def _preview_with_copies(
    session: Session, office: Office, project: AnnotationProject, new: ConfigChange
) -> tuple[Preview, Copies]:
    bench = bench_of(session, office, project)
    package = bench.package if new.package is None else _other_package(session, project, new.package)
    old, config = bench.config, checked_config(check_config_size(new.text), package, new.lists)
    if config.version <= old.version:
        fix = f"give it version {old.version + 1}, and describe under `migrate` what became of the old one"
        raise refused(RULE, f"version {config.version} is not newer than {old.version}", fix, status=422)
    found = _records(session, project, old.version)
    copies, changes = migrate(config, [record for _, _, record in found])
    moved = [(task, kept, copy) for (task, kept, _), copy in zip(found, copies, strict=True)]
    brought = "" if new.package is None else package_digest(package)
    return Preview(config, new.text, differences(old, config), changes, len(copies), brought), moved


def _other_package(session: Session, project: AnnotationProject, folder: Path) -> Package:
    """A package that may take the place of the project's: each text that it has must be one of the project's."""
    package = checked_package(folder)
    own = {(row.part, row.name): row.digest for row in documents(session, project.id)}
    for part in package.manifest.parts:
        for name, document in package.documents(part.name).items() if package.has(part) else ():
            if own.get((part.name, name), document.sha256) != document.sha256:
                fix = "take the corpus from the project's own package, or leave it out"
                raise refused(RULE, f"the text {part.name}/{name} differs from the project's", fix, status=422)
    return package


def _records(session: Session, project: AnnotationProject, version: int) -> Copies:
    names = {row.id: row.name for row in documents(session, project.id)}
    found: list[tuple[AnnotationTask, list[Kept], Record]] = []
    for task in tasks_in(session, project.id):
        if task.role == "annotator":
            kept = task_events(session, task)
            events = tuple(one.event for one in kept)
            found.append((task, kept, Record(names[task.document_id], task.id, version, events)))
    return found


def _write_copies(session: Session, office: Office, project: AnnotationProject, copies: Copies) -> None:
    for task, kept, copy in copies:
        task.generation = project.generation
        write_at(session, task, copy.events, {one.event.id: one.at for one in kept}, office.clock())
    session.flush()


def migrated_record(
    session: Session, office: Office, project: AnnotationProject, task: AnnotationTask, name: str
) -> Record:
    """The record of a task in the configuration that holds, whatever version it was made with."""
    made_with = config_row(session, project.id, task.generation)
    events = tuple(one.event for one in task_events(session, task))
    record = Record(name, task.id, made_with.version, events)
    if task.generation == project.generation:
        return record
    copies, _ = migrate(bench_of(session, office, project).config, [record])
    return copies[0]
