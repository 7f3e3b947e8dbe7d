"""Changing a configuration while people work: shown first, on copies, and then applied; old records stay (R-14).

Annotators go on in a copy of their record in the new form. What is being adjudicated, or was, keeps its version: its
sides and its decisions stay what they were, and its result is brought to the new form when it is taken out.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.orm import Session

from basanite.annotation.comparing import Difference, differences
from basanite.annotation.config import Config
from basanite.annotation.migrating import Change, Record, migrate
from basanite.campaign.annotating.finding import (
    bench_of,
    config_row,
    documents,
    find_project,
    require_open,
    tasks_in,
)
from basanite.campaign.annotating.packages import checked_config, files_digest, with_lists, working_folder
from basanite.campaign.annotating.recorded import Kept, recorded, write_at
from basanite.campaign.annotating.setting_up import bounded, config_version, log
from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AnnotationConfig, AnnotationProject, AnnotationTask

RULE: Final = "R-14"
KEPT_LINES: Final = 1_000
"""Lines of a diff that are kept with the new version; their number is kept whatever it is."""


@dataclass(frozen=True)
class Preview:
    """What a new configuration would do to what there is."""

    config: Config
    text: str
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    records: int

    @property
    def digest(self) -> str:
        """What to send back to apply exactly this."""
        lines = [one.as_dict() for one in self.changes]
        return hashlib.sha256(f"{self.text}\n{json.dumps(lines, sort_keys=True)}".encode()).hexdigest()

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


def preview(
    session: Session,
    office: Office,
    actor: Actor,
    project_id: str,
    text: str,
    *,
    lists: Mapping[str, bytes] | None = None,
) -> Preview:
    """What a configuration would change; nothing is. Refused with all its problems if it has any."""
    project = find_project(session, project_id)
    require_organiser(session, actor, project.campaign_id)
    return _previewed(session, office, project, text, lists or {})[0]


def change_config(
    session: Session,
    office: Office,
    actor: Actor,
    project_id: str,
    text: str,
    *,
    seen: str,
    reason: str,
    lists: Mapping[str, bytes] | None = None,
) -> AnnotationConfig:
    """Apply a configuration whose effect was looked at (`seen` is the digest of the preview)."""
    project = find_project(session, project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    if not reason.strip():
        raise no_reason(RULE, "a configuration is changed without a reason")
    for task in tasks_in(session, project.id):
        session.refresh(task, with_for_update=True)
    shown, copies = _previewed(session, office, project, text, lists or {})
    if shown.digest != seen:
        raise refused(RULE, "this is not what was shown", "look at the preview again: work went on, or it differs")
    return _apply(session, office, actor, project, shown, copies, reason, lists or {})


Copies = Sequence[tuple[AnnotationTask, list[Kept], Record]]


def _previewed(
    session: Session, office: Office, project: AnnotationProject, text: str, lists: Mapping[str, bytes]
) -> tuple[Preview, Copies]:
    config = checked_config(bounded(text), working_folder(office, project), lists)
    old = bench_of(session, office, project).config
    if config.version <= old.version:
        fix = f"give it version {old.version + 1}, and say under `migrate` what became of the old one"
        raise refused(RULE, f"version {config.version} is not newer than {old.version}", fix, status=422)
    found = _records(session, project, old.version)
    copies, changes = migrate(config, [record for _, _, record in found])
    moved = [(task, kept, copy) for (task, kept, _), copy in zip(found, copies, strict=True)]
    return Preview(config, text, differences(old, config), changes, len(copies)), moved


def _records(session: Session, project: AnnotationProject, version: int) -> Copies:
    names = {row.id: row.name for row in documents(session, project.id)}
    found: list[tuple[AnnotationTask, list[Kept], Record]] = []
    for task in tasks_in(session, project.id):
        if task.role == "annotator":
            kept = recorded(session, task)
            events = tuple(one.event for one in kept)
            found.append((task, kept, Record(names[task.document_id], task.id, version, events)))
    return found


def _apply(
    session: Session,
    office: Office,
    actor: Actor,
    project: AnnotationProject,
    shown: Preview,
    copies: Copies,
    reason: str,
    lists: Mapping[str, bytes],
) -> AnnotationConfig:
    if lists:
        project.files = with_lists(office, project.files, lists)
        texts = [(f"corpus/{row.part}/{row.name}.txt", row.digest) for row in documents(session, project.id)]
        project.digest = files_digest(project.files, texts)
    project.generation += 1
    lines = tuple(json.dumps(one.as_dict(), sort_keys=True) for one in shown.changes[:KEPT_LINES])
    row = config_version(
        office, actor, project, shown.config, shown.text, project.generation, diff=lines, reason=reason.strip()[:500]
    )
    session.add(row)
    for task, kept, copy in copies:
        task.generation = project.generation
        write_at(session, task, copy.events, {one.event.id: one.at for one in kept}, office.clock())
    session.flush()
    data = {"version": shown.config.version, "records": shown.records, "changes": len(shown.changes)}
    log(session, office, actor, project, "changed", reason=reason.strip()[:500], **data)
    return row


def brought_up(session: Session, office: Office, project: AnnotationProject, task: AnnotationTask, name: str) -> Record:
    """The record of a task in the configuration that holds, whatever version it was made with."""
    made_with = config_row(session, project.id, task.generation)
    events = tuple(one.event for one in recorded(session, task))
    record = Record(name, task.id, made_with.version, events)
    if task.generation == project.generation:
        return record
    copies, _ = migrate(bench_of(session, office, project).config, [record])
    return copies[0]
