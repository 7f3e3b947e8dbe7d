"""The order in which texts come to annotators: those of which a model is least sure, or people agree least, first.

Only texts that nobody has opened move, each inside the queue of the person who has it, so all share of work stays.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations
from statistics import fmean
from typing import Final

from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AnnotationProject, AnnotationTask
from basanite.campaign.work.annotation.lookup import bench_of, documents, find_project, require_open, tasks_in
from basanite.campaign.work.annotation.packages import text_of
from basanite.campaign.work.annotation.setup import log
from basanite.campaign.work.annotation.suggestion_sets import marks_of, trained_tagger

RULE: Final = "R-40"
UNCERTAINTY, DISAGREEMENT = "uncertainty", "disagreement"


def order_texts(session: Session, office: Office, actor: Actor, project_id: str, by: str) -> dict[str, float]:
    """Put the texts that wait in a new order; the scores by which they now come, by name, the first ones first."""
    project = find_project(session, project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    if by not in (UNCERTAINTY, DISAGREEMENT):
        raise refused(RULE, f"there is no order by {by[:40]!r}", f"use {UNCERTAINTY} or {DISAGREEMENT}", status=422)
    tasks = [one for one in tasks_in(session, project.id) if one.role == "annotator"]
    waiting = [one for one in tasks if one.state == "waiting"]
    if by == UNCERTAINTY:
        scores = _uncertainty(session, office, project, waiting)
    else:
        scores = _disagreement(session, office, project, tasks)
    queues: dict[str, list[AnnotationTask]] = defaultdict(list)
    for task in waiting:
        queues[task.person_id].append(task)
    for queue in queues.values():
        places = sorted(one.position for one in queue)
        wanted = sorted(queue, key=lambda one: (-scores.get(one.document_id, -math.inf), one.position))
        for place, task in zip(places, wanted, strict=True):
            task.position = place
    session.flush()
    names = {row.id: row.name for row in documents(session, project.id)}
    moved = {one.document_id for one in waiting}
    log(session, office, actor, project, "ordered", by=by, texts=len(moved))
    listed = [(names[at], value) for at, value in scores.items() if at in moved]
    return dict(sorted(listed, key=lambda one: (-one[1], one[0])))


def _uncertainty(
    session: Session, office: Office, project: AnnotationProject, waiting: list[AnnotationTask]
) -> Mapping[str, float]:
    """How unsure a model of the finished texts is of each text that waits."""
    tagger, _ = trained_tagger(session, office, project.id)
    rows = {row.id: row for row in documents(session, project.id)}
    return {at: tagger.uncertainty(text_of(office, rows[at]).text) for at in {one.document_id for one in waiting}}


def _disagreement(
    session: Session, office: Office, project: AnnotationProject, tasks: list[AnnotationTask]
) -> Mapping[str, float]:
    """1 minus the mean F1 of marks over all pairs of people who finished a text."""
    config = bench_of(session, office, project).config
    done: dict[str, list[frozenset[object]]] = defaultdict(list)
    for task in tasks:
        if task.state == "done" and task.generation == project.generation:
            done[task.document_id].append(frozenset(one.key for one in marks_of(session, config, task)))
    found = {
        at: 1 - fmean(_f1(one, other) for one, other in combinations(several, 2))
        for at, several in done.items()
        if len(several) > 1
    }
    if not found:
        fix = "wait until two people have finished a text that a third one has"
        raise refused(RULE, "no text has two finished annotations", fix, status=409)
    return found


def _f1(one: frozenset[object], other: frozenset[object]) -> float:
    """Agreement of two sets of marks; two empty ones agree."""
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 1.0
