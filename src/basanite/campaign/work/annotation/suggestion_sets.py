"""Suggestions of a project: made in sets, shown to most tasks and withheld from some by lot, counted by outcome (R-41).

A task is shown the set that was the newest when it was opened, or none; which, it keeps. So what is measured afterwards
is what people saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import (
    AnnotationDocument,
    AnnotationEvent,
    AnnotationProject,
    AnnotationSuggestion,
    AnnotationTask,
)
from basanite.campaign.work.annotation.annotator_work import task_events, time_spent
from basanite.campaign.work.annotation.lookup import (
    bench_of,
    documents,
    find_project,
    require_look,
    require_open,
    tasks_in,
)
from basanite.campaign.work.annotation.packages import text_of
from basanite.campaign.work.annotation.setup import log
from basanite.campaign.work.annotation.suggestions import suggestions_of
from basanite.problems import Findings
from basanite.work.annotation.config import Config
from basanite.work.annotation.events import State
from basanite.work.annotation.replay import replay
from basanite.work.annotation.suggestions import (
    Bias,
    Marked,
    Suggested,
    bias_of,
    matches,
    outcome_of,
    read_rules,
    suggested_in,
    tally,
)
from basanite.work.annotation.tagger import Tagger, learn
from basanite.work.exchange.model import Annotated

RULE: Final = "R-41"
SHARE: Final = 0.2
"""Of tasks that are shown without suggestions, if nothing else is said."""
FEWEST_TEXTS: Final = 5
"""Finished texts that a model needs."""
MOST: Final = 200_000
Source = Mapping[str, Sequence[Suggested]]
"""What is suggested for each text, by its name."""


@dataclass(frozen=True)
class MadeSet:
    """A new set of suggestions."""

    number: int
    source: str
    texts: int
    suggestions: int

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"set": self.number, "source": self.source, "texts": self.texts, "suggestions": self.suggestions}


def suggest(
    session: Session, office: Office, actor: Actor, project_id: str, source: str, found: Source, *, share: float = SHARE
) -> MadeSet:
    """Keep a new set: it is shown with every text that nobody has opened yet, but for a random share of the tasks."""
    # Seven arguments: who acts where, and a set with its source and the share that is shown without it.
    project = find_project(session, project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    if not 0 <= share < 1:
        raise refused(RULE, f"a share of {share:g} without suggestions", "give 0 or more, and less than 1", status=422)
    texts = {row.name: row for row in documents(session, project.id)}
    count = sum(len(several) for name, several in found.items() if name in texts)
    if not count:
        raise refused(
            RULE, "nothing is suggested for any text", "check that names of texts and labels agree", status=422
        )
    if count > MOST:
        raise refused("X-8", f"{count} suggestions", f"suggest at most {MOST} at once", status=413)
    newest = select(func.max(AnnotationSuggestion.number)).where(AnnotationSuggestion.project_id == project.id)
    number = (session.scalar(newest) or 0) + 1
    for name, several in found.items():
        if name in texts:
            session.add_all(_row(office, actor, project, texts[name], number, source, one) for one in several)
    project.withheld = share
    session.flush()
    made = MadeSet(number, source, sum(bool(found.get(name)) for name in texts), count)
    log(session, office, actor, project, "suggested", **made.as_dict())
    return made


def _row(
    office: Office,
    actor: Actor,
    project: AnnotationProject,
    text: AnnotationDocument,
    number: int,
    source: str,
    one: Suggested,
) -> AnnotationSuggestion:
    # Seven arguments: each is a column of the row.
    return AnnotationSuggestion(
        campaign_id=project.campaign_id,
        project_id=project.id,
        document_id=text.id,
        number=number,
        source=source[:200],
        category=one.category,
        parts=[list(part) for part in one.parts],
        fields=dict(one.fields),
        score=one.score,
        made=office.clock(),
        by=actor.id,
    )


def by_rules(session: Session, office: Office, project_id: str, text: str) -> Source:
    """What lines of labels with words or patterns suggest; refused with all problems if any line is none."""
    project, findings = find_project(session, project_id), Findings()
    rules = read_rules(text, bench_of(session, office, project).config, findings)
    if not findings.valid:
        raise RefusedError(findings.problems, status=422)
    return {row.name: matches(rules, text_of(office, row).text) for row in documents(session, project.id)}


def by_marks(config: Config, marks: Iterable[Annotated]) -> Source:
    """What annotations of another tool or person suggest: marks of words that lie in nothing else."""
    found: dict[str, dict[Any, Suggested]] = {}
    for text in marks:
        for one in suggested_in(config, text.objects):
            found.setdefault(text.document, {}).setdefault(one.key, one)
    return {name: tuple(several.values()) for name, several in found.items()}


def by_model(session: Session, office: Office, project_id: str) -> tuple[str, Source]:
    """What a model suggests that was trained on the finished texts, for those that nobody has opened."""
    tagger, fresh = trained_tagger(session, office, project_id)
    source = f"model of {tagger.texts} texts"
    return source, {row.name: tagger.suggest(text_of(office, row).text) for row in fresh}


def trained_tagger(session: Session, office: Office, project_id: str) -> tuple[Tagger, list[AnnotationDocument]]:
    """A model of the finished texts, and the texts that nobody has opened."""
    project = find_project(session, project_id)
    bench = bench_of(session, office, project)
    rows = {row.id: row for row in documents(session, project.id)}
    examples = {}
    tasks = tasks_in(session, project.id)
    for task in tasks:
        if task.state == "done" and task.generation == project.generation:
            marks = marks_of(session, bench.config, task)
            spans = [(one.category, part) for one in marks for part in one.parts[:1]]
            examples[task.document_id] = (text_of(office, rows[task.document_id]).text, spans)
    if len(examples) < FEWEST_TEXTS:
        fix = f"finish at least {FEWEST_TEXTS} texts first"
        raise refused(RULE, f"a model cannot learn from {len(examples)} finished texts", fix)
    tagger = learn(examples.values(), seed=project.seed)
    return tagger, unopened(session, project.id)


def unopened(session: Session, project_id: str) -> list[AnnotationDocument]:
    """The texts that nobody has opened."""
    begun = {task.document_id for task in tasks_in(session, project_id) if task.state != "waiting"}
    return [row for row in documents(session, project_id) if row.id not in begun]


def marks_of(session: Session, config: Config, task: AnnotationTask) -> list[Suggested]:
    """The marks of a task as it stands."""
    return list(_marks(config, _state(session, config, task)))


def _marks(config: Config, state: State) -> Iterator[Suggested]:
    return suggested_in(config, state.objects.values())


def _state(session: Session, config: Config, task: AnnotationTask) -> State:
    return replay(config, (one.event for one in task_events(session, task)))


@dataclass(frozen=True)
class SuggestionReport:
    """What became of suggestions, by source, and how far showing them changes what people mark."""

    outcomes: Mapping[str, Mapping[str, int]]
    bias: Bias
    withheld: float

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"outcomes": self.outcomes, "bias": self.bias.as_dict(), "share_without": self.withheld}


def report(session: Session, office: Office, actor: Actor, project_id: str) -> SuggestionReport:
    """Outcomes in all finished texts, and agreement with the suggestions where they were shown and where not."""
    project = find_project(session, project_id)
    require_look(session, actor, project.campaign_id)
    config = bench_of(session, office, project).config
    rows = {row.id: row for row in documents(session, project.id)}
    outcomes: list[tuple[str, str]] = []
    groups: dict[bool, list[Marked]] = {True: [], False: []}
    for task in tasks_in(session, project.id):
        if task.suggestions is None or task.state != "done" or task.generation != project.generation:
            continue
        state, several = _state(session, config, task), suggestions_of(session, task, abs(task.suggestions))
        if task.suggestions > 0:
            outcomes += [(one.source, outcome_of(_suggestion_of(one), one.id, state)) for one in several]
        marked = frozenset(one.key for one in _marks(config, state))
        keys = frozenset(_suggestion_of(one).key for one in several)
        minutes = _minutes(session, task)
        groups[task.suggestions > 0].append(Marked(keys, marked, minutes, rows[task.document_id].length))
    bias = bias_of(groups[True], groups[False], seed=project.seed)
    return SuggestionReport(tally(outcomes), bias, project.withheld)


def _suggestion_of(one: AnnotationSuggestion) -> Suggested:
    return Suggested(one.category, tuple((start, end) for start, end in one.parts), one.score, one.fields)


def _minutes(session: Session, task: AnnotationTask) -> float:
    moments: Iterable[Any] = session.scalars(select(AnnotationEvent.at).where(AnnotationEvent.task_id == task.id))
    ends = (at for at in (task.opened, task.finished) if at is not None)
    return time_spent([*moments, *ends]) / timedelta(minutes=1)
