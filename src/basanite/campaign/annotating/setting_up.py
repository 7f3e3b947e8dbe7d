"""Projects: a reading package and a configuration, both checked as a whole before anybody sees them (R-14)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.annotation.config import Config
from basanite.campaign.annotating.finding import find_project
from basanite.campaign.annotating.packages import (
    TakenIn,
    checked_config,
    checked_package,
    files_digest,
    take_in,
    with_lists,
)
from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import AnnotationConfig, AnnotationDocument, AnnotationProject

RULE: Final = "R-14"
LARGEST_CONFIG: Final = 2**20
MOST_PER_DOCUMENT: Final = 20
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def create_project(
    session: Session,
    office: Office,
    actor: Actor,
    campaign_id: str,
    package: Path,
    config_text: str,
    *,
    name: str = "",
    per_document: int = 2,
    seed: int | None = None,
    lists: Mapping[str, bytes] | None = None,
) -> AnnotationProject:
    """Make a project of a package folder and a configuration; refused with all problems if either has any.

    `lists` are files that the configuration names and that are no part of the package.
    """
    require_organiser(session, actor, campaign_id)
    checked = checked_package(package)
    config = checked_config(bounded(config_text), package, lists)
    name = name or config.name
    _check(session, campaign_id, name, per_document)
    taken = take_in(office, checked)
    project = _row(office, actor, campaign_id, taken, lists or {}, name=name, per_document=per_document)
    project.seed = int(project.digest[:8], 16) if seed is None else seed
    session.add(project)
    session.flush()
    session.add_all(_documents(project, taken))
    session.add(config_version(office, actor, project, config, config_text, 1))
    session.flush()
    log(session, office, actor, project, "created", digest=project.digest, documents=len(taken.documents))
    return project


def close_project(session: Session, office: Office, actor: Actor, project_id: str, *, reason: str) -> AnnotationProject:
    """Nobody changes anything any more; what there is stays readable."""
    return _set_state(session, office, actor, project_id, "closed", reason)


def open_project(session: Session, office: Office, actor: Actor, project_id: str, *, reason: str) -> AnnotationProject:
    """Work goes on."""
    return _set_state(session, office, actor, project_id, "open", reason)


def bounded(text: str) -> str:
    """A configuration of bounded size."""
    if len(text.encode()) > LARGEST_CONFIG:
        raise refused("X-8", f"the configuration is larger than {LARGEST_CONFIG} bytes", "split it up", status=422)
    return text


def config_version(
    office: Office,
    actor: Actor,
    project: AnnotationProject,
    config: Config,
    text: str,
    generation: int,
    *,
    diff: tuple[str, ...] = (),
    reason: str = "",
) -> AnnotationConfig:
    """One version of a configuration, as it is kept."""
    return AnnotationConfig(
        campaign_id=project.campaign_id,
        project_id=project.id,
        generation=generation,
        version=config.version,
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        diff=list(diff),
        reason=reason,
        made=office.clock(),
        by=actor.id,
    )


def log(
    session: Session, office: Office, actor: Actor, project: AnnotationProject, what: str, **data: str | int
) -> None:
    """Write down what happened to a project."""
    events.record(
        session,
        f"annotation.{what}",
        at=office.clock(),
        actor=actor.id,
        subject=project.id,
        campaign_id=project.campaign_id,
        data={"project": project.name, **data},
    )


def _check(session: Session, campaign_id: str, name: str, per_document: int) -> None:
    if not NAME.fullmatch(name):
        fix = "use small letters, digits and dashes, at most 60"
        raise refused(RULE, "this cannot be the name of a project", fix, status=422, found=name)
    taken = select(AnnotationProject.id).where(AnnotationProject.campaign_id == campaign_id)
    if session.scalars(taken.where(AnnotationProject.name == name)).first() is not None:
        raise refused(RULE, f"there is a project {name} already", "give it another name")
    if not 1 <= per_document <= MOST_PER_DOCUMENT:
        fix = f"give 1 to {MOST_PER_DOCUMENT}; 2 lets you measure agreement"
        raise refused(RULE, f"{per_document} annotators for each text", fix, status=422)


def _row(
    office: Office,
    actor: Actor,
    campaign_id: str,
    taken: TakenIn,
    lists: Mapping[str, bytes],
    *,
    name: str,
    per_document: int,
) -> AnnotationProject:
    files = with_lists(office, taken.files, lists)
    return AnnotationProject(
        campaign_id=campaign_id,
        name=name,
        title=taken.package.manifest.title,
        files=files,
        digest=files_digest(files, taken.texts),
        per_document=per_document,
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
