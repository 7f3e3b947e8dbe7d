"""A project from texts and labels alone, for those who have no reading package (R-40)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import Newcomer, add_person, by_mail
from basanite.campaign.store.tables import AnnotationProject
from basanite.campaign.work.annotation import assignment, exchange, setup
from basanite.campaign.work.annotation.lookup import document_named
from basanite.work.annotation.bare_package import CONFIG, write_package
from basanite.work.annotation.labels import LabelError, LabelSet, check_labels
from basanite.work.annotation.source_texts import SourceText
from basanite.work.exchange.model import Annotated

RULE: Final = "R-40"
MOST_ANNOTATORS: Final = 20
HOST: Final = "annotation.invalid"
"""Where the addresses of local annotators lie: no mail ever goes there (RFC 2606)."""
SLUG: Final = "annotation"
CAMPAIGN: Final = """format = "basanite-campaign/1"
slug = "annotation"
title = "Annotation"
zone = "UTC"

[[packs]]
id = "TEXTS"
family = "dev"
released = "2026-01-01 00:00"
sealed = false
usage = "dev"

[[windows]]
id = "annotation"
title = "Annotation"
kind = "development"
opens = "2026-01-01 00:00"
closes = "2100-01-01 00:00"
tasks = ["reading"]
dataset = ["TEXTS"]
quota = { count = 0, period = "week" }
feedback = "none"
"""
"""A campaign that takes no submissions: projects belong to one, with its people and its log."""


@dataclass(frozen=True)
class Material:
    """What a project is made of: texts, and labels or a configuration that is there already."""

    texts: Sequence[SourceText]
    labels: LabelSet | str
    title: str = ""
    guide: str = ""
    annotated: Sequence[Annotated] = ()
    """What was marked elsewhere: it becomes the unfinished work of those who go on with it."""


def project_name(title: str) -> str:
    """A name fit for addresses and commands.

    >>> project_name("My Reports (2026)"), project_name("!")
    ('my-reports-2026', 'texts')
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-") or "texts"


def create_from_texts(
    session: Session, office: Office, actor: Actor, campaign_id: str, material: Material, *, per_document: int = 1
) -> AnnotationProject:
    """Make the package and the configuration of some texts and labels, and a project of them."""
    if isinstance(material.labels, LabelSet):
        try:
            check_labels(material.labels)
        except LabelError as error:
            raise refused(RULE, str(error), error.fix, status=422) from None
    if not material.texts:
        raise refused(RULE, "there are no texts", "give at least one text", status=422)
    name = project_name(material.title)
    with tempfile.TemporaryDirectory(prefix="basanite-") as scratch:
        folder = Path(scratch) / "package"
        write_package(folder, name, material.texts, material.labels, title=material.title, guide=material.guide)
        config = (folder / CONFIG).read_text(encoding="utf-8")
        new = setup.NewProject(folder, config, name=name, per_document=per_document)
        return setup.create_project(session, office, actor, campaign_id, new)


def add_annotators(session: Session, office: Office, actor: Actor, project: AnnotationProject, count: int) -> list[str]:
    """People who annotate on this machine, each with all texts; the ids of those who are there and of new ones."""
    if not 1 <= count <= MOST_ANNOTATORS:
        raise refused(RULE, f"{count} annotators", f"give 1 to {MOST_ANNOTATORS}", status=422)
    people = []
    for number in range(1, count + 1):
        mail = f"annotator-{number}@{HOST}"
        person = by_mail(session, office, mail)
        people.append((person or add_person(session, office, Newcomer(f"Annotator {number}", mail))).id)
    scope = assignment.TextScope(per_document=count)
    assignment.assign(session, office, actor, project.id, people, scope)
    return people


def bring_in_marks(
    session: Session, office: Office, actor: Actor, project: AnnotationProject, person: str, marks: Sequence[Annotated]
) -> exchange.Brought:
    """Put what was marked elsewhere into somebody's records; of several annotators of a text the first counts."""
    first: dict[str, Annotated] = {}
    for one in marks:
        first.setdefault(one.document, one)
    known = [one for one in first.values() if one.objects and document_named(session, project.id, one.document)]
    return exchange.bring_in(session, office, actor, project.id, exchange.ForeignWork(person, known))
