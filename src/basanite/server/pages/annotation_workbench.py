"""The annotator's queue and workbench, a configuration as annotators would see it, and their agreement (R-15)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.turns import turn
from basanite.campaign.work.annotation import annotator_work, monitor
from basanite.campaign.work.annotation.annotator_work import Waiting, my_tasks, task_events
from basanite.campaign.work.annotation.lookup import (
    config_row,
    documents,
    find_project,
    own_task,
    project_named,
    projects,
)
from basanite.campaign.work.annotation.packages import text_of, working_folder
from basanite.campaign.work.annotation.setup import check_config_size
from basanite.campaign.work.reading.fulltext import Text
from basanite.campaign.work.reading.services import Search, find_in, log_search
from basanite.figures import Table
from basanite.formats.bounded import read_bounded
from basanite.metrics.judgement.estimate import Estimate
from basanite.problems import Problem
from basanite.reports.wording import true_minus
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.annotation_data import (
    Block,
    Sent,
    appended_data,
    blocks,
    config_data,
    opened_data,
    review_data,
    words,
)
from basanite.server.pages.annotation_projects import ADDRESS, PROJECT
from basanite.server.pages.forms import UploadForm, read_upload_form
from basanite.server.pages.frame import frame_for, go, show
from basanite.server.pages.organiser_frame import Organiser, at
from basanite.server.roles import Caller, allow
from basanite.work.annotation.agreement import Agreement, SpanAgreement, TextAgreement, ValueAgreement
from basanite.work.annotation.config import Config, read_config
from basanite.work.annotation.replay import event_of

ROUTER = APIRouter(include_in_schema=False)
BASE = "/campaigns/{slug}/annotate"
Annotator = Annotated[Caller, allow("annotator", "adjudicator")]
SHOWN = 500
"""Texts of a project that are listed; those that are open come first."""


@dataclass(frozen=True)
class QueueLine:
    """A text in the queue."""

    name: str
    address: str
    state: str
    length: int
    role: str = "annotator"


@dataclass(frozen=True)
class QueueProject:
    """The own texts of one project."""

    title: str
    lines: tuple[QueueLine, ...]
    done: int
    total: int
    next: str = ""
    """Where to go on; nothing if everything is done."""

    @property
    def hidden(self) -> int:
        """How many texts are not listed."""
        return self.total - len(self.lines)


@dataclass(frozen=True)
class QueuePage:
    """All that one person has to annotate in a campaign."""

    template = "annotation/queue.html"
    title: str
    projects: tuple[QueueProject, ...]
    adjudicates: str = ""
    """Where an adjudicator decides about disagreements."""


@ROUTER.get(BASE)
def queue(request: Request, caller: Annotator) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.reading() as session:
        tasks = my_tasks(session, row.id, caller.actor.id)
        projects = tuple(
            _queue_project(session, row.slug, found, tasks) for found in dict.fromkeys(t.project_id for t in tasks)
        )
    decides = f"/campaigns/{row.slug}/annotate/decide" if "adjudicator" in caller.roles else ""
    return show(request, caller, QueuePage(say("Annotate"), projects, decides))


@ROUTER.get(f"{BASE}/next")
def go_on(request: Request, caller: Annotator, after: str = "") -> Response:
    """The next text that is open, behind the one just finished; the queue if there is none."""
    row, _ = caller.here
    with caller.office.reading() as session:
        tasks = my_tasks(session, row.id, caller.actor.id)
    if after and all(one.id != after for one in tasks):
        raise missing("annotation task")
    found = following(tasks, after)
    base = f"/campaigns/{row.slug}/annotate"
    return go(caller, f"{base}/{found.id}") if found else go(caller, base, say_plain("All texts are done. Thank you!"))


def following(tasks: Sequence[Waiting], after: str) -> Waiting | None:
    """The first open task behind another one, else the first open one."""
    place = next((at for at, one in enumerate(tasks) if one.id == after), -1)
    ordered = (*tasks[place + 1 :], *tasks[: max(place, 0)])
    return next((one for one in ordered if one.state != "done"), None)


def _queue_project(session: Session, slug: str, project_id: str, tasks: Sequence[Waiting]) -> QueueProject:
    project, mine = find_project(session, project_id), [one for one in tasks if one.project_id == project_id]
    ordered = sorted(mine, key=lambda one: (one.state == "done", one.position))
    base = f"/campaigns/{slug}/annotate"
    lines = tuple(QueueLine(one.document, f"{base}/{one.id}", one.state, one.length, one.role) for one in ordered)
    done = sum(one.state == "done" for one in mine)
    first = lines[0].address if done < len(mine) else ""
    return QueueProject(project.title or project.name, lines[:SHOWN], done, len(mine), first)


TASK = f"{BASE}/{{task}}"
MOST_SEARCHED = 2000
"""Texts of a project that a search looks into."""


@dataclass(frozen=True)
class TextPage:
    """A text with its form; `given` is what the scripts work with."""

    template = "annotation/text.html"
    title: str
    text: str
    given: dict[str, Any]
    guidelines: tuple[Block, ...] = ()
    place: int = 0
    total: int = 0
    back: str = ""
    right: bool = False
    """Whether the text stands on the right."""
    search: str = ""
    keys: tuple[tuple[str, str], ...] = field(default=())


@ROUTER.get(TASK)
def annotate(request: Request, caller: Annotator, task: str) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.writing() as session:
        opened = annotator_work.open_task(session, caller.office, caller.actor, task)
        tasks = annotator_work.my_tasks(session, row.id, caller.actor.id)
        data = opened_data(opened)
    base = f"/campaigns/{row.slug}/annotate"
    given = data | {
        "address": f"{base}/{task}/events",
        "next": f"{base}/next?after={task}",
        "reviews": f"{base}/{task}/review",
        "csrf": frame_for(request, caller)[0].csrf,
        "words": words(),
    }
    place = next((at for at, one in enumerate(tasks, start=1) if one.id == task), 0)
    page = TextPage(
        opened.document.name,
        opened.document.text,
        given,
        blocks(opened.guidelines or opened.config.guidelines),
        place,
        len(tasks),
        base,
        opened.config.layout.text == "right",
        f"{base}/{task}/search",
    )
    return show(request, caller, page)


@ROUTER.get(f"{TASK}/events")
def events(request: Request, caller: Annotator, task: str, after: int = 0) -> Response:
    """All events after a number, and the token of this session, for a page that was open when somebody signed in."""
    with caller.office.reading() as session:
        kept = task_events(session, own_task(session, caller.actor, task), after=after)
    csrf = frame_for(request, caller)[0].csrf
    return JSONResponse({"csrf": csrf, "events": [one.as_dict() for one in kept]})


@ROUTER.post(f"{TASK}/events")
def append(caller: Annotator, task: str, sent: Sent) -> Response:
    """Take events in; gives back all that the page does not know yet, and what the reasoner says now."""
    after, listed = sent.get("after", 0), sent.get("events")
    if not isinstance(after, int) or isinstance(after, bool) or not isinstance(listed, list):
        raise refused("P-11", "this is not a list of events", "use the form on its page", status=422)
    with caller.office.writing() as session:
        taken = annotator_work.append(
            session, caller.office, caller.actor, task, list(map(event_of, listed)), after=after
        )
    return JSONResponse(appended_data(taken))


@ROUTER.get(f"{TASK}/review")
def review(caller: Annotator, task: str) -> Response:
    """What the reasoner says of a large text, asked in a pause."""
    with turn(caller.office, caller.viewer.party, "preview"), caller.office.reading() as session:
        found = annotator_work.review_task(session, caller.office, caller.actor, task)
    return JSONResponse({"review": review_data(found)})


@ROUTER.get(f"{TASK}/search")
def search(caller: Annotator, task: str, q: str = "") -> Response:
    """The texts of the project that hold these words; every search is written down (R-27)."""
    with caller.office.writing() as session:
        own = own_task(session, caller.actor, task)
        project = find_project(session, own.project_id)
        found = (text_of(caller.office, row) for row in documents(session, own.project_id)[:MOST_SEARCHED])
        hits = find_in(tuple(Text(text.name, text.part, text.text) for text in found), q)
        log_search(session, caller.office, caller.actor, project.campaign_id, Search(project.name, q), len(hits))
    return JSONResponse({"hits": [asdict(one) for one in hits]})


LARGEST_CONFIG = 2**20
SAMPLE = "The Jets fell to the Pittsburgh Steelers, 20-17, in overtime Saturday.\n\nThis text is here to be marked."


@dataclass(frozen=True)
class PreviewPage:
    """A form to paste, upload or choose a configuration, what is wrong with it, and how it looks."""

    template = "annotation/preview.html"
    title: str
    projects: tuple[tuple[str, str], ...]
    chosen: str = ""
    config: str = ""
    found: tuple[Problem, ...] = ()
    text: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    guidelines: tuple[Block, ...] = ()
    right: bool = False
    search: str = ""
    checked: bool = False


@ROUTER.get(f"{ADDRESS}/preview")
def show_preview(request: Request, caller: Organiser, project: str = "") -> Response:
    """The page; with a project, its own configuration."""
    with caller.office.reading() as session:
        listed = _project_choices(session, caller)
        text = _own_config(session, caller, project) if project else ""
    if not text:
        return show(request, caller, PreviewPage(say("Preview of a configuration"), listed))
    return show(request, caller, _preview_page(caller, listed, project, text))


@ROUTER.post(f"{ADDRESS}/preview")
async def check_preview(request: Request, caller: Organiser) -> Response:
    """Check what was pasted, uploaded or chosen, and show it; nothing of it is kept."""
    taken = await read_upload_form(request, caller.office.sealed.scratch, LARGEST_CONFIG)
    try:
        return await run_in_threadpool(_check_config, request, caller, taken)
    finally:
        taken.forget()


def _check_config(request: Request, caller: Caller, taken: UploadForm) -> Response:
    chosen, text = taken.form.text("project"), taken.form.raw("config").replace("\r\n", "\n")
    if taken.path is not None:
        text = read_bounded(taken.path, LARGEST_CONFIG).decode("utf-8", "replace")
    with caller.office.reading() as session:
        listed = _project_choices(session, caller)
        text = text if text.strip() else _own_config(session, caller, chosen)
    try:
        page = _preview_page(caller, listed, chosen, check_config_size(text))
    except RefusedError as error:
        if error.status != 422:
            raise
        page = PreviewPage(say("Preview of a configuration"), listed, chosen, "", tuple(error.problems), checked=True)
    return show(request, caller, page, status=422 if page.found and not page.given else 200)


def _project_choices(session: Session, caller: Caller) -> tuple[tuple[str, str], ...]:
    return tuple((one.id, one.title or one.name) for one in projects(session, caller.here[0].id))


def _own_config(session: Session, caller: Caller, project: str) -> str:
    found = next((one for one in projects(session, caller.here[0].id) if one.id == project), None)
    return config_row(session, found.id, found.generation).text if found else ""


def _preview_page(caller: Caller, listed: tuple[tuple[str, str], ...], chosen: str, text: str) -> PreviewPage:
    with ExitStack() as stack:
        stack.enter_context(turn(caller.office, caller.viewer.party, "preview"))
        folder, sample = _beside(caller, chosen)
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=caller.office.settings.data)))
        config, problems = read_config(text, folder)
    base = PreviewPage(say("Preview of a configuration"), listed, chosen, text, problems, checked=True)
    return base if config is None else _page_with_form(base, config, sample)


def _page_with_form(page: PreviewPage, config: Config, sample: str) -> PreviewPage:
    given = {
        "task": "preview",
        "text": sample,
        "config": config_data(config),
        "events": [],
        "sequence": 0,
        "review": [],
        "address": "",
        "next": "",
        "csrf": "",
        "words": words(),
    }
    right, guide = config.layout.text == "right", blocks(config.guidelines)
    same = (page.title, page.projects, page.chosen, page.config, page.found)
    return PreviewPage(*same, sample, given, guide, right, checked=True)


def _beside(caller: Caller, chosen: str) -> tuple[Path | None, str]:
    """The folder of the project that was chosen, and the first of its texts; nothing if none was."""
    with caller.office.reading() as session:
        found = next((one for one in projects(session, caller.here[0].id) if one.id == chosen), None)
        if found is None:
            return None, SAMPLE
        texts = documents(session, found.id)[:1]
        return working_folder(caller.office, found), text_of(caller.office, texts[0]).text if texts else SAMPLE


DRAWS = 500


@dataclass(frozen=True)
class AgreementPage:
    """Agreement over all texts that have two finished annotations or more."""

    template = "annotation/agreement.html"
    title: str
    project: str
    back: str
    texts: int
    tables: tuple[Table, ...] = ()


@ROUTER.get(f"{PROJECT}/agreement")
def show_agreement(request: Request, caller: Organiser, project: str) -> Response:
    """The page."""
    with caller.office.reading() as session:
        found = project_named(session, caller.here[0].id, project)
        told = monitor.agreement(session, caller.office, caller.actor, found.id, draws=DRAWS)
    back = at(caller, f"/annotation/{found.id}")
    page = AgreementPage(say("Agreement"), found.title or found.name, back, told.texts, tables(told))
    return show(request, caller, page)


def tables(told: Agreement) -> tuple[Table, ...]:
    """What was measured, as tables."""
    return (_mark_table(told), _value_table(told.labels, told.fields), _text_table(told.per_text)) if told.texts else ()


def _mark_table(told: Agreement) -> Table:
    columns = (
        say_plain("Category"),
        say_plain("Annotations"),
        say_plain("Identical spans (F1)"),
        say_plain("Overlapping words (F1)"),
        say_plain("Alpha"),
    )
    rows = [_mark_row(say_plain("Ignoring labels"), told.spans)]
    rows += [_mark_row(name, one) for name, one in told.categories.items()]
    return Table(say_plain("Spans"), columns, tuple(rows), note=_first_reason(told.spans.exact, told.spans.alpha))


def _mark_row(name: str, one: SpanAgreement) -> tuple[str, int, str, str, str]:
    return name, one.mentions, estimate_words(one.exact), estimate_words(one.overlap), estimate_words(one.alpha)


def _value_table(labels: ValueAgreement, fields: Mapping[str, ValueAgreement]) -> Table:
    columns = (say_plain("Action"), say_plain("Pairs"), say_plain("Equal"), say_plain("Kappa"))
    listed = {say_plain("Category of identical spans"): labels, **fields}
    rows = tuple(
        (name, one.pairs, estimate_words(one.share), estimate_words(one.kappa)) for name, one in listed.items()
    )
    return Table(say_plain("Labels and attributes"), columns, rows)


def _text_table(texts: Iterable[TextAgreement]) -> Table:
    columns = (
        say_plain("Text"),
        say_plain("Identical spans (F1)"),
        say_plain("Category: equal"),
        say_plain("Disagreements"),
    )
    ordered = sorted(texts, key=lambda one: -one.disagreements)
    rows = tuple(
        (one.name, estimate_words(one.spans.exact), estimate_words(one.labels.share), one.disagreements)
        for one in ordered
    )
    return Table(say_plain("Results by text"), columns, rows)


def estimate_words(one: Estimate) -> str:
    """A figure with its interval, or why there is none.

    >>> estimate_words(Estimate(0.5, low=-0.4, high=0.6))
    '0.500 [−0.400, 0.600]'
    >>> estimate_words(Estimate(float("nan"), "nobody marked anything"))
    'undefined: nobody marked anything'
    """
    if not one.is_defined:
        return say_plain("undefined: {reason}", reason=one.reason) if one.reason else say_plain("undefined")
    interval = f" [{one.low:.3f}, {one.high:.3f}]" if one.low is not None and one.high is not None else ""
    return true_minus(f"{one.value:.3f}{interval}")


def _first_reason(*figures: Estimate) -> str:
    return next((one.reason for one in figures if one.reason), "")
